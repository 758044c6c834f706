"""What a security context says alike of a pod and of a container: seccomp, AppArmor, Windows, and
who runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..basics import in_range
from ..checks import Value
from ..names import byte_length, subdomain_problems
from ..problems import (
    Problem,
    invalid_field,
    required_field,
    too_long,
    unsupported_field,
)
from .paths import descending_path_problems

__all__ = [
    "annotated_profile",
    "app_armor_problems",
    "id_problems",
    "seccomp_problems",
    "windows_problems",
]

_MOST_ID = (1 << 31) - 1
_TYPES = ("Localhost", "RuntimeDefault", "Unconfined")
_LONGEST_PATH = 4095
_LOCAL = "localhost/"
_LONGEST_CREDENTIAL = 64 * 1024
_LONGEST_DOMAIN = 256
_LONGEST_USER = 104

_LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_has_control = re.compile("[\0-\x1f\x7f]").search
_is_netbios = re.compile(r'[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}').fullmatch
_is_dns = re.compile(rf"{_LABEL}(?:\.{_LABEL})*").fullmatch
_is_padding = re.compile("[. ]+").fullmatch
_has_forbidden = re.compile(r'["/\\:;|=,+*?<>@\[\]]').search


def id_problems(field: str, value: int | None) -> Iterator[Problem]:
    """The number of a user or a group."""
    if value is not None and not 0 <= value <= _MOST_ID:
        yield from in_range(field, value, 0, _MOST_ID)


def seccomp_problems(profile: Value | None, path: str) -> Iterator[Problem]:
    """A `seccompProfile`."""
    if profile is None:
        return
    kind = profile.get("type") or ""
    local = profile.get("localhostProfile")
    if not kind:
        yield required_field(f"{path}.type", "type is required when seccompProfile is set")
    elif kind not in _TYPES:
        yield unsupported_field(f"{path}.type", kind, _TYPES)
    if kind == "Localhost":
        if local is None:
            text = "must be set when seccomp type is Localhost"
            yield required_field(f"{path}.localhostProfile", text)
        else:
            yield from descending_path_problems(f"{path}.localhostProfile", local)
    elif local is not None:
        shown = {"Type": kind, "LocalhostProfile": local}
        text = "can only be set when seccomp type is Localhost"
        yield invalid_field(f"{path}.localhostProfile", shown, text)


def app_armor_problems(profile: Value | None, path: str) -> Iterator[Problem]:
    """An `appArmorProfile`."""
    if profile is None:
        return
    kind = profile.get("type") or ""
    local = profile.get("localhostProfile")
    at = f"{path}.localhostProfile"
    if kind == "Localhost":
        text = "must be set when AppArmor type is Localhost"
        if local is None:
            yield required_field(at, text)
            return
        if local.strip() != local:
            yield invalid_field(at, local, "must not be padded with whitespace")
        elif not local:
            yield required_field(at, text)
        if byte_length(local) > _LONGEST_PATH:
            yield too_long(at, _LONGEST_PATH)
    elif kind in _TYPES:
        if local is not None:
            yield invalid_field(at, local, "can only be set when AppArmor type is Localhost")
    elif not kind:
        yield required_field(f"{path}.type", "type is required when appArmorProfile is set")
    else:
        yield unsupported_field(f"{path}.type", kind, _TYPES)


def annotated_profile(annotation: str) -> dict[str, Any] | None:
    """The `appArmorProfile` that an annotation stands for."""
    if annotation == "unconfined":
        return {"type": "Unconfined"}
    if annotation == "runtime/default":
        return {"type": "RuntimeDefault"}
    local = annotation.removeprefix(_LOCAL)
    return (
        {"type": "Localhost", "localhostProfile": local} if local not in ("", annotation) else None
    )


def windows_problems(options: Value | None, path: str) -> Iterator[Problem]:
    """`windowsOptions`."""
    if options is None:
        return
    name = options.get("gmsaCredentialSpecName")
    if name is not None:
        for text in subdomain_problems(name):
            yield invalid_field(f"{path}.gmsaCredentialSpecName", name, text)
    credential = options.get("gmsaCredentialSpec")
    if credential is not None:
        if not credential:
            text = "gmsaCredentialSpec cannot be an empty string"
            yield invalid_field(f"{path}.gmsaCredentialSpec", credential, text)
        elif len(credential.encode()) > _LONGEST_CREDENTIAL:
            text = "gmsaCredentialSpec size must be under 64 KiB"
            yield invalid_field(f"{path}.gmsaCredentialSpec", credential, text)
    user = options.get("runAsUserName")
    if user is not None:
        for text in _user_name_problems(user):
            yield invalid_field(f"{path}.runAsUserName", user, f"runAsUserName{text}")


def _user_name_problems(name: str) -> Iterator[str]:
    domain, slash, user = name.partition("\\")
    if not slash:
        domain, user = "", name
    if not name:
        yield " cannot be an empty string"
        return
    if _has_control(name):
        yield " cannot contain control characters"
        return
    if "\\" in user:
        yield " cannot contain more than one backslash"
        return
    if len(domain) >= _LONGEST_DOMAIN:
        yield f"'s Domain length must be under {_LONGEST_DOMAIN} characters"
    if slash and not (_is_netbios(domain) or _is_dns(domain)):
        yield "'s Domain doesn't match the NetBios nor the DNS format"
    if not user:
        yield "'s User cannot be empty"
    elif len(user) > _LONGEST_USER:
        yield f"'s User length must not be longer than {_LONGEST_USER} characters"
    if _is_padding(user):
        yield "'s User cannot contain only periods or spaces"
    if _has_forbidden(user):
        yield "'s User cannot contain the following characters: \"/\\:;|=,+*?<>@[]"
