"""Names, labels, annotations and the rest of metadata: what is valid, and what is said if not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from ..types.served import ResourceType
from .network.addresses import canonical_address_problems
from .problems import Problem, invalid_field, required_field, too_long

__all__ = [
    "annotation_map_problems",
    "byte_length",
    "embedded_metadata_problems",
    "finalizer_name_problems",
    "finalizer_warnings",
    "key_problems",
    "label_map_problems",
    "label_name_problems",
    "metadata_problems",
    "name_problems",
    "path_segment_problems",
    "rfc_1035_problems",
    "subdomain_problems",
    "value_problems",
]

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = f"({_QUALIFIED})?"

_LABEL_TEXT = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    f"for validation is '{_LABEL}')"
)
_SUBDOMAIN_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    f"for validation is '{_SUBDOMAIN}')"
)
_QUALIFIED_TEXT = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    f"validation is '{_QUALIFIED}')"
)
_VALUE_TEXT = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  "
    f"or '12345', regex used for validation is '{_VALUE}')"
)
_FINALIZER_TEXT = (
    f"a valid label key {_QUALIFIED_TEXT} with an optional DNS subdomain prefix and '/' (e.g. "
    "'example.com/MyName')"
)
_ADMISSION = "admissionregistration.k8s.io"
_STANDARD_FINALIZERS = frozenset({"kubernetes", "orphan", "foregroundDeletion"})
_ANNOTATION_BYTES = 256 * 1024
_LABEL_LENGTH = 63
_SUBDOMAIN_LENGTH = 253

_is_label = re.compile(_LABEL).fullmatch
_is_subdomain = re.compile(_SUBDOMAIN).fullmatch
_is_qualified = re.compile(_QUALIFIED).fullmatch
_is_value = re.compile(_VALUE).fullmatch
_RFC_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_RFC_1035_TEXT = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    f"regex used for validation is '{_RFC_1035}')"
)
_is_rfc_1035 = re.compile(_RFC_1035).fullmatch
_NO_VERSION = "version must not be empty"
_UNKNOWN_FINALIZER = "name is neither a standard finalizer name nor is it fully qualified"

# What most names must be is a subdomain; these are the exceptions (by storage).
_LABEL_NAMES = frozenset({"namespaces", "services", "apps/statefulsets"})
_PATH_NAMES = frozenset(
    {
        "events",
        "policy/poddisruptionbudgets",
        "apiregistration.k8s.io/apiservices",
        "certificates.k8s.io/certificatesigningrequests",
        *(
            f"rbac.authorization.k8s.io/{name}"
            for name in ("roles", "rolebindings", "clusterroles", "clusterrolebindings")
        ),
    }
)
_ADDRESSES = "networking.k8s.io/ipaddresses"
_ANY_FINALIZERS = frozenset(
    {
        "apiregistration.k8s.io/apiservices",
        "coordination.k8s.io/leases",
        "node.k8s.io/runtimeclasses",
        "policy/poddisruptionbudgets",
    }
)
"""Types whose finalizers need not be qualified, like those of admission and events of `v1`."""
_LONG_NAMES = frozenset({"replicationcontrollers", "resource.k8s.io/deviceclasses"})
"""Types whose names are looked at in a newer way, which the starts of names are not."""
_MAX_LENGTH = {"batch/cronjobs": 52}
"""The names of their Jobs are 11 characters longer."""


def name_problems(of: ResourceType, name: str, *, prefix: bool = False) -> Iterator[str]:
    """What is wrong with a name of this type; `prefix`: with the start of one, which may end in a
    dash.
    """
    if of.storage in _PATH_NAMES:
        yield from path_segment_problems(name)
        return
    if prefix and name.endswith("-") and of.storage != _ADDRESSES:
        name = name[:-2] + "a" if len(name) > 1 else name
    if of.storage in _LONG_NAMES:
        if not prefix:
            yield from _long_name_problems(name)
        return
    if of.storage == _ADDRESSES:
        yield from canonical_address_problems(name)
        return
    if of.storage in _LABEL_NAMES:
        yield from label_name_problems(name)
        return
    yield from subdomain_problems(name)
    shorter = _MAX_LENGTH.get(of.storage)
    if shorter is not None and not prefix and byte_length(name) > shorter:
        yield f"must be no more than {shorter} characters"


def byte_length(text: str) -> int:
    """How long it is for the real server, also where it speaks of characters: in UTF-8."""
    return len(text) if text.isascii() else len(text.encode())


def _long_name_problems(name: str) -> Iterator[str]:
    """Those of a subdomain, in the words of a newer way to declare it."""
    if byte_length(name) > _SUBDOMAIN_LENGTH:
        yield f"must be no more than {_SUBDOMAIN_LENGTH} bytes"
    if not _is_subdomain(name):
        yield _SUBDOMAIN_TEXT


def subdomain_problems(name: str) -> Iterator[str]:
    """What is wrong with a name that must do as a host name."""
    if byte_length(name) > _SUBDOMAIN_LENGTH:
        yield f"must be no more than {_SUBDOMAIN_LENGTH} characters"
    if not _is_subdomain(name):
        yield _SUBDOMAIN_TEXT


def label_name_problems(name: str) -> Iterator[str]:
    """What is wrong with a name that must do as a part of a host name."""
    if byte_length(name) > _LABEL_LENGTH:
        yield f"must be no more than {_LABEL_LENGTH} characters"
    if not _is_label(name):
        yield "must not contain dots" if _is_subdomain(name) else _LABEL_TEXT


def rfc_1035_problems(name: str) -> Iterator[str]:
    """What is wrong with a label in the older sense, which starts with a letter."""
    if byte_length(name) > _LABEL_LENGTH:
        yield f"must be no more than {_LABEL_LENGTH} characters"
    if not _is_rfc_1035(name):
        yield _RFC_1035_TEXT


def finalizer_name_problems(name: str) -> Iterator[str]:
    """What is wrong with a finalizer of a built-in type."""
    yield from key_problems(name)
    if "/" not in name and name not in _STANDARD_FINALIZERS:
        yield _UNKNOWN_FINALIZER


def path_segment_problems(name: str) -> Iterator[str]:
    """What is wrong with a name that only has to do as a part of a path."""
    if name in (".", ".."):
        yield f"may not be '{name}'"
    else:
        for char in "/%":
            if char in name:
                yield f"may not contain '{char}'"


def metadata_problems(of: ResourceType, metadata: Mapping[str, Any]) -> list[Problem]:
    """Everything that makes metadata invalid, in the order in which the real server looks."""
    problems: list[Problem] = []
    generate_name = metadata.get("generateName")
    if generate_name:
        texts = name_problems(of, generate_name, prefix=True)
        problems += _invalid("metadata.generateName", generate_name, texts)
    name = metadata.get("name")
    if not name:
        problems.append(required_field("metadata.name", "name or generateName is required"))
    else:
        problems += _invalid("metadata.name", name, name_problems(of, name))
    if metadata.get("generation", 0) < 0:
        text = "must be greater than or equal to 0"
        problems.append(invalid_field("metadata.generation", metadata["generation"], text))
    problems += label_map_problems(metadata)
    if metadata.get("finalizers"):
        problems += _finalizer_problems(of, metadata["finalizers"])
    return problems


def embedded_metadata_problems(metadata: Mapping[str, Any]) -> list[Problem]:
    """Those of an object inside of a custom one, whose type nobody knows."""
    problems: list[Problem] = []
    for name in ("generateName", "name"):
        if metadata.get(name):
            problems += _invalid(
                f"metadata.{name}", metadata[name], path_segment_problems(metadata[name])
            )
    namespace = metadata.get("namespace")
    if namespace:
        problems += _invalid("metadata.namespace", namespace, label_name_problems(namespace))
    problems += label_map_problems(metadata)
    for finalizer in metadata.get("finalizers") or ():
        problems += _invalid("metadata.finalizers", finalizer, key_problems(finalizer))
    return problems


def label_map_problems(metadata: Mapping[str, Any]) -> list[Problem]:
    """Those of labels, annotations and ownerReferences, which are looked at in every write."""
    problems: list[Problem] = []
    labels = metadata.get("labels")
    if labels:
        for key, value in labels.items():
            problems += _invalid("metadata.labels", key, key_problems(key))
            if value:
                problems += _invalid("metadata.labels", value, value_problems(value))
    annotations = metadata.get("annotations")
    if annotations:
        problems += annotation_map_problems("metadata.annotations", annotations)
    owners = metadata.get("ownerReferences")
    if owners:
        problems += _owner_problems(owners)
    return problems


def annotation_map_problems(field: str, annotations: Mapping[str, str] | None) -> Iterator[Problem]:
    """What is wrong with the keys of annotations, and with the size of them all."""
    size = 0
    for key, value in (annotations or {}).items():
        size += byte_length(key) + byte_length(value)
        for text in key_problems(key.lower()):
            yield invalid_field(field, key, text)
    if size > _ANNOTATION_BYTES:
        yield too_long(field, _ANNOTATION_BYTES)


def _invalid(field: str, value: str, texts: Iterable[str]) -> list[Problem]:
    return [invalid_field(field, value, text) for text in texts] if texts else []


@lru_cache(maxsize=4096)
def key_problems(key: str) -> tuple[str, ...]:
    """Those of a label's key: a name with an optional prefix."""
    prefix, slash, name = key.rpartition("/")
    if "/" in prefix:
        return (_FINALIZER_TEXT,)
    texts = []
    if slash:
        if not prefix:
            texts.append("prefix part must be non-empty")
        else:
            texts += (f"prefix part {text}" for text in _long_name_problems(prefix))
    if not name:
        texts.append("name part must be non-empty")
    elif byte_length(name) > _LABEL_LENGTH:
        texts.append(f"name part must be no more than {_LABEL_LENGTH} bytes")
    if not _is_qualified(name):
        texts.append(f"name part {_QUALIFIED_TEXT}")
    return tuple(texts)


