"""No secret is shown by anything: what every kind of credential makes us say is searched for it."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import logging
import sys
import traceback
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from listwatch import Client, RESTClient, load_config
from listwatch.api import ListWatchError
from listwatch.cli import main
from listwatch.rest.kubeconfig import Kubeconfig
from listwatch.testing.apiserver import ADMIN, APIServer, Auth, EmbeddedServer, User
from tests.rest.loopback import authority, free_port

pytestmark = pytest.mark.clause("N4")

TOKEN = "t0ken-made-up-1"
PASSWORD = "passw0rd-made-up-2"
REFRESH = "refr3sh-made-up-3"
CLIENT_SECRET = "cl1ent-secret-made-up-4"
ARGUMENT = "arg-s3cret-made-up-5"
VARIABLE = "env-s3cret-made-up-6"
PROXY = "pr0xy-made-up-7"
PAIR = authority()
OTHER = authority()
KEY = "".join(PAIR.client_key_pem.decode().splitlines()[1:-1])
JWT = ".".join(
    base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
    for part in ({"alg": "none"}, {"exp": 4102444800, "iss": "x", "sub": "alice-made-up-8"})
)
ID_TOKEN = f"{JWT}.c2lnbmVk"

SECRETS = (TOKEN, PASSWORD, REFRESH, CLIENT_SECRET, ARGUMENT, VARIABLE, PROXY, KEY, ID_TOKEN)


def b64(data: bytes | str) -> str:
    return base64.b64encode(data if isinstance(data, bytes) else data.encode()).decode()


def leaked(text: str) -> list[str]:
    """Which secrets are in it, as they are or as they travel."""
    joined = text.replace("\n", "").replace("\\n", "")
    found = []
    for secret in SECRETS:
        forms = {secret, b64(secret), b64(f"alice:{secret}"), secret[: len(secret) // 2 + 4]}
        found += [secret for form in forms if form in joined]
    if b64(PAIR.client_key_pem)[60:200] in joined:
        found.append("the key, as data")
    return found


class Said:
    """All that was said, by whatever way."""

    def __init__(self) -> None:
        self.parts: list[str] = []

    def add(self, *things: object) -> None:
        for thing in things:
            self.parts += [str(thing), repr(thing)]
            if isinstance(thing, BaseException):
                self.parts += traceback.format_exception(thing)

    @property
    def text(self) -> str:
        return "\n".join(self.parts)


@dataclass(frozen=True)
class Kind:
    """How somebody says who they are."""

    name: str
    user: Callable[[Path], Mapping[str, Any]]
    cluster: Mapping[str, Any] = field(default_factory=dict)
    sends: str = TOKEN


def _plugin(folder: Path, status: Mapping[str, str], *, code: int = 0) -> dict[str, Any]:
    answer = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": dict(status),
    }
    script = folder / "plugin.py"
    script.write_text(
        "import sys\n"
        f"print({json.dumps(answer)!r})\n"
        f"print('cannot do it with ' + ' '.join(sys.argv), file=sys.stderr)\n"
        f"sys.exit({code})\n"
    )
    return {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": sys.executable,
        "args": [str(script), "--secret", ARGUMENT],
        "env": [{"name": "PLUGIN_SECRET", "value": VARIABLE}],
        "interactiveMode": "Never",
        "provideClusterInfo": True,
    }


def _written(folder: Path, name: str, data: bytes | str) -> str:
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return str(path)


PEM = {
    "client-certificate-data": b64(PAIR.client_pem),
    "client-key-data": b64(PAIR.client_key_pem),
}
PEM_OF_PLUGIN = {
    "clientCertificateData": PAIR.client_pem.decode(),
    "clientKeyData": PAIR.client_key_pem.decode(),
}


def _oidc(folder: Path) -> Mapping[str, Any]:
    settings = {
        "idp-issuer-url": f"https://127.0.0.1:{free_port()}",
        "client-id": "kubernetes",
        "client-secret": CLIENT_SECRET,
        "refresh-token": REFRESH,
        "id-token": ID_TOKEN,
    }
    return {"auth-provider": {"name": "oidc", "config": settings}}


KINDS = (
    Kind("token", lambda folder: {"token": TOKEN}),
    Kind("token file", lambda folder: {"tokenFile": _written(folder, "token", TOKEN)}),
    Kind("password", lambda folder: {"username": "alice", "password": PASSWORD}, sends=""),
    Kind("certificate data", lambda folder: PEM, sends=""),
    Kind(
        "certificate files",
        lambda folder: {
            "client-certificate": _written(folder, "tls.crt", PAIR.client_pem),
            "client-key": _written(folder, "tls.key", PAIR.client_key_pem),
        },
        sends="",
    ),
    Kind("plugin with a token", lambda folder: {"exec": _plugin(folder, {"token": TOKEN})}),
    Kind(
        "plugin with a certificate",
        lambda folder: {"exec": _plugin(folder, PEM_OF_PLUGIN)},
        sends="",
    ),
    Kind(
        "plugin that fails",
        lambda folder: {"exec": _plugin(folder, {"token": TOKEN, **PEM_OF_PLUGIN}, code=3)},
        sends="",
    ),
    Kind(
        "plugin with half an answer",
        lambda folder: {"exec": _plugin(folder, {"clientKeyData": PAIR.client_key_pem.decode()})},
        sends="",
    ),
    Kind("oidc", _oidc, sends=ID_TOKEN),
    Kind(
        "proxy",
        lambda folder: {"token": TOKEN},
        {"proxy-url": f"http://alice:{PROXY}@127.0.0.1:1"},
        sends="",
    ),
    Kind(
        "impersonation",  # which is allowed, and bob may do nothing
        lambda folder: {"token": TOKEN, "as": "bob", "as-groups": ["x"]},
        sends="",
    ),
)


@pytest.fixture(params=KINDS, ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest) -> Kind:
    found: Kind = request.param
    return found


@pytest.fixture
def said(caplog: pytest.LogCaptureFixture) -> Iterator[Said]:
    """Collects, with everything that is logged at any level, and is searched in the end."""
    found = Said()
    with caplog.at_level(logging.DEBUG):
        yield found
    for record in caplog.records:
        found.parts.append(caplog.handler.format(record))
    assert len(found.text) > 200, "there was nothing to search"
    assert leaked(found.text) == []


def kubeconfig(folder: Path, server: str, ca: bytes | None, kind: Kind) -> Path:
    cluster: dict[str, Any] = {"server": server, **kind.cluster}
    if ca is not None:
        cluster["certificate-authority-data"] = b64(ca)
    document = {
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "alice", "user": dict(kind.user(folder))}],
        "contexts": [{"name": "dev", "context": {"cluster": "c", "user": "alice"}}],
        "current-context": "dev",
    }
    path = folder / "config"
    path.write_text(yaml.safe_dump(document))
    return path


@asynccontextmanager
async def server_for(*tokens: str) -> AsyncIterator[EmbeddedServer]:
    auth = Auth(User(name="alice", token=token, rules=ADMIN) for token in tokens)
    core = APIServer(
        clock=asyncio.get_running_loop().time, wall=lambda: datetime.now(UTC), auth=auth
    )
    async with EmbeddedServer(core, tls=True) as server:
        yield server


async def _use(path: Path, said: Said, **more: Any) -> None:
    """Whatever a program may do with a configuration, and what it may print of it."""
    said.add(Kubeconfig.read([path]))
    config = load_config(kubeconfig=path, environ={}, **more)
    said.add(config, config.credentials, config.impersonate)
    async with RESTClient(config, max_retries=0) as rest:
        said.add(rest, rest.transport)
        for _ in range(2):
            try:
                said.add(await rest.read("/api/v1/namespaces"))
            except ListWatchError as error:
                said.add(error, *getattr(error, "__notes__", ()))
    async with Client(config=config) as client:
        said.add(client)
        noted = asyncio.Event()

        def note(happened: object) -> None:
            said.add(happened)
            noted.set()

        mirror = client.mirror("configmaps", on_note=note)
        async with mirror, asyncio.timeout(20):
            await noted.wait()  # that it is synced, or what is in its way
            said.add(mirror, mirror.health)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, said: Said) -> Callable[..., int]:
    """Runs the command with `--verbose`, tracebacks and all."""
    monkeypatch.delenv("KUBECONFIG", raising=False)

    def run(*arguments: object) -> int:
        out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            code = main([*map(str, arguments), "--verbose"])
            out.flush()
        said.add(out.buffer.getvalue().decode(), err.getvalue(), "-" * 200)
        return code

    return run


async def test_where_the_server_takes_it(kind: Kind, tmp_path: Path, said: Said) -> None:
    async with server_for(kind.sends or "other") as server:
        await _use(kubeconfig(tmp_path, server.url, server.ca_data, kind), said)
    if kind.sends:
        assert "kube-system" in said.text, "it was let in"


async def test_where_the_server_refuses_it(kind: Kind, tmp_path: Path, said: Said) -> None:
    async with server_for("other") as server:
        await _use(kubeconfig(tmp_path, server.url, server.ca_data, kind), said)


@pytest.mark.parametrize("trouble", ["nobody listens", "another authority"])
async def test_where_there_is_no_way_to_the_server(
    kind: Kind, trouble: str, tmp_path: Path, said: Said
) -> None:
    async with server_for(TOKEN) as server:
        if trouble == "nobody listens":
            path = kubeconfig(tmp_path, f"https://127.0.0.1:{free_port()}", None, kind)
        else:
            path = kubeconfig(tmp_path, server.url, OTHER.ca_pem, kind)
        await _use(path, said)


@pytest.mark.parametrize("command", [("get", "configmaps"), ("watch", "configmaps", "--raw")])
async def test_in_the_output_of_the_command(
    kind: Kind, command: tuple[str, ...], tmp_path: Path, run: Callable[..., int]
) -> None:
    async with server_for("other", kind.sends) as server:
        path = kubeconfig(tmp_path, server.url, server.ca_data, kind)
        if command[0] == "watch":
            server.core.auth.expire()
        await asyncio.to_thread(run, *command, "--kubeconfig", path)


GIVEN = (
    ("--token", TOKEN),
    ("--username", "alice", "--password", PASSWORD),
    ("--proxy-url", f"http://alice:{PROXY}@127.0.0.1:1"),
    ("--proxy-url", f"ftp://alice:{PROXY}@127.0.0.1:1"),
    ("--token", f"{TOKEN} x"),
    ("--token", TOKEN, "--username", "alice", "--password", PASSWORD),
    ("--token", TOKEN, "--no-such-option"),
)


@pytest.mark.parametrize("given", GIVEN, ids=lambda given: " ".join(given[::2]))
async def test_in_what_the_command_says_of_its_own_options(
    given: tuple[str, ...], run: Callable[..., int]
) -> None:
    async with server_for("other") as server:
        there = ("--server", server.url, "--insecure-skip-tls-verify")
        assert await asyncio.to_thread(run, "get", "pods", *there, *given)


def _faulty(**user: Any) -> Kind:
    return Kind("faulty", lambda folder: user)


@pytest.mark.parametrize(
    "kind",
    [
        _faulty(token=[TOKEN]),
        _faulty(token=f"{TOKEN}\nX: y"),
        _faulty(token=TOKEN, username="alice", password=PASSWORD),
        _faulty(**{"client-key-data": f"!{KEY}"}),
        _faulty(**{"client-key-data": b64(PAIR.client_key_pem)}),
        _faulty(
            **{**PEM, "client-key-data": b64(OTHER.client_key_pem + PAIR.client_key_pem[:200])}
        ),
        _faulty(exec={"command": [ARGUMENT]}),
        _faulty(exec={"command": "x", "args": ARGUMENT, "apiVersion": "y"}),
        _faulty(exec={"command": "x", "env": {"a": VARIABLE}}),
        _faulty(**{"auth-provider": {"name": "oidc", "config": {"client-secret": CLIENT_SECRET}}}),
        _faulty(**{"auth-provider": {"name": "oidc", "config": {"refresh-token": [REFRESH]}}}),
        _faulty(**{"auth-provider": {"name": "gcp", "config": {"access-token": TOKEN}}}),
    ],
    ids=range(12),
)
async def test_where_a_file_is_not_what_it_should_be(
    kind: Kind, tmp_path: Path, said: Said, run: Callable[..., int]
) -> None:
    path = kubeconfig(tmp_path, "https://127.0.0.1:1", None, kind)
    try:
        await _use(path, said)
    except ListWatchError as error:
        said.add(error)
    assert await asyncio.to_thread(run, "get", "pods", "--kubeconfig", path)


async def test_where_a_file_is_no_yaml(tmp_path: Path, said: Said) -> None:
    path = tmp_path / "config"
    path.write_text(f"users:\n- name: a\n  user: {{token: '{TOKEN}\n  password: {PASSWORD}")
    with pytest.raises(ListWatchError) as caught:
        load_config(kubeconfig=path, environ={})
    said.add(caught.value, "-" * 200)


async def test_in_a_pod(tmp_path: Path, said: Said) -> None:
    for name, data in (("token", TOKEN), ("namespace", "web")):
        (tmp_path / name).write_text(data)
    async with server_for(TOKEN) as server:
        assert server.ca_data is not None
        (tmp_path / "ca.crt").write_bytes(server.ca_data)
        environ = {
            "KUBERNETES_SERVICE_HOST": "127.0.0.1",
            "KUBERNETES_SERVICE_PORT": str(server.port),
        }
        config = load_config(environ=environ, service_account=tmp_path)
        said.add(config, config.credentials)
        async with RESTClient(config) as client:
            said.add(await client.read("/api/v1/namespaces"))
            server.core.auth.expire()
            with pytest.raises(ListWatchError) as caught:
                await client.read("/api/v1/namespaces")
            said.add(caught.value, *caught.value.__notes__)


def test_the_search_itself_finds_what_it_should() -> None:
    for secret in SECRETS:
        assert leaked(f"it says: {secret}, plainly")
        assert leaked(f"Authorization: Basic {b64(f'alice:{secret}')}")
    assert leaked(PAIR.client_key_pem.decode())
    assert leaked(repr(PAIR.client_key_pem))
    assert leaked(b64(PAIR.client_key_pem))
    assert not leaked("nothing of that")
