"""Credentials from a program: when it runs, for whom, and what is said when it fails."""

from __future__ import annotations

import asyncio
import base64
import errno
import json
import traceback
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import pytest

from listwatch.api import Unauthorized
from listwatch.rest.credentials import (
    CertificateSource,
    ClientCertificate,
    Credentials,
    description_of,
)
from listwatch.rest.errors import ConfigError, CredentialsFailed
from listwatch.rest.exec._program import Finished
from listwatch.rest.exec.credential import ClusterInfo, ExecVersion
from listwatch.rest.exec.plugin import ExecCredentials, ExecPlugin, InteractiveMode
from tests.rest.exec.plugins import CERTIFICATE, KEY, Plugins, answer, credential, wall_clock
from tests.rest.loopback import authority
from tests.rest.scripted import Asked, only

pytestmark = [pytest.mark.virtual_time, pytest.mark.clause("N2")]

SECRET = "s3cret-of-alice"
HOUR = 3600.0
ENVIRON = {"PATH": "/bin:/usr/bin", "HOME": "/home/alice", "A": "ours"}


def plugin(**changes: Any) -> ExecPlugin:
    fields: dict[str, Any] = {
        "user": "user 'alice' in /k",
        "command": "aws",
        "version": ExecVersion.V1,
        "interactive_mode": InteractiveMode.NEVER,
    }
    return ExecPlugin(**fields | changes)


def credentials(
    plugins: Plugins,
    terminal: bool = False,
    environ: Mapping[str, str] = ENVIRON,
    **changes: Any,
) -> ExecCredentials:
    return ExecCredentials(
        plugin(**changes),
        check=lambda certificate, source: None,
        start=plugins,
        now=wall_clock,
        stdin_is_terminal=lambda: terminal,
        environ=environ,
    )


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def now() -> float:
    return asyncio.get_running_loop().time()


async def failure(asked: Coroutine[Any, Any, object]) -> str:
    with pytest.raises(CredentialsFailed) as caught:
        await asked
    assert isinstance(caught.value, ConfigError)
    shown = "".join(traceback.format_exception(caught.value))
    assert SECRET not in shown
    assert "MIGkey" not in shown
    return str(caught.value)


async def test_they_are_both_kinds_of_source() -> None:
    made = credentials(Plugins(answer("a", certificate=True)))
    headers: Credentials = made
    certificates: CertificateSource = made
    assert await headers.headers() == bearer("a")
    assert await certificates.certificate() == ClientCertificate(CERTIFICATE.encode(), KEY.encode())


async def test_a_token_comes_without_a_certificate_and_the_other_way_round() -> None:
    assert await credentials(Plugins(answer("a"))).certificate() is None
    assert await credentials(Plugins(answer(certificate=True))).headers() == {}


async def test_the_plugin_runs_when_it_is_first_needed_and_then_no_more() -> None:
    plugins = Plugins(answer("a"))
    made = credentials(plugins)
    await asyncio.sleep(HOUR)
    assert plugins.runs == []
    for _ in range(3):
        assert await made.headers() == bearer("a")
        await made.certificate()
        await asyncio.sleep(1000 * HOUR)
    assert len(plugins.runs) == 1


async def test_it_runs_again_when_what_it_gave_has_expired() -> None:
    plugins = Plugins(answer("a", expires=60), answer("b", expires=120))
    made = credentials(plugins)
    assert await made.headers() == bearer("a")
    await asyncio.sleep(58.9)
    assert (await made.headers(), len(plugins.runs)) == (bearer("a"), 1)
    await asyncio.sleep(0.1)
    assert (await made.headers(), len(plugins.runs)) == (bearer("b"), 2)


async def test_an_answer_that_came_expired_is_for_one_request() -> None:
    plugins = Plugins(answer("a", certificate=True, expires=-HOUR), answer("b", expires=HOUR))
    made = credentials(plugins)
    assert await made.headers() == bearer("a")
    assert await made.certificate() is not None
    assert len(plugins.runs) == 1
    await asyncio.sleep(1)
    assert await made.headers() == bearer("b")


