"""The names that belong to devices: drivers, pools, attributes, requests."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ..basics import driver_name_problems, texts
from ..names import byte_length, label_name_problems, subdomain_problems
from ..problems import Problem, duplicate_field, invalid_field, required_field, too_long, too_many

__all__ = [
    "attribute_problems",
    "label_at",
    "limited",
    "pool_problems",
    "qualified_problems",
    "uid_problems",
    "unique",
]

_POOL_LENGTH = 253
_ID_LENGTH = 32
_IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]*"
_IDENTIFIER_TEXT = (
    "a valid C identifier must start with alphabetic character or '_', followed by a string of "
    "alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for "
    f"validation is '{_IDENTIFIER}')"
)
_UNQUALIFIED = "a fully qualified name must be a domain and a name separated by a slash"
_UID_FORM = (
    "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with "
    "lowercase hexadecimal characters"
)
_UID_LENGTHS = (32, 36, 38, 45)
_is_identifier = re.compile(_IDENTIFIER).fullmatch
_is_uid = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.I).fullmatch
_is_bare_uid = re.compile("[0-9a-f]{32}", re.I).fullmatch

Check = Callable[[str, Any], Iterable[Problem]]
"""Given a field and what is there."""


def limited(field: str, items: Sequence[Any] | None, most: int, check: Check) -> Iterator[Problem]:
    """What is wrong with each item, or only that there are too many."""
    items = items or ()
    if len(items) > most:
        yield too_many(field, len(items), most)
        return
    for at, item in enumerate(items):
        yield from check(f"{field}[{at}]", item)


def unique(
    field: str,
    items: Sequence[Any] | None,
    most: int,
    check: Check,
    key: Callable[[Any], Any] = lambda item: item,
) -> Iterator[Problem]:
    """Likewise, of items that must differ in their key."""
    yield from limited(field, items, most, check)
    if len(items or ()) > most:
        return
    seen = []
    for at, item in enumerate(items or ()):
        found = key(item)
        if found in seen:
            yield duplicate_field(f"{field}[{at}]", found)
        else:
            seen.append(found)


def label_at(field: str, name: Any) -> Iterator[Problem]:
    """A name that is a label, even where there is none."""
    yield from texts(field, name or "", label_name_problems(name or ""))


def pool_problems(field: str, name: str | None) -> Iterator[Problem]:
    if not name:
        yield required_field(field)
        return
    if byte_length(name) > _POOL_LENGTH:
        yield too_long(field, _POOL_LENGTH)
    for part in name.split("/"):
        yield from texts(field, part, subdomain_problems(part))


def qualified_problems(field: str, name: str) -> Iterator[Problem]:
    """An identifier, perhaps with the domain that it belongs to."""
    parts = name.split("/")
    if len(parts) == 2:
        if not parts[0]:
            yield invalid_field(field, "", "the domain must not be empty")
        else:
            yield from driver_name_problems(field, parts[0])
        if not parts[1]:
            yield invalid_field(field, "", "the name must not be empty")
            return
    if len(parts) < 3:
        yield from _identifier(field, parts[-1])


def attribute_problems(field: str, name: str) -> Iterator[Problem]:
    """Likewise, with a domain that must be there."""
    yield from qualified_problems(field, name)
    if "/" not in name:
        yield invalid_field(field, name, _UNQUALIFIED)


def _identifier(field: str, name: str) -> Iterator[Problem]:
    if byte_length(name) > _ID_LENGTH:
        yield too_long(field, _ID_LENGTH)
    if not _is_identifier(name):
        yield invalid_field(field, name, _IDENTIFIER_TEXT)


def uid_problems(field: str, uid: str) -> Iterator[Problem]:
    bare = uid.removeprefix("urn:uuid:").removeprefix("{").removesuffix("}")
    if len(uid) not in _UID_LENGTHS:
        text = f"error validating uid: invalid UUID length: {len(uid)}"
        yield invalid_field(field, uid, text)
    elif not _is_uid(bare) and not _is_bare_uid(uid):
        yield invalid_field(field, uid, "error validating uid: invalid UUID format")
    elif len(uid) != 36 or uid != uid.lower():
        yield invalid_field(field, uid, _UID_FORM)
