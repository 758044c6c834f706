"""Annotations of pods that mean something, and what they may say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...writing.go_syntax import go_kind, syntax_error
from ..checks import Value
from ..problems import Problem, forbidden_field, go_quoted, invalid_field
from .containers import containers_of
from .paths import descending_path_problems
from .tolerations import toleration_problems

__all__ = [
    "APP_ARMOR",
    "MIRROR",
    "SECCOMP_CONTAINER",
    "SECCOMP_POD",
    "annotation_update_problems",
    "has_wrong_cost",
    "pod_annotation_problems",
    "profile_match_problems",
]

MIRROR = "kubernetes.io/config.mirror"
"""On pods that a kubelet shows, and does not take from here."""
SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"
APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
_TOLERATIONS = "scheduler.alpha.kubernetes.io/tolerations"
_DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_LOCAL = "localhost/"
_TOLERATION = {
    name.lower(): name for name in ("key", "operator", "value", "effect", "tolerationSeconds")
}
_GO_TYPES = {
    "operator": "core.TolerationOperator",
    "effect": "core.TaintEffect",
    "tolerationSeconds": "int64",
}
_SECCOMP_PROFILES = {
    "Unconfined": ("unconfined",),
    "RuntimeDefault": ("runtime/default", "docker/default"),
}
_APP_ARMOR_PROFILES = {"Unconfined": ("unconfined",), "RuntimeDefault": ("runtime/default",)}
_is_cost = re.compile("-?[0-9]+").fullmatch


def pod_annotation_problems(
    annotations: Mapping[str, str] | None, spec: Value, path: str, *, any_cost: bool = False
) -> Iterator[Problem]:
    """What is wrong with those that the server knows. `any_cost`: no deletion cost is wrong, since
    there is a wrong one already.
    """
    if not annotations:
        return
    if MIRROR in annotations and not spec.get("nodeName"):
        text = "must set spec.nodeName if mirror pod annotation is set"
        yield invalid_field(f"{path}[{MIRROR}]", annotations[MIRROR], text)
    if annotations.get(_TOLERATIONS):
        yield from _toleration_text_problems(annotations[_TOLERATIONS], path)
    if not any_cost and has_wrong_cost(annotations):
        cost = annotations[_DELETION_COST]
        yield invalid_field(f"{path}[{_DELETION_COST}]", cost, "must be a 32bit integer")
    for key in sorted(annotations, key=lambda key: key != SECCOMP_POD):
        if key == SECCOMP_POD or key.startswith(SECCOMP_CONTAINER):
            yield from _seccomp_problems(annotations[key], f"{path}.{key}")
    for key, profile in annotations.items():
        if key.startswith(APP_ARMOR):
            yield from _app_armor_problems(key, profile, spec, path)


def has_wrong_cost(annotations: Mapping[str, str] | None) -> bool:
    """Whether there is a deletion cost that is none."""
    cost = (annotations or {}).get(_DELETION_COST)
    return cost is not None and not _is_number(cost)


def _is_number(text: str) -> bool:
    if not _is_cost(text) or (text[0] == "0" and text != "0"):
        return False
    return -(1 << 31) <= int(text) < 1 << 31


def _toleration_text_problems(text: str, path: str) -> Iterator[Problem]:
    error = syntax_error(text.encode())
    found: list[dict[str, Any]] = []
    if not error:
        try:
            found = _tolerations(json.loads(text))
        except (ValueError, RecursionError) as wrong:
            error = str(wrong)
    if error:
        yield invalid_field(path, _TOLERATIONS, error)
    else:
        yield from toleration_problems(found, f"{path}.{_TOLERATIONS}")


def _tolerations(value: Any) -> list[dict[str, Any]]:
    """Tolerations as Go reads them: in names of members the case does not matter. Raises
    `ValueError`.
    """
    if value is not None and not isinstance(value, list):
        raise _not_into(value, "value of type []core.Toleration")
    found = []
    for item in value or ():
        if item is not None and not isinstance(item, dict):
            raise _not_into(item, "value of type core.Toleration")
        made = {}
        for key, member in (item or {}).items():
            name = _TOLERATION.get(key.lower())
            if name is None or member is None:
                continue
            wanted = int if name == "tolerationSeconds" else str
            if not isinstance(member, wanted) or isinstance(member, bool):
                go_name, go_type = name[0].upper() + name[1:], _GO_TYPES.get(name, "string")
                raise _not_into(member, f"struct field Toleration.{go_name} of type {go_type}")
            made[name] = member
        found.append(made)
    return found


def _not_into(value: Any, what: str) -> ValueError:
    return ValueError(f"json: cannot unmarshal {go_kind(value)} into Go {what}")


def _seccomp_problems(profile: str, field: str) -> Iterator[Problem]:
    if profile in ("runtime/default", "docker/default", "unconfined"):
        return
    if profile.startswith(_LOCAL):
        yield from descending_path_problems(field, profile[len(_LOCAL) :])
    else:
        yield invalid_field(field, profile, "must be a valid seccomp profile")


def _app_armor_problems(key: str, profile: str, spec: Value, path: str) -> Iterator[Problem]:
    name = key[len(APP_ARMOR) :]
    if not any(container.get("name") == name for _, container in containers_of(spec, "")):
        yield invalid_field(f"{path}[{key}]", name, "container not found")
    if profile not in ("", "runtime/default", "unconfined") and not profile.startswith(_LOCAL):
        text = f"invalid AppArmor profile name: {go_quoted(profile)}"
        yield invalid_field(f"{path}[{key}]", profile, text)


def annotation_update_problems(
    new: Mapping[str, str] | None, old: Mapping[str, str] | None, path: str
) -> Iterator[Problem]:
    """Those that stay as they are once a pod is made."""
    new, old = new or {}, old or {}
    for key, value in old.items():
        if new.get(key) == value:
            continue
        if key.startswith(APP_ARMOR):
            yield forbidden_field(f"{path}[{key}]", "may not remove or update AppArmor annotations")
        if key == MIRROR:
            text = "may not remove or update mirror pod annotation"
            yield forbidden_field(f"{path}[{key}]", text)
    for key in new.keys() - old.keys():
        if key.startswith(APP_ARMOR):
            yield forbidden_field(f"{path}[{key}]", "may not add AppArmor annotations")
        if key == MIRROR:
            yield forbidden_field(f"{path}[{key}]", "may not add mirror pod annotation")


def profile_match_problems(
    annotations: Mapping[str, str] | None, spec: Value, path: str
) -> Iterator[Problem]:
    """Where an annotation and a member say two things about seccomp or AppArmor."""
    if not annotations:
        return
    of_pod = spec.get("securityContext") or {}
    if SECCOMP_POD in annotations:
        yield from _match(
            annotations[SECCOMP_POD],
            of_pod.get("seccompProfile"),
            f"{path}.securityContext.seccompProfile",
            "seccomp",
        )
    for here, container in containers_of(spec, path):
        annotation = annotations.get(SECCOMP_CONTAINER + (container.get("name") or ""))
        own = container.get("securityContext") or {}
        if annotation is not None:
            at = f"{here}.securityContext.seccompProfile"
            yield from _match(annotation, own.get("seccompProfile"), at, "seccomp")
    if (spec.get("os") or {}).get("name") == "windows":
        return
    for here, container in containers_of(spec, path):
        annotation = annotations.get(APP_ARMOR + (container.get("name") or ""))
        own = container.get("securityContext") or {}
        profile = own.get("appArmorProfile")
        if annotation is None:
            continue
        if profile is None:
            profile = of_pod.get("appArmorProfile")
        if profile is not None:
            at = f"{here}.securityContext.appArmorProfile"
            yield from _match(annotation, profile, at, "apparmor")


def _match(annotation: str, profile: Value | None, path: str, what: str) -> Iterator[Problem]:
    if profile is None:
        return
    kind = profile.get("type") or ""
    known: Mapping[str, tuple[str, ...]]
    known = _SECCOMP_PROFILES if what == "seccomp" else _APP_ARMOR_PROFILES
    wrong = kind in known and annotation not in known[kind]
    if wrong or (kind == "Localhost" and not annotation.startswith(_LOCAL)):
        yield forbidden_field(f"{path}.type", f"{what} type in annotation and field must match")
    elif kind == "Localhost" and annotation[len(_LOCAL) :] != profile.get("localhostProfile"):
        text = f"{what} profile in annotation and field must match"
        yield forbidden_field(f"{path}.localhostProfile", text)
