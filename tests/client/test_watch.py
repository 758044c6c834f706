"""`client.watch`: every change, for ever. Virtual time, no sockets."""

from __future__ import annotations

import msgspec
import pytest

from listwatch import (
    ClientConfig,
    decode_dict,
)
from listwatch.cache.transforms import drop_managed_fields
from listwatch.client import Client

from .conftest import (
    Bench,
    ask,
    erase,
    write,
)
from .following import Following, take

pytestmark = pytest.mark.virtual_time


class Meta(msgspec.Struct, rename="camel"):
    name: str
    namespace: str
    uid: str
    resource_version: str


class WithData(msgspec.Struct):
    """A config map, which need not have any data."""

    metadata: Meta
    data: dict[str, str]


# --- what comes ----------------------------------------------------------------------------------


async def test_what_is_there_comes_first_then_what_happens(bench: Bench, client: Client) -> None:
    write(bench.core, "a", x="1")
    following = Following(client.watch("configmaps"))
    assert await following.until(1) == [("ADDED", "default/a")]
    write(bench.core, "a", x="2")
    write(bench.core, "b")
    erase(bench.core, "a")
    assert (await following.until(4))[1:] == [
        ("MODIFIED", "default/a"),
        ("ADDED", "default/b"),
        ("DELETED", "default/a"),
    ]
    added, modified, _, deleted = following.events
    assert (added.old, modified.old) == (None, added.object)
    assert (modified.object["data"]["x"], modified.old["data"]["x"]) == ("2", "1")
    assert (deleted.old, deleted.object["data"]["x"]) == (modified.object, "2")
    assert [event.initial for event in following.events] == [True, False, False, False]
    await following.end()


async def test_no_namespace_means_all(bench: Bench, client: Client) -> None:
    bench.load({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}})
    write(bench.core, "a")
    write(bench.core, "b", "team")
    found = await take(client.watch("cm"), 2)
    assert sorted(event.key for event in found) == ["default/a", "team/b"]
    [found_one] = await take(client.watch("cm", namespace="team"), 1)
    assert found_one.key == "team/b"


async def test_what_leaves_the_selection_is_deleted_and_added_when_it_is_back(
    bench: Bench, client: Client
) -> None:
    def label(value: str) -> None:
        patch = {"metadata": {"name": "a", "namespace": "default", "labels": {"app": value}}}
        obj = {"apiVersion": "v1", "kind": "ConfigMap", **patch}
        path = "/api/v1/namespaces/default/configmaps"
        if ask(bench.core, "PUT", f"{path}/a", obj) == 404:
            ask(bench.core, "POST", path, obj)

    label("web")
    following = Following(client.watch("cm", label_selector="app=web"))
    await following.until(1)
    label("db")
    label("web")
    assert await following.until(3) == [
        ("ADDED", "default/a"),
        ("DELETED", "default/a"),
        ("ADDED", "default/a"),
    ]
    await following.end()


async def test_a_decoder_makes_the_objects_and_transforms_come_before_it(
    bench: Bench, client: Client
) -> None:
    write(bench.core, "a", x="1")
    [plain] = await take(client.watch("cm", decoder=decode_dict), 1)
    assert plain.object["metadata"]["managedFields"]
    [less] = await take(
        client.watch("cm", decoder=decode_dict, transforms=[drop_managed_fields]), 1
    )
    assert "managedFields" not in less.object["metadata"]
    assert less.object["data"] == {"x": "1"}


async def test_an_object_that_its_decoder_refuses_comes_as_that(
    bench: Bench, client: Client
) -> None:
    write(bench.core, "a", x="1")
    ask(
        bench.core,
        "POST",
        "/api/v1/namespaces/default/configmaps",
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}},
    )
    decode = msgspec.json.Decoder(WithData).decode
    found = await take(client.watch("cm", decoder=decode), 2)
    by_key = {event.key: event for event in found}
    assert by_key["default/a"].object.data == {"x": "1"}
    assert by_key["default/a"].error is None
    assert "data" in str(by_key["default/b"].error)


# --- what it says --------------------------------------------------------------------------------


async def test_it_says_what_happens_in_one_line_each(bench: Bench, client: Client) -> None:
    write(bench.core, "a")
    notes: list[str] = []
    errors: list[Exception] = []
    following = Following(
        client.watch(
            "cm",
            on_note=lambda note: notes.append(str(note)),
            on_error=lambda _, error: errors.append(error),
        )
    )
    await following.until(1)
    bench.restart()
    write(bench.core, "b")
    erase(bench.core, "a")
    bench.core.compact()
    bench.restart()  # which takes from it what it still remembered
    assert await following.until(3)
    assert notes[0].startswith("listed 1 in ")
    assert notes[-1] == "watch expired, relisted: 1 new, 1 vanished"
    assert all("\n" not in note for note in notes)
    assert errors
    await following.end()


async def test_a_watch_has_one_consumer(bench: Bench, client: Client) -> None:
    write(bench.core, "a")
    changes = client.watch("cm")
    following = Following(changes)
    await following.until(1)
    with pytest.raises(RuntimeError):
        await take(changes, 1)
    await following.end()


async def test_what_was_at_hand_when_a_loop_was_left_comes_in_the_next(
    bench: Bench, client: Client
) -> None:
    for name in ("a", "b", "c"):
        write(bench.core, name)
    async with client.watch("cm") as changes:
        found = await take(changes, 1)
        found += await take(changes, 1)
        async for batch in changes.batches():
            found += batch
            break
    assert sorted(event.key for event in found) == ["default/a", "default/b", "default/c"]


async def test_health_is_told_while_it_runs(bench: Bench, client: Client) -> None:
    write(bench.core, "a")
    async with client.watch("cm") as changes:
        async for event in changes:
            assert changes.health.synced
            assert changes.health.resource_version == event.object.resource_version
            break


def test_config_and_its_parts_exclude_each_other() -> None:
    config = ClientConfig(server="http://memory")
    with pytest.raises(ValueError, match="config says all that server, token would"):
        Client(config=config, server="http://other", token="t")