@pytest.mark.parametrize(
    ("after", "changed"),
    [
        (answer("b", certificate=True), True),
        (answer("a", certificate="new"), True),
        (answer("a"), True),
        (answer(certificate=True), True),
        (answer("a", certificate=True), False),
        (answer("a", certificate=True, expires=HOUR), False),
    ],
)
async def test_a_refresh_runs_it_and_says_whether_there_is_something_else(
    after: Finished, changed: bool
) -> None:
    plugins = Plugins(answer("a", certificate=True), after)
    made = credentials(plugins)
    await made.headers()
    assert await made.refresh() is changed
    assert len(plugins.runs) == 2


async def test_a_refresh_before_anything_was_needed_brings_something_new() -> None:
    plugins = Plugins(answer("a"))
    assert await credentials(plugins).refresh() is True
    assert len(plugins.runs) == 1


async def test_all_who_need_it_share_one_run() -> None:
    plugins = Plugins(answer("a", certificate=True))
    made = credentials(plugins)
    asked: list[Callable[[], Coroutine[Any, Any, object]]] = [
        made.headers,
        made.certificate,
        made.refresh,
    ]
    await asyncio.gather(*(ask() for ask in asked * 10))
    assert (len(plugins.runs), now()) == (1, 1)


async def test_refreshes_share_a_run_and_are_told_the_same() -> None:
    plugins = Plugins(answer("a"), answer("b"))
    made = credentials(plugins)
    await made.headers()
    assert await asyncio.gather(*(made.refresh() for _ in range(10))) == [True] * 10
    assert len(plugins.runs) == 2


async def test_requests_do_not_wait_for_a_refresh_while_what_there_is_has_not_expired() -> None:
    plugins = Plugins(answer("a"), answer("b"))
    made = credentials(plugins)
    await made.headers()
    refresh = asyncio.create_task(made.refresh())
    await asyncio.sleep(0.5)
    assert await made.headers() == bearer("a")
    await refresh
    assert await made.headers() == bearer("b")


async def test_a_failure_is_for_those_who_waited_and_the_next_one_tries_again() -> None:
    plugins = Plugins(Finished(1, b""), answer("a"))
    made = credentials(plugins)
    failures = await asyncio.gather(*(made.headers() for _ in range(3)), return_exceptions=True)
    assert [type(failed) for failed in failures] == [CredentialsFailed] * 3
    assert len(plugins.runs) == 1
    assert await made.headers() == bearer("a")


async def test_what_there_was_stays_when_a_refresh_fails() -> None:
    plugins = Plugins(answer("a"), Finished(1, b""), answer("b"))
    made = credentials(plugins)
    await made.headers()
    await failure(made.refresh())
    assert await made.headers() == bearer("a")
    assert await made.refresh() is True


@pytest.mark.clause("N4")
async def test_a_pair_that_cannot_be_used_is_the_failure_of_its_run_and_not_kept() -> None:
    one, other = authority(), authority()

    def gave(key: bytes) -> Finished:
        pair = {"Certificate": one.client_pem, "Key": key}
        fields = {f"client{part}Data": text.decode() for part, text in pair.items()}
        return Finished(0, json.dumps(credential(**fields)).encode())

    plugins = Plugins(gave(other.client_key_pem), gave(one.client_key_pem))
    made = ExecCredentials(plugin(), start=plugins, now=wall_clock, environ=ENVIRON)
    with pytest.raises(CredentialsFailed) as caught:
        await made.certificate()
    assert "the exec plugin 'aws' of user 'alice' in /k" in str(caught.value)
    assert "does not belong to the client certificate" in str(caught.value)
    assert await made.certificate() == ClientCertificate(one.client_pem, one.client_key_pem)
    assert len(plugins.runs) == 2


@pytest.mark.clause("H15")
async def test_requests_that_are_refused_at_the_same_time_share_a_run_that_fails() -> None:
    plugins = Plugins(answer("old"), Finished(1, b"", b"log in first"))
    asked = Asked(only("new"), credentials=credentials(plugins))
    failed = await asyncio.gather(*(asked.send() for _ in range(20)), return_exceptions=True)
    for error in failed:
        assert isinstance(error, Unauthorized)
        assert "log in first" in error.__notes__[-1]
    assert len(plugins.runs) == 2


async def test_what_has_expired_is_not_used_when_the_plugin_fails() -> None:
    made = credentials(Plugins(answer("a", expires=10), Finished(1, b"")))
    await made.headers()
    await asyncio.sleep(10)
    await failure(made.headers())


