"""The formats of strings that schemas of custom resources may name."""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
from collections.abc import Callable
from datetime import date
from urllib.parse import urlsplit

__all__ = ["FORMATS", "is_known_format", "normalized"]


def normalized(name: str) -> str:
    """`date-time` and `datetime` are one."""
    return name.replace("-", "")


def is_known_format(kind: str, name: str) -> bool:
    """Whether a schema of this type can have the format; others are ignored, with a warning."""
    if kind in ("", "string"):
        return normalized(name) in FORMATS
    if kind == "integer":
        return name in ("int32", "int64")
    return kind == "number" and name in ("float", "double")


def _pattern(text: str, flags: int = 0) -> Callable[[str], bool]:
    compiled = re.compile(text, flags | re.ASCII)
    return lambda value: compiled.fullmatch(value) is not None


_HEX = "[0-9a-f]"
_UUID = f"{_HEX}{{8}}-?{_HEX}{{4}}-?%s-?%s-?{_HEX}{{12}}"
_ANY, _VARIANT = f"{_HEX}{{4}}", f"[89ab]{_HEX}{{3}}"
_NUMBER = r"([0-9]|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])"
_PERCENT = r"([0-9]|[1-9]\d|100)%"
_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_is_clock = re.compile(r"(\d\d):(\d\d):(\d\d)(.\d+)?(z|[+-]\d\d:\d\d)", re.A).fullmatch
_is_go_duration = re.compile(
    r"[+-]?(0|((\d+\.?\d*|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h))+)", re.A
).fullmatch
_WORDS = re.compile("\\d+\\s*([A-Za-z\u00b5]+)", re.A)
_UNITS = ("ns", "us", "\u00b5s", "ms", "s", "m", "h", "hr", "d", "w", "wk")
_UNIT_STARTS = ("nano", "micro", "milli", "sec", "min", "hour", "day", "week")
_CARD = (
    "(4[0-9]{12}([0-9]{3})?|5[1-5][0-9]{14}|6(011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|"
    "3(0[0-5]|[68][0-9])[0-9]{11}|(2131|1800|35[0-9]{3})[0-9]{11})"
)
_is_card = re.compile(_CARD).fullmatch
_SYMBOL = r"(?:[a-zA-Z0-9]|[^\x00-\x7f])"


def _is_uri(text: str) -> bool:
    if not text or any(ord(char) < 0x21 or ord(char) == 0x7F for char in text):
        return False
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return False
    return text.startswith("/") or bool(re.match("[A-Za-z][A-Za-z0-9+.-]*:", text))


def _is_email(text: str) -> bool:
    match = re.fullmatch(r'(?:("[^"]*"|[^<>@"]*)<(?P<in>[^<>]+)>|(?P<bare>[^<>]+))', text.strip())
    if match is None:
        return False
    local, at, domain = (match["in"] or match["bare"]).rpartition("@")
    atom = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~\x80-\U0010ffff-]+"
    dotted = rf"{atom}(\.{atom})*"
    is_local = re.fullmatch(dotted, local) or re.fullmatch(r'"([^"\\]|\\.)*"', local)
    return bool(at and is_local and re.fullmatch(rf"{dotted}|\[[0-9A-Fa-f:.]+\]", domain))


def _is_hostname(text: str) -> bool:
    first = rf"{_SYMBOL}(-?{_SYMBOL}{{0,62}})?"
    label = rf"{_SYMBOL}(({_SYMBOL}|-){{0,61}}{_SYMBOL})?"
    if not re.fullmatch(rf"{first}|({label}\.)+([a-zA-Z]|[^\x00-\x7f]){{2,63}}", text):
        return False
    return len(text.encode()) <= 255 and all(len(p.encode()) <= 63 for p in text.split("."))


def _is_ipv4(text: str) -> bool:
    return _ip_version(re.sub(r"(?<![0-9])0+(?=[0-9])", "", text)) == 4 or (
        "." in text and _ip_version(text) == 6
    )


def _ip_version(text: str) -> int:
    try:
        return ipaddress.ip_address(text).version if "%" not in text else 0
    except ValueError:
        return 0


def _is_cidr(text: str) -> bool:
    address, slash, length = text.partition("/")
    version = 4 if _is_ipv4(address) and ":" not in address else _ip_version(address)
    if not slash or not version or not re.fullmatch(r"\d{1,3}", length, re.A):
        return False
    return int(length) <= (32 if version == 4 else 128)


