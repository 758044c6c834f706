"""The options that say how to reach the server and as whom."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from listwatch.cli import main, session
from listwatch.rest import ConfigError
from listwatch.rest.impersonation import Impersonation
from tests.cli.conftest import Run
from tests.cli.servers import http, in_thread, serving
from tests.rest.loopback import free_port
from tests.rest.proxies import LoopbackProxy

pytestmark = pytest.mark.clause("N2")

COMMANDS = [
    ["get", "pods"],
    ["watch", "pods"],
    ["wait", "pod/web-0", "--for", "delete"],
]
EMPTY = http(b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[]}')


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the command asks `load_config` for. It gets no further."""
    calls: list[dict[str, Any]] = []

    def load_config(**wishes: Any) -> None:
        calls.append(wishes)
        raise ConfigError("no further")

    monkeypatch.setattr(session, "load_config", load_config)
    return calls


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
class TestOptions:
    @pytest.mark.parametrize(
        ("arguments", "wish"),
        [
            (["-s", "https://a"], {"server": "https://a"}),
            (["--kubeconfig", "/k"], {"kubeconfig": Path("/k")}),
            (["--context", "c"], {"context": "c"}),
            (["--cluster", "c"], {"cluster": "c"}),
            (["--user", "u"], {"user": "u"}),
            (["--token", "t"], {"token": "t"}),
            (["--username", "u", "--password", "p"], {"username": "u", "password": "p"}),
            (
                ["--client-certificate", "/c", "--client-key", "/d"],
                {"client_certificate": Path("/c"), "client_key": Path("/d")},
            ),
            (["--certificate-authority", "/ca"], {"ca_file": Path("/ca")}),
            (["--ca-file", "/ca"], {"ca_file": Path("/ca")}),
            (["--tls-server-name", "n"], {"tls_server_name": "n"}),
            (["--insecure-skip-tls-verify"], {"insecure_skip_tls_verify": True}),
            (["--proxy-url", "http://u:p@proxy:1"], {"proxy_url": "http://u:p@proxy:1"}),
            (["--proxy-url", ""], {"proxy_url": ""}),
            (["--disable-compression"], {"disable_compression": True}),
            (["--as", "jane"], {"impersonate": Impersonation(user="jane")}),
            (
                ["--as=jane", "--as-uid=7", "--as-group=a", "--as-group=b"],
                {"impersonate": Impersonation(user="jane", uid="7", groups=("a", "b"))},
            ),
            (
                ["--as=jane", "--as-user-extra=k=v=w", "--as-user-extra=l=", "--as-user-extra=k=x"],
                {"impersonate": Impersonation(user="jane", extra={"k": ("v=w", "x"), "l": ("",)})},
            ),
        ],
        ids=lambda value: value[0].partition("=")[0] if isinstance(value, list) else None,
    )
    def test_each_is_a_wish_and_there_is_no_other(
        self,
        command: list[str],
        arguments: list[str],
        wish: dict[str, Any],
        asked: list[dict[str, Any]],
        run: Run,
    ) -> None:
        ran = run(*command, *arguments)
        assert (ran.code, ran.note) == (1, "listwatch: no further")
        [wishes] = asked
        assert {name: wishes[name] for name in wish} == wish
        assert not any(value for name, value in wishes.items() if name not in wish)

    @pytest.mark.parametrize(
        ("arguments", "problem"),
        [
            (["--as-group", "a"], "go with --as only"),
            (["--as-uid", "7"], "go with --as only"),
            (["--as-user-extra", "k=v"], "go with --as only"),
            (["--as", "jane", "--as-user-extra", "k"], "expected KEY=VALUE"),
            (["--as", "jane", "--as-user-extra", "=v"], "expected KEY=VALUE"),
            (["--as", "jane\n"], "the user has a control character"),
            (["--as", "jane", "--as-group", ""], "a group is empty"),
            (["--proxy-url", "proxy:3128"], "the proxy has no scheme"),
            (["--proxy-url", "ftp://alice:hunter2@proxy"], "the proxy has the scheme 'ftp'"),
            (["--embedded", "--as", "jane"], "or who you are"),
            (["--embedded", "--proxy-url", "http://proxy"], "do not name another"),
        ],
    )
    def test_what_makes_no_sense_is_bad_usage(
        self, command: list[str], arguments: list[str], problem: str, run: Run
    ) -> None:
        ran = run(*command, *arguments)
        assert (ran.code, ran.data) == (2, b"")
        assert problem in ran.note
        assert "hunter2" not in ran.note

    def test_help_has_them_under_headings_of_their_own(self, command: list[str], run: Run) -> None:
        lines = run(command[0], "--help").lines
        headings = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
        assert headings == ["Arguments:", "Options:", "Connection:", "Identity:"]
        connection, identity = lines.index("Connection:"), lines.index("Identity:")
        assert any("--proxy-url" in line for line in lines[connection:identity])
        assert any("--as-group" in line for line in lines[identity:])