@lru_cache(maxsize=4096)
def value_problems(value: str) -> tuple[str, ...]:
    """Those of a label's value."""
    texts = []
    if byte_length(value) > _LABEL_LENGTH:
        texts.append(f"must be no more than {_LABEL_LENGTH} bytes")
    if not _is_value(value):
        texts.append(_VALUE_TEXT)
    return tuple(texts)


def _owner_problems(owners: list[dict[str, Any]]) -> Iterator[Problem]:
    field = "metadata.ownerReferences"
    controller = ""
    for owner in owners:
        group, _, version = (owner.get("apiVersion") or "").rpartition("/")
        if not version:
            yield invalid_field(f"{field}.apiVersion", owner.get("apiVersion") or "", _NO_VERSION)
        for name in ("kind", "name", "uid"):
            if not owner.get(name):
                yield invalid_field(f"{field}.{name}", owner.get(name) or "", "must not be empty")
        if owner.get("kind") == "Event" and group in ("", "events.k8s.io"):
            text = f"{group}/{version}, Kind=Event is disallowed from being an owner"
            yield invalid_field(field, owner, text)
        if owner.get("controller"):
            this = f"{owner.get('kind')}/{owner.get('name')}"
            if controller:
                text = (
                    'Only one reference can have Controller set to true. Found "true" in '
                    f"references for {controller} and {this}"
                )
                yield invalid_field(field, owners, text)
            controller = this


