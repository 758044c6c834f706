"""Label selectors as the real server reads them: the same texts, and the same refusals.

`listwatch.api.LabelSelector` takes the same selectors, but says in its own words what is wrong.
"""

from __future__ import annotations

import re
from functools import lru_cache

from listwatch.api import LabelSelector
from listwatch.api.labels import LabelOperator, LabelRequirement, integer

from ..validation.names import key_problems, value_problems
from ..validation.problems import go_quoted

__all__ = ["SelectorRefusal", "read_label_selector"]

_TOKEN = re.compile(r"[ \t\r\n]*(==|!=|[=!(),<>]|[^ \t\r\n=!(),<>]+|$)")
_SYMBOLS = frozenset(("==", "!=", "=", "!", "(", ")", ",", "<", ">", ""))
_END = ""
_OPERATORS = {
    "in": LabelOperator.IN,
    "notin": LabelOperator.NOT_IN,
    "=": LabelOperator.EQUALS,
    "==": LabelOperator.EQUALS,
    "!=": LabelOperator.NOT_EQUALS,
    ">": LabelOperator.GREATER_THAN,
    "<": LabelOperator.LESS_THAN,
}


class SelectorRefusal(Exception):
    """The text is no selector. The message is the real server's."""


@lru_cache(maxsize=256)
def read_label_selector(text: str) -> LabelSelector:
    """Raises `SelectorRefusal`.

    >>> str(read_label_selector("a in (x,y), !b"))
    'a in (x,y),!b'
    >>> try:
    ...     read_label_selector("a in")
    ... except SelectorRefusal as refusal:
    ...     print(refusal)
    unable to parse requirement: found '' expected: '('
    """
    return LabelSelector(tuple(_Parser(text).selector()))


class _Parser:
    """One method for each rule. A token is a symbol, or a word; the end is the empty one."""

    def __init__(self, text: str) -> None:
        # The end twice: whoever has taken it may still look at what comes next.
        self._tokens: list[str] = [*_TOKEN.findall(text), _END]
        self._next = 0

    def selector(self) -> list[LabelRequirement]:
        requirements: list[LabelRequirement] = []
        while self._peek() != _END:
            if not (_is_word(self._peek()) or self._peek() == "!"):
                raise _refusal(self._peek(), "!, identifier, or 'end of string'")
            try:
                requirements.append(self._requirement())
            except SelectorRefusal as refusal:
                raise SelectorRefusal(f"unable to parse requirement: {refusal}") from None
            token = self._take()
            if token == _END:
                break
            if token != ",":
                raise _refusal(token, "',' or 'end of string'")
            token = self._peek()
            if not (_is_word(token) or token == "!"):
                raise _refusal(token, "identifier after ','")
        return requirements

    def _requirement(self) -> LabelRequirement:
        key = self._take()
        absent = key == "!"
        if absent:
            key = self._take()
        if not _is_word(key):
            raise _refusal(key, "identifier")
        if wrong := key_problems(key):
            raise SelectorRefusal(f"<nil>: Invalid value: {go_quoted(key)}: {'; '.join(wrong)}")
        if absent:
            return LabelRequirement(key, LabelOperator.NOT_EXISTS)
        if self._peek() in (_END, ","):
            return LabelRequirement(key, LabelOperator.EXISTS)
        token = self._take()
        operator = _OPERATORS.get(token)
        if operator is None:
            raise _refusal(token, "in, notin, =, ==, !=, gt, lt")
        is_set = operator in (LabelOperator.IN, LabelOperator.NOT_IN)
        values = sorted(set(self._set())) if is_set else [self._value()]
        problems = _number_problems(operator, values)
        for position, value in enumerate(values):
            if wrong := value_problems(value):
                where = f"values[{position}][{key}]"
                problems.append(f"{where}: Invalid value: {go_quoted(value)}: {'; '.join(wrong)}")
        if problems:
            text = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
            raise SelectorRefusal(text)
        return LabelRequirement(key, operator, tuple(values))

    def _value(self) -> str:
        if self._peek() in (_END, ","):
            return ""
        token = self._take()
        if not _is_word(token):
            raise _refusal(token, "identifier")
        return token

    def _set(self) -> list[str]:
        token = self._take()
        if token != "(":
            raise SelectorRefusal(f"found '{token}' expected: '('")
        if self._peek() == ")":
            self._take()
            return [""]
        if not (_is_word(self._peek()) or self._peek() == ","):
            raise _refusal(self._peek(), "',', ')' or identifier")
        values: list[str] = []
        while True:
            token = self._take()
            if _is_word(token):
                values.append(token)
                if self._peek() == ")":
                    break
                if self._peek() != ",":
                    raise _refusal(self._peek(), "',' or ')'")
            elif token == ",":
                if not values or self._peek() in (",", ")"):
                    values.append("")  # nothing stands before it, or behind it
                if self._peek() == ")":
                    break
            else:
                raise _refusal(token, "',', or identifier")
        self._take()
        return values

    def _peek(self) -> str:
        return self._tokens[self._next]

    def _take(self) -> str:
        token = self._tokens[self._next]
        self._next += 1
        return token


def _number_problems(operator: LabelOperator, values: list[str]) -> list[str]:
    if operator not in (LabelOperator.GREATER_THAN, LabelOperator.LESS_THAN):
        return []
    return [
        f"values[{position}]: Invalid value: {go_quoted(value)}: for 'Gt', 'Lt' operators, the "
        "value must be an integer"
        for position, value in enumerate(values)
        if integer(value) is None
    ]


def _is_word(token: str) -> bool:
    return token not in _SYMBOLS


def _refusal(found: str, expected: str) -> SelectorRefusal:
    return SelectorRefusal(f"found '{found}', expected: {expected}")
