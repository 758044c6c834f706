"""Expressions in CEL. Whether they can be read is looked at where the Python package
`common-expression-language` is installed; their types and what they cost are not.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...types.structural_rules import syntax_error
from ..problems import Problem, invalid_field

__all__ = ["expression_problems"]

_NOTHING = (
    "ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', "
    "'-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"
)


def expression_problems(field: str, expression: str) -> Iterator[Problem]:
    why = syntax_error(expression) if expression else _NOTHING
    if why:
        yield invalid_field(field, expression, f"compilation failed: {why}")
