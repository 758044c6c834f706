"""How Events are counted, joined and left out, as client-go does it."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.testing.apiserver.controllers.client import Client
from listwatch.testing.apiserver.controllers.events import Recorder
from tests.testing.apiserver.controllers.acting import CONFIGMAPS, CORE, Acting

EVENTS = f"{CORE}/events"


@pytest.fixture
def server() -> Acting:
    return Acting()


@pytest.fixture
def about(server: Acting) -> dict[str, Any]:
    return server.made(CONFIGMAPS, {"metadata": {"name": "a"}})


@pytest.fixture
def recorder(server: Acting) -> Recorder:
    return Recorder(Client(server.server), "tester")


def test_what_is_said_again_is_counted(
    server: Acting, recorder: Recorder, about: dict[str, Any]
) -> None:
    for _ in range(3):
        recorder.event(about, "Said", "so")
        server.wait(5)
    [event] = server.items(EVENTS)
    assert (event["count"], event["message"]) == (3, "so")
    assert event["firstTimestamp"] < event["lastTimestamp"]


def test_what_is_said_again_of_a_deleted_event_is_another(
    server: Acting, recorder: Recorder, about: dict[str, Any]
) -> None:
    recorder.event(about, "Said", "so")
    server.write("DELETE", EVENTS)
    recorder.event(about, "Said", "so")
    [event] = server.items(EVENTS)
    assert event["count"] == 2


def test_many_that_are_alike_become_one(
    server: Acting, recorder: Recorder, about: dict[str, Any]
) -> None:
    for number in range(15):
        recorder.event(about, "Said", f"{number}")
    messages = [event["message"] for event in server.items(EVENTS)]
    assert len(messages) == 10
    assert messages[-1] == "(combined from similar events): 14"
    assert server.items(EVENTS)[-1]["count"] == 6


def test_of_one_object_so_much_is_told_and_no_more(
    server: Acting, recorder: Recorder, about: dict[str, Any]
) -> None:
    other = server.made(CONFIGMAPS, {"metadata": {"name": "b"}})
    for number in range(60):
        recorder.event(about, f"Reason{number}", "so")
    assert len(server.items(EVENTS)) == 25
    recorder.event(other, "Said", "so")
    assert len(server.items(EVENTS)) == 26
    server.wait(301)
    recorder.event(about, "Later", "so")
    recorder.event(about, "Latest", "so")
    assert len(server.items(EVENTS)) == 27
