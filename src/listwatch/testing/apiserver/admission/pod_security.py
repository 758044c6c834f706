"""PodSecurity: what the labels of a namespace demand of the pods in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..storage.state import State, Target
from ..validation.problems import Problem, forbidden, invalid, invalid_field
from .amounts import Value
from .pod_standards import LATEST, Finding, findings

__all__ = ["check_labels", "check_security", "warn_of_template"]

_PREFIX = "pod-security.kubernetes.io/"
_LEVELS = ("privileged", "baseline", "restricted")
_is_version = re.compile(r"v1\.(0|[1-9][0-9]*)").fullmatch


@dataclass(frozen=True, slots=True)
class _Standard:
    level: str = "privileged"
    version: str = "latest"

    def __str__(self) -> str:
        return f"{self.level}:{self.version}"

    def findings(self, metadata: Value, spec: Value) -> list[Finding]:
        if self.level == "privileged":
            return []
        minor = LATEST if self.version == "latest" else int(self.version[3:][:9])
        return list(findings(self.level, minor, metadata, spec))


def _standards(labels: Mapping[str, str]) -> tuple[_Standard, _Standard, list[Problem]]:
    """What is enforced, what is warned of, and what is wrong with the labels."""
    problems: list[Problem] = []
    found = {}
    for mode in ("enforce", "audit", "warn"):
        level, version = labels.get(_PREFIX + mode), labels.get(f"{_PREFIX}{mode}-version")
        if level is not None and level not in _LEVELS:
            text = f"must be one of {', '.join(_LEVELS)}"
            problems.append(_wrong(mode, level, text))
            level = "restricted" if mode == "enforce" else "privileged"
        if version is not None and version != "latest" and not _is_version(version):
            problems.append(_wrong(f"{mode}-version", version, 'must be "latest" or "v1.x"'))
            version = "latest"
        found[mode] = _Standard(level or "privileged", version or "latest")
    enforced, warned = found["enforce"], found["warn"]
    is_plain = labels.get(f"{_PREFIX}enforce") in _LEVELS and f"{_PREFIX}warn" not in labels
    if is_plain and enforced.level != "privileged":
        version = warned.version if f"{_PREFIX}warn-version" in labels else enforced.version
        warned = _Standard(enforced.level, version)
    return enforced, warned, problems


def _wrong(name: str, value: str, text: str) -> Problem:
    return invalid_field(f"metadata.labels[{_PREFIX}{name}]", value, text)


def _standards_of(state: State, namespace: str) -> tuple[_Standard, _Standard] | None:
    """None where the namespace has no such labels."""
    found = state.log.get("namespaces", ("", namespace))
    labels = (found.metadata.get("labels") or {}) if found is not None else {}
    if len(labels) < 2 and not any(name.startswith(_PREFIX) for name in labels):
        return None
    enforced, warned, _ = _standards(labels)
    return enforced, warned


def check_security(state: State, target: Target, new: Value, old: Value | None) -> list[str]:
    """Refuse a pod that the standard of its namespace forbids; give what is warned of."""
    standards = _standards_of(state, target.namespace)
    if standards is None or (old is not None and not _may_matter(new, old)):
        return []
    enforced, warned = standards
    metadata, spec = new["metadata"], new.get("spec") or {}
    found = enforced.findings(metadata, spec)
    if found:
        text = f'violates PodSecurity "{enforced}": {_told(found)}'
        raise forbidden(target.type, metadata.get("name") or "", text)
    return _warning(warned, metadata, spec)


def warn_of_template(state: State, target: Target, new: Value, old: Value | None) -> list[str]:
    """What is warned of in what makes pods."""
    standards = _standards_of(state, target.namespace)
    template: Any = new
    if standards is None:
        return []
    for name in _TEMPLATES[target.type.storage]:
        template = (template or {}).get(name)
    if template is None:
        return []
    return _warning(standards[1], template.get("metadata") or {}, template.get("spec") or {})


def check_labels(state: State, target: Target, new: Value, old: Value | None) -> list[str]:
    """Refuse labels of a namespace that say nothing; warn of its pods that they would refuse."""
    labels = new["metadata"].get("labels") or {}
    before = (old or {}).get("metadata", {}).get("labels") or {}
    enforced, _, problems = _standards(labels)
    was, _, wrong_before = _standards(before)
    if problems and (old is None or problems != wrong_before):
        raise invalid(target.type.kind, "", new["metadata"].get("name") or "", problems)
    if old is None or enforced == was or enforced.level == "privileged":
        return []
    if enforced.version == was.version and _LEVELS.index(enforced.level) < _LEVELS.index(was.level):
        return []
    return list(_pod_warnings(state, enforced, new["metadata"].get("name") or ""))


def _pod_warnings(state: State, enforced: _Standard, namespace: str) -> Iterator[str]:
    """Those of the pods that are there, the same ones together."""
    names: dict[str, list[str]] = {}
    for pod in state.log.objects("pods", namespace=namespace):
        found = enforced.findings(pod.metadata, pod.value.get("spec") or {})
        if found:
            text = ", ".join(each.reason for each in found)
            names.setdefault(text, []).append(pod.key[1])
    if names:
        yield (
            f'existing pods in namespace "{namespace}" violate the new PodSecurity enforce level '
            f'"{enforced}"'
        )
    lines = []
    for text, pods in names.items():
        others = len(pods) - 1
        more = f" (and {others} other pod{'' if others == 1 else 's'})" if others else ""
        lines.append(f"{min(pods)}{more}: {text}")
    yield from sorted(lines)


def _warning(warned: _Standard, metadata: Value, spec: Value) -> list[str]:
    found = warned.findings(metadata, spec)
    return [f'would violate PodSecurity "{warned}": {_told(found)}'] if found else []


def _told(found: list[Finding]) -> str:
    return ", ".join(map(str, found))


def _may_matter(new: Value, old: Value) -> bool:
    """Whether an update could make a pod another one to these standards: images, containers."""
    now, before = new.get("spec") or {}, old.get("spec") or {}
    return any(
        [(each.get("name"), each.get("image")) for each in now.get(member) or ()]
        != [(each.get("name"), each.get("image")) for each in before.get(member) or ()]
        for member in ("containers", "initContainers", "ephemeralContainers")
    )


_TEMPLATES = {
    "podtemplates": ("template",),
    **dict.fromkeys(
        (
            "replicationcontrollers",
            *(f"apps/{name}" for name in ("daemonsets", "deployments", "replicasets")),
            "apps/statefulsets",
            "batch/jobs",
        ),
        ("spec", "template"),
    ),
    "batch/cronjobs": ("spec", "jobTemplate", "spec", "template"),
}
"""Where types have the templates of their pods."""