@pytest.mark.parametrize("gone", range(3))
async def test_one_who_gives_up_does_not_spoil_it_for_the_others(gone: int) -> None:
    plugins = Plugins(answer("a"))
    made = credentials(plugins)
    askers = [asyncio.create_task(made.headers()) for _ in range(3)]
    await asyncio.sleep(0.5)
    askers.pop(gone).cancel()
    assert await asyncio.gather(*askers) == [bearer("a")] * 2
    assert (len(plugins.runs), plugins.runs[0].kills) == (1, 0)


async def test_when_all_have_given_up_it_is_killed() -> None:
    plugins = Plugins(answer("a"))
    made = credentials(plugins)
    for _ in range(2):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await asyncio.gather(made.headers(), made.certificate(), made.refresh())
    assert [run.kills for run in plugins.runs] == [1, 1]
    assert plugins.alive == 0
    assert await made.headers() == bearer("a")


async def test_the_next_run_begins_when_a_killed_one_is_gone() -> None:
    plugins = Plugins(answer("a"), answer("b"), dies_after=5)
    made = credentials(plugins, interactive_mode=InteractiveMode.ALWAYS, terminal=True)
    first = asyncio.create_task(made.headers())
    await asyncio.sleep(0.5)
    first.cancel()
    assert await made.headers() in (bearer("a"), bearer("b"))
    assert plugins.most_at_once == 1


async def test_it_gets_our_environment_and_that_of_the_kubeconfig_on_top() -> None:
    plugins = Plugins(answer("a"))
    await credentials(
        plugins,
        args=("eks", "get-token"),
        env=(("A", "theirs"), ("B", ""), ("PATH", "/opt"), ("KUBERNETES_EXEC_INFO", "theirs")),
    ).headers()
    [run] = plugins.runs
    assert run.argv == ("aws", "eks", "get-token")
    assert run.info == {
        "kind": "ExecCredential",
        "apiVersion": "client.authentication.k8s.io/v1",
        "spec": {"interactive": False},
    }
    assert {**run.environ, "KUBERNETES_EXEC_INFO": None} == {
        "HOME": "/home/alice",
        "A": "theirs",
        "B": "",
        "PATH": "/opt",
        "KUBERNETES_EXEC_INFO": None,
    }
    assert run.search == "/bin:/usr/bin"
    assert run.timeout == 300


async def test_our_environment_is_as_it_is_when_the_plugin_runs() -> None:
    plugins = Plugins(answer("a"), answer("b"))
    environ = {"A": "1"}
    made = ExecCredentials(
        plugin(), start=plugins, environ=environ, now=wall_clock, check=lambda *_: None
    )
    await made.headers()
    environ["A"] = "2"
    await made.refresh()
    assert [run.environ["A"] for run in plugins.runs] == ["1", "2"]


async def test_it_is_told_of_the_cluster_where_the_kubeconfig_says_so() -> None:
    plugins = Plugins(answer("a"))
    await credentials(plugins, cluster=ClusterInfo(server="https://prod:6443")).headers()
    assert plugins.runs[0].info["spec"]["cluster"] == {"server": "https://prod:6443"}


@pytest.mark.parametrize(
    ("mode", "terminal", "interactive"),
    [
        (InteractiveMode.NEVER, False, False),
        (InteractiveMode.NEVER, True, False),
        (InteractiveMode.IF_AVAILABLE, False, False),
        (InteractiveMode.IF_AVAILABLE, True, True),
        (InteractiveMode.ALWAYS, True, True),
    ],
)
async def test_it_may_ask_where_it_wants_to_and_there_is_a_terminal(
    mode: InteractiveMode, terminal: bool, interactive: bool
) -> None:
    plugins = Plugins(answer("a"))
    await credentials(plugins, terminal, interactive_mode=mode).headers()
    [run] = plugins.runs
    assert run.interactive is interactive
    assert run.info["spec"]["interactive"] is interactive


