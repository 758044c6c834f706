"""Whether a value is what its schema says, and what the real server says if not.

The words, the paths, and which of the failures of an `anyOf` or `oneOf` is told, are those of the
validator inside a real API server: it counts the checks that an alternative passes, and tells
those of the alternative that went furthest. An update does not have to mend what it leaves alone:
the failures of values that are as they were are not told.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..validation.problems import Problem, go_quoted, required_field
from .go_patterns import compiled_pattern
from .structural_formats import FORMATS, is_known_format, normalized
from .structural_numbers import is_integral, number_problems
from .structural_results import (
    Result,
    invalid_at,
    named,
    of_the_whole,
    problem_at,
    too_many,
    wrong_type,
)
from .structural_values import go_type, shown, shown_json

__all__ = ["MISSING", "schema_problems"]

MISSING: Any = object()
"""No old value: a create, or one that cannot be told from others of a list."""

Schema = Mapping[str, Any]


def schema_problems(
    schema: Schema, value: Any, old: Any = MISSING, *, below: str = ""
) -> list[Problem]:
    """Everything that is wrong with `value`. `below`: the member of the object that it is."""
    found = list(_child(schema, value, old, "").problems)
    return [_moved(problem, below) for problem in found] if below else found


def _moved(problem: Problem, below: str) -> Problem:
    field = problem.field
    if field == "<nil>":
        return Problem(below, problem.reason, problem.message)
    return Problem(f"{below}.{field}", problem.reason, problem.message)


def _child(schema: Schema, value: Any, old: Any, path: str) -> Result:
    result = _validated(schema, value, old, path)
    if result.problems and old is not MISSING and _same(value, old):
        result.problems.clear()
    return result


def _same(value: Any, old: Any) -> bool:
    if type(value) is not type(old):
        return False
    if isinstance(value, dict):
        return value.keys() == old.keys() and all(_same(v, old[k]) for k, v in value.items())
    if isinstance(value, list):
        return len(value) == len(old) and all(map(_same, value, old))
    return bool(value == old)


def _validated(schema: Schema, value: Any, old: Any, path: str) -> Result:
    types = _types(schema)
    format_ = _format(schema)
    result = Result()
    if value is None:
        if types and not schema.get("nullable"):
            result.add(wrong_type(path, ",".join(types), "null"))
        else:
            result.count += 1
        result.add(_enum(schema, value, path))
        return result
    kind = go_type(value)
    if types or format_:
        problem = _misfit(types, format_, value, kind, path)
        result.add(problem)
        result.count += 1 if problem else 2
    _combined(schema, value, old, path, result)
    if kind == "string":
        result.add(_string(schema, value, path))
        result.count += 1
        if normalized(format_) in FORMATS:
            if not FORMATS[normalized(format_)](value):
                result.add(wrong_type(path, format_, value))
            result.count += 1
    elif kind in ("integer", "number"):
        result.merge(number_problems(schema, value, types, format_, path))
        result.count += 1
    elif kind == "array":
        result.merge(_list(schema, value, old, path))
        result.count += 1
    result.add(_enum(schema, value, path))
    result.count += 1
    if kind == "object":
        result.merge(_map(schema, value, old, path))
        result.count += 1
    result.count += 1
    return result


def _types(schema: Schema) -> tuple[str, ...]:
    if schema.get("x-kubernetes-int-or-string"):
        return ("integer", "string")
    kind = schema.get("type")
    return (kind,) if kind else ()


def _format(schema: Schema) -> str:
    """Formats that the type cannot have are not looked at."""
    name: str = schema.get("format") or ""
    if name:
        types = _types(schema)
        if is_known_format(types[0] if len(types) == 1 else "", name):
            return name
    return ""


def _misfit(
    types: tuple[str, ...], format_: str, value: Any, kind: str, path: str
) -> Problem | None:
    numbers = "integer" in types or "number" in types
    fits = (
        kind in types
        or (kind == "number" and "integer" in types and is_integral(value))
        or (kind == "integer" and "number" in types)
    )
    if format_ and kind not in ("string", "array"):
        found = {"integer": "int64", "number": "float64"}.get(kind, "")
        if not fits and found != format_:
            return wrong_type(path, format_, found)
    elif format_ and not numbers:
        return None  # a list passes for a string with a format
    return None if fits else wrong_type(path, ",".join(types), kind)


def _enum(schema: Schema, value: Any, path: str) -> Problem | None:
    allowed = schema.get("enum")
    if not allowed or any(_is_allowed(value, item) for item in allowed):
        return None
    texts = [item if isinstance(item, str) else shown_json(item) for item in allowed]
    names = ", ".join(go_quoted(text) for text in texts)
    message = f"Unsupported value: {shown(value)}: supported values: {names}"
    return Problem(named(path), "FieldValueNotSupported", message)


def _is_allowed(value: Any, item: Any) -> bool:
    """Numbers are first made of the type that they are compared with."""
    if item is None or value is None:
        return False
    kinds = {go_type(value), go_type(item)}
    if kinds == {"integer", "number"}:
        return bool((int(value) if go_type(item) == "integer" else float(value)) == item)
    return len(kinds) == 1 and _same(value, item)


def _string(schema: Schema, value: str, path: str) -> Problem | None:
    most, least, pattern = schema.get("maxLength"), schema.get("minLength"), schema.get("pattern")
    if most is not None and len(value) > most:
        text = f"may not be more than {most} byte{'' if most == 1 else 's'}"
        return Problem(named(path), "FieldValueTooLong", f"Too long: {text}")
    if least is not None and len(value) < least:
        return invalid_at(path, value, f"should be at least {least} chars long")
    if pattern and (found := compiled_pattern(pattern)) is not None and not found.search(value):
        return invalid_at(path, value, f"should match '{pattern}'")
    return None


def _list(schema: Schema, value: list[Any], old: Any, path: str) -> Result:
    result = Result()
    result.count = 1
    items = schema.get("items")
    if isinstance(items, dict):
        before = _by_keys(schema, old)
        for at, item in enumerate(value):
            was = before.get(_key(schema, item), MISSING) if before else MISSING
            result.merge(_child(items, item, was, f"{path}[{at}]"))
    least, most = schema.get("minItems"), schema.get("maxItems")
    if least is not None and len(value) < least:
        result.add(invalid_at(path, len(value), f"should have at least {least} items"))
    if most is not None and len(value) > most:
        result.add(too_many(path, len(value), most))
    if schema.get("uniqueItems") and any(
        _same(item, other) for at, item in enumerate(value) for other in value[:at]
    ):
        result.add(invalid_at(path, "", "shouldn't contain duplicates"))
    return result


def _by_keys(schema: Schema, old: Any) -> dict[Any, Any]:
    """The old items, where those of a list can be told from each other."""
    if schema.get("x-kubernetes-list-type") != "map" or not isinstance(old, list):
        return {}
    return {_key(schema, item): item for item in old if isinstance(item, dict)}


def _key(schema: Schema, item: Any) -> Any:
    names = schema.get("x-kubernetes-list-map-keys") or ()
    if not isinstance(item, dict):
        return None
    return tuple(shown_json(item.get(name)) for name in names)


def _map(schema: Schema, value: dict[str, Any], old: Any, path: str) -> Result:
    result = Result()
    least, most = schema.get("minProperties"), schema.get("maxProperties")
    if least is not None and len(value) < least:
        result.add(invalid_at(path, len(value), f"should have at least {least} properties"))
    if most is not None and len(value) > most:
        result.add(too_many(path, len(value), most))
    properties = schema.get("properties") or {}
    additional = schema.get("additionalProperties")
    if additional is False or isinstance(additional, dict):
        for name, member in value.items():
            if name in properties:
                continue
            if isinstance(additional, dict):
                below = f"{path}.{name}"
                result.merge(_child(additional, member, _old_member(old, name), below))
            else:
                text = f"{path}.{name} in body is a forbidden property"
                result.add(problem_at(path, "FieldValueInvalid", name, text))
    for name in sorted(properties):
        if name in value:
            below = f"{path}.{name}" if path else name
            was = MISSING if not path and name in ("kind", "apiVersion") else _old_member(old, name)
            result.merge(_child(properties[name], value[name], was, below))
    for name in schema.get("required") or ():
        if name not in value:
            result.add(required_field(named(f"{path}.{name}")))
    return result


def _old_member(old: Any, name: str) -> Any:
    return old.get(name, MISSING) if isinstance(old, dict) else MISSING


def _combined(schema: Schema, value: Any, old: Any, path: str, result: Result) -> None:
    """anyOf, oneOf, allOf and not."""
    result.count += 2
    any_of, one_of = schema.get("anyOf"), schema.get("oneOf")
    all_of, not_ = schema.get("allOf"), schema.get("not")
    if any_of:
        best = None
        for alternative in any_of:
            found = _validated(alternative, value, old, path)
            if not found.problems:
                best = found
                break
            if best is None or found.count > best.count:
                best = found
        assert best is not None
        if best.problems:
            result.add(of_the_whole(f"{go_quoted(path)} must validate at least one schema (anyOf)"))
        result.merge(best)
    if one_of:
        _one_of([_validated(one, value, old, path) for one in one_of], path, result)
    if all_of:
        results = [_validated(one, value, old, path) for one in all_of]
        passed = sum(not found.problems for found in results)
        for found in results:
            result.merge(found)
        if passed != len(results):
            none = "" if passed else ". None validated"
            text = f"{go_quoted(path)} must validate all the schemas (allOf){none}"
            result.add(of_the_whole(text))
    if not_ is not None and not _validated(not_, value, old, path).problems:
        result.add(of_the_whole(f"{go_quoted(path)} must not validate the schema (not)"))


def _one_of(results: list[Result], path: str, result: Result) -> None:
    best: Result | None = None
    first: Result | None = None
    passed = 0
    for found in results:
        if not found.problems:
            passed += 1
            best = None
            first = first or found
        elif not passed and (best is None or found.count > best.count):
            best = found
    if passed == 1 and first is not None:
        result.merge(first)
        return
    why = f"Found {passed} valid alternatives" if passed else "Found none valid"
    text = f"{go_quoted(path)} must validate one and only one schema (oneOf). {why}"
    result.add(of_the_whole(text))
    if best is not None:
        result.merge(best)
