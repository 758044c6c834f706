"""Tolerations: which taints of nodes a pod does not mind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..basics import texts
from ..checks import Value
from ..names import key_problems, value_problems
from ..problems import Problem, forbidden_field, invalid_field, unsupported_field

__all__ = ["EFFECTS", "added_toleration_problems", "toleration_problems"]

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_OPERATORS = ("Equal", "Exists")
_COMPARING = ("Lt", "Gt")
_NO_KEY = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'


def toleration_problems(tolerations: Sequence[Value] | None, path: str) -> Iterator[Problem]:
    """What is wrong with the tolerations at `path`."""
    for at, toleration in enumerate(tolerations or ()):
        here = f"{path}[{at}]"
        key, operator = toleration.get("key"), toleration.get("operator") or ""
        value, effect = toleration.get("value") or "", toleration.get("effect") or ""
        if key:
            yield from texts(f"{here}.key", key, key_problems(key))
        elif operator != "Exists":
            yield invalid_field(f"{here}.operator", operator, _NO_KEY)
        if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
            text = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            yield invalid_field(f"{here}.effect", effect, text)
        yield from _operator_problems(operator, value, f"{here}.operator")
        if effect and effect not in EFFECTS:
            yield unsupported_field(f"{here}.effect", effect, EFFECTS)


def _operator_problems(operator: str, value: str, field: str) -> Iterator[Problem]:
    if operator in ("", "Equal"):
        found = value_problems(value)
        if found:
            yield invalid_field(field, value, ";".join(found))
    elif operator == "Exists":
        if value:
            yield invalid_field(field, value, "value must be empty when `operator` is 'Exists'")
    elif operator in _COMPARING:
        yield unsupported_field(field, operator, (*_OPERATORS, *_COMPARING))
    else:
        yield unsupported_field(field, operator, _OPERATORS)


def added_toleration_problems(
    new: Sequence[Value] | None, old: Sequence[Value] | None, path: str
) -> Iterator[Problem]:
    """Whether all that were there still are, but for how long they last."""
    kept = [_timeless(toleration) for toleration in new or ()]
    if any(_timeless(toleration) not in kept for toleration in old or ()):
        text = "existing toleration can not be modified except its tolerationSeconds"
        yield forbidden_field(path, text)
    else:
        yield from toleration_problems(new, path)


def _timeless(toleration: Value) -> dict[str, object]:
    return {
        name: value for name, value in toleration.items() if value and name != "tolerationSeconds"
    }
