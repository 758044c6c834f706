"""What a watch makes of refusals. Virtual time, no sockets."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from listwatch import (
    APIError,
    BadRequest,
    Forbidden,
    InvalidRequest,
    NotFound,
    SelectorError,
    StaticToken,
    Unauthorized,
    UnknownResource,
)
from listwatch.client import Client
from listwatch.testing.apiserver import Auth, Rule, User

from .conftest import (
    Bench,
    config_map,
    memory_bench,
    write,
)
from .following import Following, take

pytestmark = pytest.mark.virtual_time


# --- refusals ------------------------------------------------------------------------------------

REFUSALS: dict[int, type[APIError]] = {
    400: BadRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
}


@pytest.mark.parametrize("code", REFUSALS)
async def test_fail_fast_raises_what_waiting_does_not_mend_after_a_second_look(
    bench: Bench, client: Client, code: int
) -> None:
    bench.faults.add(f"any configmaps: answer {code}")
    loop = asyncio.get_running_loop()
    begin = loop.time()
    with pytest.raises(REFUSALS[code]) as raised:
        await take(client.watch("configmaps", fail_fast=True), 1)
    assert type(raised.value) is REFUSALS[code]
    assert 1 <= loop.time() - begin < 2
    assert 2 <= bench.transport.requests <= 4


async def test_fail_fast_is_for_what_waiting_does_not_mend(bench: Bench, client: Client) -> None:
    write(bench.core, "a")
    bench.faults.add("any configmaps: answer 503, 5 times")
    bench.faults.add("any configmaps: answer 403, request 7")
    [event] = await take(client.watch("configmaps", fail_fast=True), 1)
    assert event.key == "default/a"


async def test_fail_fast_bears_a_server_that_says_403_while_it_starts(
    bench: Bench, client: Client
) -> None:
    write(bench.core, "a")
    bench.faults.add("any configmaps: answer 403, once")
    [event] = await take(client.watch("configmaps", fail_fast=True), 1)
    assert event.key == "default/a"


async def test_fail_fast_is_for_the_first_set_only(bench: Bench, client: Client) -> None:
    write(bench.core, "a")
    following = Following(client.watch("configmaps", fail_fast=True))
    await following.until(1)
    refusal = bench.faults.add("any configmaps: answer 403")
    bench.restart()
    await asyncio.sleep(300)
    bench.faults.remove(refusal)
    write(bench.core, "b")
    assert await following.until(2) == [("ADDED", "default/a"), ("ADDED", "default/b")]
    await following.end()


async def test_without_it_a_refusal_is_waited_out(bench: Bench, client: Client) -> None:
    write(bench.core, "a")
    refusal = bench.faults.add("any configmaps: answer 403")
    following = Following(client.watch("configmaps"))
    await asyncio.sleep(300)
    bench.faults.remove(refusal)
    assert await following.until(1) == [("ADDED", "default/a")]
    await following.end()


async def test_fail_fast_tells_of_a_name_that_means_nothing(bench: Bench, client: Client) -> None:
    with pytest.raises(UnknownResource, match="Did you mean deployments"):
        await take(client.watch("deploymnets", fail_fast=True), 1)


async def test_a_right_that_is_given_later_is_made_use_of() -> None:
    auth = Auth([User(name="me", token="t")])
    config_maps = Rule(verbs=("*",), resources=("configmaps",))
    auth.add(User(name="admin", token="a", rules=(config_maps,)))
    async with memory_bench(auth=auth) as bench:
        notes: list[str] = []
        async with (
            bench.client(credentials=StaticToken("a")) as admin,
            bench.client(credentials=StaticToken("t")) as client,
        ):
            await admin.create(config_map("a"))
            following = Following(
                client.watch("configmaps", on_note=lambda note: notes.append(str(note)))
            )
            await asyncio.sleep(100)
            assert any("forbidden" in note for note in notes)
            auth.add(User(name="me", token="t", rules=(config_maps,)))
            assert await following.until(1) == [("ADDED", "default/a")]
            await following.end()


# --- what is seen without asking -----------------------------------------------------------------


@pytest.mark.parametrize("verb", ["watch", "mirror"])
@pytest.mark.parametrize(
    ("resource", "options", "error", "said"),
    [
        ("pods/log", {}, UnknownResource, "Expected something like pods"),
        ("nodes", {"namespace": "default"}, InvalidRequest, "nodes are not namespaced"),
        ("pods", {"namespace": "a/b"}, InvalidRequest, "may not contain"),
        ("pods", {"label_selector": "app in"}, SelectorError, "position"),
        ("pods", {"field_selector": "a"}, SelectorError, "position"),
        ("tokenreviews", {}, InvalidRequest, "cannot be watched"),
    ],
)
async def test_what_can_never_be_is_raised_at_once(
    bench: Bench,
    client: Client,
    verb: str,
    resource: str,
    options: dict[str, Any],
    error: type[Exception],
    said: str,
) -> None:
    with pytest.raises(error, match=said):
        getattr(client, verb)(resource, **options)
    assert bench.transport.requests == 0
