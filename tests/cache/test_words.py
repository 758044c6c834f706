"""What an exception says, with what was noted on its way."""

from __future__ import annotations

import logging

import pytest

from listwatch.cache._journal import Journal
from listwatch.cache._words import named_words, words
from listwatch.cache.causes import Cause
from listwatch.cache.decisions import Next, Phase
from listwatch.cache.notes import Setback


def noted(*notes: str) -> Exception:
    error = ValueError("no")
    for note in notes:
        error.add_note(note)
    return error


@pytest.mark.parametrize(
    ("error", "plain", "named"),
    [
        (noted(), "no", "ValueError: no"),
        (noted("because"), "no; because", "ValueError: no; because"),
        (noted("because", "of it"), "no; because; of it", "ValueError: no; because; of it"),
        (KeyError(), "KeyError", "KeyError"),
    ],
)
def test_an_error_is_told_with_its_notes(error: Exception, plain: str, named: str) -> None:
    assert (words(error), named_words(error)) == (plain, named)


@pytest.mark.clause("H12", "K10")
def test_notes_are_in_the_health_and_the_log(caplog: pytest.LogCaptureFixture) -> None:
    journal = Journal("pods", on_error=None, on_note=None, on_progress=None)
    with caplog.at_level(logging.WARNING, "listwatch"):
        journal.fail(noted("say namespace="))
    assert journal.last_error == "ValueError: no; say namespace="
    assert caplog.messages == ["pods: no; say namespace="]


def test_notes_are_in_the_line_of_a_setback() -> None:
    setback = Setback(
        phase=Phase.LIST,
        cause=Cause.FORBIDDEN,
        error=noted("say\nnamespace="),
        next=Next.SET,
        wait=None,
    )
    assert str(setback) == "list: forbidden (no; say namespace=); list again"
