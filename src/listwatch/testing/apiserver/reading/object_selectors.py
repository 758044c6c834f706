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


def selector_text(selector: Any) -> str:
    """As a list takes it in `labelSelector`, sorted by key; empty where it selects everything, or
    is none. What is no selector at all has no terms.
    """
    terms: list[tuple[str, str]] = []
    if isinstance(selector, Mapping):
        labels, expressions = selector.get("matchLabels"), selector.get("matchExpressions")
        if isinstance(labels, Mapping):
            terms += [(key, f"{key}={value}") for key, value in labels.items()]
        if isinstance(expressions, list):
            terms += [_shown(term) for term in expressions if isinstance(term, Mapping)]
    return ",".join(text for _, text in sorted(terms, key=lambda term: term[0]) if text)


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


def _shown(term: Mapping[str, Any]) -> tuple[str, str]:
    """Its key, and the term; nothing for an operator that there is not."""
    key, found = str(term.get("key") or ""), term.get("values")
    values = ",".join(sorted(map(str, found))) if isinstance(found, list) else ""
    match term.get("operator"):
        case "In":
            return key, f"{key} in ({values})"
        case "NotIn":
            return key, f"{key} notin ({values})"
        case "Exists":
            return key, key
        case "DoesNotExist":
            return key, f"!{key}"
    return key, ""
