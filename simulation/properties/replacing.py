"""Sets that replace sets."""

from __future__ import annotations

from collections.abc import Iterator

from simulation.history import History, Observed, Wrote
from simulation.states import State, States

from .course import course_of
from .handlers import relists_told
from .registry import law


@law(
    6,
    "a relist tells handlers exactly the changed set, with one tombstone for each vanished key.",
)
def exact_diff(history: History) -> Iterator[str]:
    for seen in history.mirrors:
        yield from _replay(seen)
        for wrote, deltas in _replaces(seen):
            wanted = _difference(wrote)
            if deltas != wanted:
                lacking = sorted(wanted - deltas)
                yield (
                    f"{wrote.time:.3f} a set at {wrote.rv} came:"
                    f" not told {lacking}, told besides {sorted(deltas - wanted)}"
                )
    if history.audience is not None and history.audience.union is not None:
        yield from _replay(history.audience.union)
    yield from relists_told(history)


def _replay(seen: Observed) -> Iterator[str]:
    """Each delta fits those before it, and together they make the set."""
    told: dict[str, State] = {}
    for batch in seen.batches:
        for delta in batch.deltas:
            key, there = delta.state.key, told.get(delta.state.key)
            if delta.type == "ADDED":
                fits = there is None
            elif delta.type == "MODIFIED":
                fits = there is not None and there != delta.state
            else:
                fits = there is not None
            if not fits:
                yield f"{batch.time:.3f} {delta.type} {delta.state}, where {there} was"
            if delta.old is not None and there is not None and delta.old != there:
                yield f"{batch.time:.3f} {delta.type} {delta.state}: old is not {there}"
            if delta.type == "DELETED":
                told.pop(key, None)
            else:
                told[key] = delta.state
        if told != batch.set:
            yield f"{batch.time:.3f} what was told does not add up to what the store shows"


def _replaces(seen: Observed) -> Iterator[tuple[Wrote, set[tuple[str, str, int, bool]]]]:
    """Each set that came, with what was told of it before the next write."""
    for number, wrote in enumerate(seen.wrote):
        if wrote.what != "replace":
            continue
        following = seen.wrote[number + 1 :]
        until = following[0].step if following else float("inf")
        deltas = {
            (told.type, told.state.key, told.state.serial, told.final_state_unknown)
            for batch in seen.batches
            if wrote.step < batch.step < until
            for told in batch.deltas
        }
        yield wrote, deltas


def _difference(wrote: Wrote) -> set[tuple[str, str, int, bool]]:
    before, after = wrote.before, wrote.after
    found = {
        ("DELETED", key, state.serial, True) for key, state in before.items() if key not in after
    }
    for key, state in after.items():
        old = before.get(key)
        if old is None:
            found.add(("ADDED", key, state.serial, False))
        elif (old.uid, old.rv, old.serial) != (state.uid, state.rv, state.serial):
            found.add(("MODIFIED", key, state.serial, False))
    return found


@law(
    8,
    "a reader never sees a mixture of two sets, and `synced` is true only with a complete one.",
)
def atomic_replace(history: History) -> Iterator[str]:
    for seen in history.mirrors:
        course = course_of(history.truth_of(seen), seen)
        first = next((wrote.step for wrote in seen.wrote if wrote.what == "replace"), None)
        views = [(look.step, look.time, look.rv, look.set) for look in seen.looks]
        views += [(batch.step, batch.time, batch.rv, batch.set) for batch in seen.batches]
        for step, time, rv, shown in sorted(views, key=lambda view: view[0]):
            place = course.at(step)
            if place.adrift:
                continue
            true = place.era.at(rv) if place.segment else {}
            difference = _unlike(shown, true, place.era.outside_at(step))
            if difference:
                yield f"{time:.3f} the store at {rv} is not the server's set: {difference}"
        for look in seen.looks:
            if look.synced and (first is None or look.step < first):
                yield f"{look.time:.3f} synced without a set"


@law(23, "watch-list and list give the same store at the same RV.")
def two_ways_one_set(history: History) -> Iterator[str]:
    found: dict[tuple[int, int], tuple[str, States]] = {}
    for seen in history.mirrors:
        if seen.truth is not None:
            continue  # it has a set of its own
        course = course_of(history.truth_of(seen), seen)
        for look in seen.looks:
            place = course.at(look.step)
            if place.adrift or not place.segment:
                continue
            name, other = found.setdefault((place.era.number, look.rv), (seen.name, look.set))
            if name != seen.name and other != look.set:
                unlike = sorted(
                    key
                    for key in other.keys() | look.set.keys()
                    if other.get(key) != look.set.get(key)
                )
                yield f"{look.time:.3f} {name} and {seen.name} differ at {look.rv} in {unlike}"


@law(30, "an initial stream cut short leaves no object of it in the store.")
def nothing_left_behind(history: History) -> Iterator[str]:
    for seen in history.mirrors:
        for ask in seen.asks:
            if ask.kind != "watch-list" or not ask.is_ok or b"initial-events-end" in ask.body:
                continue
            until = float("inf") if ask.ended is None else ask.ended
            others = [
                other
                for other in seen.asks
                if other is not ask
                and other.is_ok
                and other.kind != "probe"
                and (other.ended is None or other.ended >= ask.time)
                and other.time <= until
            ]
            for wrote in seen.wrote:
                if ask.time < wrote.time < until and not others:
                    yield (
                        f"{wrote.time:.3f} the store is written ({wrote.what}) by an initial stream"
                        f" that was never whole (from {ask.time:.3f} to {until:.3f})"
                    )


def _unlike(shown: States, true: States, outside: frozenset[str]) -> str:
    """How what is shown differs from the truth; objects that are not selected aside."""
    parts = []
    for key in sorted(true.keys() | shown.keys()):
        mine, yours = shown.get(key), true.get(key)
        if yours is None and key in outside:
            continue
        if mine is None:
            parts.append(f"lacks {yours}")
        elif yours is None:
            parts.append(f"has {mine}")
        elif mine.identity != yours.identity:
            parts.append(f"has {mine} for {yours}")
    return ", ".join(parts[:4])
