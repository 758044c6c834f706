"""What a reader gets cannot be changed."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.api import FrozenDict, freeze

pytestmark = pytest.mark.clause("A6", "A7")

scalars = st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False)
values = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20
)


def thaw(value: Any) -> Any:
    """The opposite of `freeze`."""
    if isinstance(value, dict):
        return {key: thaw(item) for key, item in value.items()}
    return [thaw(item) for item in value] if isinstance(value, tuple) else value


def mutable_parts(value: Any) -> list[Any]:
    if isinstance(value, dict):
        inner = [part for item in value.values() for part in mutable_parts(item)]
        return inner if type(value) is FrozenDict else [value, *inner]
    if isinstance(value, tuple):
        return [part for item in value for part in mutable_parts(item)]
    return [value] if isinstance(value, list) else []


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.__setitem__("a", 2),
        lambda d: d.__delitem__("a"),
        lambda d: d.update(a=2),
        lambda d: d.setdefault("b", 2),
        lambda d: d.pop("a"),
        lambda d: d.popitem(),
        lambda d: d.clear(),
        lambda d: d.__ior__({"a": 2}),
    ],
)
def test_every_way_to_change_a_mapping_is_refused(change: Callable[[Any], object]) -> None:
    frozen = FrozenDict(a=1)
    with pytest.raises(TypeError, match="read-only"):
        change(frozen)
    assert frozen == {"a": 1}


@given(values)
def test_freezing_keeps_the_value_and_leaves_nothing_mutable(value: Any) -> None:
    frozen = freeze(value)
    assert thaw(frozen) == value
    assert mutable_parts(frozen) == []


@given(values)
def test_a_frozen_value_is_its_own_deep_copy_and_survives_pickle_and_hash(value: Any) -> None:
    frozen = freeze(value)
    assert copy.deepcopy(frozen) is frozen
    loaded = pickle.loads(pickle.dumps(frozen))
    assert loaded == frozen
    assert hash(loaded) == hash(frozen)
    assert mutable_parts(loaded) == []


def test_freezing_does_not_touch_what_it_was_given() -> None:
    given_value = {"a": [1, {"b": 2}]}
    frozen = freeze(given_value)
    given_value["a"].append(3)
    assert frozen == {"a": (1, {"b": 2})}
    assert type(given_value["a"]) is list


def test_freezing_reaches_inside_what_is_frozen_only_on_the_outside() -> None:
    shallow = FrozenDict(a=[1], b=(2, [3]))
    assert freeze(shallow) == {"a": (1,), "b": (2, (3,))}


def test_a_copy_of_a_shallow_one_has_parts_of_its_own() -> None:
    shallow = FrozenDict(a=[1])
    copied = copy.deepcopy(shallow)
    copied["a"].append(2)
    assert shallow == {"a": [1]}
    assert type(copied) is FrozenDict


def test_it_is_a_dict_to_everybody_else() -> None:
    frozen = freeze({"a": [1], "b": {"c": None}})
    assert json.loads(json.dumps(frozen)) == {"a": [1], "b": {"c": None}}
    assert msgspec.json.decode(msgspec.json.encode(frozen)) == {"a": [1], "b": {"c": None}}


def test_a_shallow_copy_is_itself_and_dot_copy_is_a_mutable_dict() -> None:
    frozen = FrozenDict(a=1)
    assert copy.copy(frozen) is frozen
    mine = frozen.copy()
    mine["a"] = 2
    assert (frozen["a"], type(mine)) == (1, dict)
