"""RuntimeClasses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..basics import immutable, label_map, name_at
from ..checks import Checks, Value
from ..internal_values import internal
from ..names import label_name_problems
from ..node_selectors import DEPRECATED_LABELS
from ..pod.resources import resource_problems
from ..pod.tolerations import toleration_problems
from ..problems import Problem, duplicate_field

__all__ = ["CHECKS"]


def _runtime_class(new: Value) -> Iterator[Problem]:
    yield from name_at("handler", new.get("handler"), label_name_problems)
    overhead, scheduling = new.get("overhead"), new.get("scheduling")
    if overhead is not None:
        yield from resource_problems({"limits": overhead.get("podFixed")}, "overhead")
    if scheduling is not None:
        yield from label_map("scheduling.nodeSelector", scheduling.get("nodeSelector"))
        yield from _tolerations(scheduling.get("tolerations") or ())


def _tolerations(tolerations: Sequence[Value]) -> Iterator[Problem]:
    path = "scheduling.tolerations"
    yield from toleration_problems(tolerations, path)
    seen = set()
    for at, each in enumerate(tolerations):
        key = tuple(each.get(name) or "" for name in ("key", "operator", "value", "effect"))
        if key in seen:
            yield duplicate_field(f"{path}[{at}]", internal("core.v1.Toleration", each))
        seen.add(key)


def _runtime_class_warnings(new: Value) -> Iterator[str]:
    for key in (new.get("scheduling") or {}).get("nodeSelector") or ():
        told = DEPRECATED_LABELS.get(key)
        if told:
            yield f"scheduling.nodeSelector: {told}"


def _runtime_class_update(new: Value, old: Value) -> Iterator[Problem]:
    yield from _runtime_class(new)
    yield from immutable("handler", new.get("handler") or "", old.get("handler") or "")


CHECKS = {
    "node.k8s.io/runtimeclasses": Checks(
        create=_runtime_class,
        update=_runtime_class_update,
        metadata=2,
        warnings=_runtime_class_warnings,
    )
}