def _is_mac(text: str) -> bool:
    for pattern in (r"{h}{{2}}(:{h}{{2}})+", r"{h}{{2}}(-{h}{{2}})+", r"{h}{{4}}(\.{h}{{4}})+"):
        if re.fullmatch(pattern.format(h="[0-9a-fA-F]"), text):
            return len(re.sub("[^0-9a-fA-F]", "", text)) in (12, 16, 40)
    return False


def _is_isbn10(text: str) -> bool:
    text = re.sub(r"[\s-]+", "", text)
    if not re.fullmatch(r"\d{9}[\dX]", text, re.A):
        return False
    digits = [10 if char == "X" else int(char) for char in text]
    return sum((at + 1) * digit for at, digit in enumerate(digits)) % 11 == 0


def _is_isbn13(text: str) -> bool:
    text = re.sub(r"[\s-]+", "", text)
    if not re.fullmatch(r"\d{13}", text, re.A):
        return False
    return sum((1, 3)[at % 2] * int(char) for at, char in enumerate(text)) % 10 == 0


def _is_credit_card(text: str) -> bool:
    digits = re.sub("[^0-9]+", "", text)
    if not _is_card(digits):
        return False
    doubled = [int(char) * (1 + at % 2) for at, char in enumerate(reversed(digits))]
    return sum(number - 9 * (number > 9) for number in doubled) % 10 == 0


def _is_base64(text: str) -> bool:
    if not text or len(text) % 4:
        return False
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def _is_date(text: str) -> bool:
    try:
        return re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.A) is not None and bool(
            date.fromisoformat(text)
        )
    except ValueError:
        return False


def _is_date_time(text: str) -> bool:
    day, t, clock = text.lower().partition("t")
    match = _is_clock(clock)
    return bool(
        t and _is_date(day) and match and match[1] <= "23" and match[2] <= "59" and match[3] <= "59"
    )


def _is_duration(text: str) -> bool:
    if _is_go_duration(text):
        return True
    words = [word.lower() for word in _WORDS.findall(text)]
    return any(word in _UNITS or word.startswith(_UNIT_STARTS) for word in words)


def _short_name(text: str) -> bool:
    return len(text) <= 63 and re.fullmatch(_LABEL, text) is not None


def _long_name(text: str) -> bool:
    return len(text) <= 253 and re.fullmatch(rf"{_LABEL}(\.{_LABEL})*", text) is not None


FORMATS: dict[str, Callable[[str], bool]] = {
    "bsonobjectid": _pattern("[0-9a-fA-F]{24}"),
    "uri": _is_uri,
    "email": _is_email,
    "hostname": _is_hostname,
    "ipv4": _is_ipv4,
    "ipv6": lambda text: ":" in text and _ip_version(text) == 6,
    "cidr": _is_cidr,
    "mac": _is_mac,
    "uuid": _pattern(_UUID % (_ANY, _ANY), re.I),
    "uuid3": _pattern(_UUID % (f"3{_HEX}{{3}}", _ANY), re.I),
    "uuid4": _pattern(_UUID % (f"4{_HEX}{{3}}", _VARIANT), re.I),
    "uuid5": _pattern(_UUID % (f"5{_HEX}{{3}}", _VARIANT), re.I),
    "isbn": lambda text: _is_isbn10(text) or _is_isbn13(text),
    "isbn10": _is_isbn10,
    "isbn13": _is_isbn13,
    "creditcard": _is_credit_card,
    "ssn": _pattern(r"\d{3}[- ]?\d{2}[- ]?\d{4}"),
    "hexcolor": _pattern("#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
    "rgbcolor": _pattern(
        rf"rgb\(\s*({_NUMBER}\s*,\s*{_NUMBER}\s*,\s*{_NUMBER}|"
        rf"{_PERCENT}\s*,\s*{_PERCENT}\s*,\s*{_PERCENT})\s*\)"
    ),
    "byte": _is_base64,
    "password": lambda text: True,
    "date": _is_date,
    "duration": _is_duration,
    "datetime": _is_date_time,
    "k8sshortname": _short_name,
    "k8slongname": _long_name,
}
"""By name, without dashes: whether a string is one."""