async def test_one_that_has_to_ask_is_not_run_where_there_is_nobody_to_ask() -> None:
    plugins = Plugins(answer("a"))
    said = await failure(credentials(plugins, interactive_mode=InteractiveMode.ALWAYS).headers())
    assert "the exec plugin 'aws' of user 'alice' in /k was not run" in said
    assert "interactiveMode is Always" in said
    assert "not a terminal" in said
    assert plugins.runs == []


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (Finished(3, b"", b"no session\n"), ["ended with exit code 3", ":\nno session"]),
        (Finished(3, b"", b""), ["ended with exit code 3"]),
        (Finished(-15, b"", b"bye"), ["ended by signal 15", "bye"]),
        (
            Finished(-9, b"", b"go to https://login", "did not end within 300 s"),
            ["was killed, because it did not end within 300 s", "go to https://login"],
        ),
        (Finished(0, b"", b"oh dear"), ["printed nothing"]),
        (Finished(0, SECRET.encode(), b""), ["printed something that is not JSON"]),
        (Finished(1, SECRET.encode(), b""), ["exit code 1"]),
        (
            FileNotFoundError(errno.ENOENT, "there is no such program in the folders of PATH"),
            ["was not found: there is no such program in the folders of PATH"],
        ),
        (PermissionError(errno.EACCES, "Permission denied"), ["be started: Permission denied"]),
        (OSError(), ["cannot be started: OSError"]),
        (ValueError(f"embedded null byte {SECRET}"), ["character", "cannot pass on"]),
        (RuntimeError(SECRET), ["could not be run: RuntimeError"]),
    ],
)
async def test_a_failure_says_what_happened_and_shows_no_output(
    outcome: Finished | Exception, words: list[str]
) -> None:
    said = await failure(credentials(Plugins(outcome)).headers())
    assert said.startswith("the exec plugin 'aws' of user 'alice' in /k ")
    for word in words:
        assert word in said


async def test_where_it_is_not_installed_the_kubeconfigs_own_hint_is_shown() -> None:
    plugins = Plugins(FileNotFoundError(errno.ENOENT, "there is no such file"), takes=0)
    hint = "Install it:\n\tbrew \x1b[31minstall\x1b[0m \x07awscli\r\n"
    said = await failure(credentials(plugins, install_hint=hint).headers())
    assert said.endswith("The kubeconfig says of it:\nInstall it:\n\tbrew install awscli")
    other = Plugins(PermissionError(errno.EACCES, "Permission denied"))
    assert "brew" not in await failure(credentials(other, install_hint=hint).headers())


@pytest.mark.clause("N4")
@pytest.mark.parametrize(
    "changes",
    [
        {"env": (("AWS_SECRET_ACCESS_KEY", SECRET),)},
        {"env": (("AWS_SECRET_ACCESS_KEY", f"{SECRET}\n"),)},
        {"env": (("KEY", f"-----BEGIN\n  {SECRET}\n  x"),)},
        {"args": (f"--client-secret={SECRET}",)},
        {"args": ("get-token", "--oidc-client-secret", SECRET)},
        {"args": ("-password", SECRET)},
    ],
)
async def test_secrets_of_the_kubeconfig_are_cut_out_of_standard_error(
    changes: dict[str, Any],
) -> None:
    made = credentials(Plugins(Finished(1, b"", f"bad key '{SECRET}'!".encode())), **changes)
    assert (await failure(made.headers())).endswith("bad key '<hidden>'!")
    assert SECRET not in repr(made) + repr(vars(made)["_plugin"]) + made.description


@pytest.mark.clause("N4")
async def test_the_credential_is_cut_out_of_standard_error() -> None:
    held = json.dumps(
        credential(token=SECRET, clientCertificateData=CERTIFICATE, clientKeyData=KEY)
    )
    line = KEY.splitlines()[1]
    stderr = f"had {SECRET}\n  {line}\nwarning: 1 {CERTIFICATE}end".encode()
    plugins = Plugins(Finished(0, held.encode()), Finished(1, b"", stderr))
    made = credentials(plugins)
    await made.headers()
    expected = "had <hidden>\n  <hidden>\nwarning: 1 <hidden>\nend"
    assert (await failure(made.refresh())).endswith(expected)
    # One that was never ours: it printed it and failed.
    plugins = Plugins(Finished(1, held.encode(), stderr))
    assert (await failure(credentials(plugins).headers())).endswith(expected)


