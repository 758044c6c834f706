"""Containers that are added to a pod that runs: they stay, and stay as they are."""

from __future__ import annotations

from collections.abc import Iterator

from ..checks import Value
from ..problems import Problem, forbidden_field, go_quoted
from ..value_diffs import value_diff
from .internal_specs import internal_container

__all__ = ["added_container_problems"]

_FIELD = "spec.ephemeralContainers"


def added_container_problems(new: Value, old: Value) -> Iterator[Problem]:
    """`new` and `old` are specs, which differ in their ephemeral containers."""
    containers = {
        container.get("name") or "": container for container in new.get("ephemeralContainers") or ()
    }
    for before in old.get("ephemeralContainers") or ():
        name = before.get("name") or ""
        now = containers.get(name)
        which = f"existing ephemeral containers {go_quoted(name)}"
        if now is None:
            yield forbidden_field(_FIELD, f"{which} may not be removed\n")
        elif now != before:
            shown, other = internal_container(now), internal_container(before)
            if shown != other:
                text = f"{which} may not be changed\n{value_diff(other, shown)}"
                yield forbidden_field(_FIELD, text)
