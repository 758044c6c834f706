"""An object that nobody here could read keeps its place."""

from __future__ import annotations

import gc
import pickle

import pytest

from listwatch import MalformedObject, ObjectDecodeError
from listwatch.cache import Undecodable
from listwatch.wire.decoders import object_decode_error

pytestmark = pytest.mark.clause("H10")

RAW = b'{"metadata":{"name":"web","namespace":"default","uid":"u1","resourceVersion":"7"},"x":1}'


def test_it_knows_which_object_it_is_and_keeps_its_bytes() -> None:
    broken = Undecodable.of(RAW, "it has no spec")
    assert (broken.key, broken.uid, broken.resource_version) == ("default/web", "u1", "7")
    assert broken.raw == RAW
    assert broken.reason == "it has no spec"


@pytest.mark.parametrize(
    "reason", [ValueError("no spec"), object_decode_error(RAW, ValueError("no spec"))]
)
def test_its_reason_is_what_the_decoder_raised(reason: Exception) -> None:
    assert Undecodable.of(RAW, reason).reason == "ValueError: no spec"


def test_its_error_names_the_object_and_the_reason() -> None:
    error = Undecodable.of(RAW, ValueError("no spec")).error
    assert isinstance(error, ObjectDecodeError)
    assert str(error) == "cannot decode object default/web: ValueError: no spec"
    assert (error.key, error.raw) == ("default/web", RAW)


def test_each_reader_gets_an_error_of_its_own() -> None:
    broken = Undecodable.of(RAW, "broken")
    assert broken.error is not broken.error


@pytest.mark.parametrize(
    "raw",
    [
        b'{"kind":7,"metadata":{"name":"web","namespace":"default"}}',
        b'{"metadata":{"name":"web","namespace":"default","uid":7,"resourceVersion":8}}',
        b'{"metadata":{"name":"web","namespace":"default","labels":7}}',
    ],
)
def test_the_key_is_read_whatever_else_is_wrong_with_the_object(raw: bytes) -> None:
    broken = Undecodable.of(raw, "broken")
    assert (broken.key, broken.uid, broken.resource_version) == ("default/web", "", "")


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[]",
        b"{",
        b"{}",
        b'{"metadata":null}',
        b'{"metadata":{"name":""}}',
        b'{"metadata":{"name":7}}',
        b'{"a":' * 100_000,
    ],
    ids=lambda raw: repr(raw[:30]),
)
def test_an_object_whose_key_cannot_be_read_is_refused(raw: bytes) -> None:
    with pytest.raises(MalformedObject, match="whose key cannot be read"):
        Undecodable.of(raw, "broken")


@pytest.mark.clause("A7")
def test_it_holds_bytes_of_its_own() -> None:
    buffer = bytearray(RAW)
    broken = Undecodable.of(buffer, "broken")  # type: ignore[arg-type]  # a careless caller
    buffer[2:10] = b"METADATA"
    assert broken.raw == RAW


def test_it_pickles_cannot_be_changed_and_costs_the_gc_nothing() -> None:
    broken = Undecodable.of(RAW, "broken")
    assert pickle.loads(pickle.dumps(broken)) == broken
    with pytest.raises(AttributeError):
        broken.key = "other"  # type: ignore[misc]
    assert not gc.is_tracked(broken)
