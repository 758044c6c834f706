"""What a type looks like in a Table: its columns, and the cells of an object."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeAlias

from listwatch.api.cells.reading import NONE, Obj, items, text

from ..object_selectors import selector_text

__all__ = [
    "AGE",
    "NAME",
    "WORKLOAD",
    "Cells",
    "Column",
    "Printer",
    "Printers",
    "container_cells",
    "label_text",
    "name_of",
    "selector_text",
    "whole",
    "wide",
    "yes_or_no",
]

Cells: TypeAlias = Callable[[Obj, datetime], list[Any]]
"""Of an object, as of a moment, by the columns of its type: texts, numbers, booleans, None."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column; the description is our own, the rest is the real server's."""

    name: str
    description: str
    type: str = "string"
    format: str = ""
    priority: int = 0
    """1: kubectl shows it with `-o wide`."""

    @property
    def definition(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "type": self.type,
            "format": self.format,
            "description": self.description,
            "priority": self.priority,
        }


@dataclass(frozen=True, slots=True)
class Printer:
    """How the objects of a type are printed."""

    columns: Sequence[Column]
    cells: Cells
    """Of an object with nothing in it, too: such is the row of a bookmark (K16)."""
    conditions: Callable[[Obj], list[dict[str, str]]] | None = None
    """What there is to say of the whole row."""


Printers: TypeAlias = Mapping[tuple[str, str], Printer]
"""By API group and kind."""


def whole(name: str, description: str) -> Column:
    """A column of whole numbers."""
    return Column(name, description, "integer")


def yes_or_no(name: str, description: str) -> Column:
    return Column(name, description, "boolean")


def wide(column: Column) -> Column:
    """The column, shown with `-o wide` only."""
    return replace(column, priority=1)


NAME = Column(
    "Name", "The object's name, unique among those of its type in one place.", format="name"
)
AGE = Column("Age", "How long ago the object was created.")
WORKLOAD = (
    wide(Column("Containers", "The names of the containers of a pod.")),
    wide(Column("Images", "The images that these containers run.")),
    wide(Column("Selector", "The labels by which its pods are found.")),
)


def name_of(obj: Obj) -> str:
    return text(obj, "metadata", "name")


def container_cells(obj: Obj, *path: str) -> list[str]:
    """Names and images of the containers in the pod spec at `path`."""
    found = items(obj, *path, "containers")
    return [",".join(text(each, part) for each in found) for part in ("name", "image")]


def label_text(labels: Obj) -> str:
    """Labels, sorted; `<none>` for none."""
    return ",".join(f"{key}={labels[key]}" for key in sorted(labels)) or NONE
