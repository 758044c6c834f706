"""What else decides where and when a pod runs: gates, spreading, claims for devices, groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..basics import positive, selector_at, texts
from ..checks import Value
from ..internal_values import internal
from ..names import key_problems, label_name_problems, subdomain_problems
from ..problems import (
    Problem,
    duplicate_field,
    forbidden_field,
    invalid_field,
    required_field,
    unsupported_field,
)
from .affinity import label_keys_problems
from .annotations import MIRROR

__all__ = [
    "gate_problems",
    "readiness_gate_problems",
    "removed_gate_problems",
    "resource_claim_problems",
    "spread_problems",
]

_ACTIONS = ("DoNotSchedule", "ScheduleAnyway")
_POLICIES = ("Honor", "Ignore")
_ONE_CLAIM = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
_NO_CLAIM = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"


def readiness_gate_problems(gates: Sequence[Value] | None, path: str) -> Iterator[Problem]:
    """Conditions that a pod waits for until it is ready."""
    for at, gate in enumerate(gates or ()):
        kind = gate.get("conditionType") or ""
        yield from texts(f"{path}[{at}].conditionType", kind, key_problems(kind))


def gate_problems(gates: Sequence[Value] | None, path: str) -> Iterator[Problem]:
    """What keeps a pod from being scheduled."""
    seen: set[str] = set()
    for at, gate in enumerate(gates or ()):
        name = gate.get("name") or ""
        yield from texts(f"{path}[{at}]", name, key_problems(name))
        if name in seen:
            yield duplicate_field(f"{path}[{at}]", name)
        seen.add(name)


def removed_gate_problems(
    new: Sequence[Value] | None, old: Sequence[Value] | None, path: str
) -> Iterator[Problem]:
    """Gates only go."""
    names = {gate.get("name") or "" for gate in old or ()}
    added = {gate.get("name") or "": at for at, gate in enumerate(new or ())}
    for name, at in added.items():
        if name not in names:
            text = f"only deletion is allowed, but found new scheduling gate '{name}'"
            yield forbidden_field(f"{path}[{at}].name", text)


def spread_problems(constraints: Sequence[Value] | None, path: str) -> Iterator[Problem]:
    """How pods are spread over nodes."""
    pairs = [_pair(constraint) for constraint in constraints or ()]
    for at, constraint in enumerate(constraints or ()):
        here = f"{path}[{at}]"
        yield from positive(f"{here}.maxSkew", constraint.get("maxSkew") or 0)
        key, action = pairs[at]
        if not key:
            yield required_field(f"{here}.topologyKey", "can not be empty")
        if action not in _ACTIONS:
            yield unsupported_field(f"{here}.whenUnsatisfiable", action, _ACTIONS)
        if pairs[at] in pairs[at + 1 :]:
            field = f"{here}.{{topologyKey, whenUnsatisfiable}}"
            yield duplicate_field(field, f"{{{key}, {action}}}")
        least = constraint.get("minDomains")
        if least is not None:
            yield from positive(f"{here}.minDomains", least)
            if action != "DoNotSchedule":
                text = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
                yield invalid_field(f"{here}.minDomains", least, text)
        for name in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            policy = constraint.get(name)
            if policy is not None and policy not in _POLICIES:
                yield unsupported_field(f"{here}.{name}", policy, _POLICIES)
        selector, keys = constraint.get("labelSelector"), constraint.get("matchLabelKeys")
        if keys:
            yield from label_keys_problems(here, keys, None, selector)
        yield from selector_at(f"{here}.labelSelector", selector)


def _pair(constraint: Value) -> tuple[str, str]:
    return constraint.get("topologyKey") or "", constraint.get("whenUnsatisfiable") or ""


def resource_claim_problems(
    claims: Sequence[Value] | None, path: str, metadata: Value | None
) -> Iterator[Problem]:
    """Claims for devices that the containers can use."""
    mirror = MIRROR in ((metadata or {}).get("annotations") or ())
    names: set[str] = set()
    for at, claim in enumerate(claims or ()):
        if mirror:
            yield forbidden_field("[]", "static pods do not support resource claims")
            continue
        here = f"{path}[{at}]"
        name = claim.get("name") or ""
        if not name:
            yield required_field(f"{here}.name")
        elif name in names:
            yield duplicate_field(f"{here}.name", name)
        else:
            yield from texts(f"{here}.name", name, label_name_problems(name))
            names.add(name)
        sources = [
            (member, claim[member])
            for member in ("resourceClaimName", "resourceClaimTemplateName")
            if claim.get(member) is not None
        ]
        if len(sources) != 1:
            shown = internal("core.v1.PodResourceClaim", claim)
            yield invalid_field(here, shown, _ONE_CLAIM if sources else _NO_CLAIM)
        for member, value in sources:
            yield from texts(f"{here}.{member}", value, subdomain_problems(value))
