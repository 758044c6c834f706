"""Exec plugins for tests: some that are no programs and run on the event loop's own time, and
scripts for the interpreter that runs the tests."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from listwatch.rest.exec._program import Finished

VERSION = "client.authentication.k8s.io/v1"
EPOCH = datetime(2026, 1, 31, 12, tzinfo=UTC)
"""When the loop's clock shows 0."""

KEY = "-----BEGIN PRIVATE KEY-----\nMIGkeykeykeykeykeykey\n-----END PRIVATE KEY-----\n"
CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMIICcertcertcertcert\n-----END CERTIFICATE-----\n"


def wall_clock() -> datetime:
    """The wall's time, which goes with the loop's."""
    return EPOCH + timedelta(seconds=asyncio.get_running_loop().time())


def at(seconds: float) -> str:
    return (EPOCH + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")


def credential(**status: Any) -> dict[str, Any]:
    return {"kind": "ExecCredential", "apiVersion": VERSION, "status": status}


def answer(
    token: str = "", *, certificate: bool | str = False, expires: float | None = None
) -> Any:
    """How a plugin ends that gave this; `certificate` is a word in it."""
    status: dict[str, Any] = {"token": token} if token else {}
    if certificate:
        word = certificate if isinstance(certificate, str) else ""
        status["clientCertificateData"] = CERTIFICATE + word
        status["clientKeyData"] = KEY
    if expires is not None:
        status["expirationTimestamp"] = at(expires)
    return Finished(0, json.dumps(credential(**status)).encode())


@dataclass
class Run:
    """One run of a plugin."""

    argv: tuple[str, ...]
    environ: Mapping[str, str]
    search: str
    interactive: bool
    timeout: float
    done: Callable[[Finished | Exception], None] = field(repr=False)
    is_over: bool = False
    kills: int = 0

    @property
    def info(self) -> Any:
        return json.loads(self.environ["KUBERNETES_EXEC_INFO"])

    def end(self, outcome: Finished | Exception) -> None:
        if not self.is_over:
            self.is_over = True
            self.done(outcome)


class Plugins:
    """A `StartProgram` whose programs take `takes` seconds, and end one after the other with one of
    `outcomes`; the last one is for all that follow. Killed they take `dies_after` seconds more.

    With `takes=None` they run until the test calls `end`.
    """

    def __init__(
        self,
        *outcomes: Finished | Exception,
        takes: float | None = 1.0,
        dies_after: float = 0.0,
    ) -> None:
        self._outcomes = list(outcomes)
        self._takes = takes
        self._dies_after = dies_after
        self.runs: list[Run] = []
        self.most_at_once = 0

    def __call__(
        self,
        argv: Sequence[str],
        environ: Mapping[str, str],
        *,
        search: str,
        interactive: bool,
        timeout: float,
        done: Callable[[Finished | Exception], None],
    ) -> Callable[[], None]:
        run = Run(tuple(argv), dict(environ), search, interactive, timeout, done)
        self.runs.append(run)
        self.most_at_once = max(self.most_at_once, self.alive)
        if self._takes is not None:
            outcome = self._outcomes.pop(0) if len(self._outcomes) > 1 else self._outcomes[0]
            asyncio.get_running_loop().call_later(self._takes, run.end, outcome)

        def kill() -> None:
            run.kills += 1
            if self._dies_after:
                asyncio.get_running_loop().call_later(self._dies_after, run.end, Finished(-9, b""))
            else:
                run.end(Finished(-9, b""))

        return kill

    @property
    def alive(self) -> int:
        return sum(not run.is_over for run in self.runs)


def script(path: Path, text: str) -> Path:
    """An executable file of Python."""
    path.write_text(f"#!{sys.executable}\n{text}")
    path.chmod(0o755)
    return path
