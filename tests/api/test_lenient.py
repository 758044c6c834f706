"""null is read as absent, whatever a type says, and soon without a second look."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.api import _lenient
from listwatch.api._lenient import lenient_decoder

pytestmark = pytest.mark.clause("D6")


class Part(msgspec.Struct, frozen=True, rename="camel"):
    some_name: str = "default"
    number: int = 1


class Whole(msgspec.Struct, frozen=True, rename="camel"):
    some_name: str = "default"
    number: int = 1
    part: Part = Part()
    parts: tuple[Part, ...] = ()
    texts: dict[str, str] = {}


def dump(value: object, **how: Any) -> bytes:
    return json.dumps(value, **({"separators": (",", ":")} | how)).encode()


nullable = st.none() | st.text(max_size=3)
part = st.fixed_dictionaries({}, optional={"someName": nullable, "number": st.none() | st.just(7)})
whole = st.fixed_dictionaries(
    {},
    optional={
        "someName": nullable
        | st.sampled_from(['"number":null', '","number":null', '{"number":null}']),
        "number": st.none() | st.just(7),
        "part": st.none() | part,
        "parts": st.none() | st.lists(st.none() | part, max_size=3),
        "texts": st.none() | st.dictionaries(st.text(max_size=2), nullable, max_size=2),
        "unknown": st.none() | st.lists(st.sampled_from([None, ',"number":null', "x"]), max_size=3),
    },
)


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value if item is not None]
    return value


@given(st.lists(whole, min_size=1, max_size=5), st.sampled_from([None, 1]))
def test_any_null_is_as_if_it_were_absent(values: list[dict[str, Any]], indent: int | None) -> None:
    decode = lenient_decoder(Whole)
    for value in values:
        expected = msgspec.convert(without_nulls(value), Whole)
        assert decode(dump(value)) == expected
        assert decode(memoryview(dump(value, indent=indent))) == expected


def test_a_null_that_was_met_once_is_taken_out_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    decode = lenient_decoder(Whole)
    value = {
        "someName": None,
        "part": {"number": None, "someName": None},
        "parts": [{"number": None}],
    }
    first = decode(dump(value))
    monkeypatch.delattr(_lenient, "_nulls_of")
    monkeypatch.delattr(_lenient, "_without_nulls")
    assert decode(dump(value)) == first == Whole(parts=(Part(),))


def test_what_is_wrong_otherwise_is_refused() -> None:
    decode = lenient_decoder(Whole)
    for raw in (
        b'{"number":"x","someName":null}',
        b'{"someName":null',
        b"[null]",
        b'{"number":[]}',
    ):
        with pytest.raises(msgspec.DecodeError):
            decode(raw)
