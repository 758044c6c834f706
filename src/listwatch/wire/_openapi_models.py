"""Models as the official client's generator made them up to version 36, and as those of
`kubernetes_asyncio` are: what their `ApiClient` would make of JSON, without one.

An ApiClient reads the names of types anew for each value, and parses times by guessing. Here each
class is looked at once. Its objects are made by its own constructor, which checks them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime
from importlib import import_module
from typing import Any, NamedTuple

__all__ = ["Misfit", "openapi_maker"]

Make = Callable[[Any], Any]

_list_of = re.compile(r"list\[(.*)\]", re.IGNORECASE).fullmatch
_dict_of = re.compile(r"dict(?:\(|\[)[^,]*, (.*)(?:\)|\])", re.IGNORECASE).fullmatch


class Misfit(Exception):
    """A value that its field does not take."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.path: list[str] = []
        """From the inside to the outside."""

    def __str__(self) -> str:
        return f"{self.args[0]} - at `${''.join(reversed(self.path))}`"


class _Field(NamedTuple):
    attribute: str
    plain: type | None
    """What is of this type is taken as it is."""
    make: Make
    """Makes of anything else what the field takes, or raises `Misfit`."""


class _Anything:
    """No value is of this type."""


def openapi_maker(type_: Any) -> Make:
    """What makes an instance of `type_` of a dict. It raises `Misfit`."""
    [base, *_] = [each for each in type_.__mro__ if "attribute_map" in vars(each)]
    package = base.__module__.partition(".models.")[0]
    models = import_module(f"{package}.models")
    return _Maker(models, _configuration(package)).of(type_)


def _configuration(package: str) -> Any:
    """One for all objects, which their constructors would make anew for each, or share one with the
    user's credentials in it. Of that it has only whether objects are checked.
    """
    configuration = import_module(f"{package}.configuration").Configuration
    shared = configuration()
    copied = getattr(configuration, "get_default_copy", configuration)()
    shared.client_side_validation = copied.client_side_validation
    return shared


class _Maker:
    def __init__(self, models: Any, configuration: Any) -> None:
        self._models = models
        self._configuration = configuration
        self._known: dict[Any, Make] = {}

    def of(self, type_: Any) -> Make:
        """Types may be recursive: so what makes one is there before its fields are."""
        known = self._known.get(type_)
        if known is not None:
            return known
        fields: dict[str, _Field] = {}
        make = self._known[type_] = _maker(type_, fields, self._configuration)
        names = type_.attribute_map
        for attribute, text in type_.openapi_types.items():
            fields[names[attribute]] = _Field(attribute, *self._named(text))
        return make

    def _named(self, text: str) -> tuple[type | None, Make]:
        scalar = _SCALARS.get(text)
        if scalar is not None:
            return scalar
        if found := _list_of(text):
            return None, _list(*self._named(found[1]))
        if found := _dict_of(text):
            return None, _dict(*self._named(found[1]))
        # Some name what is not there; their values stay as they are, as do those of empty classes.
        type_ = getattr(self._models, text, None)
        fields = getattr(type_, "openapi_types", None)
        return (None, self.of(type_)) if fields else (_Anything, _same)


def _maker(type_: Any, fields: dict[str, _Field], configuration: Any) -> Make:
    find = fields.get

    def make(value: Any) -> Any:
        if type(value) is not dict:
            raise _unexpected("object", value)
        given: dict[str, Any] = {}
        key = ""
        try:
            for key, part in value.items():
                field = find(key)
                if field is not None and part is not None:
                    attribute, plain, inner = field
                    given[attribute] = part if type(part) is plain else inner(part)
        except Misfit as misfit:
            misfit.path.append(f".{key}")
            raise
        try:
            return type_(local_vars_configuration=configuration, **given)
        except ValueError as error:  # what the class does not allow
            raise Misfit(str(error)) from None

    return make


def _list(plain: type | None, inner: Make) -> Make:
    def make(value: Any) -> Any:
        if type(value) is not list:
            raise _unexpected("array", value)
        at = 0
        made = []
        try:
            for at, part in enumerate(value):  # noqa: B007
                made.append(part if type(part) is plain or part is None else inner(part))
        except Misfit as misfit:
            misfit.path.append(f"[{at}]")
            raise
        return made

    return make


def _dict(plain: type | None, inner: Make) -> Make:
    def make(value: Any) -> Any:
        if type(value) is not dict:
            raise _unexpected("object", value)
        key = ""
        made = {}
        try:
            for key, part in value.items():
                made[key] = part if type(part) is plain or part is None else inner(part)
        except Misfit as misfit:
            misfit.path.append(f".{key}")
            raise
        return made

    return make


def _same(value: Any) -> Any:
    return value


def _refused(name: str) -> Make:
    def make(value: Any) -> Any:
        raise _unexpected(name, value)

    return make


def _float(value: Any) -> float:
    if type(value) is not int:
        raise _unexpected("float", value)
    return float(value)


def _time(parse: Callable[[str], Any], name: str) -> Make:
    def make(value: Any) -> Any:
        if type(value) is not str:
            raise _unexpected(name, value)
        try:
            return parse(value)
        except ValueError:
            raise Misfit(f"Invalid RFC3339 {name}") from None

    return make


_SCALARS: dict[str, tuple[type | None, Make]] = {
    "str": (str, _refused("str")),
    "int": (int, _refused("int")),
    "bool": (bool, _refused("bool")),
    "float": (float, _float),
    "object": (_Anything, _same),
    "datetime": (None, _time(datetime.fromisoformat, "datetime")),
    "date": (None, _time(date.fromisoformat, "date")),
}

_JSON_NAMES = {dict: "object", list: "array", type(None): "null"}


def _unexpected(name: str, value: Any) -> Misfit:
    """In msgspec's words."""
    return Misfit(f"Expected `{name}`, got `{_JSON_NAMES.get(type(value), type(value).__name__)}`")
