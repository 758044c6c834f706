"""What handlers are told of objects that nobody can decode: nothing (H10)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.api import EventType
from listwatch.cache import Delta, Store, Undecodable
from listwatch.cache._readable import Readable

from .scripted import added, deleted, pod

pytestmark = pytest.mark.clause("H10", "K1")

ADDED, MODIFIED, DELETED = EventType.ADDED, EventType.MODIFIED, EventType.DELETED


def broken(name: str, rv: int, *, uid: str = "") -> Any:
    return Undecodable.of(pod(name, rv, uid=uid).raw, "no such field")


class Told:
    """A store, and what handlers are told of its changes."""

    def __init__(self) -> None:
        self.store: Store[Any] = Store()
        self.readable: Readable[Any] = Readable()

    def put(self, *objects: Any) -> list[Any]:
        return list(self.readable.of(self.store.apply([added(obj) for obj in objects])))

    def delete(self, *objects: Any) -> list[Any]:
        return list(self.readable.of(self.store.apply([deleted(obj) for obj in objects])))

    def replace(self, *objects: Any, rv: int) -> list[Any]:
        return list(self.readable.of(self.store.replace(objects, str(rv)).deltas))


def said(deltas: list[Any]) -> list[str]:
    return [_said(delta) for delta in deltas]


def _said(delta: Any) -> str:
    marks = ["recreated"] * delta.recreated + ["unknown"] * delta.final_state_unknown
    old = delta.old and delta.old.resource_version
    versions = f"{old} {delta.object.resource_version}"
    return " ".join([str(delta.type), delta.key[8:], versions, *marks])


def test_what_can_be_read_is_passed_on_as_it_is() -> None:
    deltas = [Delta(ADDED, pod("a", 1)), Delta(MODIFIED, pod("b", 2), old=pod("b", 1))]
    assert Readable().of(deltas) is deltas


def test_an_object_that_was_never_readable_is_no_news() -> None:
    told = Told()
    assert told.put(broken("a", 1), broken("a", 2)) == []
    assert told.delete(broken("a", 3)) == []
    assert told.put(broken("a", 4)) == []
    assert told.delete(pod("a", 5)) == []


def test_once_it_can_be_read_it_is_added() -> None:
    told = Told()
    told.put(broken("a", 1))
    assert said(told.put(pod("a", 2))) == ["ADDED a None 2"]
    assert said(told.put(pod("a", 3))) == ["MODIFIED a 2 3"]


def test_one_that_cannot_be_read_any_more_is_as_it_was_until_it_can() -> None:
    told = Told()
    told.put(pod("a", 1))
    assert told.put(broken("a", 2)) == []
    assert [(key, obj.resource_version) for key, obj in told.readable.last_known] == [
        ("default/a", "1")
    ]
    assert told.put(broken("a", 3), broken("a", 4)) == []
    assert said(told.put(pod("a", 5))) == ["MODIFIED a 1 5"]
    assert list(told.readable.last_known) == []


def test_or_is_gone() -> None:
    told = Told()
    told.put(pod("a", 1), pod("b", 2), pod("c", 3))
    told.put(broken("a", 4), broken("b", 5))
    # The end of the first could be read, those of the others could not.
    assert said(told.delete(pod("a", 6))) == ["DELETED a 1 6"]
    assert said(told.delete(broken("b", 7), broken("c", 8))) == [
        "DELETED b 2 2 unknown",
        "DELETED c 3 3 unknown",
    ]
    assert list(told.readable.last_known) == []


@pytest.mark.clause("J2")
def test_in_a_relist_too() -> None:
    told = Told()
    told.replace(pod("a", 1), pod("b", 2), pod("c", 3), rv=4)
    assert said(told.replace(broken("a", 5), broken("b", 6), pod("c", 3), rv=7)) == []
    assert said(told.replace(broken("a", 5), pod("c", 8), broken("d", 9), rv=10)) == [
        "MODIFIED c 3 8",
        "DELETED b 2 2 unknown",
    ]
    assert said(told.replace(pod("a", 5), rv=11)) == ["MODIFIED a 1 5", "DELETED c 8 8 unknown"]


@pytest.mark.clause("K6")
def test_that_it_was_made_again_meanwhile_is_not_forgotten() -> None:
    told = Told()
    told.put(pod("a", 1))
    told.put(broken("a", 2, uid="another"), broken("a", 3, uid="another"))
    assert said(told.put(pod("a", 4, uid="another"))) == ["MODIFIED a 1 4 recreated"]
    told.put(broken("a", 5, uid="another"))
    assert said(told.put(pod("a", 6, uid="a third"))) == ["MODIFIED a 4 6 recreated"]
    assert said(told.put(pod("a", 7, uid="a third"))) == ["MODIFIED a 6 7"]


STEPS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["put", "break", "delete", "end broken"])),
    max_size=40,
)


@given(STEPS)
def test_what_is_told_makes_sense_and_is_all_that_can_be_read(
    steps: list[tuple[str, str]],
) -> None:
    told, shown = Told(), {}
    for number, (name, step) in enumerate(steps, 1):
        obj = broken(name, number) if "br" in step else pod(name, number)
        change = told.put if step in ("put", "break") else told.delete
        for delta in change(obj):
            assert not isinstance(delta.object, Undecodable)
            assert delta.error is None
            assert (delta.type is ADDED) is (delta.key not in shown)
            assert delta.old is shown.get(delta.key)
            if delta.type is DELETED:
                del shown[delta.key]
            else:
                shown[delta.key] = delta.object
        assert shown == {**dict(told.store.items()), **dict(told.readable.last_known)}
        assert shown.keys() <= set(told.store.keys())
