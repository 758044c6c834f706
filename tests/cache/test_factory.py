"""InformerFactory: who asks for the same gets the same, and all start and stop together (K8)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from listwatch import (
    APIResource,
    Forbidden,
    GroupVersionResource,
    MirrorStopped,
    ReflectorOptions,
    SelectorError,
    Undecodable,
    UnknownResource,
    decode_dict,
    decode_unstructured,
    drop_managed_fields,
    keep_metadata,
)
from listwatch.api.builtin import BUILTIN_RESOURCES
from listwatch.cache.factory import InformerFactory
from listwatch.cache.health import State
from listwatch.cache.informer import SharedInformer
from listwatch.cache.projection import projected
from listwatch.cache.protocols import AsyncListerWatcher

from .pods import node_of
from .scripted import Page, Scripted, Still, Watch, added, pod, refusal, settle, until

pytestmark = [pytest.mark.clause("K8"), pytest.mark.virtual_time]

[PODS] = [known for known in BUILTIN_RESOURCES if known.name == "pods" and known.group == ""]


class FakeClient:
    """Makes informers over what the test wrote down, and remembers what it was asked for."""

    def __init__(self, **sources: AsyncListerWatcher[Any]) -> None:
        self.sources = sources
        self.asked: list[tuple[Any, dict[str, Any]]] = []

    def informer(self, resource: Any, **arguments: Any) -> SharedInformer[Any]:
        self.asked.append((resource, arguments))
        source = self.sources.get(str(resource)) or one_pod()
        options = arguments.get("options")
        indexes = arguments.get("indexes")
        return SharedInformer(
            source, name=str(resource), options=options, indexes=indexes, rng=Still()
        )


def one_pod() -> Scripted:
    return Scripted(Page(pod("a", 5), rv=5), Watch())


def ready_of(obj: Any) -> bool:
    return bool(obj["status"]["ready"])


def name_of(obj: Any) -> list[str]:
    return [obj.name]


class TestTheSame:
    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ({}, {}),
            ({"namespaces": ["a", "b"]}, {"namespaces": ("b", "a", "b")}),
            ({"namespaces": "a"}, {"namespaces": ["a"]}),
            ({"label_selector": "app=web,tier"}, {"label_selector": "tier, app==web"}),
            ({"label_selectors": ["x", "y"]}, {"label_selectors": ["y", "x"]}),
            ({"field_selector": "a=b,c!=d"}, {"field_selector": "c!=d,a==b"}),
            ({"field_selector": ""}, {"namespaces": [], "transforms": (), "resync": None}),
            ({"decoder": decode_unstructured}, {}),
            ({"projection": ready_of}, {"decoder": projected(ready_of)}),
            ({"transforms": [drop_managed_fields]}, {"transforms": (drop_managed_fields,)}),
            ({"options": ReflectorOptions(resync_period=9)}, {"resync": 9}),
            ({"options": None, "fail_fast": False}, {"options": ReflectorOptions()}),
            ({"optional": ["a", "b"]}, {"optional": {"b", "a"}}),
            ({"indexes": {"node": node_of}}, {"indexes": None}),
        ],
    )
    async def test_equal_arguments_give_one_informer(
        self, one: dict[str, Any], other: dict[str, Any]
    ) -> None:
        factory = InformerFactory(client := FakeClient())
        assert factory.informer("pods", **one) is factory.informer("pods", **other)
        assert client.asked == [("pods", one)]
        assert len(factory.informers) == 1

    @pytest.mark.parametrize(
        "more",
        [
            {"namespaces": ["a"]},
            {"label_selector": "app"},
            {"label_selectors": ["app"]},
            {"field_selector": "a=b"},
            {"decoder": decode_dict},
            {"projection": ready_of},
            {"transforms": [keep_metadata]},
            {"resync": 10.0},
            {"optional": ["a"]},
            {"recreate_as_two": True},
            {"fail_fast": True},
            {"options": ReflectorOptions(page_size=7)},
            {"on_note": print},
        ],
    )
    async def test_other_arguments_give_another(self, more: dict[str, Any]) -> None:
        factory = InformerFactory(FakeClient())
        plain, other = factory.informer("pods"), factory.informer("pods", **more)
        assert plain is not other
        assert factory.informers == (plain, other)
        assert factory.informer("pods", **more) is other

    @pytest.mark.parametrize(
        "name", ["po", "Pod", "v1/pods", GroupVersionResource("", "v1", "pods"), PODS]
    )
    async def test_a_built_in_resource_is_the_same_by_any_name(self, name: Any) -> None:
        factory = InformerFactory(FakeClient())
        assert factory.informer("pods") is factory.informer(name)
        assert factory.informer("services") is not factory.informer(name)

    async def test_a_custom_resource_is_the_same_by_the_same_name(self) -> None:
        factory = InformerFactory(FakeClient())
        assert factory.informer("widgets") is factory.informer("widgets")
        widgets = APIResource(
            group="example.com", version="v1", name="widgets", kind="Widget", namespaced=True
        )
        assert factory.informer(widgets) is factory.informer(widgets)

    async def test_what_makes_no_sense_is_refused(self) -> None:
        factory = InformerFactory(client := FakeClient())
        with pytest.raises(SelectorError):
            factory.informer("pods", label_selector="a in")
        with pytest.raises(UnknownResource):
            factory.informer("no/such/thing/at all")
        assert client.asked == []

    @pytest.mark.clause("I2")
    async def test_indexes_of_all_who_share_are_added_up(self) -> None:
        factory = InformerFactory(FakeClient(pods=one_pod()))
        informer = factory.informer("pods", indexes={"node": node_of})
        async with factory:
            await factory.synced(timeout=10)
            assert factory.informer("po", indexes={"name": name_of, "node": node_of}) is informer
            assert informer.store.index_keys("name", "a") == ["default/a"]
            with pytest.raises(ValueError, match="which is shared, has another index 'name'"):
                factory.informer("po", indexes={"other": node_of, "name": node_of})
            assert informer.store.index_names == ("node", "name")


class TestLife:
    async def test_nothing_is_started_by_asking_or_reading(self) -> None:
        factory = InformerFactory(FakeClient(pods=(source := one_pod())))
        informer = factory.informer("pods")
        assert informer.store.list() == []
        assert informer.health.state is State.STARTING
        informer.add_handler(on_add=lambda obj, initial: None)
        await asyncio.sleep(100)
        assert source.requests == []
        with pytest.raises(MirrorStopped):
            await factory.synced()

    async def test_all_start_and_stop_together(self) -> None:
        factory = InformerFactory(FakeClient())
        informers = [factory.informer(name) for name in ("pods", "services", "nodes")]
        async with factory:
            await factory.synced(timeout=10)
            assert all(informer.is_synced for informer in informers)
            assert len({informer.health.state for informer in informers}) == 1
        assert {informer.health.state for informer in informers} == {State.STOPPED}
        assert [len(informer.store) for informer in informers] == [1, 1, 1]

    async def test_one_asked_for_later_is_started_at_once(self) -> None:
        factory = InformerFactory(FakeClient())
        async with factory:
            await factory.synced()
            informer = factory.informer("pods")
            await informer.synced(timeout=10)
            await factory.synced(timeout=10)
            assert factory.informer("po") is informer

    @pytest.mark.clause("K2")
    async def test_two_who_share_have_handlers_of_their_own(self) -> None:
        watch = Watch()
        factory = InformerFactory(FakeClient(pods=Scripted(Page(pod("a", 5), rv=5), watch)))
        told: dict[str, list[str]] = {"one": [], "other": []}
        async with factory:
            for name in told:
                factory.informer("pods").add_handler(
                    on_add=lambda obj, initial, name=name: told[name].append(obj.name), inline=True
                )
            await factory.synced(timeout=10)
            watch.send(added(pod("b", 6)))
            await settle()
        assert told == {"one": ["a", "b"], "other": ["a", "b"]}

    async def test_it_is_entered_once(self) -> None:
        factory = InformerFactory(FakeClient())
        async with factory:
            with pytest.raises(RuntimeError, match="was entered already"):
                await factory.__aenter__()
        with pytest.raises(RuntimeError, match="was left"):
            factory.informer("pods")

    async def test_run_ends_when_all_were_stopped(self) -> None:
        factory = InformerFactory(FakeClient())
        informers = [factory.informer("pods"), factory.informer("nodes")]
        running = asyncio.create_task(factory.run())
        await settle()
        await factory.synced(timeout=10)
        informers[0].stop()
        await asyncio.sleep(100)
        assert not running.done()
        informers[1].stop()
        await running

    @pytest.mark.clause("H17")
    async def test_run_ends_when_it_is_cancelled(self) -> None:
        factory = InformerFactory(FakeClient())
        informer = factory.informer("pods")
        running = asyncio.create_task(factory.run())
        await settle()
        await factory.synced(timeout=10)
        running.cancel()
        await asyncio.wait([running])
        assert running.cancelled()
        assert informer.health.state is State.STOPPED


class TestFailures:
    def factory(self, *refused: str) -> InformerFactory:
        """Of pods, nodes and secrets, some of which are refused."""
        client = FakeClient(**{name: Scripted(refusal(403), refusal(403)) for name in refused})
        factory = InformerFactory(client)
        for name in ("pods", "nodes", "secrets"):
            factory.informer(name, options=ReflectorOptions(fail_fast=True))
        return factory

    async def test_one_that_fails_holds_no_other_back_and_is_logged(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        factory = self.factory("secrets")
        pods, _, secrets = factory.informers

        async def live() -> None:
            async with factory:
                await until(100)
                assert pods.health.ready
                assert secrets.health.state is State.STOPPED
                assert "informer secrets has ended: Forbidden: 403" in caplog.text

        with pytest.raises(Forbidden) as caught:
            await live()
        assert caught.value.__notes__ == ["informer secrets"]

    async def test_synced_raises_it_and_names_the_informer(self) -> None:
        with pytest.raises(Forbidden) as caught:
            async with (factory := self.factory("secrets")):
                await factory.synced()
        assert caught.value.__notes__ == ["informer secrets"]

    async def test_run_raises_it(self) -> None:
        with pytest.raises(Forbidden):
            await self.factory("nodes").run()

    async def test_several_are_raised_together(self) -> None:
        with pytest.raises(ExceptionGroup, match="2 informers have failed"):
            async with self.factory("nodes", "secrets"):
                await until(100)

    async def test_the_bodys_own_error_goes_before(self) -> None:
        async def fail() -> None:
            async with self.factory("nodes"):
                await until(100)
                raise KeyError("mine")

        with pytest.raises(KeyError):
            await fail()

    async def test_a_limit_names_the_informer_that_is_not_synced(self) -> None:
        factory = InformerFactory(FakeClient(nodes=Scripted()))
        factory.informer("pods")
        factory.informer("nodes")
        async with factory:
            with pytest.raises(TimeoutError) as caught:
                await factory.synced(timeout=5)
        assert caught.value.__notes__ == ["informer nodes"]

    @pytest.mark.clause("H10")
    async def test_bad_data_of_one_is_its_own(self) -> None:
        bad = Undecodable.of(pod("b", 6).raw, "it is broken")
        nodes = Scripted(Page(bad, rv=6), Watch())
        factory = InformerFactory(FakeClient(nodes=nodes))
        informers = factory.informer("pods"), factory.informer("nodes")
        async with factory:
            await factory.synced(timeout=10)
            assert [each.health.undecodable for each in informers] == [(), ("default/b",)]
