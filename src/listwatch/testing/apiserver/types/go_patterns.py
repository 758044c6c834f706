"""Go's regular expressions, as schemas have them, for Python's engine."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Protocol

from .linear_patterns import LinearPattern, may_explode

__all__ = ["compiled_pattern", "pattern_problem"]

_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": "\\x00-\\x7f",
    "blank": "\\t ",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\t\\n\\v\\f\\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_LETTERS = "A-Za-z\\u00aa\\u00b5\\u00ba\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\U0003ffff"
_CLASSES = {"L": _LETTERS, "Lu": "A-Z\\u00c0-\\u00de", "Ll": "a-z\\u00df-\\u00ff", "N": "0-9"}
"""Approximations: nobody writes patterns for the rest of Unicode."""
_ESCAPES = "AbBdDsSwWzafnrtvxpPQE" + "01234567"
_SETS = tuple("dDsSwW")
_SPACE = " \\t\\n\\f\\r"
_REPEAT = re.compile(r"\{(\d+)(,(\d*))?\}")
_MAX_REPEAT = 1000


class _BadPattern(Exception):
    """What Go's compiler says."""

    def __init__(self, code: str, part: str) -> None:
        super().__init__(f"error parsing regexp: {code}: `{part}`")


def pattern_problem(pattern: str) -> str:
    """Why Go would not compile it; empty: it would."""
    try:
        _translated(pattern)
    except _BadPattern as bad:
        return str(bad)
    except re.error:
        return ""  # a class of Unicode that is not known here may be one all the same
    return ""


class Searched(Protocol):
    """A pattern that can be looked for."""

    def search(self, text: str, /) -> object:
        """Truthy where it is found."""
        ...


@lru_cache(maxsize=512)
def compiled_pattern(pattern: str) -> Searched | None:
    """None where only Go understands it: then everything matches. What may take Python's engine
    long is left to one that is slower, but always linear.
    """
    try:
        text = _translated(pattern)
        if not may_explode(text, re.ASCII):
            return re.compile(text, re.ASCII)
        re.compile(text, re.ASCII)
        return LinearPattern(text, re.ASCII)
    except (_BadPattern, re.error, OverflowError, NotImplementedError):
        return None


def _translated(pattern: str) -> str:
    out: list[str] = []
    depth = at = 0
    repeatable = False
    while at < len(pattern):
        char = pattern[at]
        here = at
        if char == "\\":
            text, at = _escape(pattern, at, in_class=False)
            out.append(text)
            repeatable = True
        elif char == "[":
            text, at = _class(pattern, at)
            out.append(text)
            repeatable = True
        elif char == "(":
            text, at, opens = _group(pattern, at)
            depth += opens
            out.append(text)
            repeatable = False
        elif char == ")":
            depth -= 1
            if depth < 0:
                raise _BadPattern("unexpected )", pattern)
            out.append(char)
            at += 1
            repeatable = True
        elif char in "*+?" or (char == "{" and _REPEAT.match(pattern, at)):
            at = _repetition(pattern, at, repeatable=repeatable)
            out.append(pattern[here:at])
            repeatable = False
            if at < len(pattern) and (pattern[at] in "*+?" or _REPEAT.match(pattern, at)):
                end = _repetition(pattern, at, repeatable=True)
                raise _BadPattern("invalid nested repetition operator", pattern[here:end])
        else:
            out.append({"$": "\\Z", "{": "\\{"}.get(char, char))
            at += 1
            repeatable = char not in "|"
    if depth:
        raise _BadPattern("missing closing )", pattern)
    text = "".join(out)
    flags = re.match(r"(?:\^)?(\(\?[a-zA-Z]+\))", text)
    if flags and flags.start(1):
        text = flags[1] + text.replace(flags[1], "", 1)
    return text


def _repetition(pattern: str, at: int, *, repeatable: bool) -> int:
    match = _REPEAT.match(pattern, at)
    end = match.end() if match else at + 1
    if not repeatable:
        raise _BadPattern("missing argument to repetition operator", pattern[at:end])
    if match:
        low, high = int(match[1]), int(match[3]) if match[3] else int(match[1])
        if max(low, high) > _MAX_REPEAT or low > high:
            raise _BadPattern("invalid repeat count", match[0])
    return end + (pattern[end : end + 1] == "?")


