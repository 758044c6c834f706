"""What a mirror says of its life, as people read it."""

from __future__ import annotations

import pytest

from listwatch.cache import Cause, Listed, Next, Phase, Setback, Undecoded, WatchListGivenUp

from .scripted import refusal


def listed(cause: Cause | None = None, **more: object) -> Listed:
    numbers: dict[str, object] = {
        "via": "list",
        "count": 1234,
        "added": 0,
        "changed": 0,
        "vanished": 0,
        "seconds": 0.83,
        "resource_version": "5",
        **more,
    }
    return Listed(cause=cause, **numbers)  # type: ignore[arg-type]


def test_the_first_set() -> None:
    assert str(listed()) == "listed 1,234 in 0.8 s"
    assert listed().is_first


@pytest.mark.parametrize(
    ("cause", "begins"),
    [
        (Cause.EXPIRED, "watch expired, relisted"),
        (Cause.WENT_BACK, "the server's history went back, relisted"),
        (Cause.OUT_OF_DATE, "the mirror was found out of date, relisted"),
    ],
)
def test_a_relist_says_why_and_what_it_changed(cause: Cause, begins: str) -> None:
    relisted = listed(cause, changed=3, vanished=1)
    assert str(relisted) == f"{begins}: 3 changed, 1 vanished"
    assert not relisted.is_first


@pytest.mark.parametrize("cause", Cause)
def test_whatever_the_cause_its_words_are_in_the_line(cause: Cause) -> None:
    line = str(listed(cause, added=1200))
    assert line.endswith(": 1,200 new")
    assert "relisted" in line
    assert str(cause) in line or cause is Cause.OUT_OF_DATE


def test_a_relist_that_found_nothing_says_so() -> None:
    assert str(listed(Cause.EXPIRED)) == "watch expired, relisted: nothing changed"


def test_a_setback_says_what_ended_why_and_what_is_next() -> None:
    error = refusal(429)
    paced = Setback(
        phase=Phase.OPENING_WATCH, cause=Cause.TOO_MANY, error=error, next=Next.WATCH, wait=7.04
    )
    assert str(paced) == (
        "opening the watch: too many requests (429 TooManyRequests: a scripted 429); "
        "watch again in 7.0 s"
    )
    at_once = Setback(phase=Phase.WATCH, cause=Cause.EXPIRED, error=None, next=Next.SET, wait=None)
    assert str(at_once) == "watch: expired; list again"


def test_an_error_that_says_what_the_cause_says_is_not_said_twice() -> None:
    error = ConnectionResetError("connection lost")
    note = Setback(phase=Phase.WATCH, cause=Cause.LOST, error=error, next=Next.WATCH, wait=0.0)
    assert str(note) == "watch: connection lost; watch again in 0.0 s"


def test_an_error_that_says_nothing_is_named_by_its_class() -> None:
    error = ConnectionRefusedError()
    note = Setback(phase=Phase.LIST, cause=Cause.REFUSED, error=error, next=Next.SET, wait=1.0)
    assert str(note) == "list: connection refused (ConnectionRefusedError); list again in 1.0 s"


def test_watch_list_given_up() -> None:
    note = WatchListGivenUp(phase=Phase.WATCH_LIST, cause=Cause.NO_MARKER, why="watch-list: why")
    assert str(note) == "watch-list is given up for now, listing instead: watch-list: why"


def test_an_object_that_cannot_be_decoded() -> None:
    note = Undecoded(key="default/web-0", reason="it has no spec")
    assert str(note) == "default/web-0 cannot be decoded: it has no spec"


def test_every_note_is_one_line() -> None:
    error = RuntimeError("first line\nsecond line")
    note = Setback(phase=Phase.LIST, cause=Cause.SOURCE, error=error, next=Next.SET, wait=1.0)
    assert "\n" not in str(note)
    assert "\n" not in str(Undecoded(key="a", reason="first\nsecond"))
