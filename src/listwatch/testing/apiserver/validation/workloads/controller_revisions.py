"""ControllerRevisions and PodTemplates."""

from __future__ import annotations

from collections.abc import Iterator

from ..basics import immutable, non_negative
from ..checks import Checks, Value
from ..pod.templates import template_problems, template_warnings
from ..problems import Problem, required_field
from .replicas import has_new_spec, member

__all__ = ["CHECKS"]


def _create_revision(new: Value) -> Iterator[Problem]:
    yield from non_negative("revision", new.get("revision"))
    data = new.get("data")
    if data is None:
        yield required_field("data", "data is mandatory")
    elif not isinstance(data, dict):
        yield required_field("data", "data must be a valid JSON object")


def _update_revision(new: Value, old: Value) -> Iterator[Problem]:
    yield from non_negative("revision", new.get("revision"))
    yield from immutable("data", new.get("data"), old.get("data"))


def _create_template(new: Value) -> Iterator[Problem]:
    yield from template_problems(member(new, "template"), "template")


def _template_warnings(new: Value) -> Iterator[str]:
    yield from template_warnings(member(new, "template"), "template")


def _changed_warnings(new: Value, old: Value) -> Iterator[str]:
    if has_new_spec(new, old):
        yield from _template_warnings(new)


CHECKS = {
    "apps/controllerrevisions": Checks(
        create=_create_revision, update=_update_revision, metadata=2
    ),
    "podtemplates": Checks(
        create=_create_template, warnings=_template_warnings, update_warnings=_changed_warnings
    ),
}
