"""Label selectors: which objects are meant, by their labels (A4).

The grammar is Kubernetes' own. Requirements are joined by commas, and all must hold:

    key                 the label exists            !key                it does not
    key=v  key==v       it has that value           key!=v              it has another, or is absent
    key in (v, w)       it has one of the values    key notin (v, w)    it has none of them, or is
    absent key>n  key<n        it is an integer above or below n
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from ._label_syntax import key_problem, value_problem
from .faults import SelectorError

__all__ = ["LabelOperator", "LabelRequirement", "LabelSelector"]


class LabelOperator(StrEnum):
    """How a requirement compares."""

    EQUALS = "="
    NOT_EQUALS = "!="
    IN = "in"
    NOT_IN = "notin"
    EXISTS = "exists"
    NOT_EXISTS = "!"
    GREATER_THAN = ">"
    LESS_THAN = "<"


_SETS = (LabelOperator.IN, LabelOperator.NOT_IN)
_BARE = (LabelOperator.EXISTS, LabelOperator.NOT_EXISTS)
_ORDERED = (LabelOperator.GREATER_THAN, LabelOperator.LESS_THAN)


@dataclass(frozen=True, slots=True)
class LabelRequirement:
    """One requirement; its values are sorted and distinct.

    Raises `SelectorError` on what no server takes.
    """

    key: str
    operator: LabelOperator
    values: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(sorted(set(self.values))))
        problem = self._problem()
        if problem:
            raise SelectorError(problem, str(self), 0)

    def _problem(self) -> str | None:
        if problem := key_problem(self.key):
            return problem
        if self.operator in _BARE:
            return "takes no values" if self.values else None
        if self.operator in _SETS:
            if not self.values:
                return f"{self.operator.value!r} needs at least one value"
        elif len(self.values) != 1:
            return f"{self.operator.value!r} needs exactly one value"
        if self.operator in _ORDERED and integer(self.values[0]) is None:
            return f"{self.operator.value!r} needs a 64-bit integer, not {self.values[0]!r}"
        return next((problem for value in self.values if (problem := value_problem(value))), None)

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether an object with these labels meets this requirement."""
        value = labels.get(self.key)
        match self.operator:
            case LabelOperator.EXISTS:
                return value is not None
            case LabelOperator.NOT_EXISTS:
                return value is None
            case LabelOperator.EQUALS | LabelOperator.IN:
                return value is not None and value in self.values
            case LabelOperator.NOT_EQUALS | LabelOperator.NOT_IN:
                return value is None or value not in self.values
        number, bound = integer(value or ""), integer(self.values[0])
        if number is None or bound is None:
            return False
        return number > bound if self.operator is LabelOperator.GREATER_THAN else number < bound

    def __str__(self) -> str:
        if self.operator is LabelOperator.EXISTS:
            return self.key
        if self.operator is LabelOperator.NOT_EXISTS:
            return f"!{self.key}"
        if self.operator in _SETS:
            return f"{self.key} {self.operator.value} ({','.join(self.values)})"
        return f"{self.key}{self.operator.value}{','.join(self.values)}"


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """A label selector: immutable, hashable, equal to another that asks for the same.

    An empty one matches everything, and is false.

    >>> selector = LabelSelector.parse("tier notin (cache, db), app==web")
    >>> str(selector)
    'app=web,tier notin (cache,db)'
    >>> selector.matches({"app": "web"}), selector.matches({"app": "web", "tier": "db"})
    (True, False)
    >>> LabelSelector.parse("app in a")
    Traceback (most recent call last):
        ...
    listwatch.api.faults.SelectorError: selector 'app in a', at position 7: expected '(', found 'a'
    """

    requirements: tuple[LabelRequirement, ...] = ()
    """Sorted by key."""

    def __post_init__(self) -> None:
        ordered = sorted(set(self.requirements), key=lambda r: (r.key, r.operator, r.values))
        object.__setattr__(self, "requirements", tuple(ordered))

    @classmethod
    def parse(cls, text: str | LabelSelector) -> LabelSelector:
        """Read a selector; one that is parsed already is returned. Raises `SelectorError`."""
        if isinstance(text, LabelSelector):
            return text
        from ._label_parser import parse_requirements

        return cls(parse_requirements(text))

    @classmethod
    def from_labels(cls, labels: Mapping[str, str]) -> LabelSelector:
        """The selector of objects that have all these labels. Raises `SelectorError`.

        >>> str(LabelSelector.from_labels({"tier": "front", "app": "web"}))
        'app=web,tier=front'
        """
        return cls(
            tuple(LabelRequirement(k, LabelOperator.EQUALS, (v,)) for k, v in labels.items())
        )

    def matches(self, labels: Mapping[str, str] | None) -> bool:
        """Whether an object with these labels is selected. None is the same as no labels."""
        return all(requirement.matches(labels or {}) for requirement in self.requirements)

    def __bool__(self) -> bool:
        return bool(self.requirements)

    def __str__(self) -> str:
        """The canonical text: requirements sorted by key, values sorted, `=` for `==`."""
        return ",".join(map(str, self.requirements))


def integer(text: str) -> int | None:
    """`text` as a 64-bit integer, an optional sign and digits, or None."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not digits.isascii() or not digits.isdigit() or len(digits) > 40:
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None
