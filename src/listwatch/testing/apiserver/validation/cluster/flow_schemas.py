"""The checks of FlowSchemas: which requests belong to which level of priority."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..basics import texts
from ..checks import Value
from ..internal_values import internal
from ..names import label_name_problems, subdomain_problems
from ..problems import (
    Problem,
    forbidden_field,
    invalid_field,
    required_field,
    unsupported_field,
)

__all__ = ["flow_schema_problems"]

_VERBS = (
    *("create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"),
)
_METHODS = ("ByNamespace", "ByUser")
_SUBJECTS = {"Group": "group", "ServiceAccount": "serviceAccount", "User": "user"}
_FORBIDDEN_ORDER = ("serviceAccount", "user", "group")
_MAX_PRECEDENCE = 10000
_EXPLAINED = "each member of this list must be '*' or a DNS-1123 label; "
_EVERYBODY = [
    {"kind": "Group", "group": {"name": "system:unauthenticated"}},
    {"kind": "Group", "group": {"name": "system:authenticated"}},
]
_EVERYTHING: Mapping[str, Any] = {
    "resourceRules": [
        {
            "verbs": ["*"],
            "apiGroups": ["*"],
            "resources": ["*"],
            "clusterScope": True,
            "namespaces": ["*"],
        }
    ],
    "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
}
_FIXED_SCHEMAS: Mapping[str, Value] = {
    "exempt": {
        "priorityLevelConfiguration": {"name": "exempt"},
        "matchingPrecedence": 1,
        "rules": [
            {"subjects": [{"kind": "Group", "group": {"name": "system:masters"}}], **_EVERYTHING}
        ],
    },
    "catch-all": {
        "priorityLevelConfiguration": {"name": "catch-all"},
        "matchingPrecedence": _MAX_PRECEDENCE,
        "distinguisherMethod": {"type": "ByUser"},
        "rules": [{"subjects": _EVERYBODY, **_EVERYTHING}],
    },
}


def flow_schema_problems(new: Value) -> Iterator[Problem]:
    spec, name = new.get("spec") or {}, new["metadata"].get("name") or ""
    yield from _precedence(spec.get("matchingPrecedence") or 0, name)
    method = spec.get("distinguisherMethod")
    if method is not None and method.get("type") not in _METHODS:
        shown = internal("flowcontrol.v1.FlowDistinguisherMethod", method)
        yield unsupported_field("spec.distinguisherMethod.type", shown, _METHODS)
    level = (spec.get("priorityLevelConfiguration") or {}).get("name") or ""
    field = "spec.priorityLevelConfiguration.name"
    if level:
        yield from texts(field, level, subdomain_problems(level))
    else:
        yield required_field(field, "must reference a priority level")
    for at, rule in enumerate(spec.get("rules") or ()):
        yield from _rule(f"spec.rules[{at}]", rule)
    fixed = _FIXED_SCHEMAS.get(name)
    if fixed is not None and spec != fixed:
        shown = internal("flowcontrol.v1.FlowSchemaSpec", spec)
        yield invalid_field("spec", shown, f"spec of '{name}' must equal the fixed value")


def _precedence(value: int, name: str) -> Iterator[Problem]:
    field = "spec.matchingPrecedence"
    if value <= 0:
        yield invalid_field(field, value, "must be a positive value")
    if value > _MAX_PRECEDENCE:
        yield invalid_field(field, value, f"must not be greater than {_MAX_PRECEDENCE}")
    if value == 1 and name != "exempt":
        text = "only the schema named 'exempt' may have matchingPrecedence 1"
        yield invalid_field(field, value, text)


def _rule(field: str, rule: Value) -> Iterator[Problem]:
    subjects = rule.get("subjects") or ()
    for at, subject in enumerate(subjects):
        yield from _subject(f"{field}.subjects[{at}]", subject)
    if not subjects:
        yield required_field(f"{field}.subjects", "subjects must contain at least one value")
    resources, urls = rule.get("resourceRules") or (), rule.get("nonResourceRules") or ()
    if not resources and not urls:
        text = "at least one of resourceRules and nonResourceRules has to be non-empty"
        yield required_field(field, text)
    for at, found in enumerate(resources):
        yield from _resource_rule(f"{field}.resourceRules[{at}]", found)
    for at, found in enumerate(urls):
        yield from _url_rule(f"{field}.nonResourceRules[{at}]", found)


def _subject(field: str, subject: Value) -> Iterator[Problem]:
    kind = subject.get("kind") or ""
    own = _SUBJECTS.get(kind)
    if own is None:
        yield unsupported_field(f"{field}.kind", kind, sorted(_SUBJECTS))
        return
    yield from _named(f"{field}.{own}", kind, subject.get(own))
    for name in _FORBIDDEN_ORDER:
        if name != own and subject.get(name) is not None:
            other = next(kind for kind, member in _SUBJECTS.items() if member == name)
            text = f"{name} is forbidden when subject kind is not '{other}'"
            yield forbidden_field(f"{field}.{name}", text)


def _named(field: str, kind: str, subject: Value | None) -> Iterator[Problem]:
    if subject is None:
        text = f"{_SUBJECTS[kind]} is required when subject kind is '{kind}'"
        yield required_field(field, text)
        return
    name, namespace = subject.get("name") or "", subject.get("namespace") or ""
    if not name:
        yield required_field(f"{field}.name")
    if kind != "ServiceAccount":
        return
    if name and name != "*":
        yield from texts(f"{field}.name", name, subdomain_problems(name))
    if namespace:
        yield from texts(f"{field}.namespace", namespace, label_name_problems(namespace))
    else:
        yield required_field(f"{field}.namespace", "must specify namespace for service account")


def _some(
    field: str,
    values: Sequence[str] | None,
    missing: str,
    others: str,
    rest: Callable[[Sequence[str]], Iterator[Problem]] | None = None,
) -> Iterator[Problem]:
    """A list that must have something, and nothing else where it has `*`."""
    values = values or []
    if not values:
        yield required_field(field, missing)
    elif "*" not in values:
        if rest is not None:
            yield from rest(values)
    elif len(values) > 1:
        yield invalid_field(field, values, f"if '*' is present, must not specify other {others}")


def _verbs(field: str, rule: Value) -> Iterator[Problem]:
    def known(verbs: Sequence[str]) -> Iterator[Problem]:
        if not set(verbs) <= set(_VERBS):
            yield unsupported_field(field, verbs, _VERBS)

    text = "verbs must contain at least one value"
    yield from _some(field, rule.get("verbs"), text, "verbs", known)


def _resource_rule(field: str, rule: Value) -> Iterator[Problem]:
    yield from _verbs(f"{field}.verbs", rule)
    text = "resource rules must supply at least one "
    for name, one, others in (
        ("apiGroups", "api group", "api groups"),
        ("resources", "resource", "resources"),
    ):
        yield from _some(f"{field}.{name}", rule.get(name), text + one, others)
    path = f"{field}.namespaces"

    def labels(namespaces: Sequence[str]) -> Iterator[Problem]:
        for at, name in enumerate(namespaces):
            found = (_EXPLAINED + told for told in label_name_problems(name))
            yield from texts(f"{path}[{at}]", name, found)

    if rule.get("namespaces") or not rule.get("clusterScope"):
        text = "resource rules that are not cluster scoped must supply at least one namespace"
        yield from _some(path, rule.get("namespaces"), text, "namespaces", labels)


def _url_rule(field: str, rule: Value) -> Iterator[Problem]:
    yield from _verbs(f"{field}.verbs", rule)
    path = f"{field}.nonResourceURLs"

    def paths(urls: Sequence[str]) -> Iterator[Problem]:
        for at, url in enumerate(urls):
            problem = _path_problem(url)
            if problem:
                yield invalid_field(f"{path}[{at}]", url, problem)

    text = "nonResourceURLs must contain at least one value"
    yield from _some(path, rule.get("nonResourceURLs"), text, "non-resource URLs", paths)


def _path_problem(path: str) -> str:
    if not path:
        return "must not be empty"
    if path == "/":
        return ""
    if not path.startswith("/"):
        return "must start with slash"
    if " " in path:
        return "must not contain white-space"
    if "//" in path:
        return "must not contain double slash"
    if path.count("*") > 1 or ("*" in path and not path.endswith("/*")):
        return "wildcard can only do suffix matching"
    return ""
