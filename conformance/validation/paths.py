"""Changes of objects by path: `spec.containers[0].name`, `metadata.labels[a/b]`."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["changed"]

_STEP = re.compile(r"\[([^\]]*)\]|([^.\[\]]+)")
Step = str | int


def changed(obj: Any, values: Mapping[str, Any], without: Iterable[str] = ()) -> Any:
    """A copy with other values, and without some members. A list's index may be one past its end.

    >>> changed({"a": [1]}, {"a[1]": 2, "b.c[x.y]": 3})
    {'a': [1, 2], 'b': {'c': {'x.y': 3}}}
    """
    made = copy.deepcopy(obj)
    for path, value in values.items():
        *steps, last = _steps(path)
        at = made
        for step, following in zip(steps, [*steps, last][1:], strict=True):
            empty: Any = [] if isinstance(following, int) else {}
            at = _child(at, step, empty)
        _put(at, last, copy.deepcopy(value))
    for path in without:
        *steps, last = _steps(path)
        at = made
        for step in steps:
            at = at[step]
        del at[last]
    return made


def _steps(path: str) -> list[Step]:
    found: list[Step] = []
    for in_brackets, name in _STEP.findall(path):
        found.append(int(in_brackets) if in_brackets.isdecimal() else in_brackets or name)
    return found


def _child(at: Any, step: Step, empty: Any) -> Any:
    if isinstance(step, int):
        if step == len(at):
            at.append(empty)
    elif at.get(step) is None:
        at[step] = empty
    return at[step]


def _put(at: Any, step: Step, value: Any) -> None:
    if isinstance(step, int) and step == len(at):
        at.append(value)
    else:
        at[step] = value