@pytest.mark.clause("N4")
@pytest.mark.parametrize(
    "secret",
    [
        "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.c2ln",
        "k8s-aws-v1.aHR0cHM6Ly9zdHMu",
        "ya29.a0AfH6SMC",
        KEY,
        KEY[:-10],
    ],
)
async def test_what_looks_like_a_secret_is_cut_out_of_standard_error(secret: str) -> None:
    plugins = Plugins(Finished(1, b"", b"error: " + secret.encode()))
    assert (await failure(credentials(plugins).headers())).endswith(":\nerror: <hidden>")


@pytest.mark.clause("N4")
async def test_secrets_of_our_own_environment_are_cut_out_of_standard_error() -> None:
    made = credentials(
        Plugins(Finished(1, b"", f"denied for {SECRET} in eu-1".encode())),
        environ={"AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": "eu-1"},
    )
    assert (await failure(made.headers())).endswith("denied for <hidden> in eu-1")


@pytest.mark.clause("N4")
async def test_the_passwords_of_urls_and_headers_are_cut_out_of_standard_error() -> None:
    basic = base64.b64encode(f"alice:{SECRET}".encode()).decode()
    stderr = (
        f"via http://me:{SECRET}@proxy:3128/\nAuthorization: Bearer {SECRET}\n"
        f"> authorization: Basic {basic}\nfailed"
    )
    said = await failure(credentials(Plugins(Finished(1, b"", stderr.encode()))).headers())
    assert said.endswith(
        ":\nvia http://<hidden>@proxy:3128/\nAuthorization: Bearer <hidden>\n"
        "> authorization: Basic <hidden>\nfailed"
    )


async def test_of_a_long_standard_error_the_end_is_shown() -> None:
    stderr = b"\xff" + "é".encode() * 5000 + b"\nthe reason"
    said = await failure(credentials(Plugins(Finished(1, b"", stderr))).headers())
    shown = said.partition(":\n")[2]
    assert shown.startswith("...é")
    assert shown.endswith("é\nthe reason")
    assert 2000 <= len(shown.encode()) <= 2048 + 3


async def test_a_secret_is_not_cut_in_two_by_the_limit() -> None:
    stderr = (SECRET * 1000).encode() + b"x"
    made = credentials(Plugins(Finished(1, b"", stderr)), env=(("A", SECRET),))
    said = await failure(made.headers())
    assert said.count("<hidden>") >= 250
    assert "alice" not in said.partition(":\n")[2]


@pytest.mark.clause("N4")
async def test_of_a_giant_standard_error_only_whole_lines_at_its_end_are_looked_at() -> None:
    # What is cut off begins inside a key, which shows as one by its beginning only.
    line = f"-----BEGIN PRIVATE KEY-----{'MIGkey' * 15_000}-----END PRIVATE KEY-----\n"
    stderr = f"{line}{line}the reason".encode()
    said = await failure(credentials(Plugins(Finished(1, b"", stderr))).headers())
    assert said.endswith(":\n<hidden>\nthe reason")


async def test_standard_error_does_not_reach_the_terminal_as_orders() -> None:
    stderr = b"\x1b[31mno\x1b[0m \x1b]0;title\x07session\r\n\x00\x9b2J"
    said = await failure(credentials(Plugins(Finished(1, b"", stderr))).headers())
    assert said.partition(":\n")[2].replace("\ufffd", "") == "no session\n2J"


async def test_a_clock_that_fails_leaves_nobody_waiting() -> None:
    made = ExecCredentials(
        plugin(),
        check=lambda certificate, source: None,
        start=Plugins(answer("a", expires=1)),
        now=lambda: 1 // 0,  # type: ignore[arg-type, return-value]
    )
    with pytest.raises(ZeroDivisionError):
        await made.headers()


async def test_what_is_shown_of_them_names_command_and_user() -> None:
    made = credentials(Plugins(answer(SECRET, certificate=True)), args=(SECRET,))
    await made.headers()
    plugin = "the exec plugin 'aws' of user 'alice' in /k"
    assert description_of(made) == f"the credential that came from {plugin}"
    assert repr(made) == """ExecCredentials(command='aws', user="user 'alice' in /k")"""
    assert SECRET not in repr(vars(made))


async def test_of_a_giant_line_it_is_only_said_that_there_was_one() -> None:
    stderr = b"{" + b"x" * 200_000 + b"} the reason\n"
    said = await failure(credentials(Plugins(Finished(1, b"", stderr))).headers())
    assert said.endswith("(a line of more than 128 KiB)")
