"""ObjectLister: a store read by namespace, labels and name."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Struct

from listwatch import (
    NotFound,
    ObjectDecodeError,
    PartialObjectMetadata,
    SelectorError,
    Store,
    Unstructured,
    decode_dict,
    decode_partial_metadata,
    decode_unstructured,
)
from listwatch.cache import lister as module
from listwatch.cache.lister import NAMESPACE_INDEX, ObjectLister, by_namespace
from listwatch.cache.projection import projected

from .pods import unreadable

pytestmark = pytest.mark.clause("I1")


class Metadata(Struct, frozen=True):
    labels: dict[str, str] = {}


class Labelled(Struct, frozen=True):
    metadata: Metadata = Metadata()


def pod(key: str, rv: int = 1, **labels: str | None) -> Unstructured:
    namespace, _, name = key.rpartition("/")
    metadata = {"name": name, "resourceVersion": str(rv), "labels": labels or None}
    if namespace:
        metadata["namespace"] = namespace
    return Unstructured.from_dict({"kind": "Pod", "apiVersion": "v1", "metadata": metadata})


PODS = (
    pod("a/1", app="web", tier="front"),
    pod("a/2", app="db"),
    pod("b/1", app="web"),
    pod("b/2"),
)


def lister(decoder: Any = decode_unstructured, *, index: bool = False) -> ObjectLister[Any]:
    store: Store[Any] = Store(indexes={NAMESPACE_INDEX: by_namespace} if index else None)
    store.replace([decoder(item.raw) for item in PODS], "1")
    return ObjectLister(store)


def names(objects: list[Any]) -> list[str]:
    return sorted(f"{item.namespace}/{item.name}" for item in objects)


@pytest.mark.parametrize("index", [False, True], ids=["plain", "indexed"])
class TestList:
    @pytest.mark.parametrize(
        ("selector", "namespace", "found"),
        [
            ("", "", ["a/1", "a/2", "b/1", "b/2"]),
            ("", "a", ["a/1", "a/2"]),
            ("", "c", []),
            ("app=web", "", ["a/1", "b/1"]),
            ("app=web", "b", ["b/1"]),
            ("app in (web, db), !tier", "", ["a/2", "b/1"]),
            ("app notin (web)", "b", ["b/2"]),
        ],
    )
    def test_it_finds_by_labels_and_namespace(
        self, index: bool, selector: str, namespace: str, found: list[str]
    ) -> None:
        assert names(lister(index=index).list(selector, namespace)) == found
        if namespace:
            assert names(lister(index=index).namespace(namespace).list(selector)) == found

    def test_what_cannot_be_decoded_is_left_out(self, index: bool) -> None:
        reader = lister(index=index)
        reader._store.add(unreadable("a/3", 9))  # type: ignore[union-attr]
        assert names(reader.list(namespace="a")) == ["a/1", "a/2"]

    def test_what_has_no_namespace_is_listed_too(self, index: bool) -> None:
        reader = lister(index=index)
        reader._store.add(pod("node", 9, app="web"))  # type: ignore[union-attr]
        assert names(reader.list("app=web")) == ["/node", "a/1", "b/1"]
        assert names(reader.list("app=web", "a")) == ["a/1"]

    def test_a_selector_that_does_not_parse_is_refused(self, index: bool) -> None:
        with pytest.raises(SelectorError):
            lister(index=index).list("app in web")


def test_nothing_is_decoded_where_no_selector_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_decode_labels", None)
    assert len(lister().list(namespace="a")) == 2
    with pytest.raises(TypeError):
        lister().list("app=web")


def test_labels_alone_are_decoded_so_that_damage_elsewhere_does_no_harm() -> None:
    store: Store[Any] = Store()
    raw = b'{"metadata":{"name":"a","labels":{"app":"web"},"generation":"not a number"}}'
    store.add(Unstructured.from_bytes(raw))
    assert len(ObjectLister(store).list("app=web")) == 1


@pytest.mark.parametrize(
    "decoder",
    [decode_partial_metadata, decode_dict, projected(Labelled)],
    ids=["metadata", "dict", "projected"],
)
def test_it_reads_whatever_has_labels(decoder: Any) -> None:
    assert len(lister(decoder).list("app=web", "a")) == 1
    assert len(lister(decoder).list("!app")) == 1


def test_what_has_no_labels_cannot_be_selected_by_them() -> None:
    reader = lister(projected(lambda obj: obj.name))
    assert len(reader.list(namespace="a")) == 2
    with pytest.raises(TypeError, match=r"str has no metadata.labels to select by"):
        reader.list("app=web")


class TestGet:
    def test_it_finds_one(self) -> None:
        assert lister().get("1", "a") == PODS[0]
        assert lister().namespace("b").get("1") == PODS[2]
        store: Store[PartialObjectMetadata] = Store()
        store.add(PartialObjectMetadata.from_bytes(b'{"metadata":{"name":"node"}}'))
        assert ObjectLister(store).get("node").name == "node"

    def test_what_is_not_there_is_said_to_be_not_found(self) -> None:
        with pytest.raises(NotFound) as caught:
            lister().get("3", "a")
        assert str(caught.value) == (
            "404 NotFound: there is no 'a/3' among the 4 objects of this store"
        )

    @pytest.mark.clause("H10")
    def test_what_cannot_be_decoded_is_said_to_be_that(self) -> None:
        store: Store[Any] = Store()
        store.add(unreadable("a/3", 9))
        with pytest.raises(ObjectDecodeError):
            ObjectLister(store).get("3", "a")


def test_a_namespace_without_a_name_is_refused() -> None:
    with pytest.raises(ValueError, match="for all namespaces ask the lister itself"):
        lister().namespace("")


def test_a_snapshot_is_listed_like_a_store() -> None:
    store: Store[Any] = Store(indexes={NAMESPACE_INDEX: by_namespace})
    store.replace(PODS, "1")
    frozen = ObjectLister(store.snapshot())
    store.delete("a/1")
    assert names(frozen.list("app=web")) == ["a/1", "b/1"]
    assert names(frozen.list(namespace="a")) == ["a/1", "a/2"]
    assert "ObjectLister(<Snapshot of 4" in repr(frozen)
