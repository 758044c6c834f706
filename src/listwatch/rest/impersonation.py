"""Asking as somebody else: `kubectl --as`, and the fields of a kubeconfig for it (N2)."""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from listwatch.api.frozen import FrozenDict

from .errors import ConfigError

if TYPE_CHECKING:
    from .kubeconfig_file import Section

__all__ = ["Impersonation", "impersonation_of"]

_AS_IT_IS = frozenset(f"{string.ascii_lowercase}{string.digits}!#$&'*+-.^_`|~".encode())
"""What a header's name may hold (RFC 9110), but for the sign that begins an escape."""


@dataclass(frozen=True, kw_only=True)
class Impersonation:
    """Whom the server shall take us for, if we may `impersonate` them.

    >>> Impersonation(user="jane", groups=("admins", "developers")).headers()
    (('Impersonate-User', 'jane'), ('Impersonate-Group', 'admins'), \
('Impersonate-Group', 'developers'))

    Raises `ConfigError` where there is something besides the user but no user, which the server
    refuses, and for a value that no header can carry as it is.
    """

    user: str
    """Such as `jane`, or `system:serviceaccount:NAMESPACE:NAME`."""
    uid: str = ""
    groups: tuple[str, ...] = ()
    """Without any the server gives the user `system:authenticated` alone."""
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What authenticators tell authorisers, such as scopes. The server sees the keys in lower
    case."""

    def __post_init__(self) -> None:
        groups = _texts(self.groups)
        object.__setattr__(self, "groups", groups)
        extra = {key: _texts(values) for key, values in self.extra.items()}
        object.__setattr__(self, "extra", FrozenDict(extra))
        if not self.user:
            raise ConfigError(
                "impersonation needs a user: a uid, groups or extra alone are not enough"
                if self.uid or groups or extra
                else "impersonation needs a user"
            )
        _check("user", self.user)
        _check("uid", self.uid)
        for group in groups:
            _check("group", group, must_be=True)
        for key, values in extra.items():
            if not key:
                raise ConfigError("impersonation: a key of its extra is empty")
            _check_sendable(f"key {key!r} of its extra", key)
            for value in values:
                _check(f"extra {key!r}", value)

    def __hash__(self) -> int:
        return hash((self.user, self.uid, self.groups, frozenset(self.extra.items())))

    def headers(self) -> tuple[tuple[str, str], ...]:
        """What to send with each request; some names come more than once."""
        pairs = [("Impersonate-User", self.user)]
        if self.uid:
            pairs.append(("Impersonate-Uid", self.uid))
        pairs += (("Impersonate-Group", group) for group in self.groups)
        for key, values in self.extra.items():
            name = f"Impersonate-Extra-{_escaped(key)}"
            pairs += ((name, value) for value in values)
        return tuple(pairs)


def impersonation_of(user: Section) -> Impersonation | None:
    """What the fields `as`, `as-uid`, `as-groups` and `as-user-extra` of a kubeconfig's user ask
    for; None where there are none. Raises `ConfigError` naming file and field.
    """
    name, uid, groups = user.text("as"), user.text("as-uid"), user.texts("as-groups")
    section = user.section("as-user-extra")
    extra = {key: section.texts(key) for key in section.fields} if section is not None else {}
    if not (name or uid or groups or extra):
        return None
    try:
        return Impersonation(user=name, uid=uid, groups=groups, extra=extra)
    except ConfigError as error:
        problem = str(error)
    raise user.error("as", problem)


def _texts(values: Iterable[str]) -> tuple[str, ...]:
    return (values,) if isinstance(values, str) else tuple(values)


def _check(what: str, value: str, *, must_be: bool = False) -> None:
    if any(ord(char) < 0x20 or ord(char) == 0x7F for char in value):
        raise ConfigError(f"impersonation: the {what} has a control character in it")
    if value != value.strip(" "):
        raise ConfigError(
            f"impersonation: the {what} begins or ends with a space, which would be lost on its way"
        )
    if must_be and not value:
        raise ConfigError(f"impersonation: a {what} is empty")
    _check_sendable(what, value)


def _check_sendable(what: str, text: str) -> None:
    """A lone surrogate, which stands for a byte that is no UTF-8, can be an argument of a
    command."""
    if any(0xD800 <= ord(char) < 0xE000 for char in text):
        raise ConfigError(f"impersonation: the {what} has a character that cannot be sent")


def _escaped(key: str) -> str:
    """`key` as the end of a header's name: in lower case, as the server takes it anyway, and each
    byte that a name may not have as `%XX`."""
    return "".join(
        chr(byte) if byte in _AS_IT_IS else f"%{byte:02X}" for byte in key.lower().encode()
    )
