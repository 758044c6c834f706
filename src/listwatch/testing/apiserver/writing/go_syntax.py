"""What Go's JSON decoder says of text that is no JSON."""

from __future__ import annotations

__all__ = ["go_kind", "syntax_error"]

_SPACE = b" \t\r\n"
_DIGITS = b"0123456789"
_HEX = b"0123456789abcdefABCDEF"
_MAX_DEPTH = 10_000
_QUOTE, _COMMA, _COLON, _OBJECT = b'",:{'
_CLOSING = {_OBJECT: b"}"[0], b"["[0]: b"]"[0]}
_END = "unexpected end of JSON input"


class _SyntaxError(Exception):
    pass


def syntax_error(data: bytes) -> str:
    """The message for `data`; empty where Go finds nothing wrong with it."""
    try:
        _scan(data)
    except _SyntaxError as error:
        return str(error)
    return ""


def go_kind(value: object) -> str:
    """How Go's messages name the JSON type of a value."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def _scan(data: bytes) -> None:
    """Read one value. `open_` holds the brackets that are open; no recursion, so depth is free."""
    open_: list[int] = []
    at = _begin_value(data, 0, open_)
    while open_:
        at = _after_value(data, at, open_)
    at = _skip_space(data, at)
    if at < len(data):
        raise _unexpected(data, at, "after top-level value")


def _begin_value(data: bytes, at: int, open_: list[int]) -> int:
    """Read a scalar whole, or the opening of an object or array up to behind its first value."""
    while True:
        at = _skip_space(data, at)
        char = _char(data, at)
        if char not in b"{[":
            return _scalar(data, at, char)
        open_.append(char)
        if len(open_) > _MAX_DEPTH:
            raise _unexpected(data, at, "exceeded max depth")
        at = _skip_space(data, at + 1)
        if _char(data, at) == _CLOSING[char]:
            open_.pop()
            return at + 1
        if char == _OBJECT:
            at = _key(data, at)


def _scalar(data: bytes, at: int, char: int) -> int:
    if char == _QUOTE:
        return _string(data, at)
    if char == 0x2D or char in _DIGITS:
        return _number(data, at)
    for literal in (b"true", b"false", b"null"):
        if char == literal[0]:
            return _literal(data, at, literal)
    raise _unexpected(data, at, "looking for beginning of value")


def _after_value(data: bytes, at: int, open_: list[int]) -> int:
    at = _skip_space(data, at)
    char = _char(data, at)
    in_object = open_[-1] == _OBJECT
    if char == _CLOSING[open_[-1]]:
        open_.pop()
        return at + 1
    if char != _COMMA:
        where = "after object key:value pair" if in_object else "after array element"
        raise _unexpected(data, at, where)
    at += 1
    if in_object:
        at = _key(data, _skip_space(data, at))
    return _begin_value(data, at, open_)


def _key(data: bytes, at: int) -> int:
    """Read a member's name and the colon."""
    if _char(data, at) != _QUOTE:
        raise _unexpected(data, at, "looking for beginning of object key string")
    at = _skip_space(data, _string(data, at))
    if _char(data, at) != _COLON:
        raise _unexpected(data, at, "after object key")
    return at + 1


def _string(data: bytes, at: int) -> int:
    at += 1
    while (char := _char(data, at)) != 0x22:
        if char < 0x20:
            raise _unexpected(data, at, "in string literal")
        if char == 0x5C:
            at += 1
            escape = _char(data, at)
            if escape == 0x75:
                for _ in range(4):
                    at += 1
                    if _char(data, at) not in _HEX:
                        raise _unexpected(data, at, "in \\u hexadecimal character escape")
            elif escape not in b'"\\/bfnrt':
                raise _unexpected(data, at, "in string escape code")
        at += 1
    return at + 1


def _number(data: bytes, at: int) -> int:
    if _char(data, at) == 0x2D:
        at += 1
        if _char(data, at) not in _DIGITS:
            raise _unexpected(data, at, "in numeric literal")
    at = at + 1 if data[at] == 0x30 else _digits(data, at)
    if at < len(data) and data[at] == 0x2E:
        at += 1
        if _char(data, at) not in _DIGITS:
            raise _unexpected(data, at, "after decimal point in numeric literal")
        at = _digits(data, at)
    if at < len(data) and data[at] in b"eE":
        at += 1
        if _char(data, at) in b"+-":
            at += 1
        if _char(data, at) not in _DIGITS:
            raise _unexpected(data, at, "in exponent of numeric literal")
        at = _digits(data, at)
    return at


def _literal(data: bytes, at: int, literal: bytes) -> int:
    for expected in literal:
        if _char(data, at) != expected:
            where = f"in literal {literal.decode()} (expecting '{chr(expected)}')"
            raise _unexpected(data, at, where)
        at += 1
    return at


def _digits(data: bytes, at: int) -> int:
    while at < len(data) and data[at] in _DIGITS:
        at += 1
    return at


def _skip_space(data: bytes, at: int) -> int:
    while at < len(data) and data[at] in _SPACE:
        at += 1
    return at


def _char(data: bytes, at: int) -> int:
    if at >= len(data):
        raise _SyntaxError(_END)
    return data[at]


_ESCAPES = {
    7: "\\a",
    8: "\\b",
    9: "\\t",
    10: "\\n",
    11: "\\v",
    12: "\\f",
    13: "\\r",
    39: "\\'",
    92: r"\\",
}


def _unexpected(data: bytes, at: int, where: str) -> _SyntaxError:
    code = data[at]  # a byte at a time, whatever the encoding: as Go does
    shown = _ESCAPES.get(code) or chr(code)
    if not shown.isprintable():
        shown = f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}"
    return _SyntaxError(f"invalid character '{shown}' {where}")