class TestThroughAProxy:
    def test_of_an_option(self, run: Run) -> None:
        with serving(EMPTY) as url, in_thread(lambda: LoopbackProxy("http")) as proxy:
            ran = run("get", "pods", "-s", url, "--proxy-url", proxy.url)
            assert ran.code == 0
            assert proxy.asked == [f"GET {url}/api/v1/namespaces/default/pods"]

    def test_of_the_environment(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        with serving(EMPTY) as url, in_thread(lambda: LoopbackProxy("http")) as proxy:
            # Not the loopback address, which is never reached by a proxy.
            server = url.replace("127.0.0.1", "api.invalid")
            proxy.hosts["api.invalid"] = "127.0.0.1"
            monkeypatch.setenv("HTTP_PROXY", proxy.url)
            assert run("get", "pods", "-s", server).code == 0
            assert len(proxy.asked) == 1
            ran = run("get", "pods", "-s", server, "--proxy-url", "")
            assert "'api.invalid' does not resolve" in ran.note
            monkeypatch.setenv("NO_PROXY", ".invalid")
            assert "'api.invalid' does not resolve" in run("get", "pods", "-s", server).note
            assert len(proxy.asked) == 1

    @pytest.mark.clause("N4")
    def test_one_that_is_not_there_is_named_without_its_password(self, run: Run) -> None:
        port = free_port()
        ran = run(
            *("get", "pods", "-s", "http://127.0.0.1:1"),
            *("--proxy-url", f"http://alice:hunter2@127.0.0.1:{port}"),
        )
        assert ran.code == 1
        assert ran.note == (
            f"listwatch: cannot connect to the proxy http://127.0.0.1:{port} on the way to"
            " http://127.0.0.1:1: connection refused"
        )


def test_the_server_is_told_for_whom_to_take_us(run: Run) -> None:
    # A proxy sees the heads that the server gets.
    with serving(EMPTY) as url, in_thread(lambda: LoopbackProxy("http")) as proxy:
        ran = run(
            *("get", "pods", "-s", url, "--proxy-url", proxy.url),
            *("--as", "jane", "--as-uid", "7", "--as-group", "a", "--as-group", "b"),
            *("--as-user-extra", "acme.com/Project=x", "--as-user-extra", "acme.com/Project=y"),
        )
        assert ran.code == 0
        head = proxy.heads[0].split("\r\n")
    assert [line for line in head if line.startswith("Impersonate-")] == [
        "Impersonate-User: jane",
        "Impersonate-Uid: 7",
        "Impersonate-Group: a",
        "Impersonate-Group: b",
        "Impersonate-Extra-acme.com%2Fproject: x",
        "Impersonate-Extra-acme.com%2Fproject: y",
    ]


@pytest.mark.clause("N4")
@pytest.mark.parametrize(
    "secret",
    [
        ["--token", "a-s3cret"],
        ["--username", "alice", "--password", "a-s3cret"],
        ["--proxy-url", "http://a-s3cret:b-s3cret@127.0.0.1:{}"],
        ["--proxy-url", "https://a-s3cret:b-s3cret@127.0.0.1:{}"],
        ["--proxy-url", "socks5://a-s3cret:b-s3cret@127.0.0.1:{}"],
        ["--proxy-url", "ftp://a-s3cret:b-s3cret@127.0.0.1:{}"],
    ],
    ids=lambda secret: secret[-1].partition(":")[0],
)
@pytest.mark.parametrize("server", ["http://10.0.0.1", "http://127.0.0.1:{}", "https://[::1]:{}"])
def test_no_secret_that_was_typed_is_ever_printed(
    secret: list[str], server: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not in a traceback either, which `-v` prints."""
    port = free_port()
    arguments = ["get", "pods", "-v", "--request-timeout", "1s", "-s", server, *secret]
    assert main([text.format(port) for text in arguments]) in (1, 2)
    printed = "".join(capsys.readouterr())
    assert "listwatch: " in printed
    assert "s3cret" not in printed
