"""What a path of the guard is: some work that a program would ask for, for so many events.

A path is made ready by `make`, which gives two halves: calls that do the work for equally many
events. The first warms up; the second is what counts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.guard_compare import TOLERANCE
from bench.guard_data import Data

__all__ = ["BATCH", "READ", "Halves", "Path", "Step", "event_line", "list_body", "path", "reads"]

Step = Callable[[], object]
"""Does the work for some events. What it returns is what that made."""

Halves = tuple[Sequence[Step], Sequence[Step]]

READ = 64 * 1024
"""Bytes a read, as the transport reads."""

BATCH = 10
"""Events a batch: what one such read holds of these pods."""


@dataclass(frozen=True)
class Path:
    """One thing that is measured."""

    name: str
    what: str
    """One event of it, in words."""
    make: Callable[[Data], Halves]
    kind: str = "pods"
    """Which of the data it takes."""
    times: int | None = None
    """Events a half; None where each object is one."""
    tolerance: float = TOLERANCE
    untracked: bool = False
    """Whether nothing that it keeps may be tracked by the garbage collector, whatever the stored
    figures say.
    """

    def events(self, data: Data) -> int:
        """How many events each half is."""
        return len(data.first) if self.times is None else self.times


def path(
    name: str,
    what: str,
    *,
    kind: str = "pods",
    times: int | None = None,
    tolerance: float = TOLERANCE,
    untracked: bool = False,
) -> Callable[[Callable[[Data], Halves]], Path]:
    """A Path of the function that makes it ready."""

    def decorate(make: Callable[[Data], Halves]) -> Path:
        return Path(name, what, make, kind, times, tolerance, untracked)

    return decorate


def event_line(raw: bytes, kind: str = "MODIFIED") -> bytes:
    """An object as a watch sends it."""
    return b'{"type":"%s","object":%s}\n' % (kind.encode(), raw)


def list_body(half: Sequence[bytes]) -> bytes:
    """Typed objects as a LIST of a real server has them: items have no kind or apiVersion (D7)."""
    first = json.loads(half[0])
    version, kind = first["apiVersion"], first["kind"]
    head = f'{{"kind":"{kind}","apiVersion":"{version}",'.encode()
    items = b",".join(b"{" + raw.removeprefix(head) for raw in half)
    return (
        f'{{"kind":"{kind}List","apiVersion":"{version}","metadata":{{"resourceVersion":"5"}},'
        f'"items":['
    ).encode() + b"%s]}\n" % items


def reads(lines: Sequence[bytes], size: int = READ) -> list[bytes]:
    """A stream, as it arrives."""
    stream = b"".join(lines)
    return [stream[start : start + size] for start in range(0, len(stream), size)]
