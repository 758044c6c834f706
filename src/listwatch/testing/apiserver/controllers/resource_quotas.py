"""ResourceQuotas: what of them is used, counted anew when something goes or asks for less.

What comes is counted by the server itself, before it lets it in (`admission/quotas.py`); it holds
a quota only once the status says what that is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from typing import Any, ClassVar, cast

from ..admission.quota_scopes import in_scopes, is_terminating
from ..admission.quota_usage import counted, usage
from ..storage.log import Key, StoredObject, Write, WriteKind
from ..types.quantities import quantity_sum
from ..types.served import ResourceType
from .client import Core
from .controller import Controller
from .pods import PODS, is_finished
from .queue import WorkQueue

__all__ = ["ResourceQuotas"]

_STORAGE = "resourcequotas"
_IGNORED = frozenset({"events"})
_DELAY = 0.05


class ResourceQuotas(Controller):
    """Looks at the quotas of a namespace when its objects count for less than they did."""

    name: ClassVar[str] = "resourcequota"
    storage: ClassVar[str] = _STORAGE

    def __init__(self, core: Core, queue: WorkQueue) -> None:
        super().__init__(core, queue)
        self._quotas: Counter[str] = Counter()

    def start(self) -> None:
        self._quotas = Counter(quota.key[0] for quota in self.client.list(_STORAGE))
        super().start()

    def observe(self, write: Write) -> None:
        namespace = write.new.key[0]
        if write.storage == _STORAGE:
            self._quotas[namespace] += write.old is None
            self._quotas[namespace] -= write.kind is WriteKind.DELETED
            self.plan(write.new.key, _DELAY)
        if self._quotas[namespace] and _is_less(write):
            for quota in self.client.list(_STORAGE, namespace):
                if self._limits(quota, write.storage):
                    self.plan(quota.key, _DELAY)

    def sync(self, item: Hashable) -> None:
        key = cast("Key", item)
        quota = self.client.get(_STORAGE, key)
        if quota is None:
            return
        hard = (quota.value.get("spec") or {}).get("hard") or {}
        before = quota.value.get("status") or {}
        known = {name: used for name, used in (before.get("used") or {}).items() if name in hard}
        status = {"hard": hard, "used": {**known, **self._used(quota, hard)}}
        if any(before.get(part) != value for part, value in status.items()):
            self.client.update_status(_STORAGE, quota.value, status)

    def _limits(self, quota: StoredObject, storage: str) -> bool:
        of = _type(self.client.state.types.versions_of(storage))
        hard = (quota.value.get("status") or {}).get("hard") or {}
        return of is not None and bool(counted(of, hard))

    def _used(self, quota: StoredObject, hard: Mapping[str, str]) -> dict[str, str]:
        types = self.client.state.types
        used: dict[str, str] = {}
        for storage in dict.fromkeys(of.storage for of in types if of.is_stored):
            of = _type(types.versions_of(storage))
            names = [] if of is None or storage in _IGNORED else counted(of, hard)
            if of is None or not names:
                continue
            for name in names:
                used.setdefault(name, "0")
            for found in self.client.list(storage, quota.key[0]):
                if in_scopes(storage, quota.value, found.value):
                    for name, amount in usage(of, found.value).items():
                        if name in hard:
                            used[name] = quantity_sum(used.get(name, "0"), amount)
        return used


def _type(versions: list[ResourceType]) -> ResourceType | None:
    """The type, if its objects are in namespaces."""
    return versions[0] if versions and versions[0].namespaced else None


def _is_less(write: Write) -> bool:
    """Whether an object may count for less than it did, or be in other scopes."""
    if write.kind is WriteKind.DELETED:
        return True
    if write.old is None:
        return False
    old, new = write.old.value, write.new.value
    if write.storage == PODS:
        return (
            is_finished(new) != is_finished(old)
            or is_terminating(new.get("spec") or {}) != is_terminating(old.get("spec") or {})
            or _resources(new) != _resources(old)
        )
    if write.storage == "services":
        return _charged_type(new) != _charged_type(old)
    return write.storage == "persistentvolumeclaims" and _storage(new) != _storage(old)


def _resources(pod: Mapping[str, Any]) -> list[Any]:
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    return [status.get("resources") for status in statuses]


def _charged_type(service: Mapping[str, Any]) -> str:
    kind = (service.get("spec") or {}).get("type")
    return kind if kind in ("NodePort", "LoadBalancer") else ""


def _storage(claim: Mapping[str, Any]) -> tuple[Any, Any]:
    asked = ((claim.get("spec") or {}).get("resources") or {}).get("requests")
    return asked, (claim.get("status") or {}).get("allocatedResources")
