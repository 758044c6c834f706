"""Whether somebody may do something: the answers of the four reviews of `authorization.k8s.io`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..auth import ADMIN, OPEN, ROLES, Auth, Rule, User
from ..types.request_info import RequestInfo
from ..validation.problems import Problem, bad_request, invalid, invalid_field

__all__ = ["access_problems", "access_status", "check_access_review", "rules_status"]

_GROUP = "authorization.k8s.io"


def check_access_review(kind: str, value: Mapping[str, Any]) -> None:
    """Raises 422 where a review does not ask one thing of one user."""
    metadata = dict(value["metadata"])
    problems = access_problems(kind, value)
    if kind == "LocalSubjectAccessReview":
        metadata.pop("namespace", None)
    entries = metadata.pop("managedFields", None)
    if metadata:
        shown = {**metadata, "managedFields": entries} if entries else metadata
        problems.append(invalid_field("metadata", shown, "must be empty"))
    if problems:
        raise invalid("", _GROUP, "", problems)


def access_problems(kind: str, value: Mapping[str, Any]) -> list[Problem]:
    """What is wrong with the spec of an access review."""
    spec = value.get("spec") or {}
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    problems = []
    if kind == "LocalSubjectAccessReview" and path is not None:
        text = "disallowed on this kind of request"
        return [invalid_field("spec.nonResourceAttributes", _go_path(path), text)]
    namespace = value["metadata"].get("namespace")
    if kind == "LocalSubjectAccessReview" and resource is not None:
        asked = resource.get("namespace") or ""
        if asked != namespace:
            text = "must match metadata.namespace"
            return [invalid_field("spec.resourceAttributes.namespace", asked, text)]
    if resource is not None and path is not None:
        text = "cannot be specified in combination with resourceAttributes"
        problems.append(invalid_field("spec.nonResourceAttributes", _go_path(path), text))
    if resource is None and path is None:
        text = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        problems.append(invalid_field("spec.resourceAttributes", None, text))
    if kind != "SelfSubjectAccessReview" and not spec.get("user") and not spec.get("groups"):
        text = "at least one of user or group must be specified"
        problems.append(invalid_field("spec.user", "", text))
    return problems


def access_status(auth: Auth | None, user: User, spec: Mapping[str, Any]) -> dict[str, Any]:
    """The status of a review that asks whether `user` may do what `spec` says."""
    info = _info(spec)
    rules = ADMIN if auth is None else auth.rules_of(user)
    allowed = next((rule for rule in rules if rule.allows(info)), None)
    if allowed is None:
        return {"allowed": False}
    role = ROLES.get(allowed)
    if role is None or "system:masters" in user.groups:
        return {"allowed": True}
    named = f'ClusterRoleBinding "{role}" of ClusterRole "{role}"'
    return {"allowed": True, "reason": f'RBAC: allowed by {named} to Group "system:authenticated"'}


def rules_status(auth: Auth | None, user: User, namespace: str) -> dict[str, Any]:
    """The status of a SelfSubjectRulesReview. Raises 400 without a namespace."""
    if not namespace:
        raise bad_request("no namespace on request")
    rules = Auth(()).rules_of(OPEN) if auth is None else auth.rules_of(user)
    ordered = sorted(rules, key=lambda rule: rule not in ROLES)
    return {
        "resourceRules": [
            _resource_rule(rule)
            for rule in ordered
            if rule.resources and ("*" in rule.namespaces or namespace in rule.namespaces)
        ],
        "nonResourceRules": [
            {"verbs": list(rule.verbs), "nonResourceURLs": list(rule.paths)}
            for rule in rules
            if rule.paths
        ],
        "incomplete": False,
    }


def _resource_rule(rule: Rule) -> dict[str, Any]:
    found: dict[str, Any] = {
        "verbs": list(rule.verbs),
        "apiGroups": list(rule.groups),
        "resources": list(rule.resources),
    }
    return {**found, "resourceNames": list(rule.names)} if rule.names else found


def _info(spec: Mapping[str, Any]) -> RequestInfo:
    path = spec.get("nonResourceAttributes")
    if path is not None:
        return RequestInfo(verb=path.get("verb") or "", path=path.get("path") or "")
    of: Mapping[str, Any] = spec.get("resourceAttributes") or {}
    return RequestInfo(
        path="",
        is_resource=True,
        verb=of.get("verb") or "",
        group=of.get("group") or "",
        version=of.get("version") or "",
        resource=of.get("resource") or "",
        subresource=of.get("subresource") or "",
        namespace=of.get("namespace") or "",
        name=of.get("name") or "",
    )


def _go_path(path: Mapping[str, Any]) -> dict[str, str]:
    return {"Path": path.get("path") or "", "Verb": path.get("verb") or ""}
