"""`x-kubernetes-validations`: rules in CEL, where a library for it is installed.

The package `common-expression-language` evaluates them; without it they are stored and take no
part. It knows the language and most of the functions that cel-go adds, not those of Kubernetes
(`quantity`, `ip`, `cidr`, `url`, `format`), and of what is optional neither `.?` nor `optMap`: a
rule that it cannot evaluate is taken for kept.
Types are not checked when a rule is defined, and what it costs is not estimated.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any

from ..validation.problems import Problem, invalid_field
from .structural import Structural
from .structural_checks import MISSING
from .structural_values import shown, shown_json

__all__ = [
    "evaluates_rules",
    "rule_problems",
    "syntax_error",
    "syntax_problem",
    "uses_old_self",
]

Evaluate = Callable[[str, Mapping[str, Any]], Any]
"""Evaluates a rule, given its variables."""

_OLD = re.compile(r"\boldSelf\b")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RESERVED = frozenset(
    {
        *("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for"),
        *("function", "if", "import", "let", "loop", "package", "namespace", "return", "var"),
        *("void", "while"),
    }
)
_ESCAPES = (("__", "__underscores__"), (".", "__dot__"), ("-", "__dash__"), ("/", "__slash__"))
_REASONS = {
    "FieldValueRequired": "Required value: {detail}",
    "FieldValueForbidden": "Forbidden: {detail}",
}


@cache
def _library() -> Any:
    """None where none is installed."""
    try:
        found = importlib.import_module("cel")
    except ImportError:
        return None
    return found if hasattr(found, "compile") else None  # others have that name, too


def evaluates_rules() -> bool:
    """Whether rules are looked at here."""
    return _library() is not None


def _evaluate(rule: str, variables: Mapping[str, Any]) -> Any:
    library = _library()
    context = library.Context(dict(variables))
    importlib.import_module("cel.stdlib").add_stdlib_to_context(context)
    return _program(rule).execute(context)


@cache
def _program(rule: str) -> Any:
    return _library().compile(rule)


def uses_old_self(rule: str) -> bool:
    """Whether a rule is about what was before: it is then for updates only."""
    return bool(_OLD.search(rule))


def syntax_problem(rule: Mapping[str, Any], path: str) -> Problem | None:
    """Why a rule cannot be read, where anybody here can tell."""
    text = rule.get("rule") or ""
    why = syntax_error(text)
    if not why:
        return None
    value = {
        "Rule": text,
        "Message": rule.get("message") or "",
        "MessageExpression": rule.get("messageExpression") or "",
        "Reason": rule.get("reason"),
        "FieldPath": rule.get("fieldPath") or "",
        "OptionalOldSelf": rule.get("optionalOldSelf"),
    }
    return invalid_field(f"{path}.rule", value, f"compilation failed: {why}")


def syntax_error(text: str) -> str:
    """Why an expression cannot be read; nothing where it can be, or where nobody here can tell."""
    if not evaluates_rules() or not text.strip():
        return ""
    try:
        _program(text)
    except ValueError as error:
        _, _, why = str(error).partition("': ")
        # What is no error of syntax may be what only this library does not know.
        return why.replace("\n|", "\n |") if "Syntax error" in why else ""
    return ""


def rule_problems(
    root: Structural, new: Any, old: Any = MISSING, *, evaluate: Evaluate | None = None
) -> list[Problem]:
    """The rules that a valid object breaks. `evaluate`: with what, if not with the library."""
    if not root.has_rules:
        return []
    if evaluate is None:
        if not evaluates_rules():
            return []
        evaluate = _evaluate
    return list(_problems(root, new, old, "", evaluate, is_root=True))


def _problems(
    node: Structural, new: Any, old: Any, path: str, evaluate: Evaluate, *, is_root: bool = False
) -> Iterator[Problem]:
    if not node.has_rules or new is None:
        return
    same = old is not MISSING and shown_json(new) == shown_json(old)
    for rule in node.rules:
        uses_old = uses_old_self(rule["rule"])
        absent = uses_old and (old is MISSING or old is None)
        if (absent and not rule.get("optionalOldSelf")) or (same and not uses_old):
            continue
        problem = _broken(rule, node, new, old, path, evaluate, is_root=is_root)
        if problem is not None:
            yield problem
    if isinstance(new, dict):
        before = old if isinstance(old, dict) else {}
        for name in sorted(new):
            below = node.child(name)
            if below is not None:
                named = f".{name}" if path else name
                here = f"{path}{named if name in node.properties else f'[{name}]'}"
                was = before.get(name, MISSING)
                yield from _problems(below, new[name], was, here, evaluate)
    elif isinstance(new, list) and node.items is not None:
        known = _by_keys(node, old)
        for at, item in enumerate(new):
            was = known.get(_key(node, item), MISSING) if known else MISSING
            yield from _problems(node.items, item, was, f"{path}[{at}]", evaluate)


def _by_keys(node: Structural, old: Any) -> dict[Any, Any]:
    if node.list_type != "map" or not isinstance(old, list):
        return {}
    return {_key(node, item): item for item in old}


def _key(node: Structural, item: Any) -> Any:
    if not isinstance(item, dict):
        return None
    return tuple(shown_json(item.get(name)) for name in node.list_keys)


def _broken(
    rule: Mapping[str, Any],
    node: Structural,
    new: Any,
    old: Any,
    path: str,
    evaluate: Evaluate,
    *,
    is_root: bool,
) -> Problem | None:
    variables = {"self": _as_cel(new, node, is_root=is_root)}
    was = None if old is MISSING or old is None else _as_cel(old, node, is_root=is_root)
    try:
        if rule.get("optionalOldSelf"):
            made = "optional.none()" if was is None else "optional.of(found)"
            variables["oldSelf"] = evaluate(made, {"found": was})
        elif was is not None:
            variables["oldSelf"] = was
    except Exception:
        return None  # as of what the library does not know, below
    told = (rule.get("message") or rule["rule"]).strip()
    try:
        if evaluate(rule["rule"], variables) is not False:
            return None
    except (KeyError, IndexError, ZeroDivisionError) as error:
        why = str(error.args[0]) if error.args else str(error)
        why = f"no such key: {why}" if isinstance(error, KeyError) else why
        return invalid_field(path or "<nil>", node.type, f"{why} evaluating rule: {told}")
    except Exception:
        # What the library does not know, a real server may: nobody is refused for it.
        return None
    detail = _detail(rule, variables, evaluate)
    where = (path or "<nil>") if not rule.get("fieldPath") else f"{path}{rule['fieldPath']}"
    where = where.removeprefix(".") if not path else where
    reason = rule.get("reason") or "FieldValueInvalid"
    if reason == "FieldValueDuplicate":
        return Problem(where, reason, f"Duplicate value: {shown(new)}")
    if reason in _REASONS:
        return Problem(where, reason, _REASONS[reason].format(detail=detail))
    value = "" if node.type in ("object", "array") else f": {shown(new)}"
    return Problem(where, reason, f"Invalid value{value}: {detail}")


def _detail(rule: Mapping[str, Any], variables: Mapping[str, Any], evaluate: Evaluate) -> str:
    expression = (rule.get("messageExpression") or "").strip()
    if expression:
        try:
            text = evaluate(expression, variables)
        except Exception:
            text = ""  # as there: the message stands in for it
        if isinstance(text, str) and text.strip():
            return text
    message: str = (rule.get("message") or "").strip()
    return message or f"failed rule: {rule['rule'].strip()}"


def _as_cel(value: Any, node: Structural | None, *, is_root: bool = False) -> Any:
    """A value with the types that the schema gives it, and names that the language can say."""
    if node is None:
        return value
    if isinstance(value, dict):
        made = {}
        embedded = is_root or node.embedded
        for name, member in value.items():
            if embedded and name in ("apiVersion", "kind"):
                made[name] = member
            elif embedded and name == "metadata" and isinstance(member, dict):
                names = ("name", "generateName")
                made[name] = {key: member[key] for key in names if key in member}
            elif name in node.properties:
                if (escaped := _escaped(name)) is not None:
                    made[escaped] = _as_cel(member, node.properties[name])
            elif isinstance(node.additional, Structural):
                made[name] = _as_cel(member, node.additional)
        return made
    if isinstance(value, list):
        return [_as_cel(item, node.items) for item in value]
    if node.type == "number" and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if node.type == "integer" and isinstance(value, float):
        return int(value)
    if isinstance(value, str) and node.type == "string":
        return _formatted(value, node.schema.get("format") or "")
    return value


def _formatted(value: str, name: str) -> Any:
    try:
        if name == "date":
            return datetime.fromisoformat(value).replace(tzinfo=UTC)
        if name in ("date-time", "datetime"):
            return datetime.fromisoformat(value.upper().replace("Z", "+00:00"))
    except ValueError:
        return value
    return value.encode() if name == "byte" else value


def _escaped(name: str) -> str | None:
    """None: a name that no expression can say."""
    if name in _RESERVED:
        return f"__{name}__"
    for found, escape in _ESCAPES:
        name = name.replace(found, escape)
    return name if _NAME.fullmatch(name) else None
