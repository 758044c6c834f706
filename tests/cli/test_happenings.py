from __future__ import annotations

import io
import sys

import pytest

from listwatch.api import Expired, Forbidden, InternalError, Status
from listwatch.cache.causes import Cause
from listwatch.cache.decisions import Next, Phase
from listwatch.cache.notes import Listed, Setback, Undecoded, WatchListGivenUp
from listwatch.cli.happenings import Happenings
from listwatch.rest.errors import ConnectionRefused

URL = "http://127.0.0.1:8001"


def listed(cause: Cause | None = None, *, changed: int = 0, vanished: int = 0) -> Listed:
    return Listed(
        cause=cause,
        via="list",
        count=1234,
        added=0,
        changed=changed,
        vanished=vanished,
        seconds=0.84,
        resource_version="9",
    )


def setback(
    cause: Cause,
    error: Exception | None = None,
    *,
    phase: Phase = Phase.WATCH,
    to: Next = Next.WATCH,
    wait: float | None = 1.25,
) -> Setback:
    return Setback(phase=phase, cause=cause, error=error, next=to, wait=wait)


def _refusal(message: str = "pods is forbidden") -> Setback:
    status = Status(status="Failure", code=403, reason="Forbidden", message=message)
    return setback(Cause.FORBIDDEN, Forbidden(status), phase=Phase.LIST, to=Next.SET)


class Told:
    """The lines on standard error."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._stream = io.StringIO()
        patch.setattr(sys, "stderr", self._stream)

    @property
    def lines(self) -> list[str]:
        return self._stream.getvalue().splitlines()


@pytest.fixture
def answers() -> list[str]:
    return []


@pytest.fixture
def happenings(answers: list[str]) -> Happenings:
    return Happenings(URL, on_listed=lambda: answers.append("listed"))


def test_each_set_is_a_line(
    happenings: Happenings, answers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Told(monkeypatch)
    happenings.take(listed())
    happenings.take(listed(Cause.EXPIRED, changed=3, vanished=1))
    happenings.take(listed(Cause.WENT_BACK))
    assert told.lines == [
        "listwatch: listed 1,234 in 0.8 s",
        "listwatch: watch expired, relisted: 3 changed, 1 vanished",
        "listwatch: the server's history went back, relisted: nothing changed",
    ]
    assert answers == ["listed"] * 3


def test_a_refusal_says_why_and_when_it_is_asked_again(
    happenings: Happenings, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Told(monkeypatch)
    happenings.take(listed())
    happenings.take(_refusal())
    happenings.take(_refusal())
    happenings.take(setback(Cause.REFUSED, ConnectionRefused("cannot connect", url=URL)))
    happenings.take(setback(Cause.IDLE))
    happenings.take(setback(Cause.LOST, ConnectionResetError("<TransferEncodingError: 400>")))
    assert told.lines[1:] == [
        "listwatch: the server answered 403 Forbidden: pods is forbidden; list again in 1.2 s",
        "listwatch: the server answered 403 Forbidden: pods is forbidden; list again in 1.2 s",
        "listwatch: cannot connect; watch again in 1.2 s",
        "listwatch: watch: silent; watch again in 1.2 s",
        "listwatch: watch: connection lost; watch again in 1.2 s",
    ]


def test_the_usual_end_of_a_watch_is_no_news(
    happenings: Happenings, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Told(monkeypatch)
    happenings.take(setback(Cause.CLEAN))
    assert told.lines == []


def test_nor_is_an_end_after_which_a_list_follows_at_once(
    happenings: Happenings, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Told(monkeypatch)
    status = Status(status="Failure", code=410, reason="Expired")
    happenings.take(setback(Cause.EXPIRED, Expired(status), to=Next.SET, wait=None))
    happenings.take(listed(Cause.EXPIRED, changed=1))
    assert told.lines == ["listwatch: watch expired, relisted: 1 changed"]


def test_a_clean_end_that_costs_a_list_is_news(
    happenings: Happenings, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Told(monkeypatch)
    happenings.take(setback(Cause.CLEAN, to=Next.SET, wait=4.0))
    assert told.lines == ["listwatch: watch: ended by the server; list again in 4.0 s"]


def test_the_first_refusal_for_good_is_kept_until_it_is_known_what_it_leads_to(
    happenings: Happenings, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Told(monkeypatch)
    with happenings:
        happenings.take(_refusal())
        assert told.lines == []
        happenings.take(listed())
    assert [line.partition("; ")[0] for line in told.lines] == [
        "listwatch: the server answered 403 Forbidden: pods is forbidden",
        "listwatch: listed 1,234 in 0.8 s",
    ]


def test_where_it_leads_to_a_failure_that_failure_is_the_one_line(
    happenings: Happenings, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Told(monkeypatch)

    def fail() -> None:
        with happenings:
            happenings.take(_refusal())
            happenings.take(_refusal())
            raise LookupError

    with pytest.raises(LookupError):
        fail()
    assert told.lines == []


def test_where_the_user_leaves_it_is_told_after_all(
    happenings: Happenings, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Told(monkeypatch)
    with happenings:
        happenings.take(_refusal())
    assert len(told.lines) == 1


def test_an_object_that_cannot_be_read_is_told_where_it_is_printed(
    happenings: Happenings, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Told(monkeypatch)
    happenings.take(Undecoded(key="shop/web-0", reason="no text"))
    assert told.lines == []


@pytest.mark.parametrize(("phase", "lines"), [(Phase.WATCH_LIST, 1), (Phase.OPENING_WATCH_LIST, 0)])
def test_a_server_that_cannot_stream_a_set_is_news_only_where_it_costs_time(
    phase: Phase, lines: int, happenings: Happenings, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Told(monkeypatch)
    happenings.take(WatchListGivenUp(phase=phase, cause=Cause.NO_MARKER, why="no end"))
    expected = "listwatch: watch-list is given up for now, listing instead: no end"
    assert told.lines == [expected] * lines


def test_a_quiet_one_says_nothing(answers: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    told = Told(monkeypatch)
    with Happenings(URL, on_listed=lambda: answers.append("listed"), quiet=True) as quiet:
        quiet.take(listed())
        quiet.take(setback(Cause.INTERNAL, InternalError(Status(code=500)), to=Next.SET))
    assert (told.lines, answers) == ([], ["listed"])
