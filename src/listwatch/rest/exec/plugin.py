"""Credentials from a program, as kubectl has them from its exec plugins: `aws eks get-token`,
`gke-gcloud-auth-plugin`, `kubelogin` (N2)."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from ..credentials import ClientCertificate
from ..errors import ConfigError, CredentialsFailed
from ..tls import check_certificate
from ._program import Finished, StartProgram, start_program
from ._shared_run import SharedRun
from ._stderr_text import end_of, printable, secret_arguments, secret_variables
from .credential import (
    ClusterInfo,
    ExecCredential,
    ExecVersion,
    exec_info,
    parse_exec_credential,
)

__all__ = ["ExecCredentials", "ExecPlugin", "InteractiveMode"]

_log = logging.getLogger("listwatch.rest")

_EXEC_INFO = "KUBERNETES_EXEC_INFO"

_AT_LEAST = timedelta(seconds=1)
"""For how long a credential is good that came with an expiry in the past, where the plugin's clock
or ours is wrong: long enough for headers and certificate of one request."""


class InteractiveMode(StrEnum):
    """What a plugin wants with standard input."""

    NEVER = "Never"
    IF_AVAILABLE = "IfAvailable"
    ALWAYS = "Always"


@dataclass(frozen=True, kw_only=True)
class ExecPlugin:
    """What a kubeconfig says of a plugin.

    Its arguments and variables may hold secrets, and are shown nowhere.

    >>> ExecPlugin(
    ...     user="alice",
    ...     command="aws",
    ...     env=(("AWS_SECRET_ACCESS_KEY", "x"),),
    ...     version=ExecVersion.V1,
    ...     interactive_mode=InteractiveMode.NEVER,
    ... ).description
    "the exec plugin 'aws' of alice"
    """

    user: str
    """Whose it is, and where that is written: `user 'alice' in /home/alice/.kube/config`."""
    command: str
    """A path, or a name that is looked for in PATH."""
    args: tuple[str, ...] = field(default=(), repr=False)
    env: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """Variables on top of our own environment."""
    version: ExecVersion
    interactive_mode: InteractiveMode
    cluster: ClusterInfo | None = field(default=None, repr=False)
    """None where the kubeconfig does not say `provideClusterInfo`."""
    install_hint: str = ""

    @property
    def description(self) -> str:
        return f"the exec plugin {self.command!r} of {self.user}"


class ExecCredentials:
    """Credentials and client certificate from an exec plugin.

    The plugin runs when the first request needs it, when what it gave has expired, and on `refresh`
    (a 401; never a 403). One run at a time: all who need it meanwhile, in any event loop or thread,
    wait for that one. Who gives up does not disturb the others; when none is left, the program is
    killed. A run that fails fails the requests that waited for it, with `CredentialsFailed`, and
    the next request tries again: how soon is for the caller to pace.

    `timeout` is the number of seconds after which the program is killed. The default of five
    minutes is so long because it may wait for a person who logs in in a browser; client-go waits
    for ever. `now` gives the time that expiries are compared with, aware. `start` runs programs;
    `stdin_is_terminal` says whether there is somebody to ask; `environ` is our own environment.
    """

    def __init__(
        self,
        plugin: ExecPlugin,
        *,
        timeout: float = 300.0,
        start: StartProgram = start_program,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        stdin_is_terminal: Callable[[], bool] = lambda: os.isatty(0),
        environ: Mapping[str, str] = os.environ,
        check: Callable[[ClientCertificate, str], None] = check_certificate,
    ) -> None:
        self.description = f"the credential that came from {plugin.description}"
        self._plugin = plugin
        self._timeout = timeout
        self._start = start
        self._now = now
        self._stdin_is_terminal = stdin_is_terminal
        self._environ = environ
        self._check = check
        self._held: SharedRun[_Held] = SharedRun(self._begin)

    async def headers(self) -> Mapping[str, str]:
        """The token as `Authorization`, empty if the plugin gives a certificate only. Raises
        `CredentialsFailed`.
        """
        return (await self._held.get(self._is_good)).credential.headers

    async def certificate(self) -> ClientCertificate | None:
        """None if the plugin gives a token only. Raises `CredentialsFailed`."""
        return (await self._held.get(self._is_good)).credential.certificate

    async def refresh(self) -> bool:
        """Run the plugin, or wait for it where it is running, and say whether there is another
        token or certificate than before. Raises `CredentialsFailed`; what was there stays.
        """
        before = self._held.value
        after = await self._held.get(lambda held: held is not before)
        return before is None or not after.credential.proves_the_same_as(before.credential)

    def __repr__(self) -> str:
        return f"ExecCredentials(command={self._plugin.command!r}, user={self._plugin.user!r})"

    def _is_good(self, held: _Held) -> bool:
        return held.until is None or self._now() < held.until

    def _begin(self, report: Callable[[_Held | Exception], None]) -> Callable[[], None]:
        plugin = self._plugin
        interactive = self._is_interactive()
        info = exec_info(plugin.version, interactive=interactive, cluster=plugin.cluster)
        _log.debug("%s is run", plugin.description)
        return self._start(
            (plugin.command, *plugin.args),
            {**self._environ, **dict(plugin.env), _EXEC_INFO: info},
            search=self._environ.get("PATH", os.defpath),  # ours, as in kubectl
            interactive=interactive,
            timeout=self._timeout,
            done=lambda end: report(self._outcome(end)),
        )

    def _is_interactive(self) -> bool:
        mode = self._plugin.interactive_mode
        if mode is InteractiveMode.NEVER:
            return False
        interactive = self._stdin_is_terminal()
        if mode is InteractiveMode.ALWAYS and not interactive:
            raise CredentialsFailed(
                f"{self._plugin.description} was not run: its interactiveMode is Always, but"
                " standard input is not a terminal. Run this program in a terminal, or give it a"
                " user that needs no one to log in, such as a service account with a token"
            )
        return interactive

    def _outcome(self, end: Finished | Exception) -> _Held | Exception:
        """Of a run. Never raises: somebody waits for it."""
        try:
            return self._judge(end)
        except Exception as error:  # of a clock that gives naive times, say
            return error

    def _judge(self, end: Finished | Exception) -> _Held | Exception:
        if isinstance(end, Exception):
            return self._not_started(end)
        if end.killed:
            return self._failed(f"was killed, because it {end.killed}", end)
        if end.code < 0:
            return self._failed(f"was ended by signal {-end.code}", end)
        if end.code:
            return self._failed(f"ended with exit code {end.code}", end)
        try:
            credential = parse_exec_credential(end.stdout, self._plugin.version)
        except CredentialsFailed as error:
            return CredentialsFailed(f"{self._plugin.description} {error}")
        if credential.certificate is not None:
            try:
                # Now, for what is kept is not asked for again.
                self._check(credential.certificate, f"what {self._plugin.description} gave")
            except ConfigError as error:
                return CredentialsFailed(str(error))
        until = credential.expires
        if until is not None:
            now = self._now()
            until = until if until > now else now + _AT_LEAST
        return _Held(credential, until)

    def _not_started(self, error: Exception) -> CredentialsFailed:
        if isinstance(error, FileNotFoundError):
            hint = printable(self._plugin.install_hint).strip()
            problem = f"was not found: {error.strerror}"
            problem += f". The kubeconfig says of it:\n{hint}" if hint else ""
        elif isinstance(error, OSError):
            problem = f"cannot be started: {error.strerror or type(error).__name__}"
        elif isinstance(error, ValueError):
            problem = (
                "cannot be started: its path, arguments or variables have a character in them that"
                " the system cannot pass on"
            )
        else:
            problem = f"could not be run: {type(error).__name__}"
        return CredentialsFailed(f"{self._plugin.description} {problem}")

    def _failed(self, problem: str, end: Finished) -> CredentialsFailed:
        said = end_of(end.stderr, self._secrets(end))
        if said:
            problem += f". It wrote on standard error:\n{said}"
        return CredentialsFailed(f"{self._plugin.description} {problem}")

    def _secrets(self, end: Finished) -> list[str]:
        """Every secret that we know of, and that the program may have shown."""
        secrets = [value for _, value in self._plugin.env]
        secrets += secret_variables(self._environ)
        secrets += secret_arguments(self._plugin.args)
        held = self._held.value
        known = [held.credential] if held is not None else []
        with contextlib.suppress(CredentialsFailed):  # most programs that fail print none
            known.append(parse_exec_credential(end.stdout, self._plugin.version))
        for credential in known:
            secrets.append(credential.token)
            if credential.certificate is not None:
                secrets.append(credential.certificate.certificate.decode())
                secrets.append(credential.certificate.key.decode())
        return secrets


@dataclass(frozen=True, slots=True, eq=False)
class _Held:
    """What one run gave."""

    credential: ExecCredential
    until: datetime | None
