"""Two values side by side, where the real server shows what has changed of one."""

from __future__ import annotations

import difflib
import json
from typing import Any

__all__ = ["same", "value_diff"]

_ESCAPED = str.maketrans(
    {char: f"\\u{ord(char):04x}" for char in ("<", ">", "&", "\u2028", "\u2029")}
)


def value_diff(old: Any, new: Any) -> str:
    """The lines that differ, as `diff -u` writes them, without its first two lines."""
    lines = difflib.unified_diff(_lines(old), _lines(new), n=3, lineterm="\n")
    return "".join(list(lines)[2:])


def same(old: Any, new: Any) -> bool:
    """Whether two values, as Go writes them, are equal: a list of nothing is none."""
    return bool(_bare(old) == _bare(new))


def _lines(value: Any) -> list[str]:
    text = json.dumps(value, indent=1, ensure_ascii=False).translate(_ESCAPED)
    return [f"{line}\n" for line in text.split("\n")]


def _bare(value: Any) -> Any:
    if isinstance(value, dict):
        found = {name: _bare(member) for name, member in value.items()}
        return {name: member for name, member in found.items() if member not in (None, [])}
    if isinstance(value, list):
        return [_bare(item) for item in value]
    return value
