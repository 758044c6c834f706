"""The mistakes in a new pod that are told: those that people make, not all that there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .names import label_name_problems
from .problems import Problem, invalid_field, required_field, unsupported_field

__all__ = ["pod_problems"]

_RESTART_POLICIES = ("Always", "OnFailure", "Never")


def pod_problems(spec: Mapping[str, Any]) -> Iterator[Problem]:
    """Those of its containers, and of its restart policy."""
    containers = spec.get("containers")
    if not isinstance(containers, list) or not containers:
        yield required_field("spec.containers")
        return
    for at, container in enumerate(containers):
        path = f"spec.containers[{at}]"
        if not isinstance(container, dict):
            continue
        name = container.get("name")
        if not name:
            yield required_field(f"{path}.name")
        elif isinstance(name, str):
            for text in label_name_problems(name):
                yield invalid_field(f"{path}.name", name, text)
        if not container.get("image"):
            yield required_field(f"{path}.image")
    policy = spec.get("restartPolicy")
    if policy not in _RESTART_POLICIES:
        yield unsupported_field("spec.restartPolicy", policy, _RESTART_POLICIES)
