"""Typed objects: decoded once, known to a store, and sharing what is equal."""

import gc
import json
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest
from msgspec import Raw, Struct

from listwatch import FrozenDict, MalformedObject, identity_of, projected, typed
from listwatch.wire.decoders import reads_all, takes_type_meta

pytestmark = pytest.mark.clause("D6")


class Model(Struct, frozen=True, gc=False, rename="camel"):
    """Lists are tuples."""


class Metadata(Model, frozen=True):
    name: str
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    labels: dict[str, str] = {}
    managed_fields: Raw = Raw()


class EnvVar(Model, frozen=True):
    name: str
    value: str | None = None


class Container(Model, frozen=True):
    name: str
    image: str = ""
    env: tuple[EnvVar, ...] = ()
    limits: dict[str, str] = {}


class Spec(Model, frozen=True):
    node_name: str = ""
    containers: tuple[Container, ...] = ()


class Pod(Model, frozen=True):
    metadata: Metadata
    kind: str = ""
    api_version: str = ""
    spec: Spec = Spec()


def raw(number: int = 0, **spec: Any) -> bytes:
    env = [{"name": "LEVEL", "value": "info"}, {"name": "PORT", "value": None}]
    value = {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {
            "name": f"web-{number}",
            "namespace": "default",
            "uid": f"u{number}",
            "resourceVersion": str(number),
            "labels": {"app": "web", "tier": "front"},
            "managedFields": [{"manager": "kubelet"}],
        },
        "spec": {
            "containers": [
                {"name": "web", "image": "nginx:1.27", "env": env, "limits": {"cpu": "1"}}
            ],
            **spec,
        },
        "status": {"phase": "Running"},
    }
    return json.dumps(value).encode()


def test_an_object_is_what_its_type_declares() -> None:
    pod = typed(Pod)(raw(7, nodeName="node-1"))
    assert pod == msgspec.json.decode(raw(7, nodeName="node-1"), type=Pod)
    assert (pod.spec.node_name, pod.spec.containers[0].env[0].value) == ("node-1", "info")


@pytest.mark.clause("I1")
def test_a_store_knows_it_by_its_metadata() -> None:
    assert identity_of(typed(Pod)(raw(7))) == ("default/web-7", "u7", "7")


def test_null_counts_as_absent() -> None:
    keep = typed(Pod)
    for _ in range(2):
        pod = keep(raw(nodeName=None, containers=[{"name": "a", "env": None, "image": None}]))
        assert pod.spec == Spec("", (Container("a"),))


def test_what_does_not_fit_is_refused_with_the_place() -> None:
    with pytest.raises(MalformedObject, match=r"does not fit Pod: .* at `\$\.spec\.nodeName`"):
        typed(Pod)(raw(nodeName=5))


@pytest.mark.clause("D7")
def test_it_is_told_what_it_is_where_it_does_not_say_it() -> None:
    item = memoryview(b'{"metadata":{"name":"a"}}')
    pod = typed(Pod)(item, api_version="v1", kind="Pod")
    assert (pod.kind, pod.api_version) == ("Pod", "v1")
    said = typed(Pod)(raw(), api_version="v2", kind="Other")
    assert (said.kind, said.api_version) == ("Pod", "v1")


@pytest.mark.clause("A7")
class TestBytes:
    def test_are_of_its_own(self) -> None:
        for share in (False, True):
            pod = typed(Pod, share=share)(raw())
            view = memoryview(pod.metadata.managed_fields)
            assert bytes(view) == b'[{"manager": "kubelet"}]'
            # Nothing of the object's JSON but these is alive.
            assert [found for found in gc.get_referents(view.obj) if found is not view.obj] == []
            assert len(msgspec.json.encode(pod.metadata.managed_fields)) == 24

    def test_are_found_wherever_a_type_has_them(self) -> None:
        class Odd(Struct):
            metadata: Metadata
            one: Raw = Raw()
            many: list[Raw] = []
            more: tuple[Raw, ...] = ()
            named: dict[str, Raw] = {}

        whole = (
            b'{"metadata":{"name":"a"},"one":[1],"many":[[2],[3]],"more":[[4]],"named":{"x":[5]}'
            b',"rest":"%b"}' % (b"x" * 10_000)
        )
        for share in (False, True):
            odd = typed(Odd, share=share)(bytes(whole))
            parts = [odd.one, *odd.many, *odd.more, *odd.named.values()]
            assert [bytes(part) for part in parts] == [b"[1]", b"[2]", b"[3]", b"[4]", b"[5]"]
            assert all(part.copy() is part for part in parts)

    def test_that_could_not_be_found_are_refused(self) -> None:
        class Hidden(Struct):
            metadata: Metadata
            pair: tuple[int, Raw] | None = None

        with pytest.raises(TypeError, match="a Raw in a Tuple would keep"):
            typed(Hidden)


