"""A kubeconfig's contexts, clusters and users as configurations."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
import yaml

from listwatch.rest.config import ClientConfig
from listwatch.rest.credentials import BasicAuth, StaticToken
from listwatch.rest.errors import ConfigError
from listwatch.rest.impersonation import Impersonation
from listwatch.rest.kubeconfig import Kubeconfig, load_kubeconfig

SECRET = "s3cret-of-alice"
CA = b"-----BEGIN CERTIFICATE-----\nQ0E=\n-----END CERTIFICATE-----\n"
CERT = b"-----BEGIN CERTIFICATE-----\nQ0VSVA==\n-----END CERTIFICATE-----\n"
KEY = b"-----BEGIN PRIVATE KEY-----\nS0VZ\n-----END PRIVATE KEY-----\n"
OTHER = b"-----BEGIN OTHER-----\n"


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pki").mkdir()
    (tmp_path / "pki" / "ca.crt").write_bytes(CA)
    (tmp_path / "pki" / "client.crt").write_bytes(CERT)
    (tmp_path / "pki" / "client.key").write_bytes(KEY)
    (tmp_path / "token").write_text(f"{SECRET}\n")
    (tmp_path / "empty").write_text("\n")
    return tmp_path


def write(
    folder: Path,
    *,
    cluster: dict[str, Any] | None = None,
    user: dict[str, Any] | None = None,
    context: dict[str, Any] | None = None,
    name: str = "config",
    **top: Any,
) -> Path:
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {"name": "prod", "cluster": {"server": "https://prod:6443"} | (cluster or {})}
        ],
        "users": [{"name": "alice", "user": user or {}}],
        "contexts": [
            {"name": "dev", "context": {"cluster": "prod", "user": "alice"} | (context or {})}
        ],
        "current-context": "dev",
    }
    path = folder / name
    path.write_text(yaml.safe_dump(document | top))
    return path


def refusal(path: Path, *, context: str | None = None) -> str:
    with pytest.raises(ConfigError) as caught:
        load_kubeconfig(path, context=context)
    text = str(caught.value)
    assert SECRET not in text
    assert str(path) in text
    return text


@pytest.mark.clause("N2")
def test_the_current_context_gives_server_user_and_namespace(folder: Path) -> None:
    path = write(
        folder,
        cluster={"certificate-authority-data": b64(CA), "tls-server-name": "kube.internal"},
        user={"token": SECRET},
        context={"namespace": "web"},
    )
    assert load_kubeconfig(path) == ClientConfig(
        server="https://prod:6443",
        ca_data=CA,
        tls_server_name="kube.internal",
        credentials=StaticToken(SECRET),
        namespace="web",
        source=f"context 'dev' of {path}",
    )


@pytest.mark.clause("N2")
def test_a_context_can_be_chosen_by_name(folder: Path) -> None:
    contexts = [
        {"name": "dev", "context": {"cluster": "prod", "user": "alice", "namespace": "a"}},
        {"name": "2024-01-01", "context": {"cluster": "prod", "user": "alice", "namespace": "b"}},
    ]
    path = write(folder, contexts=contexts)
    assert load_kubeconfig(path, context="2024-01-01").namespace == "b"
    assert load_kubeconfig(str(path)).namespace == "a"


@pytest.mark.clause("N2")
@pytest.mark.parametrize(
    ("user", "credentials"),
    [
        ({}, None),
        ({"token": SECRET}, StaticToken(SECRET)),
        ({"username": "alice", "password": SECRET}, BasicAuth("alice", SECRET)),
        ({"username": "alice"}, BasicAuth("alice", "")),
        ({"token": "", "exec": None, "as": ""}, None),
    ],
)
def test_the_ways_to_say_who_one_is(
    folder: Path, user: dict[str, Any], credentials: StaticToken | BasicAuth | None
) -> None:
    assert load_kubeconfig(write(folder, user=user)).credentials == credentials


@pytest.mark.clause("N2")
@pytest.mark.parametrize(
    "user",
    [
        {"tokenFile": "token"},
        {"tokenFile": "token", "token": "older"},
        {"tokenFile": "missing", "token": SECRET},
    ],
)
async def test_a_token_file_wins_over_a_token_which_is_for_while_there_is_none(
    folder: Path, user: dict[str, Any]
) -> None:
    found = load_kubeconfig(write(folder, user=user)).credentials
    assert found is not None
    assert await found.headers() == {"Authorization": f"Bearer {SECRET}"}


@pytest.mark.clause("N2")
def test_certificates_come_from_files_relative_to_the_kubeconfigs_own_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(
        folder,
        cluster={"certificate-authority": "pki/ca.crt"},
        user={
            "client-certificate": str(folder / "pki" / "client.crt"),
            "client-key": "../" + folder.name + "/pki/client.key",
        },
    )
    monkeypatch.chdir("/")
    pki = folder / "pki"
    found = load_kubeconfig(path)
    assert (found.ca_data, found.client_cert_data, found.client_key_data) == (CA, CERT, KEY)
    assert (found.ca_file, found.client_cert_file) == (pki / "ca.crt", pki / "client.crt")
    assert found.client_key_file is not None
    assert found.client_key_file.samefile(pki / "client.key")


@pytest.mark.clause("N2")
def test_data_wins_over_the_file_beside_it(folder: Path) -> None:
    path = write(
        folder,
        cluster={
            "certificate-authority": "missing",
            "certificate-authority-data": b64(OTHER),
        },
        user={
            "client-certificate": "missing",
            "client-certificate-data": b64(CERT),
            "client-key": "pki/client.key",
            "client-key-data": b64(OTHER),
        },
    )
    found = load_kubeconfig(path)
    assert (found.ca_data, found.client_cert_data, found.client_key_data) == (OTHER, CERT, OTHER)
    assert found.ca_file is found.client_cert_file is found.client_key_file is None


@pytest.mark.clause("N2")
def test_a_client_certificate_and_a_token_can_go_together(folder: Path) -> None:
    user = {
        "client-certificate": "pki/client.crt",
        "client-key": "pki/client.key",
        "token": SECRET,
    }
    found = load_kubeconfig(write(folder, user=user))
    assert found.client_cert_data == CERT
    assert found.credentials == StaticToken(SECRET)


@pytest.mark.clause("N2", "N4")
def test_verification_is_given_up_only_where_the_file_says_so(folder: Path) -> None:
    assert not load_kubeconfig(write(folder)).insecure_skip_tls_verify
    path = write(folder, cluster={"insecure-skip-tls-verify": False})
    assert not load_kubeconfig(path).insecure_skip_tls_verify
    path = write(folder, cluster={"insecure-skip-tls-verify": True})
    assert load_kubeconfig(path).insecure_skip_tls_verify


@pytest.mark.clause("N2", "N4")
@pytest.mark.parametrize(
    ("word", "meant"),
    [
        *((word, True) for word in ("true", "True", "yes", "Yes", "on", "ON", "y")),
        *((word, False) for word in ("false", "FALSE", "no", "off", "Off", "n", "~")),
    ],
)
def test_true_and_false_are_what_yaml_takes_for_them(folder: Path, word: str, meant: bool) -> None:
    path = write(folder, cluster={"insecure-skip-tls-verify": "WORD"})
    path.write_text(path.read_text().replace("WORD", word))
    assert load_kubeconfig(path).insecure_skip_tls_verify is meant


@pytest.mark.clause("N2")
def test_a_context_without_a_user_is_anonymous(folder: Path) -> None:
    found = load_kubeconfig(write(folder, context={"user": ""}))
    assert found.credentials is None


# --- what cannot be used -----------------------------------------------------------------------


@pytest.mark.clause("N2")
@pytest.mark.parametrize(
    ("field", "value", "what"),
    [
        ("auth-provider", {"name": "gcp"}, "gke-gcloud-auth-plugin"),
        ("auth-provider", {"name": "azure"}, "kubelogin"),
        ("auth-provider", {"name": "mine"}, "mine"),
        ("auth-provider", "gcp", "mapping"),
        ("as-uid", "7", "as"),
        ("as-groups", ["admins"], "as"),
        ("as-user-extra", {"a": ["b"]}, "as"),
    ],
)
def test_what_cannot_be_used_is_refused_with_what_to_do(
    folder: Path, field: str, value: object, what: str
) -> None:
    text = refusal(write(folder, user={field: value}))
    assert "context 'dev', user 'alice', field '" in text
    assert what in text


@pytest.mark.clause("N2")
def test_a_proxy_and_whom_to_be_taken_for_are_read(folder: Path) -> None:
    cluster = {"proxy-url": f"http://u:{SECRET}@proxy:3128", "disable-compression": True}
    user = {"as": "bob", "as-uid": "7", "as-groups": ["admins"], "as-user-extra": {"a": ["b"]}}
    found = load_kubeconfig(write(folder, cluster=cluster, user=user))
    assert found.proxy_url == f"http://u:{SECRET}@proxy:3128"
    assert found.disable_compression
    assert found.impersonate == Impersonation(
        user="bob", uid="7", groups=("admins",), extra={"a": ("b",)}
    )
    assert SECRET not in repr(found)


@pytest.mark.clause("N2")
def test_a_client_certificate_wins_over_a_plugin(folder: Path) -> None:
    pair = {"client-certificate": "pki/client.crt", "client-key": "pki/client.key"}
    plugin = {"command": "aws", "apiVersion": "client.authentication.k8s.io/v1beta1"}
    found = load_kubeconfig(write(folder, user={**pair, "exec": plugin}))
    assert (found.credentials, found.client_cert_data) == (None, CERT)


@pytest.mark.clause("N2")
@pytest.mark.parametrize("credentials", [{"token": SECRET}, {"username": "a", "password": SECRET}])
def test_a_token_or_password_wins_over_a_plugin(folder: Path, credentials: dict[str, Any]) -> None:
    plugin = {"command": "aws", "apiVersion": "client.authentication.k8s.io/v1beta1"}
    found = load_kubeconfig(write(folder, user={**credentials, "exec": plugin})).credentials
    assert isinstance(found, StaticToken | BasicAuth)


@pytest.mark.clause("N2")
def test_a_proxy_that_is_none_is_refused_without_its_password(folder: Path) -> None:
    text = refusal(write(folder, cluster={"proxy-url": f"ftp://u:{SECRET}@proxy"}))
    assert "cluster 'prod', field 'proxy-url'" in text


@pytest.mark.clause("N2", "N4")
@pytest.mark.parametrize(
    ("cluster", "user", "field", "problem"),
    [
        ({"server": ""}, {}, "server", "is missing"),
        ({"certificate-authority": "no"}, {}, "certificate-authority", "No such file"),
        ({"certificate-authority": "token"}, {}, "certificate-authority", "PEM"),
        ({"certificate-authority-data": f"!{SECRET}"}, {}, "certificate-authority-data", "base64"),
        ({"certificate-authority-data": "aGk"}, {}, "certificate-authority-data", "base64"),
        ({"certificate-authority-data": "aGkK"}, {}, "certificate-authority-data", "PEM"),
        ({"certificate-authority-data": "é"}, {}, "certificate-authority-data", "base64"),
        ({"insecure-skip-tls-verify": "maybe"}, {}, "insecure-skip-tls-verify", "true or false"),
        (
            {"insecure-skip-tls-verify": True, "certificate-authority": "pki/ca.crt"},
            {},
            "insecure-skip-tls-verify",
            "leave one out",
        ),
        ({}, {"client-certificate": "pki/client.crt"}, "client-key", "needs its key"),
        ({}, {"client-key": "pki/client.key"}, "client-certificate", "needs its certificate"),
        ({}, {"client-certificate": "pki"}, "client-certificate", "Is a directory"),
        ({}, {"client-key-data": b64(SECRET.encode())}, "client-key-data", "PEM"),
        ({}, {"token": f"{SECRET} x"}, "token", "position"),
        ({}, {"token": [SECRET]}, "token", "should be text"),
        ({}, {"tokenFile": "missing"}, "tokenFile", "No such file"),
        ({}, {"tokenFile": "empty"}, "tokenFile", "is empty"),
        ({}, {"token": "a", "username": "b", "password": SECRET}, "username", "only one"),
        ({}, {"username": "a:b", "password": SECRET}, "username", "colon"),
    ],
)
def test_a_fault_is_told_with_file_context_section_and_field(
    folder: Path,
    cluster: dict[str, Any],
    user: dict[str, Any],
    field: str,
    problem: str,
) -> None:
    text = refusal(write(folder, cluster=cluster, user=user))
    section = "user 'alice'" if user else "cluster 'prod'"
    assert f"context 'dev', {section}, field '{field}': " in text
    assert problem in text


@pytest.mark.clause("N2")
def test_a_server_that_is_none_is_told_with_file_and_context(folder: Path) -> None:
    text = refusal(write(folder, cluster={"server": "ftp://prod"}))
    assert "context 'dev'" in text
    assert "neither http nor https" in text


@pytest.mark.clause("N2")
@pytest.mark.parametrize(
    ("context", "problem"),
    [
        ({"cluster": "nope"}, "there is no cluster 'nope'; there are: prod"),
        ({"user": "nope"}, "there is no user 'nope'; there are: alice"),
        ({"cluster": ""}, "names no cluster"),
    ],
)
def test_a_context_that_leads_nowhere_is_told_with_what_there_is(
    folder: Path, context: dict[str, Any], problem: str
) -> None:
    text = refusal(write(folder, context=context))
    assert problem in text
    assert "context 'dev'" in text


@pytest.mark.clause("N2")
def test_a_missing_context_lists_those_there_are(folder: Path) -> None:
    assert "no context 'nope'. Its contexts: dev" in refusal(write(folder), context="nope")
    assert "no current-context 'gone'. Its contexts: dev" in refusal(
        write(folder, **{"current-context": "gone"})
    )
    assert "current-context is not set. Name one of its contexts: dev" in refusal(
        write(folder, **{"current-context": ""})
    )
    assert "Its contexts: dev" in refusal(write(folder), context="")


@pytest.mark.clause("N2")
def test_a_fault_in_a_section_that_is_not_asked_for_does_not_matter(folder: Path) -> None:
    users = [
        {"name": "alice", "user": {"token": SECRET}},
        {"name": "broken", "user": {"client-key-data": "!", "exec": {}}},
    ]
    assert load_kubeconfig(write(folder, users=users)).credentials == StaticToken(SECRET)


@pytest.mark.clause("N2")
@pytest.mark.parametrize(("plural", "singular"), [("clusters", "cluster"), ("users", "user")])
def test_an_entry_without_a_name_does_not_matter(folder: Path, plural: str, singular: str) -> None:
    path = write(folder, user={"token": SECRET})
    document = yaml.safe_load(path.read_text())
    document[plural][:0] = [{singular: {"server": "https://other", "token": "other"}}, {}]
    path.write_text(yaml.safe_dump(document))
    found = load_kubeconfig(path)
    assert (found.server, found.credentials) == ("https://prod:6443", StaticToken(SECRET))


@pytest.mark.clause("N4")
def test_no_repr_of_a_kubeconfig_shows_a_secret(folder: Path) -> None:
    path = write(folder, user={"token": SECRET, "password": SECRET})
    assert SECRET not in repr(Kubeconfig.read([path]))


# --- several files -----------------------------------------------------------------------------


@pytest.mark.clause("N1")
def test_the_first_file_to_name_an_entry_has_it_whole(folder: Path) -> None:
    first = write(folder, name="first", cluster={"server": "https://first"})
    second = write(
        folder,
        name="second",
        cluster={"server": "https://second", "tls-server-name": "second"},
        user={"token": SECRET},
        context={"namespace": "second"},
    )
    found = Kubeconfig.read([first, second]).client_config()
    assert found.server == "https://first"
    assert found.tls_server_name is None, "nothing of another file is mixed in"
    assert found.credentials is None
    assert found.namespace == "default"
    assert str(first) in found.source


@pytest.mark.clause("N1")
def test_the_first_file_with_a_current_context_decides(folder: Path) -> None:
    first = write(folder, name="first", **{"current-context": ""})
    other = [{"name": "other", "context": {"cluster": "prod", "user": "alice", "namespace": "o"}}]
    second = write(folder, name="second", contexts=other, **{"current-context": "other"})
    third = write(folder, name="third")
    merged = Kubeconfig.read([first, folder / "none", second, third])
    assert merged.current_context == "other"
    assert merged.client_config().namespace == "o"
    assert merged.files == (first, second, third)


@pytest.mark.clause("N1", "N2")
async def test_a_context_may_join_a_cluster_and_a_user_of_other_files_each_with_its_own_folder(
    folder: Path,
) -> None:
    for name, content in (("a", CA), ("b", OTHER)):
        (folder / name).mkdir()
        (folder / name / "ca.crt").write_bytes(content)
    (folder / "b" / "tok").write_text(SECRET)
    first = write(folder / "a", contexts=[], users=[], cluster={"certificate-authority": "ca.crt"})
    second = write(folder / "b", clusters=[], user={"tokenFile": "tok"})
    found = Kubeconfig.read([first, second]).client_config()
    assert found.ca_data == CA
    assert found.credentials is not None
    assert await found.credentials.headers() == {"Authorization": f"Bearer {SECRET}"}


@pytest.mark.clause("N1")
def test_one_broken_file_among_several_is_an_error(folder: Path) -> None:
    (folder / "broken").write_text("clusters: [")
    with pytest.raises(ConfigError, match="broken is not YAML"):
        Kubeconfig.read([write(folder), folder / "broken"])


@pytest.mark.clause("N1")
def test_nothing_to_read_is_empty() -> None:
    assert Kubeconfig.read([]).is_empty