def _group(pattern: str, at: int) -> tuple[str, int, int]:
    """What opens a group, where it goes on, and whether it does open one."""
    if not pattern.startswith("(?", at):
        return "(", at + 1, 1
    named = re.compile(r"\(\?P?<(\w+)>").match(pattern, at)
    if named:
        return f"(?P<{named[1]}>", named.end(), 1
    flags = re.compile(r"\(\?([imsU]*)(-[imsU]+)?([:)])").match(pattern, at)
    if flags is None:
        rest = pattern[at:]
        if (rest.startswith("(?P<") and len(rest) > 4) or rest.startswith("(?<"):
            end = rest.find(">") + 1 or len(rest)
            raise _BadPattern("invalid named capture", rest[:end])
        raise _BadPattern("invalid or unsupported Perl syntax", rest[:3])
    on = flags[1].replace("U", "")
    off = (flags[2] or "").replace("U", "").rstrip("-")
    if flags[3] == ")":
        return (f"(?{on})" if on else ""), flags.end(), 0
    return f"(?{on}{off}:", flags.end(), 1


def _escape(pattern: str, at: int, *, in_class: bool) -> tuple[str, int]:
    if at + 1 >= len(pattern):
        raise _BadPattern("trailing backslash at end of expression", "")
    char = pattern[at + 1]
    if char in "pP":
        name = re.compile(r"[pP](?:\{\^?(\w+)\}|(\w))").match(pattern, at + 1)
        members = _CLASSES.get(name[1] or name[2]) if name else None
        if name is None or members is None:
            raise re.error("a class of Unicode that is not known here")
        if in_class:
            return members, name.end()
        return f"[{'^' if char == 'P' else ''}{members}]", name.end()
    if char == "Q":
        end = pattern.find("\\E", at)
        end = len(pattern) if end < 0 else end
        return re.escape(pattern[at + 2 : end]), end + 2
    if char == "z":
        return "\\Z", at + 2
    if char in "sS":
        members = _SPACE if in_class else f"[{'^' if char == 'S' else ''}{_SPACE}]"
        return (members if char == "s" or not in_class else "\\S"), at + 2
    if char == "x" and pattern[at + 2 : at + 3] == "{":
        end = pattern.find("}", at)
        return re.escape(chr(int(pattern[at + 3 : end], 16))), end + 1
    if (char.isalnum() and char not in _ESCAPES) or char in "89":
        raise _BadPattern("invalid escape sequence", pattern[at : at + 2])
    if char in "1234567" and not pattern[at + 2 : at + 3].isdigit():
        raise _BadPattern("invalid escape sequence", pattern[at : at + 2])
    return pattern[at : at + 2], at + 2


def _class(pattern: str, at: int) -> tuple[str, int]:
    start = at
    out = ["["]
    at += 1
    if pattern[at : at + 1] == "^":
        out.append("^")
        at += 1
    first = True
    while True:
        if at >= len(pattern):
            raise _BadPattern("missing closing ]", pattern[start:])
        char = pattern[at]
        if char == "]" and not first:
            return "".join([*out, "]"]), at + 1
        first = False
        posix = re.compile(r"\[:(\^?)(\w+):\]").match(pattern, at)
        if posix:
            if posix[2] not in _POSIX:
                raise _BadPattern("invalid character class range", posix[0])
            out.append(_POSIX[posix[2]])
            at = posix.end()
        elif char == "\\":
            if out[-1] == "-" and len(out) > 2 and pattern[at + 1 : at + 2] in _SETS:
                raise _BadPattern("invalid escape sequence", pattern[at : at + 2])
            text, at = _escape(pattern, at, in_class=True)
            out.append(text)
        else:
            backwards = re.compile(r"([^\\\]])-([^\\\]])").match(pattern, at)
            if backwards and backwards[1] > backwards[2]:
                raise _BadPattern("invalid character class range", backwards[0])
            out.append(f"\\{char}" if char in "[]&~|" else char)
            at += 1
