"""A server for programs that block."""

from __future__ import annotations

import pytest

from listwatch import testing
from listwatch.sync import Client
from listwatch.testing.apiserver import EmbeddedServer
from listwatch.testing.server_thread import ServerThread


def test_a_program_without_a_loop_talks_to_it() -> None:
    with ServerThread() as running, Client(config=running.server.client_config()) as client:
        client.create({"metadata": {"name": "a"}}, resource="configmaps")
        assert [found.name for found in client.list("configmaps")] == ["a"]


def test_what_is_called_runs_in_its_thread_and_raises_here() -> None:
    with ServerThread() as running:
        assert running.call(lambda server: server.port) == running.server.port
        with pytest.raises(ZeroDivisionError):
            running.call(lambda server: 1 / 0)


def test_a_server_that_cannot_start_says_so_where_it_is_entered() -> None:
    with ServerThread() as first:
        taken = first.server.port
        with (
            pytest.raises(OSError, match="in use"),
            ServerThread(lambda: EmbeddedServer(port=taken)),
        ):
            pytest.fail("there is another server at its port")


def test_what_is_open_ends_with_it() -> None:
    running = ServerThread()
    running.start()
    with Client(config=running.server.client_config()) as client:
        client.list("configmaps")
        running.stop()
        assert running.server.connections == 0


def test_each_public_name_of_the_room_is_found() -> None:
    for name in testing.__all__:
        assert getattr(testing, name) is not None
    assert set(testing.__all__) <= set(dir(testing))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        testing.nothing  # noqa: B018
