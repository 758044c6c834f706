"""Scalars in YAML: plain where that reads as the same text, else quoted, or literal."""

from __future__ import annotations

import math
import re
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import Any

__all__ = ["scalar_text"]

_WIDTH = 80
"""Columns, behind which a text is folded at its next space."""
_WORDS = frozenset(
    word
    for plain in ("y", "yes", "true", "on", "n", "no", "false", "off", "null")
    for word in (plain, plain.capitalize(), plain.upper())
) | {"", "~"}
_SPECIAL_FLOATS = re.compile(r"\.nan|\.NaN|\.NAN|[-+]?\.(inf|Inf|INF)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*|0[xX][0-9a-fA-F]+|0[oO]?[0-7]+|0[bB][01]+)")
_SEXAGESIMAL = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")
_TIME = re.compile(
    r"(\d{4})-(\d\d?)-(\d\d?)"
    r"([Tt]\d\d?:\d\d?:\d\d?(\.\d+)?(Z|[-+]\d\d:\d\d)| \d\d?:\d\d?:\d\d?(\.\d+)?)?"
)
_INDICATOR = re.compile(r"[#,\[\]{}&*!|>'\"%@`]|---|\.\.\.|[?:-]([ \t\r\n]|$)")
_INSIDE = re.compile(r":([ \t]|$)|(?<=[ \t\r\n\x85\u2028\u2029])#")
_UNPRINTABLE = re.compile(r"[^\n -~\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]")
_BREAK = re.compile(r"[\r\n\x85\u2028\u2029]")
_ESCAPED = re.compile(r"[\"\\\n\u2028\u2029]|[^\n -~\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]")
_ESCAPES = {
    "\0": "0", "\a": "a", "\b": "b", "\t": "t", "\n": "n", "\v": "v", "\f": "f", "\r": "r",
    "\x1b": "e", '"': '"', "\\": "\\", "\x85": "N", "\xa0": "_", "\u2028": "L", "\u2029": "P",
}  # fmt: skip
_LEAST_EXPONENT, _EXPONENT = -4, 6
_KEPT = 256
"""Characters of the longest text that is worth to be remembered."""


def scalar_text(value: Any, column: int, indent: int, *, folded: bool = True) -> str:
    """`value`, which has no parts, to stand at `column`. Where it takes more lines, the next ones
    begin at `indent`; `folded`: whether it may.
    """
    match value:
        case str():
            return _text(value, column, indent, folded)
        case None:
            return "null"
        case True | False:
            return "true" if value else "false"
        case int() if -(1 << 63) <= value < 1 << 64:
            return str(value)
        case int() | float():
            return _float(float(value))
    return "{}" if isinstance(value, dict) else "[]"


def _text(text: str, column: int, indent: int, folded: bool) -> str:
    style = _known_style(text) if len(text) <= _KEPT else _style(text)
    if style == "|":
        if folded:
            return _literal(text, indent)
        style = '"'
    if style == '"':
        text = _escaped(text)
    elif style == "'":
        text = re.sub(r"(?<=[\u2028\u2029])(?=[^\u2028\u2029])", " " * indent, text)
        text = text.replace("'", "''")
    text = f"{style}{text}{style}"
    if not folded or column + len(text) <= _WIDTH or " " not in text:
        return text
    return _folded(text, style, column, indent)


def _style(text: str) -> str:
    """A quotation mark, `|`, or nothing: plain."""
    special = _UNPRINTABLE.search(text) is not None
    breaks = _BREAK.search(text) is not None
    if " " in text and breaks and re.search(r" [\r\n\x85\u2028\u2029]", text):
        special = True
    if special:
        return '"'
    if "\n" in text:
        return '"' if text.endswith(" ") else "|"
    if _reads_as_other(text):
        return '"'
    edges = text[0] + text[-1]
    if breaks or " " in edges or _INDICATOR.match(text) or _INSIDE.search(text):
        broken = re.search(r"[\u2028\u2029] ", text) is not None
        return '"' if broken else "'"
    return ""


_known_style = lru_cache(maxsize=8192)(_style)


def _reads_as_other(text: str) -> bool:
    """Whether the text, plain, would be a number, a time, a truth value or nothing."""
    if text in _WORDS:
        return True
    if text[0] not in "+-.0123456789":
        return False
    if text[0] == ".":
        return bool(_SPECIAL_FLOATS.fullmatch(text)) or _is_float(text)
    plain = text.replace("_", "")
    return bool(
        _INTEGER.fullmatch(plain)
        or _is_float(plain)
        or _SPECIAL_FLOATS.fullmatch(text)
        or _SEXAGESIMAL.fullmatch(text)
        or _is_time(text)
    )


def _is_float(text: str) -> bool:
    return _FLOAT.fullmatch(text) is not None and math.isfinite(float(text))


def _is_time(text: str) -> bool:
    found = _TIME.fullmatch(text)
    if found is None:
        return False
    try:
        date(int(found[1]), int(found[2]), int(found[3]))
    except ValueError:
        return False
    return True


def _escaped(text: str) -> str:
    if text.startswith("\ufeff"):  # behind which its library escapes everything
        return "".join(map(_escape, text))
    return _ESCAPED.sub(lambda found: _escape(found[0]), text)


def _escape(char: str) -> str:
    if char in _ESCAPES:
        return "\\" + _ESCAPES[char]
    code = ord(char)
    if code <= 0xFF:
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"


def _literal(text: str, indent: int) -> str:
    hints = str(2) if text[0] in " \n\u2028\u2029" else ""
    if text[-1] not in "\n\u2028\u2029":
        hints += "-"
    elif len(text) == 1 or text[-2] in "\n\u2028\u2029":
        hints += "+"
    space = " " * indent
    lines = re.sub(
        r"(\A|(?<=[\n\u2028\u2029]))(?=[^\n\u2028\u2029])", space, text.removesuffix("\n")
    )
    return f"|{hints}\n{lines}"


def _folded(text: str, style: str, column: int, indent: int) -> str:
    """Cut at single spaces behind the width. At the ends there is no cut."""
    out: list[str] = []
    start = 0
    first, last = (1, len(text) - 2) if style else (0, len(text) - 1)
    for found in re.finditer(" ", text):
        at = found.start()
        if column + at - start <= _WIDTH or not first < at < last:
            continue
        if text[at - 1] == " ":
            continue
        doubled = text[at + 1] == " "
        if doubled and style != '"':
            continue
        out.append(text[start:at])
        out.append("\n" + " " * indent + ("\\" if doubled else ""))
        start = at + 1
        column = indent + int(doubled)
    out.append(text[start:])
    return "".join(out)


def _float(value: float) -> str:
    """The shortest digits that read as `value`; with an exponent below 1e-4 and from 1e+21 on."""
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)  # JSON has finite numbers only
    first = len(digits) - 1 + exponent
    if _LEAST_EXPONENT <= first < _EXPONENT:
        return format(Decimal(repr(value)), "f").removesuffix(".0")
    text = "".join(map(str, digits))
    mantissa = f"{text[0]}.{text[1:]}" if len(text) > 1 else text
    return f"{'-' if sign else ''}{mantissa}e{first:+03d}"
