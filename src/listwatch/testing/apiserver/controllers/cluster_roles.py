"""ClusterRoles that are put together from others (`aggregationRule`)."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, ClassVar, cast

from ..reading.object_selectors import selector_matches
from ..storage.log import Key, Write
from .controller import Controller

__all__ = ["AggregatedRoles"]

_STORAGE = "rbac.authorization.k8s.io/clusterroles"
_DELAY = 0.01
_APPLIER = "clusterrole-aggregation-controller"
_MEMBERS = ("verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs")


class AggregatedRoles(Controller):
    """Applies to each the rules of those that it selects, each rule once."""

    name: ClassVar[str] = "clusterrole-aggregation"
    watched: ClassVar[frozenset[str] | None] = frozenset({_STORAGE})
    storage: ClassVar[str] = _STORAGE

    def observe(self, write: Write) -> None:
        for role in self.client.list(_STORAGE):
            if role.value.get("aggregationRule"):
                self.plan(role.key, _DELAY)

    def sync(self, item: Hashable) -> None:
        key = cast("Key", item)
        role = self.client.get(_STORAGE, key)
        if role is None or not role.value.get("aggregationRule"):
            return
        others = [found for found in self.client.list(_STORAGE) if found.key != key]
        rules: list[dict[str, Any]] = []
        for selector in role.value["aggregationRule"].get("clusterRoleSelectors") or ():
            for other in others:
                if selector_matches(selector, other.metadata.get("labels")):
                    rules += (rule for rule in other.value.get("rules") or () if rule not in rules)
        if rules == (role.value.get("rules") or []):
            return
        applied = [{name: rule[name] for name in _MEMBERS if rule.get(name)} for rule in rules]
        configuration = {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": key[1]},
            **({"rules": applied} if applied else {}),
        }
        if self.client.apply(_STORAGE, configuration, manager=_APPLIER) is None:
            self.retry(key)
        else:
            self.forget(key)
