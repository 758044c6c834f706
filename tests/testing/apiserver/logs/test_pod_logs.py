"""What the containers of pods print, where the kubelet is on."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.testing.apiserver.logs.log_stream import LogStream
from listwatch.testing.apiserver.logs.printed import Line, printed_by
from listwatch.testing.apiserver.messages import ServerRequest
from tests.testing.apiserver.controllers.acting import PODS, Acting, container
from tests.testing.apiserver.write_server import parsed


@pytest.fixture
def server() -> Acting:
    return Acting("kubelet")


def _run(server: Acting, script: str, **spec: Any) -> str:
    made = container(command=["sh", "-c", script])
    body = {"metadata": {"name": "a"}, "spec": {"containers": [made], **spec}}
    server.made(PODS, body)
    return f"{PODS}/a/log"


def _text(server: Acting, path: str) -> str:
    answer = server.get(path)
    assert answer.status == 200, answer.body
    assert answer.content_type == "text/plain"
    return answer.body.decode()


def _end(server: Acting) -> None:
    """Delete the pod, at once."""
    query = (("gracePeriodSeconds", "0"),)
    server.server.handle(ServerRequest(method="DELETE", path=f"{PODS}/a", query=query))


def _followed(server: Acting, path: str) -> LogStream:
    reaction = server.server.handle(
        ServerRequest(method="GET", path=path, query=(("follow", "true"),))
    )
    assert isinstance(reaction, LogStream)
    return reaction


@pytest.mark.parametrize(
    ("given", "lines"),
    [
        ({"command": ["echo", "hello", "world"]}, [Line(0.0, "hello world")]),
        ({"args": ["/bin/echo", "x"]}, [Line(0.0, "x")]),
        ({"command": ["sh", "-c"], "args": ["echo a && echo 'b  c'"]}, [(0, "a"), (0, "b  c")]),
        ({"command": ["sh", "-c", "sleep 1.5; echo late"]}, [(1.5, "late")]),
        ({"command": ["sh", "-c", "exit 1; echo never"]}, []),
        ({"command": ["sh", "-c", 'echo "never closed']}, [(0, '"never closed')]),
        (
            {"command": ["echo", "$(WHO)"], "env": [{"name": "WHO", "value": "me"}]},
            [(0, "me")],
        ),
        ({"command": ["nginx"]}, []),
        ({}, []),
    ],
)
def test_a_container_prints_the_words_of_its_echoes(
    given: dict[str, Any], lines: list[tuple[float, str]]
) -> None:
    assert printed_by(given) == lines


def test_a_pod_that_runs_has_a_log(server: Acting) -> None:
    path = _run(server, "echo hello; sleep 10; echo world; sleep 100")
    server.wait(2)
    assert _text(server, path) == "hello\n"
    server.wait(12)
    assert _text(server, path) == "hello\nworld\n"


def test_a_pod_that_does_not_run_yet_says_so(server: Acting) -> None:
    path = _run(server, "echo hello; sleep 100")
    server.wait(0.1)
    answer = server.get(path)
    assert answer.status == 400
    text = 'container "c" in pod "a" is waiting to start: ContainerCreating'
    assert parsed(answer)["message"] == text


def test_the_options_cut_the_log(server: Acting) -> None:
    path = _run(server, "echo one; echo two; sleep 10; echo three; sleep 100")
    server.wait(20)
    assert _text(server, f"{path}?tailLines=1") == "three\n"
    assert _text(server, f"{path}?tailLines=0") == ""
    assert _text(server, f"{path}?limitBytes=5") == "one\nt"
    assert _text(server, f"{path}?sinceSeconds=11") == "three\n"
    [first, *_] = _text(server, f"{path}?timestamps=true").splitlines()
    assert first.endswith("Z one")
    assert len(first) == len("2026-01-01T00:00:00.000000000Z one")


def test_the_run_before_is_told_on_demand(server: Acting) -> None:
    path = _run(server, "echo hello; exit 1")
    server.wait(0.3)
    assert server.get(f"{path}?previous=true").status == 400
    server.wait(20)
    assert _text(server, f"{path}?previous=true") == "hello\n"
    assert _text(server, path) == "hello\n"


def test_a_log_is_followed_until_its_container_ends(server: Acting) -> None:
    path = _run(server, "echo one; sleep 5; echo two; sleep 5", restartPolicy="Never")
    server.wait(2)
    stream = _followed(server, path)
    assert stream.content_type == "text/plain"
    assert b"".join(stream.take()) == b"one\n"
    assert not stream.ended
    server.wait(5)
    stream.tick()
    assert b"".join(stream.take()) == b"two\n"
    server.wait(10)
    assert stream.ended
    assert stream.take() == []


def test_whoever_follows_is_told_when_the_pod_goes(server: Acting) -> None:
    path = _run(server, "echo one; sleep inf")
    server.wait(2)
    stream = _followed(server, path)
    woken: list[bool] = []
    stream.wake = lambda: woken.append(stream.ended)
    server.delete(f"{PODS}/a")
    server.wait(60)
    assert woken[-1]


def test_nothing_is_left_of_a_follower_that_has_gone(server: Acting) -> None:
    path = _run(server, "echo one; sleep inf")
    server.wait(2)
    before = len(server.server.state.log.listeners)
    stream = _followed(server, path)
    assert len(server.server.state.log.listeners) == before + 1
    stream.close()
    stream.close()
    assert len(server.server.state.log.listeners) == before


def test_a_log_that_has_ended_is_not_followed(server: Acting) -> None:
    path = _run(server, "echo one", restartPolicy="Never")
    server.wait(5)
    assert _text(server, f"{path}?follow=true") == "one\n"


def test_all_who_follow_are_told_when_the_pod_goes(server: Acting) -> None:
    path = _run(server, "echo one; sleep inf")
    server.wait(2)
    streams = [_followed(server, path) for _ in range(5)]
    _end(server)
    assert all(stream.ended for stream in streams)


def test_a_follower_that_leaves_keeps_no_write_from_the_others(server: Acting) -> None:
    path = _run(server, "echo one; sleep inf")
    server.wait(2)
    stream = _followed(server, path)
    told: list[str] = []
    server.server.state.log.listeners.append(lambda write: told.append(write.new.key[1]))
    _end(server)
    assert stream.ended
    assert "a" in told


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("sinceSeconds=9223372036854775807", 200),
        ("sinceTime=0001-01-01T00:00:00%2B14:00", 200),
        ("sinceTime=9999-12-31T23:59:59-14:00", 200),
        ("sinceTime=2026-01-01T00:00:00.123456789Z", 200),
        ("sinceTime=20260101T000000Z", 400),
        ("sinceTime=2026-W01-1T00:00:00Z", 400),
        ("sinceTime=2026-02-30T00:00:00Z", 400),
    ],
)
def test_times_far_away_and_senseless_ones_are_no_trouble(
    server: Acting, query: str, status: int
) -> None:
    path = _run(server, "echo one; sleep inf")
    server.wait(2)
    assert server.get(f"{path}?{query}").status == status
