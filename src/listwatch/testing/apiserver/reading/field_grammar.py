"""Field selectors as the real server reads them: the same texts, and the same refusals (K39)."""

from __future__ import annotations

import re
from functools import lru_cache

from listwatch.api import FieldSelector
from listwatch.api.fields import FieldOperator, FieldRequirement

from .label_grammar import SelectorRefusal

__all__ = ["read_field_selector"]

_TERM = re.compile(r"(?:[^\\,]|\\.|\\\Z)+", re.DOTALL)
_OPERATOR = re.compile(r"!=|==?")
_SPECIAL = re.compile(r"[\\,=]")


@lru_cache(maxsize=256)
def read_field_selector(text: str) -> FieldSelector:
    r"""Raises `SelectorRefusal`. Which fields a type has is asked later (`Selection`).

    >>> str(read_field_selector("metadata.name!=a\\,b,,spec.x==1"))
    'metadata.name!=a\\,b,spec.x=1'
    >>> try:
    ...     read_field_selector("foo")
    ... except SelectorRefusal as refusal:
    ...     print(refusal)
    invalid selector: 'foo'; can't understand 'foo'
    """
    requirements = []
    for term in sorted(_TERM.findall(text)):
        operator = _OPERATOR.search(term)
        if operator is None:
            raise SelectorRefusal(f"invalid selector: '{text}'; can't understand '{term}'")
        path, value = term[: operator.start()], _unescaped(term[operator.end() :])
        negated = operator[0] == "!="
        if path or value:  # a bare "=" asks for nothing
            kind = FieldOperator.NOT_EQUALS if negated else FieldOperator.EQUALS
            requirements.append(FieldRequirement(path, kind, value))
    return FieldSelector(tuple(requirements))


def _unescaped(text: str) -> str:
    if _SPECIAL.search(text) is None:
        return text
    value = []
    letters = iter(text)
    for letter in letters:
        if letter == "=":
            raise SelectorRefusal(
                f"invalid field selector: unescaped character in value: {ord(letter)}"
            )
        if letter == "\\":
            letter = next(letters, "")
            if letter not in ("\\", ",", "="):
                raise SelectorRefusal(
                    f"invalid field selector: invalid escape sequence: \\{letter}"
                )
        value.append(letter)
    return "".join(value)
