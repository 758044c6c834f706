"""ConfigMaps, Secrets and ServiceAccounts."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ...types.go_texts import decoded, decoded_length
from ...writing.go_syntax import go_kind, syntax_error
from ..basics import config_key_problems, immutable, texts
from ..checks import Checks, Value
from ..problems import Problem, forbidden_field, invalid_field, required_field, too_long

__all__ = ["CHECKS"]

_MOST_BYTES = 1024 * 1024
_SEALED = "field is immutable when `immutable` is set"
_ACCOUNT_NAME = "kubernetes.io/service-account.name"
_JSON_KEYS = {
    "kubernetes.io/dockercfg": ".dockercfg",
    "kubernetes.io/dockerconfigjson": ".dockerconfigjson",
}
"""The types of Secrets that hold JSON, and under which key."""
_TLS = "kubernetes.io/tls"
_TLS_KEYS = ("tls.crt", "tls.key")


def _config_map(new: Value) -> Iterator[Problem]:
    data, binary = new.get("data") or {}, new.get("binaryData") or {}
    for key in sorted(data):
        yield from texts(f"data[{key}]", key, config_key_problems(key))
        if key in binary:
            yield invalid_field(f"data[{key}]", key, "duplicate of key present in binaryData")
    for key in sorted(binary):
        yield from texts(f"binaryData[{key}]", key, config_key_problems(key))
    size = sum(len((text or "").encode()) for text in data.values())
    if size + sum(map(decoded_length, binary.values())) > _MOST_BYTES:
        yield too_long("[]", _MOST_BYTES)


def _changed_config_map(new: Value, old: Value) -> Iterator[Problem]:
    yield from _seal_problems(new, old, ("data", "binaryData"))
    yield from _config_map(new)


def _seal_problems(new: Value, old: Value, members: tuple[str, ...]) -> Iterator[Problem]:
    """What may not be changed once `immutable` is set, which itself stays."""
    if old.get("immutable"):
        if not new.get("immutable"):
            yield forbidden_field("immutable", _SEALED)
        for name in members:
            if (new.get(name) or {}) != (old.get(name) or {}):
                yield forbidden_field(name, _SEALED)


def _secret(new: Value) -> Iterator[Problem]:
    data = new.get("data") or {}
    for key in sorted(data):
        yield from texts(f"data[{key}]", key, config_key_problems(key))
    if sum(map(decoded_length, data.values())) > _MOST_BYTES:
        yield too_long("data", _MOST_BYTES)
    yield from _type_problems(new, new.get("type") or "", data)


def _type_problems(new: Value, type: str, data: Value) -> Iterator[Problem]:
    """What a Secret of a type that everybody knows must have."""
    if type in _JSON_KEYS:
        yield from _json_problems(_JSON_KEYS[type], data)
    elif type == "kubernetes.io/service-account-token":
        if not ((new.get("metadata") or {}).get("annotations") or {}).get(_ACCOUNT_NAME):
            yield required_field(f"metadata.annotations[{_ACCOUNT_NAME}]")
    elif type == "kubernetes.io/basic-auth":
        if "username" not in data and "password" not in data:
            yield required_field("data[username]")
            yield required_field("data[password]")
    elif type == "kubernetes.io/ssh-auth":
        if not data.get("ssh-privatekey"):
            yield required_field("data[ssh-privatekey]")
    elif type == _TLS:
        for key in _TLS_KEYS:
            if key not in data:
                yield required_field(f"data[{key}]")


def _json_problems(key: str, data: Value) -> Iterator[Problem]:
    field = f"data[{key}]"
    if key not in data:
        yield required_field(field)
        return
    content = decoded(data[key])
    text = syntax_error(content)
    if not text:
        try:
            found = json.loads(content)
        except (ValueError, RecursionError):
            found = None  # Go finds nothing wrong with it, so neither do we
        if not isinstance(found, dict | None):
            kind = go_kind(found)
            text = f"json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"
    if text:
        yield invalid_field(field, "<secret contents redacted>", text)


def _changed_secret(new: Value, old: Value) -> Iterator[Problem]:
    yield from immutable("type", new.get("type") or "", old.get("type") or "")
    yield from _seal_problems(new, old, ("data",))
    yield from _secret(new)


def _secret_warnings(new: Value) -> Iterator[str]:
    """That a certificate is none. Whether a key is that of its certificate is not looked at."""
    if new.get("type") == _TLS:
        data = new.get("data") or {}
        for key, what in zip(_TLS_KEYS, ("certificate", "key"), strict=True):
            if b"-----BEGIN " not in decoded(data.get(key)):
                yield f"tls: failed to find any PEM data in {what} input"
                return


CHECKS: dict[str, Checks] = {
    "configmaps": Checks(_config_map, _changed_config_map, metadata=2),
    "secrets": Checks(_secret, _changed_secret, metadata=2, warnings=_secret_warnings),
    "serviceaccounts": Checks(metadata=2),
}
