"""`listwatch.sync.Client`: real threads and sockets."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import threading
import warnings
import weakref
from typing import Any

import pytest

from listwatch import Conflict, MirrorStopped, NotFound, decode_dict
from listwatch.client import Client as AsyncClient
from listwatch.sync import Client
from listwatch.sync.call import Closed

from .serving import Serving, Worker, loop_threads


def test_objects_are_written_and_read(client: Client) -> None:
    made = client.create({"metadata": {"name": "a"}, "data": {"x": "1"}}, resource="configmaps")
    changed = client.get("configmaps", "a").edit()
    changed["data"]["x"] = "2"
    assert client.replace(changed)["data"]["x"] == "2"
    with pytest.raises(Conflict):
        client.replace(changed)
    client.patch("cm", "a", {"data": {"y": "3"}})
    listed = client.list("configmaps", decoder=decode_dict)
    assert [item["data"] for item in listed] == [{"x": "2", "y": "3"}]
    client.delete("configmaps", "a", uid=made.uid)
    with pytest.raises(NotFound):
        client.get("configmaps", "a")


def test_what_is_wrong_with_the_arguments_is_raised_as_ever(client: Client) -> None:
    with pytest.raises(TypeError, match="name"):
        client.get("configmaps")  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="give the one or the other"):
        Client(config=client.config, server="http://localhost")


def test_anything_else_is_awaited_by_run(client: Client) -> None:
    assert b'"gitVersion"' in client.run(lambda inner: inner.rest.read("/version"))


def test_many_threads_use_one_client(client: Client, serving: Serving) -> None:
    def write(name: str) -> str:
        return client.create({"metadata": {"name": name}}, resource="configmaps").name

    names = [f"n{number}" for number in range(8)]
    workers = [Worker(lambda name=name: write(name)) for name in names]
    assert [worker.result() for worker in workers] == names
    assert sorted(item.name for item in client.list("configmaps")) == names


def test_the_context_variables_of_the_caller_go_along(client: Client) -> None:
    asking = contextvars.ContextVar("asking", default="nobody")
    asking.set("me")

    async def who(_: AsyncClient) -> str:
        return asking.get()

    assert client.run(who) == "me"


def test_an_error_keeps_nothing_alive(client: Client) -> None:
    class Big:
        pass

    kept: list[weakref.ref[Big]] = []

    async def fail(_: AsyncClient) -> None:
        big = Big()
        kept.append(weakref.ref(big))
        raise ValueError(big.__class__)

    gc.disable()
    try:
        with pytest.raises(ValueError, match="Big") as caught:
            client.run(fail)
        del caught
        client.run(lambda _: asyncio.sleep(0))  # the loop has let go of it, too
        assert kept[0]() is None
    finally:
        gc.enable()


def test_a_call_that_cancels_itself_says_so(client: Client) -> None:
    async def give_up(_: AsyncClient) -> None:
        raise asyncio.CancelledError

    with pytest.raises(RuntimeError, match="the call was cancelled"):
        client.run(give_up)


# --- the thread ------------------------------------------------------------------------------


def test_all_clients_share_one_thread_from_the_first_call_to_the_last_close(
    serving: Serving,
) -> None:
    first, second = serving.client(), serving.client()
    assert loop_threads() == []
    first.list("configmaps")
    second.list("configmaps")
    assert len(loop_threads()) == 1
    first.close()
    second.list("configmaps")
    assert len(loop_threads()) == 1
    second.close()
    assert loop_threads() == []


def test_it_starts_again_for_the_next_client(serving: Serving) -> None:
    for _ in range(2):
        with serving.client() as client:
            client.list("configmaps")
        assert loop_threads() == []


def test_the_thread_is_a_daemon(client: Client) -> None:
    client.list("configmaps")
    assert all(thread.daemon for thread in threading.enumerate() if thread.name == "listwatch loop")


def test_closing_a_client_that_was_not_used_leaves_nothing(serving: Serving) -> None:
    serving.client().close()
    assert loop_threads() == []


# --- the end ---------------------------------------------------------------------------------


def test_a_closed_client_says_so(serving: Serving) -> None:
    client = serving.client()
    client.list("configmaps")
    client.close()
    client.close()
    with pytest.raises(RuntimeError, match="this client is closed"):
        client.list("configmaps")
    with pytest.raises(RuntimeError, match="this client is closed"):
        client.mirror("configmaps")


def test_closing_lets_go_of_whoever_waits(serving: Serving) -> None:
    serving.do(lambda server: server.faults.add("list configmaps: hang"))
    serving.do(lambda server: server.faults.add("watch configmaps: hang"))
    with serving.client() as client, serving.client() as other:
        other.list("nodes")
        mirror = client.mirror("configmaps")

        def wait() -> None:
            with mirror:
                mirror.synced()

        waiting = Worker(wait)
        asking = Worker(lambda: client.list("configmaps"))
        waiting.blocked()
        asking.blocked()
        client.close()
        with pytest.raises((MirrorStopped, Closed)):
            waiting.result()
        with pytest.raises(Exception):  # noqa: B017, PT011 - which one is the transport's business
            asking.result()
        assert len(loop_threads()) == 1  # that of the other


def test_the_last_close_lets_go_of_whoever_waits(serving: Serving) -> None:
    client = serving.client()

    async def for_ever(_: AsyncClient) -> None:
        await asyncio.Event().wait()

    waiting = Worker(lambda: client.run(for_ever))
    waiting.blocked()
    client.close()
    with pytest.raises(RuntimeError, match="the background event loop has ended"):
        waiting.result()


def test_what_is_still_entered_is_left_when_the_client_is_closed(serving: Serving) -> None:
    serving.load("a")
    with serving.client() as client:
        mirror = client.mirror("configmaps").__enter__()
        changes = client.watch("configmaps")
        events = iter(changes)
        assert next(events).key == "default/a"
        mirror.synced()
    assert loop_threads() == []
    serving.until(lambda server: server.watches == 0)
    assert list(mirror.store.keys()) == ["default/a"]
    assert str(mirror.health.state) == "stopped"
    assert list(events) == []
    mirror.__exit__(None, None, None)


def test_a_forgotten_client_is_warned_of(serving: Serving) -> None:
    client = serving.client()
    client.list("configmaps")
    clients, share = [client], client._share
    del client
    with pytest.warns(ResourceWarning, match="was not closed"):
        clients.clear()  # and so it is collected
    share.close()


def test_a_client_is_kept_by_what_it_has_made(serving: Serving) -> None:
    serving.load("a")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with serving.client().mirror("configmaps") as mirror:
            gc.collect()
            mirror.synced()
            assert len(mirror.store) == 1
        client: Any = mirror._parent
        client.close()


def test_a_client_that_cannot_be_made_leaves_nothing_to_warn_of() -> None:
    with pytest.raises(ValueError, match="give the one or the other"):
        Client(config=object(), server="http://localhost")  # type: ignore[arg-type]
    gc.collect()


# --- where no blocking call can be made -------------------------------------------------------


async def test_in_a_running_event_loop_it_would_stop_everything() -> None:
    client = Client(server="http://127.0.0.1:1")
    for attempt in (
        lambda: client.get("configmaps", "a"),
        lambda: client.watch("configmaps"),
        lambda: client.close(),
    ):
        with pytest.raises(RuntimeError, match=r"inside a running event loop.*listwatch\.Client"):
            attempt()
    await asyncio.to_thread(client.close)


async def test_threads_of_such_a_program_may_use_it() -> None:
    def use() -> int:
        from .serving import served

        with served() as serving, serving.client() as client:
            return len(client.list("configmaps"))

    assert await asyncio.to_thread(use) == 0


def test_in_the_loops_own_thread_it_would_wait_for_itself(client: Client, serving: Serving) -> None:
    serving.load("a")
    raised: list[BaseException] = []

    def ask(_: object) -> None:
        try:
            client.get("configmaps", "a")
        except RuntimeError as error:
            raised.append(error)

    with client.mirror("configmaps", on_deltas=ask) as mirror:
        mirror.synced()
    assert "in the thread of the background event loop would wait for itself" in str(raised[0])


def test_a_callback_that_ends_the_program_ends_the_loop(serving: Serving) -> None:
    serving.load("a")

    def leave(_: object) -> None:
        raise SystemExit(3)

    with serving.client() as client:
        mirror = client.mirror("configmaps", on_deltas=leave)
        with pytest.raises(RuntimeError, match="the background event loop has ended"), mirror:
            mirror.synced()
        with pytest.raises(RuntimeError, match="the background event loop has ended") as caught:
            client.list("configmaps")
        assert isinstance(caught.value.__cause__, SystemExit)
        with serving.client() as another:
            assert len(another.list("configmaps")) == 1
