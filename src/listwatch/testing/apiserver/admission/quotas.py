"""ResourceQuota: objects are counted, and refused where there would be too many.

Quotas hold what their status says, which somebody has to write first: a real server leaves that,
and to count anew what was deleted, to a controller.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..storage.log import StoredObject
from ..storage.state import State, Target
from ..types.quantities import quantity_sum, quantity_value
from ..types.served import ResourceType
from ..validation.problems import forbidden
from ..writing.managed_fields import Manager, after_update
from ..writing.metadata import timestamp
from .amounts import Amounts, Value
from .quota_scopes import in_scopes, is_terminating
from .quota_usage import counted, missing_in_containers, usage

__all__ = ["charge"]

_STORAGE = "resourcequotas"
_IGNORED = frozenset({"events"})
_CHANGING = frozenset({"pods", "services", "persistentvolumeclaims"})
"""Types whose objects can come to count for more than they did."""
_MANAGER = Manager("kube-apiserver", "v1", "status", custom=False)


def charge(state: State, target: Target, new: Value, old: Value | None, *, dry_run: bool) -> None:
    """Count an object that is created or changed. Raises `Refused` where it is too much."""
    of, name = target.type, new["metadata"].get("name") or ""
    if not of.namespaced or of.storage in _IGNORED or (old and not _can_change(target, new, old)):
        return
    quotas = [
        found
        for found in state.log.objects(_STORAGE, namespace=target.namespace)
        if counted(of, _hard(found)) and in_scopes(of.storage, found.value, new)
    ]
    for quota in quotas:
        text = _unfit(of, quota, new)
        if text:
            raise forbidden(of, name, text)
    if not quotas:
        return
    used = usage(of, new)
    negative = sorted(each for each, amount in used.items() if quantity_value(amount) < 0)
    if negative:
        raise forbidden(of, name, f"quota usage is negative for resource(s): {','.join(negative)}")
    added = [(quota, _more(of, quota, used, old)) for quota in quotas]
    for quota, more in added:
        text = _excess(quota, more)
        if text:
            raise forbidden(of, name, text)
    if not dry_run:
        for quota, more in added:
            if more:
                _note(state, quota, more)


def _can_change(target: Target, new: Value, old: Value) -> bool:
    of = target.type
    if of.storage == "pods":
        return target.subresource == "resize" or is_terminating(
            new.get("spec") or {}
        ) != is_terminating(old.get("spec") or {})
    return of.storage in _CHANGING


def _hard(quota: StoredObject) -> Amounts:
    return (quota.value.get("status") or {}).get("hard") or {}


def _used(quota: StoredObject) -> Amounts:
    return (quota.value.get("status") or {}).get("used") or {}


def _unfit(of: ResourceType, quota: StoredObject, new: Value) -> str:
    """Why a quota and an object do not go together, whatever the numbers."""
    limited = counted(of, _hard(quota))
    if of.storage == "pods":
        missing = missing_in_containers(new.get("spec") or {}, limited)
        if missing:
            return f"failed quota: {quota.key[1]}: {missing}"
    if any(name not in _used(quota) for name in limited):
        names = ",".join(sorted(limited))
        return f"status unknown for quota: {quota.key[1]}, resources: {names}"
    return ""


def _more(
    of: ResourceType, quota: StoredObject, used: Amounts, old: Value | None
) -> dict[str, str]:
    """What comes to what a quota has counted already, of what it limits."""
    limited = _hard(quota)
    more = {name: amount for name, amount in used.items() if name in limited}
    if old is not None and in_scopes(of.storage, quota.value, old):
        before = usage(of, old)
        more = {name: _beyond(amount, before.get(name, "0")) for name, amount in more.items()}
    return {name: amount for name, amount in more.items() if quantity_value(amount)}


def _beyond(amount: str, before: str) -> str:
    value = quantity_value(amount) - quantity_value(before)
    if value <= 0:
        return "0"
    negated = before[1:] if before.startswith("-") else f"-{before}"
    return quantity_sum(amount, negated)


def _excess(quota: StoredObject, more: Amounts) -> str:
    hard, used = _hard(quota), _used(quota)
    after = {name: quantity_sum(used.get(name, "0"), amount) for name, amount in more.items()}
    over = sorted(
        name
        for name, amount in after.items()
        if quantity_value(amount) > quantity_value(hard[name])
    )
    if not over:
        return ""
    shown = (_shown(amounts, over) for amounts in (more, used, hard))
    requested, so_far, limited = shown
    return (
        f"exceeded quota: {quota.key[1]}, requested: {requested}, used: {so_far}, "
        f"limited: {limited}"
    )


def _shown(amounts: Amounts, names: list[str]) -> str:
    return ",".join(f"{name}={amounts[name]}" for name in names if name in amounts)


def _note(state: State, quota: StoredObject, more: Amounts) -> None:
    """Write what a quota has counted, as the server itself does."""
    of = state.types.versions_of(_STORAGE)[0]
    old: Mapping[str, Any] = quota.value
    used = dict(_used(quota))
    for name, amount in more.items():
        used[name] = quantity_sum(used.get(name, "0"), amount)
    status = {**(old.get("status") or {}), "used": dict(sorted(used.items()))}
    new = {**old, "metadata": dict(old["metadata"]), "status": status}
    entries = after_update(_MANAGER, old, new, timestamp(state.wall()))
    if entries:
        new["metadata"]["managedFields"] = list(entries)
    state.log.put(_STORAGE, quota.key, of.ordered(new))
