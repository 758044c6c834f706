"""The checks of roles and of what binds them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..basics import selector_at, texts
from ..checks import Checks, Value
from ..internal_values import internal
from ..names import path_segment_problems, subdomain_problems
from ..problems import Problem, invalid_field, required_field, unsupported_field

__all__ = ["CHECKS"]

_RBAC = "rbac.authorization.k8s.io"
_SUBJECTS = ("ServiceAccount", "User", "Group")


# Roles


def _role(new: Value) -> Iterator[Problem]:
    for at, rule in enumerate(new.get("rules") or ()):
        yield from _rule(f"rules[{at}]", rule, in_namespace=True)


def _cluster_role(new: Value, *, allow_invalid_values: bool = False) -> Iterator[Problem]:
    for at, rule in enumerate(new.get("rules") or ()):
        yield from _rule(f"rules[{at}]", rule, in_namespace=False)
    yield from _aggregation(new, allow_invalid_values=allow_invalid_values)


def _cluster_role_update(new: Value, old: Value) -> Iterator[Problem]:
    """A selector that was never valid need not become so."""
    yield from _cluster_role(new, allow_invalid_values=any(_aggregation(old)))


def _aggregation(role: Value, *, allow_invalid_values: bool = False) -> Iterator[Problem]:
    aggregation = role.get("aggregationRule")
    if aggregation is None:
        return
    field = "aggregationRule.clusterRoleSelectors"
    selectors = aggregation.get("clusterRoleSelectors")
    if not selectors:
        text = "at least one clusterRoleSelector required if aggregationRule is non-nil"
        yield required_field(field, text)
    for at, selector in enumerate(selectors or ()):
        path = f"{field}[{at}]"
        found = list(selector_at(path, selector, allow_invalid_values=allow_invalid_values))
        yield from found
        if found:
            yield invalid_field(path, None, "invalid label selector.")


def _rule(field: str, rule: Value, *, in_namespace: bool) -> Iterator[Problem]:
    if not rule.get("verbs"):
        yield required_field(f"{field}.verbs", "verbs must contain at least one value")
    urls = rule.get("nonResourceURLs")
    if urls:
        path = f"{field}.nonResourceURLs"
        if in_namespace:
            text = "namespaced rules cannot apply to non-resource URLs"
            yield invalid_field(path, urls, text)
        if any(rule.get(name) for name in ("apiGroups", "resources", "resourceNames")):
            text = "rules cannot apply to both regular resources and non-resource URLs"
            yield invalid_field(path, urls, text)
        return
    for name, one in (("apiGroups", "api group"), ("resources", "resource")):
        if not rule.get(name):
            text = f"resource rules must supply at least one {one}"
            yield required_field(f"{field}.{name}", text)


# Bindings


def _role_binding(new: Value) -> Iterator[Problem]:
    yield from _binding(new, ("Role", "ClusterRole"), in_namespace=True)


def _cluster_role_binding(new: Value) -> Iterator[Problem]:
    yield from _binding(new, ("ClusterRole",), in_namespace=False)


def _binding(new: Value, kinds: tuple[str, ...], *, in_namespace: bool) -> Iterator[Problem]:
    role = new.get("roleRef") or {}
    yield from _group("roleRef.apiGroup", role.get("apiGroup"), _RBAC)
    kind, name = role.get("kind") or "", role.get("name") or ""
    if kind not in kinds:
        yield unsupported_field("roleRef.kind", kind, kinds, plain=True)
    if name:
        yield from texts("roleRef.name", name, path_segment_problems(name))
    else:
        yield required_field("roleRef.name")
    for at, subject in enumerate(new.get("subjects") or ()):
        yield from _subject(f"subjects[{at}]", subject, in_namespace=in_namespace)


def _subject(field: str, subject: Value, *, in_namespace: bool) -> Iterator[Problem]:
    kind, name = subject.get("kind") or "", subject.get("name") or ""
    if not name:
        yield required_field(f"{field}.name")
    if kind not in _SUBJECTS:
        yield unsupported_field(f"{field}.kind", kind, _SUBJECTS, plain=True)
    elif kind != "ServiceAccount":
        yield from _group(f"{field}.apiGroup", subject.get("apiGroup"), _RBAC)
    else:
        if name:
            yield from texts(f"{field}.name", name, subdomain_problems(name))
        yield from _group(f"{field}.apiGroup", subject.get("apiGroup"), "")
        if not in_namespace and not subject.get("namespace"):
            yield required_field(f"{field}.namespace")


def _group(field: str, group: Any, supported: str) -> Iterator[Problem]:
    if (group or "") != supported:
        yield unsupported_field(field, group or "", [supported], plain=True)


def _binding_update(new: Value, old: Value) -> Iterator[Problem]:
    cluster = old.get("kind") == "ClusterRoleBinding"
    yield from _cluster_role_binding(new) if cluster else _role_binding(new)
    if old.get("roleRef") != new.get("roleRef"):
        shown = internal("rbac.v1.RoleRef", new.get("roleRef"))
        yield invalid_field("roleRef", shown, "cannot change roleRef")


CHECKS = {
    f"{_RBAC}/roles": Checks(create=_role, metadata=2),
    f"{_RBAC}/clusterroles": Checks(create=_cluster_role, update=_cluster_role_update, metadata=2),
    f"{_RBAC}/rolebindings": Checks(create=_role_binding, update=_binding_update, metadata=2),
    f"{_RBAC}/clusterrolebindings": Checks(
        create=_cluster_role_binding, update=_binding_update, metadata=2
    ),
}