class TestSharing:
    def test_keeps_one_of_equal_parts(self) -> None:
        keep = typed(Pod, share=True)
        one, other = keep(raw(1)), keep(raw(2))
        assert one.metadata.labels is other.metadata.labels
        assert one.spec.containers is other.spec.containers
        assert one.metadata.namespace is other.metadata.namespace

    def test_changes_nothing_but_that(self) -> None:
        keep, alone = typed(Pod, share=True), typed(Pod)
        for number in range(5):
            data = raw(number, nodeName=f"node-{number % 2}")
            assert keep(data) == alone(data)

    def test_keeps_parts_that_differ_in_part(self) -> None:
        keep = typed(Pod, share=True)
        one = keep(raw(1, containers=[{"name": "a", "image": "x", "env": [{"name": "A"}]}]))
        other = keep(raw(2, containers=[{"name": "b", "image": "x", "env": [{"name": "A"}]}]))
        assert one.spec.containers[0].env is other.spec.containers[0].env
        assert one.spec.containers[0].image is other.spec.containers[0].image
        assert one.spec.containers != other.spec.containers

    @pytest.mark.clause("A6")
    def test_makes_dicts_that_cannot_be_changed(self) -> None:
        pod = typed(Pod, share=True)(raw())
        assert type(pod.metadata.labels) is FrozenDict
        assert (
            type(typed(Pod, share=True)(b'{"metadata":{"name":"a"}}').metadata.labels) is FrozenDict
        )

    def test_of_values_that_are_all_different_holds_on_to_few(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("listwatch.cache._parts._MOST_SHARED", 50)
        keep: Any = typed(Pod, share=True)
        pods = [keep(raw(number)) for number in range(200)]
        assert [pod.metadata.name for pod in pods] == [f"web-{number}" for number in range(200)]
        shared = {id(pod.spec.containers) for pod in pods}
        assert len(shared) < 100

    def test_works_for_types_that_have_themselves_in_them(self) -> None:
        keep = typed(Tree, share=True)
        tree = keep(b'{"metadata":{"name":"a"},"below":[{"metadata":{"name":"b"},"below":[]}]}')
        assert tree.below[0].metadata.name == "b"


class Tree(Struct, frozen=True):
    metadata: Metadata
    below: tuple["Tree", ...] = ()


def test_the_collector_has_nothing_to_track_of_it() -> None:
    pod = typed(Pod, share=True)(raw())
    assert not gc.is_tracked(pod)
    assert not gc.is_tracked(pod.spec.containers[0])


class TestADataclass:
    def test_is_a_type_too(self) -> None:
        @dataclass(frozen=True)
        class Node:
            metadata: Metadata
            kind: str = ""
            spec: dict[str, Any] = field(default_factory=dict)

        for share in (False, True):
            node = typed(Node, share=share)(
                b'{"metadata":{"name":"n","resourceVersion":"7"},"spec":{"a":[1]}}',
                api_version="v1",
                kind="Node",
            )
            assert (identity_of(node).key, node.kind, node.spec) == ("n", "Node", {"a": [1]})


class TestATypeIsRefused:
    def test_that_is_none_of_the_two(self) -> None:
        with pytest.raises(TypeError, match="takes a msgspec Struct or a dataclass"):
            typed(dict)

    def test_without_metadata(self) -> None:
        class Bare(Struct):
            spec: Spec

        with pytest.raises(TypeError, match="Bare has no metadata"):
            typed(Bare)

    def test_whose_metadata_lacks_what_a_store_needs(self) -> None:
        class Names(Struct):
            name: str
            resource_version: str = ""

        class Bad(Struct):
            metadata: Names | None = None

        with pytest.raises(
            TypeError,
            match=r"Names, has no uid \(in JSON uid\) and no resource_version \(in JSON resourceV",
        ):
            typed(Bad)


def test_decoders_of_the_same_type_are_equal() -> None:
    assert typed(Pod) == typed(Pod) != typed(Pod, share=True)
    assert len({typed(Pod), typed(Pod), typed(Tree)}) == 2
    assert typed(Pod) != projected(Spec)
    assert repr(typed(Pod, share=True)) == "typed(Pod, share=True)"


def test_it_says_what_the_layers_below_must_know() -> None:
    assert reads_all(typed(Pod))
    assert takes_type_meta(typed(Pod))


class Odd(Model, frozen=True):
    """What is equal here need not be the same."""

    any: Any = None
    number: float = 0.0
    either: int | bool = 0


class OddOwner(Model, frozen=True):
    metadata: Metadata
    odd: tuple[Odd, ...] = ()
    truths: tuple[bool, ...] = ()
    counts: tuple[int, ...] = ()
    values: dict[str, int | bool] = {}


def test_sharing_takes_nothing_for_another_that_is_only_equal() -> None:
    keep = typed(OddOwner, share=True)
    objects = (
        {"odd": [{"any": 1}], "counts": [1, 0], "values": {"a": 1}},
        {"odd": [{"any": True}], "truths": [True, False], "values": {"a": True}},
        {"odd": [{"number": 0.0}], "values": {"a": 0}},
        {"odd": [{"number": -0.0}], "values": {"a": False}},
        {"odd": [{"either": 1}]},
        {"odd": [{"either": True}]},
    )
    for obj in objects:
        raw = json.dumps({"metadata": {"name": "a"}, **obj}).encode()
        shared, alone = keep(raw), typed(OddOwner)(raw)
        for name in ("odd", "truths", "counts"):
            assert repr(getattr(shared, name)) == repr(getattr(alone, name))
        assert repr(dict(shared.values)) == repr(alone.values)
