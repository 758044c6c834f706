"""client-go as an operator has it: the small Go program beside this file, built and run."""

from __future__ import annotations

import fcntl
import json
import os
import queue
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from conformance.binaries import BinariesUnavailable, cache_folder
from conformance.streams import PATIENCE

SOURCES = Path(__file__).parent / "go"

Line = Mapping[str, Any]
"""What it told of: ``type``, and where there is one ``name``, ``version`` or ``store``."""


def build(say: Callable[[str], None] = lambda line: None) -> Path:
    """Build the program, unless it is up to date, and say where it is.

    Safe to call from many processes at once. Raises BinariesUnavailable with the reason.
    """
    if (go := shutil.which("go")) is None:
        raise BinariesUnavailable("no Go to build the client-go program with")
    folder = cache_folder().parent / "client-go"
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "follower"
    if not program.exists():
        say("building the client-go program (minutes when the Go caches are empty)")
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Go's own cache knows what is up to date. Renamed when whole: another may be running it.
        unfinished = folder / ".follower"
        command = [go, "build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags=-s"]
        done = subprocess.run(
            [*command, "-o", str(unfinished), "."],
            cwd=SOURCES,
            env={**os.environ, "CGO_ENABLED": "0", "GOWORK": "off", "GOFLAGS": ""},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
            raise BinariesUnavailable(f"go build of the client-go program failed: {reason}")
        unfinished.replace(program)
    return program


class Follower:
    """A running program, and what it tells."""

    def __init__(self, command: Sequence[str | Path], log: Path, *, watch_list: bool) -> None:
        self.what = " ".join(str(word) for word in command[5:])
        self._log = log
        with log.open("wb") as errors:
            self._process = subprocess.Popen(
                [str(word) for word in command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env={
                    "PATH": os.environ.get("PATH", os.defpath),
                    "HOME": str(log.parent),
                    "KUBE_FEATURE_WatchListClient": str(watch_list).lower(),
                },
            )
        self._lines: queue.Queue[Line | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, name="follower", daemon=True)
        self._reader.start()

    def until(self, kind: str, name: str = "") -> list[Line]:
        """Wait for it to tell of this, and give all that it told up to then."""
        told: list[Line] = []
        while not told or (told[-1]["type"], told[-1].get("name", "")) != (kind, name):
            try:
                line = self._lines.get(timeout=2 * PATIENCE)
            except queue.Empty:
                line = None
            if line is None:
                raise AssertionError(
                    f"client-go ({self.what}) did not tell of {kind} {name}, but of {told}; "
                    f"its log ends: {self._log.read_text()[-2000:]}"
                )
            told.append(line)
        return told

    def store(self) -> dict[str, str]:
        """The versions of the objects that it has, by their names."""
        self._input.write("\n")
        self._input.flush()
        return dict(self.until("STORE")[-1].get("store", {}))

    def pause(self) -> None:
        """Stop it where it stands. Its connections stay, and what is sent to it waits."""
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def leave(self) -> None:
        """Have it end in peace; it may tell of that."""
        self._input.close()

    def stop(self) -> None:
        """End it."""
        if not self._input.closed:
            self._input.close()
        self._process.kill()
        self._process.wait()
        self._reader.join()
        assert self._process.stdout is not None
        self._process.stdout.close()

    @property
    def _input(self) -> Any:
        return self._process.stdin

    def _read(self) -> None:
        assert self._process.stdout is not None
        for text in self._process.stdout:
            self._lines.put(json.loads(text))
        self._lines.put(None)


@contextmanager
def running(
    program: Path,
    kubeconfig: Path,
    namespace: str,
    *words: str,
    watch_list: bool = True,
) -> Iterator[Follower]:
    """Run the program, and end it afterwards."""
    command: list[str | Path] = [
        program,
        "-kubeconfig",
        kubeconfig,
        "-namespace",
        namespace,
        *words,
    ]
    follower = Follower(command, kubeconfig.with_suffix(".log"), watch_list=watch_list)
    try:
        yield follower
    finally:
        follower.stop()
