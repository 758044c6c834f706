"""The `auth-provider` of a kubeconfig, and what is written back into it."""

from __future__ import annotations

import asyncio
import base64
import gc
import logging
from pathlib import Path
from typing import Any

import pytest
import yaml

from listwatch.rest.credentials import Credentials
from listwatch.rest.errors import ConfigError, CredentialsFailed
from listwatch.rest.kubeconfig_file import Section, read_kubeconfig_file
from listwatch.rest.kubeconfig_oidc import _shared, auth_provider_credentials, oidc_credentials
from listwatch.rest.oidc.credentials import OIDCCredentials
from listwatch.rest.transport import HTTPRequest
from listwatch.testing import Reply
from tests.rest.loopback import Authority, Loopback
from tests.rest.oidc.fake_idp import CLIENT_ID, CLIENT_SECRET, ISSUER, Clock, FakeIdP, jwt
from tests.rest.scripted import OK, Asked

pytestmark = pytest.mark.clause("N2")

PEM = b"-----BEGIN CERTIFICATE-----\nQ0E=\n-----END CERTIFICATE-----\n"


def write(path: Path, *, name: str = "oidc", user: str = "alice", **config: Any) -> Path:
    """A kubeconfig with that user, whose fields may be None for none."""
    given = {
        "client-id": CLIENT_ID,
        "client-secret": CLIENT_SECRET,
        "id-token": jwt(0),
        "refresh-token": "refresh-0",
        "idp-issuer-url": ISSUER,
    } | {field.replace("_", "-"): value for field, value in config.items()}
    fields = {field: value for field, value in given.items() if value is not None}
    provider = {"name": name, "config": fields}
    users = [
        {"name": "somebody", "user": {"token": "else"}},
        {"name": user, "user": {"auth-provider": provider}},
    ]
    path.write_text("# Mine.\n" + yaml.safe_dump({"users": users}))
    return path


def read(path: Path, user: str = "alice") -> Section:
    file = read_kubeconfig_file(path)
    assert file is not None
    context = Section(file=path, where="context 'dev'", fields={})
    return file.users[user].inside(context)


def tokens_in(path: Path, user: str = "alice") -> tuple[str, str]:
    config = read(path, user).fields["auth-provider"]["config"]
    return config.get("id-token", ""), config.get("refresh-token", "")


def text_of(path: Path) -> str:
    return path.read_text()


def put(path: Path, text: str | None) -> None:
    """Let the file have that text, or not be there."""
    if text is None:
        path.unlink()
    else:
        path.write_text(text)


async def token_of(credentials: Credentials) -> str:
    headers = await credentials.headers()
    return headers["Authorization"].removeprefix("Bearer ")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path / "config")


@pytest.fixture
def idp() -> FakeIdP:
    return FakeIdP(now=Clock())


def credentials_of(path: Path, idp: FakeIdP, **kwargs: Any) -> OIDCCredentials:
    return oidc_credentials(
        read(path, kwargs.pop("user", "alice")),
        now=idp.now,
        transport_for=idp.transport_for,
        **kwargs,
    )


@pytest.mark.virtual_time
async def test_the_fields_make_the_login(path: Path, idp: FakeIdP) -> None:
    credentials = credentials_of(path, idp)
    assert credentials.description == f"the ID token of context 'dev', user 'alice' in {path}"
    assert await token_of(credentials) == idp.id_token
    assert idp.servers[0] == ("https://idp.example", None)


@pytest.mark.virtual_time
async def test_an_id_token_that_is_good_needs_no_provider(path: Path, idp: FakeIdP) -> None:
    write(path, id_token=idp.id_token, refresh_token=None, client_secret=None)
    assert await token_of(credentials_of(path, idp)) == idp.id_token
    assert not idp.requests


@pytest.mark.virtual_time
async def test_the_authorities_of_the_provider_may_be_data(path: Path, idp: FakeIdP) -> None:
    write(
        path,
        idp_certificate_authority_data=base64.b64encode(PEM).decode(),
        idp_certificate_authority="passed over",
    )
    await credentials_of(path, idp).headers()
    assert [ca_data for _, ca_data in idp.servers] == [PEM, PEM]


