"""ResourceQuotas: what they limit, and for which objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...types.quantities import quantity_value
from ..basics import IMMUTABLE, NO_OPERATOR
from ..checks import Checks, Value
from ..internal_values import internal
from ..problems import Problem, invalid_field, required_field
from .quota_resources import (
    is_quota_resource,
    quota_amount_problems,
    quota_resource_problems,
)

__all__ = ["CHECKS"]

_COMPUTE = frozenset(
    {"cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory", "pods"}
)
_SCOPES = {
    "Terminating": _COMPUTE,
    "NotTerminating": _COMPUTE,
    "BestEffort": frozenset({"pods"}),
    "NotBestEffort": _COMPUTE,
    "PriorityClass": _COMPUTE,
    "VolumeAttributesClass": frozenset({"persistentvolumeclaims", "requests.storage"}),
    "CrossNamespacePodAffinity": _COMPUTE,
}
"""Which resources can be limited for the objects of a scope."""
_BY_VALUE = ("PriorityClass", "VolumeAttributesClass")
_PAIRS = (("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating"))
_NOT_FOR_RESOURCE = "unsupported scope applied to resource"


def _quota(new: Value) -> Iterator[Problem]:
    spec = new.get("spec") or {}
    hard = spec.get("hard") or {}
    yield from _amounts(hard, "spec.hard")
    yield from _scopes(spec, sorted(hard))
    if spec.get("scopeSelector") is not None:
        yield from _selector(spec, spec["scopeSelector"], sorted(hard))


def _changed_quota(new: Value, old: Value) -> Iterator[Problem]:
    yield from _quota(new)
    scopes = (new.get("spec") or {}).get("scopes")
    if set(scopes or ()) != set((old.get("spec") or {}).get("scopes") or ()):
        yield invalid_field("spec.scopes", scopes, IMMUTABLE)


def _quota_status(new: Value, old: Value) -> Iterator[Problem]:
    status = new.get("status") or {}
    for name in ("hard", "used"):
        yield from _amounts(status.get(name) or {}, f"status.{name}")


def _quota_warnings(new: Value) -> Iterator[str]:
    """That more may be asked for than may be had."""
    hard = (new.get("spec") or {}).get("hard") or {}
    for name in ("cpu", "memory", "storage", "ephemeral-storage"):
        asked = f"requests.{name}"
        if asked not in hard and name in ("cpu", "memory"):
            asked = name
        limit = f"limits.{name}"
        more, less = hard.get(asked), hard.get(limit)
        if more and less and quantity_value(more) > quantity_value(less):
            yield f"ResourceQuota {asked} ({more}) should be less than {limit} ({less})"


def _amounts(amounts: Mapping[str, Any], path: str) -> Iterator[Problem]:
    for name, amount in sorted(amounts.items()):
        field = f"{path}[{name}]"
        yield from quota_resource_problems(field, name)
        yield from quota_amount_problems(field, name, amount)


def _scopes(spec: Value, limited: list[str]) -> Iterator[Problem]:
    scopes = spec.get("scopes") or []
    for scope in scopes:
        if scope not in _SCOPES:
            yield invalid_field("spec.scopes", scopes, "unsupported scope")
        for _ in _not_for(scope, limited):
            yield invalid_field("spec.scopes", scopes, _NOT_FOR_RESOURCE)
    yield from _conflicts(set(scopes), "spec.scopes", scopes)


def _not_for(scope: str, limited: list[str]) -> Iterator[str]:
    """The resources that cannot be limited for a scope."""
    found = _SCOPES.get(scope)
    if found is not None:
        yield from (name for name in limited if is_quota_resource(name) and name not in found)


def _conflicts(scopes: set[str], field: str, shown: Any) -> Iterator[Problem]:
    for pair in _PAIRS:
        if scopes.issuperset(pair):
            yield invalid_field(field, shown, "conflicting scopes")


def _selector(spec: Value, selector: Value, limited: list[str]) -> Iterator[Problem]:
    path = "spec.scopeSelector.matchExpressions"
    scopes = set()
    for each in selector.get("matchExpressions") or ():
        each = each or {}
        scope, operator = each.get("scopeName") or "", each.get("operator") or ""
        values = each.get("values") or []
        scopes.add(scope)
        if scope not in _SCOPES:
            yield invalid_field(f"{path}.scopeName", scope, "unsupported scope")
        for _ in _not_for(scope, limited):
            shown = internal("core.v1.ScopeSelector", selector)
            yield invalid_field(path, shown, _NOT_FOR_RESOURCE)
        if scope in _SCOPES and scope not in _BY_VALUE and operator != "Exists":
            text = (
                "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, "
                "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, "
                "ResourceQuotaScopeNotBestEffort or "
                "ResourceQuotaScopeCrossNamespacePodAffinity"
            )
            yield invalid_field(f"{path}.operator", operator, text)
        if operator in ("In", "NotIn"):
            if not values:
                text = (
                    "must be at least one value when `operator` is 'In' or 'NotIn' for scope "
                    "selector"
                )
                yield required_field(f"{path}.values", text)
        elif operator in ("Exists", "DoesNotExist"):
            if values:
                text = (
                    "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope "
                    "selector"
                )
                yield invalid_field(f"{path}.values", values, text)
        else:
            yield invalid_field(f"{path}.operator", operator, NO_OPERATOR)
    yield from _conflicts(scopes, path, spec.get("scopes"))


def _no_warning(new: Value, old: Value) -> tuple[str, ...]:
    """Only who creates one is told."""
    return ()


CHECKS: dict[str, Checks] = {
    "resourcequotas": Checks(
        _quota,
        _changed_quota,
        _quota_status,
        warnings=_quota_warnings,
        update_warnings=_no_warning,
    )
}
