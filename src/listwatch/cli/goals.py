"""What `listwatch wait` waits for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from listwatch.api.cells.json_path import JSONPath, text_of
from listwatch.api.cells.reading import Obj, at, condition, items, text

from .failures import CommandError

__all__ = ["Condition", "Created", "Deleted", "Goal", "Value", "parse_goal"]


@dataclass(frozen=True, slots=True)
class Created:
    """The object is there."""

    def met_by(self, obj: Obj) -> bool:
        """Whether it is so for this object, which is there."""
        return True

    def state_of(self, obj: Obj) -> str:
        """How this object is, as far as it matters, for people."""
        return "it is there"


@dataclass(frozen=True, slots=True)
class Deleted:
    """The object is gone."""

    def met_by(self, obj: Obj) -> bool:
        return False

    def state_of(self, obj: Obj) -> str:
        since = text(obj, "metadata", "deletionTimestamp")
        if not since:
            return "it is there, and nobody has deleted it"
        holders = ", ".join(str(each) for each in items(obj, "metadata", "finalizers"))
        held = f", held by its finalizers: {holders}" if holders else ""
        return f"it is being deleted since {since}{held}"


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition of its status has that value. Case does not matter, as in kubectl."""

    name: str
    status: str

    def met_by(self, obj: Obj) -> bool:
        found = self._found(obj)
        is_so = text(found, "status").casefold() == self.status.casefold()
        return is_so and not _outdated(obj, found)

    def state_of(self, obj: Obj) -> str:
        found = self._found(obj)
        if not found:
            return f"it has no condition {self.name}"
        state = f"condition {text(found, 'type')} is {text(found, 'status') or 'empty'}"
        why = ": ".join(part for part in (text(found, "reason"), text(found, "message")) if part)
        if _outdated(obj, found):
            why = "but that is of an older generation of the object"
        return f"{state} ({why})" if why else state

    def _found(self, obj: Obj) -> Obj:
        exact = condition(obj, self.name)
        if exact:
            return exact
        for found in items(obj, "status", "conditions"):
            if text(found, "type").casefold() == self.name.casefold():
                return found if isinstance(found, Mapping) else {}
        return {}


@dataclass(frozen=True, slots=True)
class Value:
    """A value of the object is that; any, if that is None."""

    path: JSONPath
    value: str | None

    def met_by(self, obj: Obj) -> bool:
        """Raises `CommandError` for what can never be compared, as kubectl does."""
        found = self.path.values(obj)
        if not found:
            return False
        if len(found) > 1:
            raise CommandError(f"{self.path} is {len(found)} values: it must be one")
        if self.value is None:
            return True
        if isinstance(found[0], Mapping | list | tuple):
            raise CommandError(f"{self.path} is no single value that could be {self.value}")
        return text_of(found[0]).strip() == self.value

    def state_of(self, obj: Obj) -> str:
        found = self.path.values(obj)
        return f"{self.path} is {text_of(found[0])}" if found else f"it has no {self.path}"


Goal: TypeAlias = Created | Deleted | Condition | Value


def parse_goal(typed: str) -> Goal:
    """`delete`, `create`, `condition=TYPE[=STATUS]`, `PATH=VALUE`, `jsonpath={PATH}[=VALUE]`.

    Raises `ValueError` for anything else.

    >>> parse_goal("condition=Ready")
    Condition(name='Ready', status='True')
    >>> parse_goal("status.phase=Running").value
    'Running'
    """
    word = typed.strip()
    match word.lower():
        case "delete":
            return Deleted()
        case "create":
            return Created()
    kind, _, rest = word.partition("=")
    if kind == "condition":
        name, sign, status = rest.partition("=")
        if not name or (sign and not status):
            raise ValueError(f"{typed!r}: say condition=Ready, or condition=Ready=False")
        return Condition(name, status or "True")
    if kind != "jsonpath" and not {".", "[", "{"} & set(kind):
        raise ValueError(
            f"{typed!r} is nothing to wait for: say delete, create, condition=Ready or"
            " status.phase=Running"
        )
    path, value = JSONPath.parse(rest if kind == "jsonpath" else word)
    if not value:
        return Value(path, None)
    wanted = value.removeprefix("=").strip().strip("'\"")
    if not value.startswith("=") or not wanted:
        raise ValueError(f"{typed!r}: after {path} a value was expected, such as =Running")
    return Value(path, wanted)


def _outdated(obj: Obj, found: Obj) -> bool:
    """Whether whoever set the condition had not seen the newest spec yet."""
    generation = at(obj, "metadata", "generation")
    observed: Any = at(found, "observedGeneration") or at(obj, "status", "observedGeneration")
    return isinstance(generation, int) and isinstance(observed, int) and observed < generation
