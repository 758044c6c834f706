"""What a label's key and value may look like."""

from __future__ import annotations

import re

_NAME = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?")
_DNS_LABEL = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?")


def key_problem(key: str) -> str | None:
    """What is wrong with a label key, or None: an optional DNS prefix and `/`, then a name."""
    prefix, slash, name = key.rpartition("/")
    if slash and (len(prefix) > 253 or not all(_DNS_LABEL.fullmatch(p) for p in prefix.split("."))):
        return (
            f"key {key!r} has a bad prefix: before the '/' there must be a lowercase DNS name "
            "of at most 253 characters"
        )
    if len(name) > 63:
        return f"key {key!r} is too long: at most 63 characters may follow the prefix"
    if not _NAME.fullmatch(name):
        return (
            f"key {key!r} is malformed: it must consist of letters, digits, '-', '_' and '.', "
            "and begin and end with a letter or digit"
        )
    return None


def value_problem(value: str) -> str | None:
    """What is wrong with a label value, or None. The empty value is a good one."""
    if len(value) > 63:
        return f"value {value!r} is too long: at most 63 characters"
    if value and not _NAME.fullmatch(value):
        return (
            f"value {value!r} is malformed: it must consist of letters, digits, '-', '_' and '.', "
            "and begin and end with a letter or digit"
        )
    return None
