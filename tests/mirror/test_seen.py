"""The checker objects to what it is there for."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch import Delta, EventType, Unstructured

from .seen import Seen, assert_same

ADDED, MODIFIED, DELETED = EventType.ADDED, EventType.MODIFIED, EventType.DELETED


def obj(rv: int, uid: str = "u") -> Unstructured:
    metadata = {"name": "a", "uid": uid, "resourceVersion": str(rv)}
    return Unstructured.from_dict({"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata})


def delta(kind: EventType, rv: int, old: int | None = None, **more: Any) -> Delta[Unstructured]:
    uid = more.pop("uid", "u")
    return Delta(
        type=kind,
        object=obj(rv, uid),
        key="a",
        old=None if old is None else obj(old, more.pop("old_uid", uid)),
        **more,
    )


def test_a_plain_life_is_no_problem() -> None:
    seen = Seen()
    seen([delta(ADDED, 1), delta(MODIFIED, 2, 1)])
    seen([delta(DELETED, 3, 2), delta(ADDED, 4, uid="v")])
    seen([delta(MODIFIED, 6, 4, uid="w", old_uid="v")])  # made anew while nobody looked
    seen.check({"a": ("w", "6")})
    assert seen.total == 5


def test_a_new_epoch_may_go_back_once() -> None:
    seen, epoch = Seen(), 0
    seen.epoch = lambda: epoch
    seen([delta(ADDED, 10)])
    epoch = 1
    seen([delta(MODIFIED, 5, 10)])
    seen.check({"a": ("u", "5")})
    seen([delta(MODIFIED, 4, 5)])
    assert len(seen.problems) == 1


@pytest.mark.parametrize(
    ("deltas", "said"),
    [
        ([delta(ADDED, 1), delta(ADDED, 1)], "is there already"),
        ([delta(MODIFIED, 1)], "was not there"),
        ([delta(DELETED, 1)], "was not there"),
        ([delta(ADDED, 1), delta(DELETED, 2, 1), delta(DELETED, 2, 1)], "was not there"),
        ([delta(ADDED, 1), delta(MODIFIED, 1, 1)], "no newer"),
        ([delta(ADDED, 5), delta(MODIFIED, 4, 5)], "no newer"),
        ([delta(ADDED, 1), delta(MODIFIED, 3, 2)], "says"),
        ([delta(ADDED, 1), delta(DELETED, 2, 1, uid="v", old_uid="u")], "had the uid"),
    ],
)
def test_what_breaks_a_rule_is_a_problem(deltas: list[Any], said: str) -> None:
    seen = Seen()
    seen(deltas)
    assert any(said in problem for problem in seen.problems)
    with pytest.raises(AssertionError, match=said):
        seen.check(seen.objects)


def test_a_change_that_was_not_told_is_a_difference() -> None:
    seen = Seen()
    seen([delta(ADDED, 1)])
    with pytest.raises(AssertionError, match="what was told differs from what is there: a is"):
        seen.check({"a": ("u", "2")})
    with pytest.raises(AssertionError, match="the store differs from the server: b is"):
        assert_same({}, {"b": ("u", "1")})
