"""Every recorded LIST and WATCH in JSON, played by the replay server to the command."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest

from listwatch.testing import Ending, Recording
from listwatch.testing.replay.commands import command_for
from tests.cli.conftest import Ran, Run
from tests.cli.servers import replaying
from tests.support.expected import CUT, json_values, object_list
from tests.support.vectors import vectors

_JSON = ("", "application/json", "text/plain")


def _arguments(recording: Recording, url: str) -> list[str]:
    """What a user would type to ask for it."""
    command = command_for(recording, url)
    assert command is not None
    words = shlex.split(command)[1:]
    return words if "-n" in words else [*words, "-A"]


def _recorded(*, watch: bool) -> list[Any]:
    return [
        pytest.param(recording, id=recording.name)
        for recording in vectors()
        if (recording.is_watch if watch else recording.is_list)
        and (recording.media_type in _JSON or recording.status != 200)
        and "/watch/" not in recording.path  # the old form of a watch, which we do not send
    ]


@pytest.mark.clause("D1", "D3", "D4", "E2")
@pytest.mark.parametrize("recording", _recorded(watch=True))
def test_a_watch_prints_the_recorded_events_and_nothing_else(
    recording: Recording, run: Run
) -> None:
    values = json_values(recording.body) if recording.status == 200 else []
    events = [value for value in values if value is not CUT]
    waits = recording.end is Ending.CLIENT  # it would go on: leave after the last event
    limits = ["--count", str(len(events))] if waits and events else ["--duration", "0.2"] * waits
    with replaying([recording]) as server:
        ran = run(*_arguments(recording, server.url), "--raw", "-o", "json", *limits)
    printed = [json.loads(line) for line in ran.data.splitlines()]
    assert printed == events
    broke_off = not recording.complete and recording.end is not Ending.CLIENT
    errors = any(value["type"] == "ERROR" for value in events)
    fails = recording.status != 200 or errors or broke_off
    _check_code(ran, fails)


@pytest.mark.clause("A5", "D7")
@pytest.mark.parametrize("recording", _recorded(watch=False))
def test_a_list_prints_the_recorded_items(
    recording: Recording, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("listwatch.cli.get._RETRIES", 0)  # some answers ask to come back in 5 s
    is_table = b'"kind":"Table"' in recording.body[:100]
    with replaying([recording]) as server:
        ran = run(*_arguments(recording, server.url), "-o", "json", "--show-managed-fields")
    if recording.status == 200 and not is_table:
        assert json.loads(ran.data) == {
            "apiVersion": "v1",
            "kind": "List",
            "metadata": {"resourceVersion": ""},
            "items": object_list(recording.body)["items"],
        }
    else:
        assert ran.data == b""
    _check_code(ran, recording.status != 200 or is_table)


def _check_code(ran: Ran, fails: bool) -> None:
    refused_here = ran.notes.startswith("listwatch: selector ")  # A4: not even sent
    assert ran.code == (2 if refused_here else 1 if fails else 0)
    if fails:
        assert ran.notes.splitlines()[-1].startswith("listwatch: ")
