"""What `listwatch wait` is given to wait for: objects by name, or by what they have in common."""

from __future__ import annotations

from collections.abc import Sequence

from .asked import Selection, split_name
from .failures import UsageError

__all__ = ["selections_of"]


def selections_of(
    targets: Sequence[str],
    *,
    namespace: str | None = None,
    all_namespaces: bool = False,
    label_selector: str | None = None,
    field_selector: str | None = None,
    every: bool = False,
) -> list[Selection]:
    """One for each object of `pod/a deploy/b` or `pods a b`; one for `pods` with a selector, or if
    `every` object is meant. Raises `UsageError`, and what `Selection.of` does.

    >>> [(each.resource, each.name) for each in selections_of(["pod/a", "deploy/b"])]
    [('pod', 'a'), ('deploy', 'b')]
    """
    first, *others = targets
    named: list[tuple[str, str | None]]
    selecting = bool(label_selector or field_selector)
    if split_name(first)[1]:
        unnamed = next((each for each in others if not split_name(each)[1]), None)
        if unnamed is not None:
            raise UsageError(f"{unnamed} is no object: name each as {first} is named, or none so")
        named = [(each, None) for each in targets]
    else:
        named = [(first, each) for each in others]
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
