"""The checks of the configurations of webhooks, mutating and validating ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..basics import selector_at
from ..checks import Checks, Value
from ..names import rfc_1035_problems, subdomain_problems
from ..problems import Problem, duplicate_field, invalid_field, required_field, unsupported_field
from .match_rules import (
    FAILURE_POLICIES,
    MATCH_POLICIES,
    condition_problems,
    known,
    rule_problems,
)
from .urls import service_problems, url_problems

__all__ = ["CHECKS"]

_NO_EFFECTS = ("None", "NoneOnDryRun")
_EFFECTS = ("None", "NoneOnDryRun", "Some", "Unknown")
_INVOCATIONS = ("IfNeeded", "Never")
_VERSIONS = ("v1", "v1beta1")
_SELECTORS = ("namespaceSelector", "objectSelector")


@dataclass(frozen=True, slots=True)
class _Allowed:
    """What need not be as it should, since it was not before."""

    effects: bool = False
    versions: bool = False
    same_names: bool = False
    values: bool = False
    conditions: bool = False


def _create(new: Value) -> Iterator[Problem]:
    yield from _webhooks(new, _Allowed())


def _update(new: Value, old: Value) -> Iterator[Problem]:
    hooks, before = new.get("webhooks") or (), old.get("webhooks") or ()
    names = [hook.get("name") for hook in before]
    versions = [hook.get("admissionReviewVersions") or () for hook in before]
    allowed = _Allowed(
        effects=any(hook.get("sideEffects") not in _NO_EFFECTS for hook in before),
        versions=any(found and not set(found) & set(_VERSIONS) for found in versions),
        same_names=len(set(names)) < len(names),
        values=any(
            True for hook in before for name in _SELECTORS for _ in selector_at("", hook.get(name))
        ),
        conditions=len(hooks) == len(before)
        and all(
            (mine.get("matchConditions") or []) == (theirs.get("matchConditions") or [])
            for mine, theirs in zip(hooks, before, strict=True)
        ),
    )
    yield from _webhooks(new, allowed)


def _webhooks(new: Value, allowed: _Allowed) -> Iterator[Problem]:
    seen: set[str] = set()
    for at, hook in enumerate(new.get("webhooks") or ()):
        field = f"webhooks[{at}]"
        yield from _webhook(field, hook, allowed)
        versions = hook.get("admissionReviewVersions") or []
        yield from _versions(f"{field}.admissionReviewVersions", versions, allowed)
        name = hook.get("name")
        if name and not allowed.same_names:
            if name in seen:
                yield duplicate_field(f"{field}.name", name)
            seen.add(name)


def _webhook(field: str, hook: Value, allowed: _Allowed) -> Iterator[Problem]:
    yield from _name(f"{field}.name", hook.get("name") or "")
    for at, rule in enumerate(hook.get("rules") or ()):
        yield from rule_problems(f"{field}.rules[{at}]", rule)
    yield from known(f"{field}.failurePolicy", hook.get("failurePolicy"), FAILURE_POLICIES)
    yield from known(f"{field}.matchPolicy", hook.get("matchPolicy"), MATCH_POLICIES)
    effects = hook.get("sideEffects")
    supported = _EFFECTS if allowed.effects else _NO_EFFECTS
    if effects is None:
        text = f"must specify one of {', '.join(supported)}"
        yield required_field(f"{field}.sideEffects", text)
    elif effects not in supported:
        yield unsupported_field(f"{field}.sideEffects", effects, supported)
    seconds = hook.get("timeoutSeconds")
    if seconds is not None and not 1 <= seconds <= 30:
        text = "the timeout value must be between 1 and 30 seconds"
        yield invalid_field(f"{field}.timeoutSeconds", seconds, text)
    for name in _SELECTORS:
        yield from selector_at(
            f"{field}.{name}", hook.get(name), allow_invalid_values=allowed.values
        )
    yield from known(f"{field}.reinvocationPolicy", hook.get("reinvocationPolicy"), _INVOCATIONS)
    yield from _client(f"{field}.clientConfig", hook.get("clientConfig") or {})
    if not allowed.conditions:
        yield from condition_problems(f"{field}.matchConditions", hook.get("matchConditions"))


def _name(field: str, name: str) -> Iterator[Problem]:
    """A domain of three parts."""
    found = list(subdomain_problems(name))
    if not name:
        yield required_field(field)
    elif found:
        yield invalid_field(field, name, ",".join(found))
    elif name.count(".") < 2:
        text = "should be a domain with at least three segments separated by dots"
        yield invalid_field(field, name, text)


def _client(field: str, client: Mapping[str, Any]) -> Iterator[Problem]:
    """How it is reached."""
    url, service = client.get("url"), client.get("service")
    if (url is None) == (service is None):
        yield required_field(field, "exactly one of url or service is required")
    elif url is not None:
        yield from url_problems(f"{field}.url", url)
    elif service is not None:
        port = service.get("port")
        yield from service_problems(
            f"{field}.service",
            # The real server takes the one for the other here.
            namespace=service.get("name") or "",
            name=service.get("namespace") or "",
            path=service.get("path"),
            port=443 if port is None else port,
        )


def _versions(field: str, versions: Sequence[str], allowed: _Allowed) -> Iterator[Problem]:
    words = ", ".join(_VERSIONS)
    if not versions:
        yield required_field(field, f"must specify one of {words}")
        return
    for at, version in enumerate(versions):
        if version in versions[:at]:
            yield invalid_field(f"{field}[{at}]", version, "duplicate version")
            continue
        for text in rfc_1035_problems(version):
            yield invalid_field(f"{field}[{at}]", version, text)
    if not allowed.versions and not set(versions) & set(_VERSIONS):
        yield invalid_field(field, versions, f"must include at least one of {words}")


_WEBHOOKS = Checks(create=_create, update=_update)
CHECKS = {
    "admissionregistration.k8s.io/mutatingwebhookconfigurations": _WEBHOOKS,
    "admissionregistration.k8s.io/validatingwebhookconfigurations": _WEBHOOKS,
}
