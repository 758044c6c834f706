"""How long a container runs, and how it ends, as far as its command tells."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Run", "run_of"]

_WORK = 1.0
"""Seconds that a Job's container works when its command does not tell."""
_SHORT = 0.1
_sleeps = re.compile(r"\bsleep (\d+(?:\.\d+)?)(?!\S*inf)").findall
_exits = re.compile(r"\bexit (\d+)").findall
_ENDS = frozenset(
    {"true", "false", "echo", "date", "exit", "printenv", "env"}
    | {"wget", "curl", "nc", "nslookup"}  # the tests of Helm's charts; whom they ask answers
)


@dataclass(frozen=True, slots=True)
class Run:
    """What a container does from its start on."""

    seconds: float
    code: int
    """With which it exits."""


def run_of(container: Mapping[str, Any], *, works: bool) -> Run | None:
    """None: it runs until it is told to end, as a server does. `works`: it is a Job's.

    >>> run_of({"command": ["sh", "-c", "sleep 3; exit 4"]}, works=False)
    Run(seconds=3.0, code=4)
    """
    words = [*(container.get("command") or ()), *(container.get("args") or ())]
    text = " ".join(str(word) for word in words)
    if "sleep inf" in text:
        return None
    code = int(found[-1]) if (found := _exits(text)) else 0
    if words and str(words[-1]).strip().split(" ")[-1:] == ["false"]:
        code = 1
    sleeps = [float(seconds) for seconds in _sleeps(text)]
    if sleeps:
        return Run(sum(sleeps), code)
    if works:
        return Run(_WORK, code)
    first = str(words[0]) if words else ""
    first = first.rpartition("/")[2]
    if found or first in _ENDS or (first in ("sh", "bash") and _ends(words)):
        return Run(_SHORT, code)
    return None


def _ends(words: list[Any]) -> bool:
    script = str(words[-1]).strip().split(" ")
    return len(words) > 2 and script[0] in _ENDS
