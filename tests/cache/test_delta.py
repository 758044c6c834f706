"""What a store tells of one change."""

from __future__ import annotations

import pytest

from listwatch import Event, EventType
from listwatch.cache import Delta, Store

from .pods import added, deleted, modified, pod, pod_dict, unreadable


def test_a_delta_is_an_event_with_its_key_and_the_state_before() -> None:
    store: Store = Store()
    old, new = pod("d/a", 1), pod("d/a", 2)
    store.apply([added(old)])
    [delta] = store.apply([modified(new)])
    assert isinstance(delta, Event)
    assert (delta.type, delta.key) == (EventType.MODIFIED, "d/a")
    assert delta.object is new
    assert delta.old is old
    assert (delta.initial, delta.final_state_unknown, delta.recreated) == (False, False, False)


def test_its_type_is_what_happened_to_the_store() -> None:
    store: Store = Store()
    deltas = store.apply(
        [
            modified(pod("d/a", 1)),
            added(pod("d/a", 2)),
            deleted(pod("d/a", 3)),
            deleted(pod("d/b", 4)),
        ]
    )
    assert [delta.type for delta in deltas] == [
        EventType.ADDED,
        EventType.MODIFIED,
        EventType.DELETED,
    ]
    assert deltas[0].old is None


@pytest.mark.clause("D5")
def test_a_deletion_tells_the_last_state_and_the_one_that_was_held() -> None:
    store: Store = Store()
    held, last = pod("d/a", 1), pod("d/a", 5)
    store.apply([added(held)])
    [delta] = store.apply([deleted(last)])
    assert delta.object is last
    assert delta.old is held
    assert not delta.final_state_unknown


@pytest.mark.clause("K6")
@pytest.mark.parametrize("make", [pod, pod_dict, unreadable])
def test_another_object_under_an_old_name_can_be_told_from_an_update(make) -> None:
    store: Store = Store()
    store.apply([added(make("d/a", 1, uid="u1"))])
    [update] = store.apply([modified(make("d/a", 2, uid="u1"))])
    [other] = store.apply([modified(make("d/a", 3, uid="u2"))])
    assert (update.recreated, other.recreated) == (False, True)
    [by_relist] = store.replace([make("d/a", 4, uid="u3")], "4").deltas
    assert by_relist.type is EventType.MODIFIED
    assert by_relist.recreated


@pytest.mark.clause("K6")
def test_without_uids_nobody_can_tell() -> None:
    store: Store = Store()
    store.apply([added(pod("d/a", 1, uid=""))])
    [delta] = store.apply([modified(pod("d/a", 2, uid="u2"))])
    assert not delta.recreated


def test_its_bytes_are_those_of_the_object_where_they_are_at_hand() -> None:
    store: Store = Store()
    lazy, plain = pod("d/a", 1), pod_dict("d/b", 2)
    first, second = store.apply(
        [Event(EventType.ADDED, lazy, b"as it came"), Event(EventType.ADDED, plain, b"as it came")]
    )
    assert first.raw == lazy.raw
    assert second.raw == b"as it came"
    outcome = store.replace([pod("d/a", 3)], "3")
    assert [delta.raw for delta in outcome.deltas] == [pod("d/a", 3).raw, b""]


@pytest.mark.clause("H10")
def test_an_object_that_cannot_be_decoded_comes_with_its_error() -> None:
    store: Store = Store()
    broken = unreadable("d/a", 1)
    [came] = store.apply([added(broken)])
    [went] = store.replace([], "2").deltas
    for delta in (came, went):
        assert delta.object is broken
        assert delta.raw == broken.raw
        assert str(delta.error) == "cannot decode object d/a: it is broken"
    [healed] = store.apply([added(unreadable("d/a", 3)), modified(pod("d/a", 4))])[1:]
    assert healed.old == unreadable("d/a", 3)
    assert healed.error is None


def test_a_delta_cannot_be_changed() -> None:
    delta = Delta(EventType.ADDED, pod("d/a", 1), key="d/a")
    with pytest.raises(AttributeError):
        delta.key = "d/b"  # type: ignore[misc]
