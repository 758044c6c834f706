"""The checks of what binds admission policies to requests and to parameters."""

from __future__ import annotations

from collections.abc import Iterator

from ..basics import selector_at, subdomain_at, texts
from ..checks import Checks, Value
from ..names import path_segment_problems
from ..problems import (
    Problem,
    duplicate_field,
    forbidden_field,
    invalid_field,
    required_field,
)
from .match_rules import MUTATING_OPERATIONS, known, operations_problems, resources_problems

__all__ = ["CHECKS"]

_ACTIONS = ("Audit", "Deny", "Warn")
_EXCLUSIVE = "name and selector are mutually exclusive"


def _validating_binding(new: Value) -> Iterator[Problem]:
    spec = new.get("spec") or {}
    yield from _binding(spec)
    field = "spec.validationActions"
    actions = spec.get("validationActions") or []
    for at, action in enumerate(actions):
        yield from known(f"{field}[{at}]", action, _ACTIONS)
        if action in actions[:at]:
            yield duplicate_field(f"{field}[{at}]", action)
    if "Deny" in actions and "Warn" in actions:
        text = (
            "must not contain both Deny and Warn (repeating the same validation failure "
            "information in the API response and headers serves no purpose)"
        )
        yield invalid_field(field, actions, text)
    if not actions:
        yield required_field(field, "at least one validation action is required")


def _mutating_binding(new: Value) -> Iterator[Problem]:
    spec = new.get("spec") or {}
    yield from _binding(spec)
    yield from operations_problems(
        "spec.matchResources", spec.get("matchResources") or {}, MUTATING_OPERATIONS
    )


def _binding(spec: Value) -> Iterator[Problem]:
    yield from subdomain_at("spec.policyName", spec.get("policyName"))
    parameters = spec.get("paramRef")
    if parameters is not None:
        yield from _parameters("spec.paramRef", parameters)
    yield from resources_problems("spec.matchResources", spec.get("matchResources"))


def _parameters(field: str, reference: Value) -> Iterator[Problem]:
    name, selector = reference.get("name") or "", reference.get("selector")
    if name:
        yield from texts(f"{field}.name", name, path_segment_problems(name))
        if selector is not None:
            yield forbidden_field(f"{field}.name", _EXCLUSIVE)
    if selector is not None:
        yield from selector_at(f"{field}.selector", selector)
        if name:
            yield forbidden_field(f"{field}.selector", _EXCLUSIVE)
    elif not name:
        yield required_field(field, "one of name or selector must be specified")
    action = reference.get("parameterNotFoundAction")
    if not action:
        yield required_field(f"{field}.parameterNotFoundAction")
    else:
        yield from known(f"{field}.parameterNotFoundAction", action, ("Deny", "Allow"))


CHECKS = {
    "admissionregistration.k8s.io/mutatingadmissionpolicybindings": Checks(
        create=_mutating_binding
    ),
    "admissionregistration.k8s.io/validatingadmissionpolicybindings": Checks(
        create=_validating_binding
    ),
}
