"""What the types look like in Tables (K52)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from listwatch.api.cells.reading import Obj, text

from ...types.served import ResourceType
from . import autoscaling, cluster, core, network, storage, workloads
from .custom import custom_printer
from .printer import NAME, Column, Printer, name_of

__all__ = ["printer_of"]

_PRINTERS: dict[tuple[str, str], Printer] = {
    kind: printer
    for part in (core, workloads, network, storage, cluster, autoscaling)
    for kind, printer in part.PRINTERS.items()
}
_NEVER = "0001-01-01T00:00:00Z"


def _default(obj: Obj, now: datetime) -> list[Any]:
    return [name_of(obj), text(obj, "metadata", "creationTimestamp", default=_NEVER)]


_DEFAULT = Printer((NAME, Column("Created At", "When the object was created.", "date")), _default)
"""For the types that the real server has no printer for."""


def printer_of(of: ResourceType) -> Printer:
    if of.custom:
        return custom_printer(of.columns)
    return _PRINTERS.get((of.group, of.kind), _DEFAULT)