@pytest.mark.virtual_time
async def test_or_a_file_beside_the_kubeconfig(path: Path, idp: FakeIdP) -> None:
    (path.parent / "idp.crt").write_bytes(PEM)
    write(path, idp_certificate_authority="idp.crt")
    await credentials_of(path, idp).headers()
    assert [ca_data for _, ca_data in idp.servers] == [PEM, PEM]


def test_extra_scopes_are_passed_over_and_that_is_logged(
    path: Path, idp: FakeIdP, caplog: pytest.LogCaptureFixture
) -> None:
    write(path, extra_scopes="groups,email")
    with caplog.at_level(logging.DEBUG):
        credentials_of(path, idp)
    assert "extra-scopes is passed over" in caplog.text


@pytest.mark.parametrize(
    ("config", "field", "problem"),
    [
        ({"idp_issuer_url": None}, "idp-issuer-url", "is missing"),
        ({"client_id": None}, "client-id", "is missing"),
        ({"id_token": None, "refresh_token": None}, "id-token", "and so is refresh-token: log in"),
        ({"id_token": "two words"}, "id-token", "position 3"),
        ({"idp_issuer_url": "http://idp.example"}, "idp-issuer-url", "plain http"),
        ({"idp_certificate_authority_data": "%"}, "idp-certificate-authority-data", "not base64"),
        ({"idp_certificate_authority": "gone.crt"}, "idp-certificate-authority", "No such file"),
        ({"client_secret": ["s3cret"]}, "client-secret", "should be text"),
    ],
)
def test_what_is_wrong_names_file_context_and_field(
    path: Path, idp: FakeIdP, config: dict[str, Any], field: str, problem: str
) -> None:
    write(path, **config)
    with pytest.raises(ConfigError, match=problem) as caught:
        credentials_of(path, idp)
    place = f"{path}: context 'dev', user 'alice', field 'auth-provider.config.{field}': "
    assert str(caught.value).startswith(place)
    for secret in (CLIENT_SECRET, "refresh-0", "two words"):
        assert secret not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("gcp", "gke-gcloud-auth-plugin"),
        ("azure", "kubelogin convert-kubeconfig"),
        ("openstack", "client-keystone-auth"),
        ("mine", "'mine' is not known: use oidc, or an exec plugin"),
        ("", "is missing"),
    ],
)
def test_any_other_provider_is_refused_with_what_to_use_instead(
    path: Path, name: str, problem: str
) -> None:
    write(path, name=name)
    with pytest.raises(ConfigError, match=problem) as caught:
        auth_provider_credentials(read(path))
    assert "user 'alice', field 'auth-provider.name'" in str(caught.value)


def test_the_provider_oidc_is_this_one(path: Path) -> None:
    assert isinstance(auth_provider_credentials(read(path)), OIDCCredentials)


@pytest.mark.parametrize("provider", [{"name": "oidc"}, {"name": "oidc", "config": None}])
def test_a_provider_without_its_config_is_refused(path: Path, provider: dict[str, Any]) -> None:
    user = Section(file=path, where="user 'alice'", fields={"auth-provider": provider})
    with pytest.raises(ConfigError, match=r"field 'auth-provider\.config': is missing"):
        auth_provider_credentials(user)


@pytest.mark.virtual_time
async def test_new_tokens_are_written_back_and_nothing_else_changes(
    path: Path, idp: FakeIdP
) -> None:
    before = text_of(path)
    old = tokens_in(path)
    await credentials_of(path, idp).headers()
    assert tokens_in(path) == (idp.id_token, "refresh-1")
    assert text_of(path) == before.replace(old[0], idp.id_token).replace(
        "refresh-token: refresh-0", 'refresh-token: "refresh-1"'
    )


@pytest.mark.virtual_time
async def test_the_next_program_goes_on_where_this_one_ended(path: Path, idp: FakeIdP) -> None:
    for number in range(1, 4):
        idp.now.pass_by(minutes=6)
        assert await token_of(credentials_of(path, idp)) == idp.id_token
        gc.collect()
        assert (idp.number, idp.refreshes) == (number, number)


