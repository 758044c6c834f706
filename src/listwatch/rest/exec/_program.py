"""Running a program, in a thread of its own: whatever event loop asked for it may stand still or
end."""

from __future__ import annotations

import atexit
import contextlib
import errno
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

__all__ = ["Finished", "StartProgram", "start_program"]

_LOOK = 0.05
"""Seconds between two looks at whether the program has ended although its output is still open: a
helper that it left behind may hold on to that. Its end is otherwise noticed at once."""

_OUTPUT = 8 * 1024 * 1024
"""Bytes of output after which a program is killed. What is wanted of it has a few thousand."""


@dataclass(frozen=True, slots=True)
class Finished:
    """How a program ended. It has been reaped."""

    code: int
    """Its exit code; minus the number of the signal that killed it."""
    stdout: bytes
    stderr: bytes = b""
    """Empty where it was not captured."""
    killed: str = ""
    """Why it was killed by us: `took longer than 5 s`, or empty."""

    def __repr__(self) -> str:
        return f"Finished(code={self.code}, <output hidden>)"


class StartProgram(Protocol):
    """How programs are started: `start_program`, or in tests something that only says so."""

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
        """Start `argv` with `environ` as its whole environment, without waiting for it.

        A bare name is looked for in the folders of `search` (a PATH). Where it is `interactive` it
        gets our standard input and error; else none, and its standard error is captured. After
        `timeout` seconds it is killed. `done` is called once, in any thread: when it has ended, or
        with the `OSError` or `ValueError` for which it could not be started.

        Returns what kills it, idempotent and for any thread: `done` is called all the same.
        """
        ...


def start_program(
    argv: Sequence[str],
    environ: Mapping[str, str],
    *,
    search: str,
    interactive: bool,
    timeout: float,
    done: Callable[[Finished | Exception], None],
) -> Callable[[], None]:
    """See `StartProgram`.

    A program that is not interactive gets a session of its own, so that those it has started are
    killed with it, and none can ask on the terminal behind our back. It is killed when the
    interpreter exits, too. One that is interactive may have turned off the echo of the terminal:
    where it is killed, the terminal is as it was.
    """
    program = _Program(list(argv), dict(environ), search, interactive, timeout, done)
    # A daemon, for the interpreter is not to wait for somebody who logs in.
    thread = threading.Thread(target=program.run, name="listwatch exec plugin", daemon=True)
    try:
        thread.start()
    except RuntimeError as error:
        done(OSError(errno.EAGAIN, f"no thread can be started for it: {error}"))
    return program.kill


class _Program:
    def __init__(
        self,
        argv: list[str],
        environ: dict[str, str],
        search: str,
        interactive: bool,
        timeout: float,
        done: Callable[[Finished | Exception], None],
    ) -> None:
        self._argv = argv
        self._environ = environ
        self._search = search
        self._interactive = interactive
        self._timeout = timeout
        self._done = done
        self._guard = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._terminal: list[Any] | None = None  # its settings
        self._killed = False

    def run(self) -> None:
        atexit.register(self.kill)
        try:
            outcome: Finished | Exception = self._run()
        except Exception as error:
            outcome = error
        finally:
            atexit.unregister(self.kill)
        self._done(outcome)

    def kill(self) -> None:
        with self._guard:
            self._killed = True
            process = self._process
        if process is None or process.poll() is not None:
            return
        if self._interactive or sys.platform == "win32":
            process.kill()
            _set_terminal(self._terminal)
        else:
            # It may have gone since, and with it whom it had started.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)

    def _run(self) -> Finished:
        with self._start() as process:
            try:
                return self._follow(process)
            except BaseException:
                self.kill()
                raise

    def _start(self) -> subprocess.Popen[bytes]:
        path = _locate(self._argv[0], self._search)
        if self._interactive:
            self._terminal = _terminal()
        try:
            process = subprocess.Popen(
                [path, *self._argv[1:]],
                env=self._environ,
                stdin=None if self._interactive else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=None if self._interactive else subprocess.PIPE,
                start_new_session=not self._interactive,
            )
        except FileNotFoundError as error:
            if not os.path.exists(path):
                raise
            raise OSError(
                errno.ENOEXEC, "the interpreter that its first line names is not there"
            ) from error
        with self._guard:
            self._process = process
            killed = self._killed
        if killed:  # while it was being started
            self.kill()
        return process

    def _follow(self, process: subprocess.Popen[bytes]) -> Finished:
        deadline = time.monotonic() + self._timeout  # of this thread, which has no event loop
        ended = False
        why = ""
        while True:
            try:
                stdout, stderr = process.communicate(timeout=_LOOK)
                break
            except subprocess.TimeoutExpired as so_far:
                stdout, stderr = so_far.stdout or b"", so_far.stderr or b""
            if ended:
                break  # and what it had written by then has been read
            ended = process.poll() is not None
            if not ended and not why:
                if time.monotonic() >= deadline:
                    why = f"did not end within {self._timeout:g} s"
                elif len(stdout) + len(stderr) > _OUTPUT:
                    why = f"printed more than {_OUTPUT // 1024**2} MiB"
                if why:
                    self.kill()
        return Finished(process.returncode, stdout, stderr or b"", why)


def _terminal() -> list[Any] | None:
    """How the terminal at our standard input is set."""
    if sys.platform == "win32":
        return None
    import termios

    try:
        return termios.tcgetattr(0)
    except termios.error:
        return None  # it is none, or gone


def _set_terminal(settings: list[Any] | None) -> None:
    if sys.platform == "win32" or settings is None:
        return
    import termios

    with contextlib.suppress(termios.error):  # it is gone
        if termios.tcgetattr(0) != settings:
            termios.tcsetattr(0, termios.TCSANOW, settings)


def _locate(command: str, search: str) -> str:
    """The path of a program. Raises `FileNotFoundError`, whose text says where it was looked for.

    As in Go one that would be found in the current folder only is not taken.
    """
    if os.path.dirname(command):
        if not os.path.exists(command):
            raise FileNotFoundError(errno.ENOENT, "there is no such file")
        return command
    path = shutil.which(command, path=search)
    if path is None or not os.path.isabs(path):
        raise FileNotFoundError(errno.ENOENT, "there is no such program in the folders of PATH")
    return path
