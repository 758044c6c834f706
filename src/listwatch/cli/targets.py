"""What a command is given to look for: objects by name, or by what they have in common."""

from __future__ import annotations

from collections.abc import Sequence

from .asked import Selection, split_name
from .failures import UsageError

__all__ = ["one_selection", "selections_of", "selections_to_get"]


def selections_of(
    targets: Sequence[str],
    *,
    namespace: str | None = None,
    all_namespaces: bool = False,
    label_selector: str | None = None,
    field_selector: str | None = None,
    every: bool = False,
) -> list[Selection]:
    """What `listwatch wait` waits for: one for each object of `pod/a deploy/b` or `pods a b`; one
    for `pods` with a selector, or if `every` object is meant. Raises `UsageError`, and what
    `Selection.of` does.

    >>> [(each.resource, each.name) for each in selections_of(["pod/a", "deploy/b"])]
    [('pod', 'a'), ('deploy', 'b')]
    """
    first, named = _named(targets)
    selecting = bool(label_selector or field_selector)
    if every and (named or selecting):
        raise UsageError("--all is everything: it goes with neither names nor selectors")
    if not named and not selecting and not every:
        raise UsageError(f"which {first}? name them, or say -l SELECTOR or --all")
    return [
        Selection.of(
            resource,
            name,
            namespace=namespace,
            all_namespaces=all_namespaces,
            label_selector=label_selector,
            field_selector=field_selector,
        )
        for resource, name in named or [(first, None)]
    ]


def selections_to_get(
    targets: Sequence[str],
    *,
    namespace: str | None = None,
    all_namespaces: bool = False,
    label_selector: str | None = None,
    field_selector: str | None = None,
    limit: int | None = None,
) -> list[Selection]:
    """What `listwatch get` prints: one for each object of `pod/a deploy/b` or `pods a b`, one for
    each resource of `pods,services`. Raises as the other.

    >>> [each.resource for each in selections_to_get(["pods,svc"])]
    ['pods', 'svc']
    """
    first, named = _named(targets)
    resources = list(dict.fromkeys(first.split(",")))
    if not all(resources):
        raise UsageError(f"{first}: a resource is missing beside a comma")
    if "," in first and (named or any(split_name(each)[1] for each in resources)):
        raise UsageError(
            f"{first}: names go with one resource; of several, write each as RESOURCE/NAME"
        )
    return [
        Selection.of(
            resource,
            name,
            namespace=namespace,
            all_namespaces=all_namespaces,
            label_selector=label_selector,
            field_selector=field_selector,
            limit=limit,
        )
        for resource, name in named or [(each, None) for each in resources]
    ]


def one_selection(selections: Sequence[Selection], why: str) -> Selection:
    """The only one. Raises `UsageError` with `why` there must be no more."""
    first, *others = selections
    if others:
        raise UsageError(f"{why}: one resource at a time, please, or one object")
    return first


def _named(targets: Sequence[str]) -> tuple[str, list[tuple[str, str | None]]]:
    """The first of them, and the objects that are named, with their resource in front or in common.
    Raises `UsageError`.
    """
    first, *others = targets
    if "," in first or not split_name(first)[1]:
        return first, [(first, each) for each in others]
    unnamed = next((each for each in others if not split_name(each)[1]), None)
    if unnamed is not None:
        raise UsageError(f"{unnamed} is no object: name each as {first} is named, or none so")
    return first, [(each, None) for each in targets]