@pytest.mark.virtual_time
async def test_an_id_token_that_is_not_in_the_file_is_put_there(path: Path, idp: FakeIdP) -> None:
    write(path, id_token=None)
    await credentials_of(path, idp).headers()
    assert tokens_in(path) == (idp.id_token, "refresh-1")


@pytest.mark.virtual_time
async def test_what_kubectl_has_renewed_is_used(path: Path, idp: FakeIdP) -> None:
    credentials = credentials_of(path, idp)
    theirs = idp.id_token
    write(path, id_token=theirs, refresh_token="refresh-9")
    assert await token_of(credentials) == theirs
    assert not idp.requests
    idp.good = "refresh-9"
    idp.now.pass_by(minutes=6)
    assert await token_of(credentials) == idp.id_token
    assert tokens_in(path) == (idp.id_token, "refresh-1")


@pytest.mark.virtual_time
async def test_a_login_during_the_refresh_is_not_written_over(
    path: Path, idp: FakeIdP, caplog: pytest.LogCaptureFixture
) -> None:
    async def meanwhile(request: HTTPRequest) -> Reply | None:
        if request.method == "POST":
            write(path, id_token="theirs", refresh_token="refresh-9")
        return None

    idp.before_answer = meanwhile
    credentials = credentials_of(path, idp)
    assert await token_of(credentials) == idp.id_token
    assert tokens_in(path) == ("theirs", "refresh-9")
    assert not caplog.records
    idp.before_answer = None
    idp.now.pass_by(minutes=6)
    assert await token_of(credentials) == "theirs"


@pytest.mark.virtual_time
async def test_unless_it_is_not_wanted(
    path: Path, idp: FakeIdP, caplog: pytest.LogCaptureFixture
) -> None:
    before = text_of(path)
    credentials = credentials_of(path, idp, persist=False)
    assert await token_of(credentials) == idp.id_token
    idp.now.pass_by(minutes=6)
    assert await token_of(credentials) == idp.id_token
    assert text_of(path) == before
    assert idp.number == 2
    assert not caplog.records


@pytest.mark.virtual_time
async def test_a_lock_is_waited_for_for_a_second(path: Path, idp: FakeIdP) -> None:
    lock = path.with_name("config.lock")
    lock.touch()
    loop = asyncio.get_running_loop()
    loop.call_later(0.95, lock.unlink)
    await credentials_of(path, idp).headers()
    assert loop.time() == pytest.approx(1.0)
    assert tokens_in(path) == (idp.id_token, "refresh-1")


@pytest.mark.virtual_time
async def test_where_it_cannot_be_done_they_are_kept_in_memory_and_that_is_logged_once(
    path: Path, idp: FakeIdP, caplog: pytest.LogCaptureFixture
) -> None:
    before = text_of(path)
    lock = path.with_name("config.lock")
    lock.touch()
    credentials = credentials_of(path, idp)
    for number in (1, 2):
        idp.now.pass_by(minutes=6)
        assert await token_of(credentials) == idp.id_token
        assert idp.number == number
    assert text_of(path) == before
    [record] = caplog.records
    message = record.getMessage()
    assert record.levelno == logging.WARNING
    assert str(path) in message
    assert f"{lock} is there: remove it" in message
    assert "log in again" in message
    for secret in (idp.id_token, "refresh-0", "refresh-1", CLIENT_SECRET):
        assert secret not in message
    lock.unlink()
    idp.now.pass_by(minutes=6)
    await credentials.headers()
    assert tokens_in(path) == (idp.id_token, "refresh-3")


@pytest.mark.virtual_time
@pytest.mark.parametrize("problem", ["gone", "an alias", "not YAML"])
async def test_a_file_that_cannot_be_written_is_no_reason_to_fail(
    path: Path, idp: FakeIdP, problem: str, caplog: pytest.LogCaptureFixture
) -> None:
    credentials = credentials_of(path, idp)
    match problem:
        case "gone":
            put(path, None)
        case "an alias":
            put(path, text_of(path) + "a: &a 1\nb: *a\n")
        case _:
            put(path, "[s3cret")
    assert await token_of(credentials) == idp.id_token
    [record] = caplog.records
    assert "could not be written into" in record.getMessage()
    assert "s3cret" not in record.getMessage()


