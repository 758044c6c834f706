"""Label selectors from text: a scanner, and one method for each rule of the grammar."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple, Never

from ._label_syntax import key_problem, value_problem
from .faults import SelectorError
from .labels import LabelOperator, LabelRequirement, integer

_TOKEN = re.compile(r"[ \t\r\n]*(?P<token>!=|==|[=!(),<>]|[^ \t\r\n=!(),<>]+|\Z)")
_SYMBOLS = frozenset(("!=", "==", "=", "!", "(", ")", ",", "<", ">", ""))
_END = ""
_OPERATORS = {
    "=": LabelOperator.EQUALS,
    "==": LabelOperator.EQUALS,
    "!=": LabelOperator.NOT_EQUALS,
    "in": LabelOperator.IN,
    "notin": LabelOperator.NOT_IN,
    ">": LabelOperator.GREATER_THAN,
    "<": LabelOperator.LESS_THAN,
}


class _Token(NamedTuple):
    text: str
    position: int

    @property
    def is_word(self) -> bool:
        return self.text not in _SYMBOLS


@lru_cache(maxsize=256)
def parse_requirements(text: str) -> tuple[LabelRequirement, ...]:
    """The requirements in `text`, in its order. Raises `SelectorError`."""
    return tuple(_Parser(text).selector())


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = [
            _Token(match["token"], match.start("token")) for match in _TOKEN.finditer(text)
        ]
        self._next = 0

    def selector(self) -> list[LabelRequirement]:
        requirements: list[LabelRequirement] = []
        if self._peek().text == _END:
            return requirements
        while True:
            requirements.append(self._requirement())
            token = self._take()
            if token.text == _END:
                return requirements
            if token.text != ",":
                self._fail(token, "expected ',' or the end")

    def _requirement(self) -> LabelRequirement:
        absent = self._peek().text == "!"
        if absent:
            self._take()
        key = self._take()
        if not key.is_word:
            self._fail(key, "expected a label key" if absent else "expected a label key or '!'")
        self._check(key, key_problem(key.text))
        if absent:
            return LabelRequirement(key.text, LabelOperator.NOT_EXISTS)
        if self._peek().text in (_END, ","):
            return LabelRequirement(key.text, LabelOperator.EXISTS)
        token = self._take()
        operator = _OPERATORS.get(token.text)
        if operator is None:
            self._fail(token, "expected one of '=', '==', '!=', 'in', 'notin', '<', '>'")
        if operator in (LabelOperator.IN, LabelOperator.NOT_IN):
            return LabelRequirement(key.text, operator, self._set())
        return LabelRequirement(key.text, operator, (self._value(token, operator),))

    def _value(self, after: _Token, operator: LabelOperator) -> str:
        token = self._peek()
        value = ""  # nothing after the operator is the empty value
        if token.text not in (_END, ","):
            self._take()
            if not token.is_word:
                self._fail(token, "expected a value")
            value = token.text
        self._check(token, value_problem(value))
        ordered = operator in (LabelOperator.GREATER_THAN, LabelOperator.LESS_THAN)
        if ordered and integer(value) is None:
            self._fail(token, f"expected a 64-bit integer after {after.text!r}")
        return value

    def _set(self) -> tuple[str, ...]:
        token = self._take()
        if token.text != "(":
            self._fail(token, "expected '('")
        values: list[str] = []
        open_place = True  # for a value: at the beginning, and behind a comma
        while True:
            token = self._take()
            if token.is_word and open_place:
                self._check(token, value_problem(token.text))
                values.append(token.text)
                open_place = False
            elif token.text in (",", ")"):
                if open_place:
                    values.append("")  # a place without a value is the empty one, even in "()"
                if token.text == ")":
                    return tuple(values)
                open_place = True
            else:
                self._fail(token, "expected a value" if open_place else "expected ',' or ')'")

    def _peek(self) -> _Token:
        return self._tokens[min(self._next, len(self._tokens) - 1)]

    def _take(self) -> _Token:
        token = self._peek()
        self._next += 1
        return token

    def _check(self, token: _Token, problem: str | None) -> None:
        if problem:
            raise SelectorError(problem, self._text, token.position)

    def _fail(self, token: _Token, expected: str) -> Never:
        found = repr(token.text) if token.text else "the end"
        raise SelectorError(f"{expected}, found {found}", self._text, token.position)
