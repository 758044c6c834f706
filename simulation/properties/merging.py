"""Several sources as one set (K9)."""

from __future__ import annotations

from collections.abc import Iterator

from simulation.history import History, Look
from simulation.truth import Truth

from .course import course_of
from .registry import law


@law(
    109,
    "several sources are one set: what any of them has, in the newest state that one has had; one"
    " that fails holds no other back (K9).",
)
def merged_sources(history: History) -> Iterator[str]:
    audience = history.audience
    if audience is None or audience.union is None:
        return
    steady = not any(course_of(history.truth_of(part), part).drifts for part in audience.parts)
    for number, look in enumerate(audience.union.looks):
        looks = [part.looks[number] for part in audience.parts]
        yield from _one_set(look, looks, history.truth if steady else None)
        wanted = all(
            each.synced
            for part, each in zip(audience.parts, looks, strict=True)
            if part.name not in audience.optional
        )
        if look.synced != wanted:
            yield f"{look.time:.3f} synced is {look.synced}"
        if look.undecodable != frozenset().union(*(each.undecodable for each in looks)):
            yield f"{look.time:.3f} undecodable are {sorted(look.undecodable)}"


def _one_set(look: Look, parts: list[Look], truth: Truth | None) -> Iterator[str]:
    for key in sorted(look.set.keys() | {key for part in parts for key in part.set}):
        entries = [part.set[key] for part in parts if key in part.set]
        shown = look.set.get(key)
        if not entries:
            yield f"{look.time:.3f} {shown} is shown, and in no source"
        if truth is None or not entries:
            continue
        newest = max(entries, key=lambda entry: entry.rv)
        if shown is None:
            # One source may have seen the end of it, and those that have it be behind.
            true = truth.era.at(max(part.rv for part in parts)).get(key)
            if true is not None and true.rv <= newest.rv:
                yield f"{look.time:.3f} {newest} is in a source, and not shown"
        elif shown.rv < newest.rv:
            yield f"{look.time:.3f} {shown} is shown, where a source has {newest}"
        elif shown.rv == newest.rv:
            if shown.identity != newest.identity:
                yield f"{look.time:.3f} {shown} is shown for {newest}"
        elif any(part.rv >= shown.rv for part in parts if key in part.set):
            yield f"{look.time:.3f} {shown} is shown, and no source is behind it"
