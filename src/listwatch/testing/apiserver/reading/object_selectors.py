"""LabelSelectors as they stand in objects: `matchLabels` and `matchExpressions`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["selector_matches", "selector_text"]


def selector_matches(selector: Mapping[str, Any] | None, labels: Mapping[str, str] | None) -> bool:
    """Whether `labels` are selected. No selector selects nothing, an empty one everything."""
    if selector is None:
        return False
    found = labels or {}
    if any(found.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    return all(_holds(term, found) for term in selector.get("matchExpressions") or ())


def selector_text(selector: Mapping[str, Any] | None) -> str:
    """As a list takes it in `labelSelector`, sorted by key."""
    if not selector:
        return ""
    terms = [(key, f"{key}={value}") for key, value in (selector.get("matchLabels") or {}).items()]
    terms += [(term["key"], _shown(term)) for term in selector.get("matchExpressions") or ()]
    return ",".join(text for _, text in sorted(terms))


def _holds(term: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    key, values = term.get("key"), term.get("values") or ()
    match term.get("operator"):
        case "In":
            return labels.get(str(key)) in values
        case "NotIn":
            return key not in labels or labels[str(key)] not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
    return False


def _shown(term: Mapping[str, Any]) -> str:
    key, values = term["key"], ",".join(sorted(term.get("values") or ()))
    match term.get("operator"):
        case "In":
            return f"{key} in ({values})"
        case "NotIn":
            return f"{key} notin ({values})"
        case "Exists":
            return str(key)
    return f"!{key}"
