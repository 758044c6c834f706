"""`client.informer`: one set, of one or several namespaces and selectors, and many handlers.
Virtual time, no sockets.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec import Struct

from listwatch import (
    Forbidden,
    InformerFactory,
    InvalidRequest,
    Projected,
    ReflectorOptions,
    SelectorError,
    UnknownResource,
    Unstructured,
    decode_dict,
    drop_managed_fields,
)
from listwatch.cache.health import State
from listwatch.client import Client
from listwatch.client.parts import optional_parts, parts_of

from .conftest import Bench, erase, on_server, turn, widget, widget_definition, write

pytestmark = pytest.mark.virtual_time


class Log:
    """A handler that writes down what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def on_add(self, obj: Any, in_initial_list: bool) -> None:
        self.told.append(f"add {obj.key}{' (initial)' if in_initial_list else ''}")

    def on_update(self, old: Any, new: Any) -> None:
        self.told.append(f"update {new.key}")

    def on_delete(self, obj: Any) -> None:
        self.told.append(f"delete {obj.key}")


def labelled(bench: Bench, name: str, namespace: str = "default", **labels: str) -> None:
    meta = {"name": name, "namespace": namespace, "labels": labels}
    bench.load({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta})


def make_namespaces(bench: Bench, *names: str) -> None:
    bench.load(
        *({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in names)
    )


@pytest.mark.clause("K1")
async def test_handlers_are_told_of_what_is_there_and_of_what_changes(
    bench: Bench, client: Client
) -> None:
    write(bench.core, "a")
    informer = client.informer("cm")
    informer.add_handler(log := Log(), inline=True)
    async with informer:
        await informer.synced(timeout=10)
        write(bench.core, "b")
        write(bench.core, "a", x="2")
        erase(bench.core, "b")
        await asyncio.sleep(1)
    assert log.told == [
        "add default/a (initial)",
        "add default/b",
        "update default/a",
        "delete default/b",
    ]


@pytest.mark.clause("K9")
class TestParts:
    async def test_twenty_namespaces_are_one_informer(self, bench: Bench, client: Client) -> None:
        names = [f"team-{number}" for number in range(20)]
        make_namespaces(bench, *names, "another")
        for namespace in (*names, "another"):
            write(bench.core, "a", namespace)
        informer = client.informer("configmaps", namespaces=names)
        informer.add_handler(log := Log(), inline=True)
        async with informer:
            await informer.synced(timeout=30)
            assert sorted(informer.store.keys()) == sorted(f"{name}/a" for name in names)
            write(bench.core, "b", "team-7")
            write(bench.core, "b", "another")
            await asyncio.sleep(1)
            assert set(informer.health.sources) == set(names)
        assert len(log.told) == 21
        assert log.told[-1] == "add team-7/b"

    async def test_a_namespace_that_is_refused_is_seen_and_holds_none_back(
        self, bench: Bench, client: Client
    ) -> None:
        make_namespaces(bench, "mine", "theirs")
        write(bench.core, "a", "mine")
        bench.faults.add("any configmaps in theirs: answer 403")
        namespaces = ["mine", "theirs"]
        informer = client.informer("cm", namespaces=namespaces, optional=["theirs"])
        async with informer:
            await informer.synced(timeout=10)
            await asyncio.sleep(30)
            assert informer.store.keys() == ["mine/a"]
            health = informer.health.sources
            assert health["mine"].state is State.WATCHING
            assert "403" in health["theirs"].last_error
        async with client.informer("cm", namespaces=namespaces) as informer:
            with pytest.raises(TimeoutError):
                await informer.synced(timeout=30)
            assert informer.store.keys() == ["mine/a"]

    async def test_of_several_selectors_one_must_match(self, bench: Bench, client: Client) -> None:
        labelled(bench, "a", app="web", tier="front")
        labelled(bench, "b", app="db")
        labelled(bench, "c", app="web", tier="back")
        labelled(bench, "d")
        selectors = ["app=db", "tier=front", "tier in (front,middle)"]
        async with client.informer("cm", label_selectors=selectors) as informer:
            await informer.synced(timeout=10)
            assert sorted(informer.store.keys()) == ["default/a", "default/b"]
        async with client.informer(
            "cm", label_selectors=selectors, label_selector="app=web"
        ) as informer:
            await informer.synced(timeout=10)
            assert informer.store.keys() == ["default/a"]

    async def test_one_that_stops_to_match_one_selector_stays_for_another(
        self, bench: Bench, client: Client
    ) -> None:
        labelled(bench, "a", x="1", y="1")
        informer = client.informer("cm", label_selectors=["x", "y"])
        informer.add_handler(log := Log(), inline=True)
        path = "configmaps", "a"
        async with informer:
            await informer.synced(timeout=10)
            await client.patch(*path, {"metadata": {"labels": {"x": None}}})
            await asyncio.sleep(1)
            assert informer.store["default/a"].metadata.labels == {"y": "1"}
            await client.patch(*path, {"metadata": {"labels": {"y": None}}})
            await asyncio.sleep(1)
            assert len(informer.store) == 0
        assert log.told == ["add default/a (initial)", "update default/a", "delete default/a"]

    def test_parts_have_names(self) -> None:
        parts = parts_of(["a", "b"], ["x", "y in (1, 2)"], "z")
        assert list(parts) == ["a, x", "a, y in (1, 2)", "b, x", "b, y in (1, 2)"]
        assert parts["b, x"][::2] == ("b", "z,x")
        assert list(parts_of([], [], "z").items()) == [("", ("", "", "z"))]
        assert list(parts_of("a", "x", "")) == ["a, x"]

    @pytest.mark.parametrize(
        ("optional", "meant"),
        [
            (["b"], ["b, x", "b, y in (1, 2)"]),
            (["x"], ["a, x", "b, x"]),
            (["a, x", "y in (1, 2)"], ["a, x", "a, y in (1, 2)", "b, y in (1, 2)"]),
            ([], []),
        ],
    )
    def test_optional_are_a_namespace_a_selector_or_both(
        self, optional: list[str], meant: list[str]
    ) -> None:
        parts = parts_of(["a", "b"], ["x", "y in (1, 2)"], "")
        assert sorted(optional_parts(parts, optional)) == meant

    async def test_optional_is_nothing_where_nothing_is_divided(self, client: Client) -> None:
        with pytest.raises(ValueError, match="optional='a' is none of"):
            client.informer("pods", optional=["a"])


class Data(Struct, frozen=True):
    colour: str = ""


class View(Struct, frozen=True):
    data: Data = Data()


class TestObjects:
    @pytest.mark.clause("K12")
    async def test_a_projection_keeps_what_matters(self, bench: Bench, client: Client) -> None:
        write(bench.core, "a", colour="red", beat="1")
        informer = client.informer("cm", projection=View, transforms=[drop_managed_fields])
        updates: list[tuple[str, str]] = []

        def updated(old: Projected[View], new: Projected[View]) -> None:
            updates.append((old.value.data.colour, new.value.data.colour))

        informer.add_handler(on_update=updated, inline=True)
        async with informer:
            await informer.synced(timeout=10)
            for colour, beat in (("red", "2"), ("blue", "3"), ("blue", "4")):
                write(bench.core, "a", colour=colour, beat=beat)
                await asyncio.sleep(1)
            now = {key: informer.store[key].resource_version for key in informer.store}
            assert now == on_server(bench.core)
            await informer.fresh(within=0.1)
        assert updates == [("red", "blue")]

    @pytest.mark.clause("K11", "K12")
    async def test_a_quiet_projection_is_known_to_be_fresh(
        self, bench: Bench, client: Client
    ) -> None:
        write(bench.core, "a", colour="red")
        async with client.informer("cm", projection=View) as informer:
            await informer.synced(timeout=10)
            write(bench.core, "a", colour="red", beat="1")
            await asyncio.sleep(40)
            await informer.fresh(within=0.1, timeout=20)
            assert informer.health.relists == {}

    async def test_a_decoder_makes_the_objects(self, bench: Bench, client: Client) -> None:
        write(bench.core, "a", colour="red")
        async with client.informer("cm", decoder=decode_dict) as informer:
            await informer.synced(timeout=10)
            assert informer.store["default/a"]["data"] == {"colour": "red"}

    async def test_a_projection_beside_a_decoder_is_refused(self, client: Client) -> None:
        with pytest.raises(ValueError, match="a projection is a decoder"):
            client.informer("cm", decoder=decode_dict, projection=View)  # type: ignore[call-overload]

    async def test_a_type_that_is_installed_later_is_found_then(
        self, bench: Bench, client: Client
    ) -> None:
        async with client.informer("widgets", namespaces=["default", "other"]) as informer:
            await asyncio.sleep(60)
            bench.load(widget_definition(), widget("a"))
            await informer.synced(timeout=120)
            assert informer.store.keys() == ["default/a"]


class TestLife:
    async def test_what_makes_no_request_is_refused_at_once(
        self, bench: Bench, client: Client
    ) -> None:
        with pytest.raises(SelectorError):
            client.informer("cm", label_selectors=["x", "y in"])
        with pytest.raises(InvalidRequest):
            client.informer("nodes", namespaces=["default"])
        assert bench.transport.asked == []

    async def test_fail_fast_is_raised_by_synced(self, bench: Bench, client: Client) -> None:
        bench.faults.add("any configmaps: answer 403")
        with pytest.raises(Forbidden):
            async with client.informer("cm", fail_fast=True) as informer:
                await informer.synced()
        with pytest.raises(UnknownResource):
            async with client.informer("wigdets", fail_fast=True) as informer:
                await informer.synced()

    @pytest.mark.clause("H11")
    async def test_resync_tells_of_everything_again(self, bench: Bench, client: Client) -> None:
        write(bench.core, "a")
        informer = client.informer("cm", resync=60, options=ReflectorOptions(page_size=9))
        informer.add_handler(log := Log(), inline=True)
        async with informer:
            await asyncio.sleep(130)
        assert log.told == ["add default/a (initial)"] + ["update default/a"] * 2

    async def test_closing_the_client_ends_it(self, bench: Bench) -> None:
        write(bench.core, "a")
        client = bench.client()
        async with client.informer("cm", namespaces=["default", "other"]) as informer:
            await informer.synced(timeout=10)
            await client.close()
            await turn()
            assert informer.health.state is State.STOPPED
            assert informer.store.keys() == ["default/a"]
        with pytest.raises(RuntimeError, match="closed"):
            client.informer("cm")

    @pytest.mark.clause("K8")
    async def test_a_factory_shares_them(self, bench: Bench, client: Client) -> None:
        write(bench.core, "a")
        factory = InformerFactory(client)
        one = factory.informer("configmaps", namespaces=["default"])
        assert factory.informer("cm", namespaces=["default"]) is one
        assert bench.transport.asked == []
        async with factory:
            await factory.synced(timeout=10)
            later = factory.informer("cm", projection=View)
            await later.synced(timeout=10)
            names: list[Unstructured] = one.store.list()
            assert [found.name for found in names] == ["a"]
            assert later.store["default/a"].value == View()
