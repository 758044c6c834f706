"""Texts that stand for something else in JSON, as Go's decoder reads and writes them: times, and
bytes in base64.
"""

from __future__ import annotations

import base64
import binascii
import re
from datetime import UTC, datetime, timedelta
from string import ascii_letters, digits

__all__ = ["base64_problem", "decoded", "decoded_length", "read_time", "time_quoted"]

_LAYOUT = "2006-01-02T15:04:05Z07:00"
_MICRO_LAYOUT = "2006-01-02T15:04:05.000000Z07:00"
_STEPS = (
    ("", "2006", re.compile(r"[0-9]{4}").match, ""),
    ("-", "01", re.compile(r"[0-9]{2}").match, "month"),
    ("-", "02", re.compile(r"[0-9]{2}").match, ""),
    ("T", "15", re.compile(r"[0-9]{1,2}").match, "hour"),
    (":", "04", re.compile(r"[0-9]{2}").match, "minute"),
    (":", "05", re.compile(r"[0-9]{2}").match, "second"),
)
"""What comes before a part, its layout, how it is found, and what it is where it may be too big."""
_RANGES = {"month": range(1, 13), "hour": range(24), "minute": range(60), "second": range(60)}
_PLACES = (5, 8, 11, 14, 17)
"""Where month, day and so on begin."""
_fraction = re.compile(r"[.,][0-9]+").match
_micro_fraction = re.compile(r"[.,][0-9]{6}").match
_zone = re.compile(r"([+-])([0-9]{2}):([0-9]{2})").match
_is_plain = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.A).fullmatch
_is_base64 = re.compile(r"[A-Za-z0-9+/]*={0,2}").fullmatch
_BASE64 = frozenset((ascii_letters + digits + "+/").encode())
_breaks = str.maketrans("", "", "\r\n")


def read_time(text: str, *, micro: bool = False) -> str:
    """A time as it comes back: in UTC, with seconds or, `micro`, with millionths of them. Raises
    `ValueError` with Go's message.

    >>> read_time("2026-01-01T01:00:00.5+02:00")
    '2025-12-31T23:00:00Z'
    """
    if not micro and _is_plain(text):
        _calendar(text, *map(int, (text[:4], *(text[at : at + 2] for at in _PLACES))))
        return text
    moment = _read(text, micro=micro)
    written = moment.strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0")
    return f"{written}.{moment.microsecond:06}Z" if micro else f"{written}Z"


def _calendar(text: str, year: int, *rest: int) -> datetime:
    month, day, hour, minute, second = rest
    try:
        return datetime(year or 1, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        what = next(
            (
                what
                for (_, _, _, what), value in zip(_STEPS[1:], rest, strict=True)
                if what and value not in _RANGES[what]
            ),
            "day",
        )
        raise _failed(text, f": {what} out of range") from None


def _read(text: str, *, micro: bool) -> datetime:
    layout = _MICRO_LAYOUT if micro else _LAYOUT
    rest, parts = text, []
    for before, step, match, what in _STEPS:
        if not rest.startswith(before):
            raise _unexpected(text, layout, rest, before)
        rest = rest.removeprefix(before)
        found = match(rest)
        if found is None:
            raise _unexpected(text, layout, rest, step)
        parts.append(int(found[0]))
        rest = rest[found.end() :]
        if what and parts[-1] not in _RANGES[what]:
            raise _failed(text, f": {what} out of range")
    found = (_micro_fraction if micro else _fraction)(rest)
    if micro and found is None:
        raise _unexpected(text, layout, rest, ".000000")
    microsecond = 0
    if found is not None:
        microsecond = int(found[0][1:7].ljust(6, "0"))
        rest = rest[found.end() :]
    offset, rest = _offset(text, layout, rest)
    if rest:
        raise _failed(text, f": extra text: {time_quoted(rest)}")
    moment = _calendar(text, parts[0], *parts[1:])
    try:
        return moment.replace(microsecond=microsecond) - offset
    except OverflowError:
        return moment  # before the first year or after the last one


def _offset(text: str, layout: str, rest: str) -> tuple[timedelta, str]:
    if rest.startswith("Z"):
        return timedelta(), rest[1:]
    found = _zone(rest)
    if found is None:
        raise _unexpected(text, layout, rest, "Z07:00")
    sign, hours, minutes = found[1], int(found[2]), int(found[3])
    for value, most, what in ((hours, 24, "hour"), (minutes, 60, "minute")):
        if value > most:
            raise _failed(text, f": time zone offset {what} out of range")
    offset = timedelta(hours=hours, minutes=minutes)
    return (offset if sign == "+" else -offset), rest[found.end() :]


def _unexpected(text: str, layout: str, rest: str, wanted: str) -> ValueError:
    why = f"cannot parse {time_quoted(rest)} as {time_quoted(wanted)}"
    return ValueError(f"parsing time {time_quoted(text)} as {time_quoted(layout)}: {why}")


def _failed(text: str, why: str) -> ValueError:
    return ValueError(f"parsing time {time_quoted(text)}{why}")


def time_quoted(text: str) -> str:
    """As Go quotes times and durations: what is not ASCII byte by byte."""
    made = []
    for char in text:
        if char in '"\\':
            made.append(f"\\{char}")
        elif " " <= char < "\x80":
            made.append(char)
        else:
            made += (f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogatepass"))
    return f'"{"".join(made)}"'


def decoded(text: str | None) -> bytes:
    """What base64 stands for; nothing where it is none."""
    try:
        return base64.b64decode(text or "", validate=True)
    except (binascii.Error, ValueError):
        return b""


def decoded_length(text: str | None) -> int:
    """How many bytes base64 stands for."""
    text = text or ""
    return len(text) * 3 // 4 - text[-2:].count("=")


def base64_problem(text: str) -> str:
    """Go's message about bytes that nobody can read; nothing if they can be. Line breaks may be
    anywhere.
    """
    if len(text) % 4 == 0 and _is_base64(text):
        return ""
    plain = text.translate(_breaks)
    if len(plain) % 4 == 0 and _is_base64(plain):
        return ""
    return f"illegal base64 data at input byte {_bad_place(text)}"


def _bad_place(text: str) -> int:
    """Where Go gives up. It takes one `=` for the beginning of the end, if that may come there."""
    data = text.encode("utf-8", "replace")
    places = [at for at, byte in enumerate(data) if byte not in b"\r\n"]
    signs = data.translate(None, b"\r\n")
    at = next((at for at, byte in enumerate(signs) if byte not in _BASE64), len(signs))
    if at == len(signs):  # it ends within a group
        return len(data) - at % 4
    if signs[at : at + 1] != b"=" or at % 4 < 2:
        return places[at]
    if at % 4 == 2:
        at += 1
        if at == len(signs):
            return len(data)
        if signs[at : at + 1] != b"=":
            return places[at] - 1
    return places[at + 1]
