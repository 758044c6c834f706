"""How single values of Go's types are read and written: texts, numbers, times, quantities (K7)."""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Any

from .go_texts import base64_problem, read_time
from .quantities import canonical_quantity

__all__ = [
    "Bytes",
    "Decoding",
    "GoValue",
    "IntOrString",
    "Quantity",
    "Scalar",
    "Time",
    "WrongType",
]

_INTEGERS = {"int32": 1 << 31, "int64": 1 << 63, "int": 1 << 63, "uint8": 1 << 8}


class WrongType(Exception):
    """A member has a JSON type that Go's decoder does not take."""

    def __init__(self, value: Any, struct: str, path: str, go_type: str, text: str = "") -> None:
        super().__init__(text or f"{path}: no {go_type}")
        self.value = value
        self.struct = struct
        """The innermost struct, such as `DeploymentSpec`; empty at the top."""
        self.path = path
        """With dots, without the places in lists: `spec.template.spec.containers.image`."""
        self.go_type = go_type
        self.text = text
        """What is said instead, where a type has a decoder of its own."""
        self.conversion = text
        """What the reader of strategic merge patches says instead."""
        self.is_struct = False
        """Whether it is a struct that the value is no object for."""
        self.has_decoder = False
        """Whether it is a decoder of the type's own that refuses."""


class Decoding:
    """One reading of an object: where it is, and what it has found unknown."""

    __slots__ = ("struct", "unknown")

    def __init__(self) -> None:
        self.struct = ""
        self.unknown: list[str] = []
        """Paths as messages have them: `spec.containers[0].nope`."""


class GoValue:
    """How values of one Go type are read and written. This one takes anything."""

    zero: Any = None
    """What is written where there is none."""
    is_pointer = False
    is_struct = False
    """Whether Go takes it for one: those are never empty."""
    item: GoValue | None = None
    """What a list or a map has."""

    def __init__(self, go_type: str) -> None:
        self.go_type = go_type

    def decode(self, value: Any, path: str, shown: str, at: Decoding) -> Any:
        """`value` as it is held; null is `zero`. `path` is as `WrongType` has it, `shown` as
        `Decoding.unknown`. Raises `WrongType`.
        """
        return value

    def written(self, value: Any) -> Any:
        """`value`, as it is held, in the order in which it is written, with all zeros."""
        return value

    def is_empty(self, value: Any) -> bool:
        return value is None

    def wrong(self, value: Any, path: str, at: Decoding) -> WrongType:
        wrong = WrongType(value, at.struct, path, self.go_type)
        wrong.is_struct = self.is_struct
        return wrong

    def refused(self, value: Any, path: str, go_type: str, at: Decoding) -> WrongType:
        """What a type with a decoder of its own says, which has wanted a `go_type`."""
        wrong = WrongType(value, at.struct, path, go_type)
        wrong.has_decoder = True
        return wrong


class Scalar(GoValue):
    def __init__(self, go_type: str, kind: str) -> None:
        super().__init__(go_type)
        self.kind = kind
        self.zero = {"string": "", "boolean": False}.get(kind, 0)
        self._limit = _INTEGERS.get(go_type, 1 << 63)

    def decode(self, value: Any, path: str, shown: str, at: Decoding) -> Any:
        kind = self.kind
        if kind == "string":
            if not isinstance(value, str):
                raise self.wrong(value, path, at)
        elif kind == "boolean":
            if not isinstance(value, bool):
                raise self.wrong(value, path, at)
        elif isinstance(value, bool) or not isinstance(value, int | float):
            raise self.wrong(value, path, at)
        elif kind == "integer" and (
            isinstance(value, float) or not -self._limit <= value < self._limit
        ):
            raise WrongType(value, at.struct, path, self.go_type)
        return value

    def is_empty(self, value: Any) -> bool:
        return not value


class Quantity(GoValue):
    zero = "0"
    is_struct = True

    def decode(self, value: Any, path: str, shown: str, at: Decoding) -> Any:
        text = value
        if not isinstance(value, str):  # Go reads its JSON, whatever it is
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            text = repr(value) if is_number else "{}"
        try:
            return canonical_quantity(text)
        except ValueError as error:
            raise WrongType(value, at.struct, path, self.go_type, str(error)) from None

    def is_empty(self, value: Any) -> bool:
        return False


class Time(GoValue):
    """Held as it is written."""

    is_struct = True

    def decode(self, value: Any, path: str, shown: str, at: Decoding) -> Any:
        if not isinstance(value, str):
            raise self.refused(value, path, "string", at)
        try:
            return read_time(value, micro=self.go_type.endswith(".MicroTime"))
        except ValueError as error:
            raise WrongType(value, at.struct, path, self.go_type, str(error)) from None


class Bytes(Scalar):
    """In base64; a list of numbers is read, too."""

    def decode(self, value: Any, path: str, shown: str, at: Decoding) -> Any:
        if isinstance(value, list):
            for found in value:
                if found is not None and not _fits(found, "uint8"):
                    raise WrongType(found, at.struct, path, "uint8")
            return b64encode(bytes(found or 0 for found in value)).decode()
        text = super().decode(value, path, shown, at)
        problem = base64_problem(text)
        if problem:
            wrong = WrongType(value, at.struct, path, self.go_type, problem)
            wrong.conversion = f"error decoding from json: {problem}"
            raise wrong
        plain = text.replace("\r", "").replace("\n", "")
        return b64encode(b64decode(plain)).decode() if plain.endswith("=") else plain


class IntOrString(GoValue):
    zero = 0
    is_struct = True

    def decode(self, value: Any, path: str, shown: str, at: Decoding) -> Any:
        if isinstance(value, str) or _fits(value, "int32"):
            return value
        raise self.refused(value, path, "int32", at)


def _fits(value: Any, go_type: str) -> bool:
    if isinstance(value, bool) or not isinstance(value, int):
        return False
    limit = _INTEGERS[go_type]
    return (0 if go_type.startswith("u") else -limit) <= value < limit
