"""The keys of one value of an index."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.cache import _keys
from listwatch.cache._keys import Keys, each, held, newest, with_key, without_key

pytestmark = pytest.mark.clause("I2")


@pytest.fixture(autouse=True, params=[4, 64])
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many are few: a small number brings all forms about."""
    monkeypatch.setattr(_keys, "_FEW", request.param)
    return int(request.param)


def made(*keys: str) -> Keys | None:
    found: Keys | None = None
    for key in keys:
        found = with_key(found, key)
    return found


@given(moves=st.lists(st.integers(0, 9)))
def test_they_are_those_that_came_and_did_not_go_in_the_order_in_which_they_came(
    moves: list[int],
) -> None:
    model: dict[str, None] = {}
    keys: Keys | None = None
    for move in moves:
        key = f"d/{move}"
        if key in model:
            del model[key]
            keys = without_key(keys, key)
        else:
            model[key] = None
            keys = with_key(keys, key)
        assert list(each(keys)) == list(model)
        assert (keys is None) == (not model)
        for number in range(10):
            there = held(keys, f"d/{number}")
            assert there == (f"d/{number}" if f"d/{number}" in model else None)
        if keys is not None:
            assert newest(keys) == list(model)[-1]


def test_they_take_no_more_than_they_need(few: int) -> None:
    names = [f"d/{number}" for number in range(few + 1)]
    assert made() is None
    assert made("d/a") == "d/a"
    assert made(*names[:few]) == tuple(names[:few])
    keys = made(*names)
    assert keys == dict(zip(names, names, strict=True))
    for name in names[few // 2 :]:
        keys = without_key(keys, name)
    assert keys == tuple(names[: few // 2])


def test_the_text_that_came_is_the_one_that_is_kept() -> None:
    names = [f"d/{number}" for number in range(5)]
    keys = None
    for name in names:
        keys = with_key(keys, name)
        same = "".join(name)
        assert held(keys, same) is name


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5])
def test_to_take_away_what_is_not_there_changes_nothing(count: int) -> None:
    names = [f"d/{number}" for number in range(count)]
    assert list(each(without_key(made(*names), "d/zz"))) == names