def _finalizer_problems(of: ResourceType, finalizers: list[str]) -> Iterator[Problem]:
    for finalizer in finalizers:
        for text in key_problems(finalizer):
            yield invalid_field("metadata.finalizers", finalizer, text)
    if not (of.custom or _takes_any_finalizer(of)):
        for at, finalizer in enumerate(finalizers):
            if "/" not in finalizer and finalizer not in _STANDARD_FINALIZERS:
                yield invalid_field(f"metadata.finalizers[{at}]", finalizer, _UNKNOWN_FINALIZER)


def _takes_any_finalizer(of: ResourceType) -> bool:
    storage = of.storage
    return storage in _ANY_FINALIZERS or of.group == _ADMISSION or _is_old_event(of)


def _is_old_event(of: ResourceType) -> bool:
    return of.storage == "events" and not of.group


def finalizer_warnings(of: ResourceType, finalizers: list[str]) -> Iterator[str]:
    """What custom objects are warned of where built-in ones are refused."""
    if of.custom:
        for finalizer in finalizers:
            if "/" not in finalizer and finalizer not in _STANDARD_FINALIZERS:
                path = " including a path (/)" if "." in finalizer else ""
                yield (
                    f'metadata.finalizers: "{finalizer}": prefer a domain-qualified finalizer name'
                    f"{path} to avoid accidental conflicts with other finalizer writers"
                )
