"""The parts of an informer: each namespace with each selector is a source of its own (K9)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from listwatch.cache.factory import texts

__all__ = ["Part", "optional_parts", "parts_of"]


class Part(NamedTuple):
    """What one source is asked for. Each may be empty, which means all."""

    namespace: str
    selector: str
    """Of several, this one."""
    label_selector: str
    """What is asked for: the selector of this part, and that of all parts."""


def parts_of(
    namespaces: Sequence[str], label_selectors: Sequence[str], label_selector: str
) -> dict[str, Part]:
    """The parts by their names; one without a name where nothing divides it.

    >>> for name, part in parts_of(["a", "b"], ["x", "!y"], "z").items():
    ...     print(name, "is", part.namespace, part.label_selector)
    a, x is a z,x
    a, !y is a z,!y
    b, x is b z,x
    b, !y is b z,!y
    """
    return {
        _joined(", ", namespace, selector): Part(
            namespace, selector, _joined(",", label_selector, selector)
        )
        for namespace in texts(namespaces) or ("",)
        for selector in texts(label_selectors) or ("",)
    }


def optional_parts(parts: Mapping[str, Part], optional: Collection[str]) -> set[str]:
    """The names of the parts that `optional` means: by their own name, that of their namespace, or
    their selector. Raises `ValueError` for what is none of these.
    """
    found: set[str] = set()
    for text in filter(None, texts(optional)):
        meant = {
            name for name, part in parts.items() if text in (name, part.namespace, part.selector)
        }
        if not meant:
            raise ValueError(f"optional={text!r} is none of: {'; '.join(parts) or '(one source)'}")
        found |= meant
    return found


def _joined(by: str, *texts: str) -> str:
    return by.join(text for text in texts if text)
