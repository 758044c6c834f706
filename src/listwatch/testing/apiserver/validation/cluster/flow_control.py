"""The checks of FlowSchemas and PriorityLevelConfigurations."""

from __future__ import annotations

from collections.abc import Iterator

from ..checks import Checks, Value
from ..problems import Problem, duplicate_field, required_field
from .flow_schemas import flow_schema_problems
from .priority_levels import priority_level_problems

__all__ = ["CHECKS"]

_GROUP = "flowcontrol.apiserver.k8s.io"


def _status(new: Value, old: Value) -> Iterator[Problem]:
    seen: set[str] = set()
    for at, condition in enumerate((new.get("status") or {}).get("conditions") or ()):
        field, kind = f"status.conditions[{at}].type", condition.get("type") or ""
        if kind in seen:
            yield duplicate_field(field, kind)
        seen.add(kind)
        if not kind:
            yield required_field(field)


CHECKS = {
    f"{_GROUP}/flowschemas": Checks(create=flow_schema_problems, status=_status),
    f"{_GROUP}/prioritylevelconfigurations": Checks(create=priority_level_problems, status=_status),
}