@pytest.mark.virtual_time
async def test_all_who_load_the_same_user_share_one_login(path: Path, idp: FakeIdP) -> None:
    first, second = credentials_of(path, idp), credentials_of(path, idp)
    assert first is second
    assert await asyncio.gather(token_of(first), token_of(second)) == [idp.id_token] * 2
    assert idp.refreshes == 1
    third = credentials_of(path, idp)  # of the tokens that were written meanwhile
    assert third is first


def test_but_not_other_users_logins_or_what_was_not_asked_for_so(path: Path, idp: FakeIdP) -> None:
    first = credentials_of(path, idp)
    assert credentials_of(path, idp, persist=False) is not first
    other = write(path.with_name("other"))
    assert credentials_of(other, idp) is not first
    write(path, refresh_token="of a new login")
    assert credentials_of(path, idp) is not first
    write(path, client_secret="another")
    assert credentials_of(path, idp) is not first


def test_a_login_that_nobody_uses_is_forgotten(path: Path, idp: FakeIdP) -> None:
    gc.collect()
    before = len(_shared)
    credentials = credentials_of(path, idp)
    assert len(_shared) == before + 1
    del credentials
    gc.collect()
    assert len(_shared) == before


@pytest.mark.virtual_time
async def test_of_two_users_with_one_login_that_of_the_named_one_is_written(
    path: Path, idp: FakeIdP
) -> None:
    document = yaml.safe_load(text_of(path))
    user = document["users"][1]
    document["users"] += [{**user, "name": "the other alice"}, {**user, "name": "carol"}]
    put(path, yaml.dump(document, Dumper=_NoAliases))
    await credentials_of(path, idp, user="the other alice").headers()
    assert tokens_in(path, "the other alice") == (idp.id_token, "refresh-1")
    for name in ("alice", "carol"):
        assert tokens_in(path, name)[1] == "refresh-0"


class _NoAliases(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


@pytest.mark.clause("H15", "N4")
async def test_the_whole_story_over_tls(
    tmp_path: Path, pki: Authority, caplog: pytest.LogCaptureFixture
) -> None:
    """A provider on a socket, a client whose token ends and is refused, and the program after."""
    caplog.set_level(logging.DEBUG, logger="listwatch")
    idp = FakeIdP(now=Clock(), token_endpoint="", takes="body")
    asked: list[Asked] = []

    def api_server(request: HTTPRequest) -> Reply:
        good = request.headers["Authorization"] == f"Bearer {idp.id_token}"
        return OK if good else Reply(401, b"")

    def program(path: Path) -> Asked:
        credentials = oidc_credentials(read(path), now=idp.now)
        asked.append(Asked(api_server, credentials=credentials))
        return asked[-1]

    async with Loopback(idp.serve, ssl=pki.server) as server:
        idp.token_endpoint = f"{server.url}/token"
        path = write(
            tmp_path / "config",
            idp_issuer_url=f"{server.url}/realm",
            idp_certificate_authority_data=base64.b64encode(pki.ca_pem).decode(),
        )
        first = program(path)
        assert await first.ends()  # its token had ended long ago
        assert idp.number == 1
        idp.now.pass_by(minutes=6)
        assert await first.ends()
        assert idp.number == 2
        idp.number += 1  # the server takes another one from now on
        idp.now.pass_by(minutes=1)
        assert await first.ends()
        assert idp.number == 4
        assert len(first.times) == 4
        last = tokens_in(path)

        second = program(write_copy(path))
        idp.now.pass_by(minutes=6)
        assert await second.ends()
        assert idp.number == 5
        idp.now.pass_by(minutes=6)
        with pytest.raises(CredentialsFailed, match=r"invalid_grant.*used by another program"):
            await first.send()  # whose refresh token the second has used up
        for peer in server.peers:
            await peer.wait_gone()
    said = f"{caplog.text} {[each.exchange for each in asked]!r}"
    for secret in (*last, "refresh-0", "refresh-1", CLIENT_SECRET, *tokens_in(path)):
        assert secret not in said


def write_copy(path: Path) -> Path:
    copy = path.with_name("copy")
    put(copy, text_of(path))
    return copy
