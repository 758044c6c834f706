"""What a container prints, as far as its command tells: the words of its `echo`s."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

__all__ = ["Line", "printed_by"]

_SHELLS = frozenset({"sh", "bash", "/bin/sh", "/bin/bash"})
_STEPS = re.compile(r"&&|;|\n")
_SLEEP = re.compile(r"sleep (\d+(?:\.\d+)?)")
_VARIABLE = re.compile(r"\$(?:\((\w+)\)|\{(\w+)\}|(\w+))")


class Line(NamedTuple):
    """One line, so many seconds after the container's start."""

    after: float
    text: str


def printed_by(container: Mapping[str, Any]) -> list[Line]:
    """All that it prints, in order.

    >>> printed_by({"command": ["sh", "-c", "echo hello; sleep 2; echo world"]})
    [Line(after=0.0, text='hello'), Line(after=2.0, text='world')]
    """
    words = [
        str(each) for each in (*(container.get("command") or ()), *(container.get("args") or ()))
    ]
    variables = {
        str(each.get("name")): str(each.get("value") or "") for each in container.get("env") or ()
    }
    if not words:
        return []
    if words[0] in _SHELLS and len(words) > 2 and words[1].endswith("c"):
        return list(_of_script(words[2], variables))
    if words[0].rpartition("/")[2] == "echo":
        return [Line(0.0, _filled(" ".join(words[1:]), variables))]
    return []


def _of_script(script: str, variables: Mapping[str, str]) -> Iterator[Line]:
    after = 0.0
    for step in _STEPS.split(script):
        step = step.strip()
        slept = _SLEEP.fullmatch(step)
        if slept:
            after += float(slept[1])
        elif step == "echo" or step.startswith("echo "):
            try:
                words = shlex.split(step)
            except ValueError:  # a quotation mark that is never closed
                words = step.split()
            yield Line(after, _filled(" ".join(words[1:]), variables))
        elif step.startswith("exit"):
            return


def _filled(text: str, variables: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda found: variables.get(found[1] or found[2] or found[3], ""), text)
