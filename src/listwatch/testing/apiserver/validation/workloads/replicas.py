"""What Deployments, ReplicaSets and the other workloads have in common: a template that their
selector selects, and counts of pods in their status.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...reading.object_selectors import selector_matches
from ..basics import immutable, non_negative, selector_at
from ..checks import Value
from ..names import label_name_problems
from ..pod.templates import template_problems, template_warnings
from ..problems import Problem, forbidden_field, invalid_field, required_field, unsupported_field

__all__ = [
    "at_most",
    "changed_workload_warnings",
    "collision_problems",
    "count_problems",
    "endless_pod_problems",
    "has_new_spec",
    "labels_of",
    "member",
    "name_warnings",
    "not_selected",
    "pod_problems",
    "same_selector",
    "selected_pod_problems",
    "selector_problems",
    "template_of",
    "workload_warnings",
]


def member(value: Value, name: str) -> Mapping[str, Any]:
    """An object that is a member; nothing is an empty one."""
    return value.get(name) or {}


def template_of(value: Value) -> Mapping[str, Any]:
    """The template of a workload's pods."""
    return member(member(value, "spec"), "template")


def labels_of(template: Value) -> Mapping[str, str] | None:
    """Those of a template; None where it has none at all, which is how they are shown then."""
    return member(template, "metadata").get("labels") or None


def selector_problems(selector: Value | None, path: str, kind: str) -> Iterator[Problem]:
    """A selector that must be there, and select something."""
    if selector is None:
        yield required_field(path)
        return
    yield from selector_at(path, selector)
    if not selector.get("matchLabels") and not selector.get("matchExpressions"):
        yield invalid_field(path, selector, f"empty selector is invalid for {kind}")


def same_selector(new: Value, old: Value) -> Iterator[Problem]:
    """A selector that an update has changed."""
    now, before = (member(value, "spec").get("selector") for value in (new, old))
    yield from immutable("spec.selector", now, before)


def selected_pod_problems(
    spec: Value, path: str, kind: str, no_selector: str = "invalid label selector"
) -> Iterator[Problem]:
    """The template of pods that run for ever. Where the selector is none at all, that is said
    instead.
    """
    selector, template = spec.get("selector"), member(spec, "template")
    if any(selector_at("", selector)):
        yield invalid_field(f"{path}.selector", selector, no_selector)
        return
    if selector != {}:
        yield from not_selected(selector, template, f"{path}.template")
    yield from pod_problems(template, f"{path}.template", kind)


def not_selected(selector: Value | None, template: Value, path: str) -> Iterator[Problem]:
    """A template whose pods would not belong to the workload."""
    labels = labels_of(template)
    if not selector_matches(selector, labels):
        text = "`selector` does not match template `labels`"
        yield invalid_field(f"{path}.metadata.labels", labels, text)


def pod_problems(template: Value, path: str, kind: str) -> Iterator[Problem]:
    """A template of pods that run for ever."""
    yield from template_problems(template, path)
    yield from endless_pod_problems(member(template, "spec"), f"{path}.spec", kind)


def endless_pod_problems(spec: Value, path: str, kind: str) -> Iterator[Problem]:
    """What a pod cannot have that runs for ever."""
    policy = spec.get("restartPolicy")
    if policy != "Always":
        yield unsupported_field(f"{path}.restartPolicy", policy or "", ["Always"])
    if spec.get("activeDeadlineSeconds") is not None:
        text = f"activeDeadlineSeconds in {kind} is not Supported"
        yield forbidden_field(f"{path}.activeDeadlineSeconds", text)


def count_problems(status: Value, names: Iterable[str]) -> Iterator[Problem]:
    """Members of a status that count something."""
    for name in names:
        yield from non_negative(f"status.{name}", status.get(name))


def at_most(status: Value, name: str, other: str, shown: str = "") -> Iterator[Problem]:
    """One count that cannot be more than another."""
    count = status.get(name) or 0
    if count > (status.get(other) or 0):
        yield invalid_field(f"status.{name}", count, f"cannot be greater than {shown or other}")


def collision_problems(new: Value, old: Value) -> Iterator[Problem]:
    """A `collisionCount` that goes down."""
    now, before = new.get("collisionCount"), old.get("collisionCount")
    if before is not None and (now is None or now < before):
        yield invalid_field("status.collisionCount", now or 0, "cannot be decremented")


def has_new_spec(new: Value, old: Value) -> bool:
    """Whether an update counts as a change of what is wanted."""
    return member(new, "metadata").get("generation") != member(old, "metadata").get("generation")


def name_warnings(new: Value) -> Iterator[str]:
    """Of a name that makes pods' names no host names."""
    texts = list(label_name_problems(member(new, "metadata").get("name") or ""))
    if texts:
        yield (
            "metadata.name: this is used in Pod names and hostnames, which can result in "
            f"surprising behavior; a DNS label is recommended: [{' '.join(texts)}]"
        )


def workload_warnings(new: Value) -> Iterator[str]:
    """Those of the name and of the template."""
    yield from name_warnings(new)
    yield from template_warnings(template_of(new), "spec.template")


def changed_workload_warnings(new: Value, old: Value) -> Iterator[str]:
    """Those of the template, where anything is new."""
    if has_new_spec(new, old):
        yield from template_warnings(template_of(new), "spec.template")
