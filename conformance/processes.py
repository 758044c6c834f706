"""Child processes that write a log and never outlive the program that started them."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path

# The kernel's own picks for outgoing connections are 32768 and up. A port from below keeps free
# while a server that is to get it back is down.
_PORTS = range(20000, 30000)

# Reads "+ PID" and "- PID" until its standard input ends, which it does whichever way the writer
# dies, SIGKILL included; then kills the process groups still on the list and removes the folder.
_WATCHDOG = """
trap '' HUP INT TERM
groups=
while read -r sign pid; do
    if [ "$sign" = + ]; then
        groups="$groups $pid"
    else
        left=
        for one in $groups; do [ "$one" = "$pid" ] || left="$left $one"; done
        groups=$left
    fi
done
for one in $groups; do kill -9 "-$one" 2>/dev/null; done
# A server that is just dying may still write into the folder.
for turn in 1 2 3 4 5; do rm -rf "$1" 2>/dev/null && break; sleep 0.1; done
"""


class Watchdog:
    """Kills the registered process groups, and removes a folder, once we are gone or say so.

    PR_SET_PDEATHSIG would be simpler, but strikes when the *thread* that started the child ends,
    and a cluster may well be started from a worker thread; nor would it remove the folder.
    """

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", _WATCHDOG, "watchdog", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # Ctrl-C in a terminal goes to the whole foreground group: this is to survive it.
            start_new_session=True,
            bufsize=0,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def add(self, pid: int) -> None:
        self._write(f"+ {pid}\n")

    def remove(self, pid: int) -> None:
        self._write(f"- {pid}\n")

    def close(self) -> None:
        """Kill what is left, remove the folder and wait until that is done."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait()

    def _write(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode())


class Server:
    """One server: a process in a session of its own, with a log file."""

    def __init__(self, name: str, folder: Path, watchdog: Watchdog) -> None:
        self.name = name
        self.log = folder / f"{name}.log"
        self._home = folder
        self._watchdog = watchdog
        self._process: subprocess.Popen[bytes] | None = None
        self._log_start = 0

    @property
    def pid(self) -> int | None:
        """Its process id; None while it does not run."""
        return self._process.pid if self._process is not None and self.running else None

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self, command: Sequence[str | Path]) -> None:
        """Start it; returns at once."""
        if self.running:
            raise RuntimeError(f"{self.name} already runs")
        self.kill()  # reaps one that ended by itself
        with self.log.open("ab") as log:
            self._log_start = log.tell()
            self._process = subprocess.Popen(
                [str(word) for word in command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self._home,
                # Its settings come from its flags alone: no proxy, kubeconfig or home of the user.
                env={"PATH": os.environ.get("PATH", os.defpath), "HOME": str(self._home)},
                start_new_session=True,
            )
        self._watchdog.add(self._process.pid)

    def kill(self) -> None:
        """End it at once, as a crash would (SIGKILL), and wait until it is gone."""
        self._signal(signal.SIGKILL)
        self.wait()

    def terminate(self) -> None:
        """Ask it to end (SIGTERM); does not wait."""
        self._signal(signal.SIGTERM)

    def pause(self) -> None:
        """Make it hang: connections stay open, nothing is answered, until `resume`."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it has ended; False when that took longer than ``timeout`` seconds."""
        if self._process is None:
            return True
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            return False
        self._watchdog.remove(self._process.pid)
        self._process = None
        return True

    def log_tail(self, lines: int = 40) -> str:
        """The last lines it wrote since its latest start."""
        try:
            with self.log.open("rb") as log:
                log.seek(self._log_start)
                text = log.read().decode(errors="replace")
        except FileNotFoundError:
            return ""
        return "\n".join(text.splitlines()[-lines:])

    @property
    def lost_its_port(self) -> bool:
        """Whether it ended because somebody else had its port."""
        return not self.running and "address already in use" in self.log_tail()

    def _signal(self, number: signal.Signals) -> None:
        # Its group is its own pid. Once reaped the number may be another's, so never signal then.
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, number)


def free_port() -> int:
    """A loopback port that nobody has now; somebody may by the time it is used."""
    # From the system: a test may have seeded the shared generator, the same in each worker.
    choose = random.SystemRandom().choice
    while True:
        port = choose(_PORTS)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
