"""The cases: valid objects, and what is changed of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Any

import yaml

from conformance.requests import Json
from conformance.validation.paths import changed

__all__ = ["AREAS", "Base", "Case", "answers_file", "bases", "filled", "read_answers"]

_FOLDER = Path(__file__).parent
_KEYS = {"set", "unset", "then", "then_unset", "status"}
AREAS = tuple(sorted(path.stem for path in (_FOLDER / "cases").glob("*.yaml")))


@dataclass(frozen=True)
class Base:
    """A valid object, and where it goes. ``$name`` and ``$namespace`` stand for names that are
    given to it.
    """

    area: str
    name: str
    path: str
    obj: Json
    first: Sequence[Json]
    """Objects that must be there before it, each with its ``path`` and ``object``."""
    changes: Sequence[Json] = field(repr=False)

    @property
    def cases(self) -> Iterator[Case]:
        """The object as it is, then the changes."""
        yield Case(self, {})
        for change in self.changes:
            yield Case(self, change)


@dataclass(frozen=True)
class Case:
    """One thing that is tried."""

    base: Base
    change: Json

    def __post_init__(self) -> None:
        unknown = self.change.keys() - _KEYS
        if unknown:
            raise ValueError(f"{self.base.area}: {self.base.name}: no such change: {unknown}")

    @property
    def title(self) -> str:
        """What is done, in a line; answers are kept by it."""
        said = json.dumps(self.change, sort_keys=False, separators=(", ", ": "))
        return f"{self.base.name} {said}" if self.change else f"{self.base.name} as it is"

    @property
    def created(self) -> Json:
        """The object that is created, as a dry run where there is no update."""
        unset = self.change.get("unset", ())
        made: Json = changed(self.base.obj, self.change.get("set", {}), unset)
        return made

    @property
    def is_update(self) -> bool:
        """Whether the object is created, and then changed."""
        return bool(self.change.keys() & {"then", "then_unset", "status"})

    @property
    def subresource(self) -> str:
        return "/status" if "status" in self.change else ""

    def updated(self, created: Json) -> Json:
        """What takes the place of the created object."""
        values = self.change.get("status", self.change.get("then", {}))
        made: Json = changed(created, values, self.change.get("then_unset", ()))
        return made


def bases(area: str) -> Iterator[Base]:
    """Those of one file of ``cases/``. Raises `ValueError` for what nobody would understand."""
    text = (_FOLDER / "cases" / f"{area}.yaml").read_text(encoding="utf-8")
    for name, given in yaml.safe_load(text).items():
        base = Base(
            area,
            name,
            given["path"],
            given["object"],
            given.get("first", ()),
            given.get("cases", ()),
        )
        titles = [case.title for case in base.cases]
        twice = {title for title in titles if titles.count(title) > 1}
        if twice:
            raise ValueError(f"{area}: the same case twice: {twice}")
        yield base


def filled(value: Any, names: Mapping[str, str]) -> Any:
    """``value`` with `$name` and `$namespace` replaced."""
    return json.loads(Template(json.dumps(value)).safe_substitute(names))


def answers_file(area: str) -> Path:
    """Where the real server's answers are."""
    return _FOLDER / "answers" / f"{area}.json"


def read_answers(area: str) -> dict[str, Json]:
    """The real server's answers, by the titles of the cases."""
    file = answers_file(area)
    if not file.exists():
        return {}
    found: dict[str, Json] = json.loads(file.read_text(encoding="utf-8"))
    return found
