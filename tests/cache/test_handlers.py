"""Handlers: who is told what changed, and in which words."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from listwatch.api import EventType
from listwatch.cache import Delta, Tombstone
from listwatch.cache.handlers import Calls, calls_of

from .scripted import pod

ADDED, MODIFIED, DELETED = EventType.ADDED, EventType.MODIFIED, EventType.DELETED

A1, A2 = pod("a", 1), pod("a", 2)
TWIN = pod("a", 3, uid="another")


def is_even(obj: Any) -> bool:
    return int(obj.resource_version) % 2 == 0


def told(delta: Delta[Any], **more: Any) -> list[tuple[Any, ...]]:
    """The calls that come of a change, and the changes at which the filter failed."""
    heard: list[tuple[Any, ...]] = []
    calls: Calls[Any] = Calls(
        lambda *given: heard.append(("add", *given)),
        lambda *given: heard.append(("update", *given)),
        lambda *given: heard.append(("delete", *given)),
        **more,
    )
    for function, arguments in calls.of(delta, lambda failed: heard.append(("failed", failed))):
        function(*arguments)
    return heard


@pytest.mark.clause("K1")
def test_what_changed_is_an_add_an_update_or_a_delete() -> None:
    assert told(Delta(ADDED, A1)) == [("add", A1, False)]
    assert told(Delta(ADDED, A1, initial=True)) == [("add", A1, True)]
    assert told(Delta(MODIFIED, A2, old=A1)) == [("update", A1, A2)]
    assert told(Delta(DELETED, A2, old=A1)) == [("delete", A2)]


@pytest.mark.clause("J2", "K1")
def test_an_end_that_nobody_saw_is_told_by_a_tombstone() -> None:
    gone = Delta(DELETED, A1, key="default/a", old=A1, final_state_unknown=True)
    assert told(gone) == [("delete", Tombstone("default/a", A1))]


@pytest.mark.clause("K6")
def test_made_again_it_is_an_update_or_both() -> None:
    again = Delta(MODIFIED, TWIN, key="default/a", old=A1, recreated=True)
    assert told(again) == [("update", A1, TWIN)]
    assert told(again, recreate_as_two=True) == [
        ("delete", Tombstone("default/a", A1)),
        ("add", TWIN, False),
    ]
    assert told(Delta(MODIFIED, A2, old=A1), recreate_as_two=True) == [("update", A1, A2)]


@pytest.mark.clause("K7")
def test_a_filter_makes_what_does_not_match_invisible() -> None:
    assert told(Delta(ADDED, A1), filter=is_even) == []
    assert told(Delta(ADDED, A2, initial=True), filter=is_even) == [("add", A2, True)]
    assert told(Delta(MODIFIED, pod("a", 3), old=A1), filter=is_even) == []
    assert told(Delta(MODIFIED, pod("a", 4), old=A2), filter=is_even) == [
        ("update", A2, pod("a", 4))
    ]
    # It is what the handler knows of that counts, not the state at the end.
    assert told(Delta(DELETED, A2, old=A1), filter=is_even) == []
    assert told(Delta(DELETED, A1, old=A2), filter=is_even) == [("delete", A1)]


@pytest.mark.clause("K7")
def test_what_begins_to_match_is_added_and_what_stops_is_deleted() -> None:
    assert told(Delta(MODIFIED, A2, old=A1), filter=is_even) == [("add", A2, False)]
    assert told(Delta(MODIFIED, pod("a", 3), old=A2), filter=is_even) == [("delete", pod("a", 3))]


@pytest.mark.clause("K7", "K6")
def test_one_of_two_lives_may_match() -> None:
    ended = Delta(MODIFIED, TWIN, key="default/a", old=A2, recreated=True)
    assert told(ended, filter=is_even) == [("delete", Tombstone("default/a", A2))]
    begun = Delta(MODIFIED, TWIN, key="default/a", old=A2, recreated=True)
    assert told(begun, filter=lambda obj: not is_even(obj)) == [("add", TWIN, False)]


@pytest.mark.clause("K7", "K4")
def test_what_a_filter_raises_for_does_not_match_and_is_said_once() -> None:
    def fails_for_the_first(obj: Any) -> bool:
        return bool(1 / (int(obj.resource_version) - 1))

    odd = Delta(ADDED, A1)
    assert told(odd, filter=fails_for_the_first) == [("failed", odd)]
    mended = Delta(MODIFIED, A2, old=A1)
    assert told(mended, filter=fails_for_the_first) == [("add", A2, False)]
    broken = Delta(MODIFIED, A1, old=A2)
    assert told(broken, filter=fails_for_the_first) == [("failed", broken), ("delete", A1)]
    assert told(Delta(DELETED, A1, old=A1), filter=fails_for_the_first) == []


def test_functions_that_are_not_there_are_not_called() -> None:
    calls: Calls[Any] = Calls(on_update=print)
    for delta in (Delta(ADDED, A1), Delta(DELETED, A1, old=A1)):
        assert list(calls.of(delta, print)) == []  # type: ignore[arg-type]


# What counts as a handler


class Partly:
    def on_delete(self, obj: Any) -> None: ...


class Cache(dict[str, Any]):
    """A handler that is empty, and so false, at first."""

    def on_add(self, obj: Any, in_initial_list: bool) -> None: ...


def of(handler: Any = None, on_add: Any = None, on_update: Any = None) -> Calls[Any]:
    return calls_of(handler, on_add, on_update, None, None, False)


def test_a_handler_has_some_of_the_functions_or_they_are_given() -> None:
    partly, cache = Partly(), Cache()
    assert of(partly) == Calls(on_delete=partly.on_delete)
    assert of(cache) == Calls(on_add=cache.on_add)
    assert of(on_update=print) == Calls(on_update=print)


@pytest.mark.parametrize("handler", [None, object(), {}, print])
def test_without_any_it_is_no_handler(handler: Any) -> None:
    with pytest.raises(TypeError, match="at least one of on_add, on_update and on_delete"):
        of(handler)


@pytest.mark.parametrize("handler", [Partly(), Cache()], ids=["an object", "one that is empty"])
def test_a_handler_and_functions_are_one_too_many(handler: Any) -> None:
    with pytest.raises(TypeError, match="not both"):
        of(handler, print)


async def added(obj: Any, in_initial_list: bool) -> None: ...


class AsyncCallable:
    async def __call__(self, *given: Any) -> None: ...


class PlainCallable:
    def __call__(self, *given: Any) -> None: ...


@pytest.mark.clause("K1")
@pytest.mark.parametrize(
    ("function", "is_async"),
    [
        (added, True),
        (functools.partial(added, A1), True),
        (AsyncCallable(), True),
        (AsyncCallable().__call__, True),
        (print, False),
        (PlainCallable(), False),
        (functools.partial(print, A1), False),
        (lambda *given: None, False),
    ],
)
def test_one_async_function_makes_it_async(function: Any, is_async: bool) -> None:
    assert of(None, function).is_async is is_async
    assert of(None, print, function).is_async is is_async


@pytest.mark.clause("K7")
def test_a_filter_that_would_have_to_be_awaited_is_refused_and_not_taken_for_true() -> None:
    async def wanted(obj: Any) -> Any: ...

    with pytest.raises(TypeError, match="filter must be a plain function: this one is async"):
        calls_of(None, lambda obj, initial: None, None, None, wanted, False)


@pytest.mark.clause("K7")
def test_one_that_gives_something_to_be_awaited_has_failed_and_lets_nothing_through() -> None:
    async def asked() -> bool:
        return True

    def wanted(obj: Any) -> Any:
        return asked()

    failed: list[str] = []
    calls = calls_of(None, print, None, None, wanted, False)
    delta = Delta(EventType.ADDED, pod("a", 5), key="default/a")
    assert list(calls.of(delta, lambda delta: failed.append(delta.key))) == []
    assert failed == ["default/a"]


def test_what_cannot_be_called_is_refused() -> None:
    given: Any = 3
    with pytest.raises(TypeError, match="on_update must be a function, not 3"):
        calls_of(None, None, given, None, None, False)
