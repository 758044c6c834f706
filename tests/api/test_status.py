"""Status and ListMeta."""

from __future__ import annotations

import pickle

import msgspec
import pytest

from listwatch.api import ListMeta, MalformedObject, Status, StatusCause, StatusDetails

pytestmark = pytest.mark.clause("A5")


def test_all_of_a_status_is_read() -> None:
    status = Status.from_bytes(
        b'{"kind":"Status","apiVersion":"v1","metadata":{"continue":"abc"},"status":"Failure",'
        b'"message":"m","reason":"Invalid","details":{"name":"n","group":"g","kind":"k","uid":"u",'
        b'"causes":[{"reason":"FieldValueInvalid","message":"bad","field":"spec.n"}],'
        b'"retryAfterSeconds":3},"code":422}'
    )
    assert status == Status(
        metadata=ListMeta(continue_="abc"),
        status="Failure",
        message="m",
        reason="Invalid",
        details=StatusDetails(
            name="n",
            group="g",
            kind="k",
            uid="u",
            causes=(StatusCause(reason="FieldValueInvalid", message="bad", field="spec.n"),),
            retry_after_seconds=3,
        ),
        code=422,
    )
    assert pickle.loads(pickle.dumps(status)) == status
    assert Status.from_bytes(msgspec.json.encode(status)) == status


@pytest.mark.parametrize(
    "raw",
    [
        b"{}",
        b'{"kind":"Status"}',
        b'{"kind":null,"apiVersion":null,"metadata":null,"status":null,"message":null,"reason":null,'
        b'"details":null,"code":null}',
        b'{"details":{"name":null,"causes":null,"retryAfterSeconds":null},"metadata":{"continue":null}}',
        b'{"unknown":[1,2,{}]}',
    ],
)
def test_whatever_is_absent_or_null_has_its_default(raw: bytes) -> None:
    assert Status.from_bytes(raw) == Status()


@pytest.mark.parametrize(
    "raw", [b"", b"[]", b'"Failure"', b'{"kind":"Pod"}', b'{"kind":""}', b'{"code":"410"}']
)
def test_what_is_no_status_is_refused(raw: bytes) -> None:
    with pytest.raises(MalformedObject, match="this is no Status"):
        Status.from_bytes(raw)


def test_list_metadata_has_its_names_of_the_wire() -> None:
    meta = ListMeta(resource_version="5", continue_="abc", remaining_item_count=40)
    raw = b'{"resourceVersion":"5","continue":"abc","remainingItemCount":40}'
    assert msgspec.json.encode(meta) == raw
    assert msgspec.json.decode(raw, type=ListMeta) == meta


@pytest.mark.clause("A6")
def test_a_status_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Status().code = 5  # type: ignore[misc]
