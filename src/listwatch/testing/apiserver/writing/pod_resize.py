"""The subresource `resize` of a pod: what the containers of one that runs ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .ephemeral_containers import with_kept_metadata

__all__ = ["with_resize"]

_KINDS = ("containers", "initContainers")
_MEMBERS = ("resources", "resizePolicy")


def with_resize(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """`old` with the resources of `new`, and nothing else of it. Where the containers are others,
    it is `new` itself, for which it will be refused.
    """
    before, spec = old.get("spec") or {}, new.get("spec") or {}
    made = dict(before)
    for kind in _KINDS:
        now, was = spec.get(kind) or (), before.get(kind) or ()
        if len(now) != len(was):
            return dict(new)
        if now:
            made[kind] = _resized(now, was)
    made.pop("resources", None)
    if spec.get("resources") is not None:
        made["resources"] = spec["resources"]
    return {**old, "metadata": with_kept_metadata(old, new), "spec": made}


def _resized(new: Sequence[Any], old: Sequence[Any]) -> Sequence[Any]:
    made = []
    for container, before in zip(new, old, strict=True):
        if not isinstance(container, dict) or container.get("name") != before.get("name"):
            return new
        kept = {name: value for name, value in before.items() if name not in _MEMBERS}
        made.append(kept | {name: container[name] for name in _MEMBERS if name in container})
    return made
