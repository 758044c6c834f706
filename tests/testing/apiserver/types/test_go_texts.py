"""Times and bytes in JSON, as Go's decoder reads them and its encoder writes them (K7)."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.testing.apiserver.types.go_texts import base64_problem, read_time

from ..asking import Asking

NEARLY_A_TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d([.,]\d+)?(Z|[+-]\d\d:\d\d)"
LAYOUT = "2006-01-02T15:04:05Z07:00"


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05.999Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05,9Z", "2026-01-02T03:04:05Z"),
        ("2026-01-01T01:00:00+02:00", "2025-12-31T23:00:00Z"),
        ("2026-01-01T1:00:00Z", "2026-01-01T01:00:00Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
    ],
)
def test_a_time_comes_back_in_whole_seconds_of_utc(text: str, read: str) -> None:
    assert read_time(text) == read


def test_a_precise_time_comes_back_in_millionths() -> None:
    text = "2026-01-02T03:04:05.000006-01:00"
    assert read_time(text, micro=True) == "2026-01-02T04:04:05.000006Z"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", f' as "{LAYOUT}": cannot parse "" as "2006"'),
        ("2026", f' as "{LAYOUT}": cannot parse "" as "-"'),
        ("2026-1-01T00:00:00Z", f' as "{LAYOUT}": cannot parse "1-01T00:00:00Z" as "01"'),
        ("2026-01-02 03:04:05Z", f' as "{LAYOUT}": cannot parse " 03:04:05Z" as "T"'),
        ("2026-01-02T03:04:05", f' as "{LAYOUT}": cannot parse "" as "Z07:00"'),
        ("2026-13-02T03:04:05Z", ": month out of range"),
        ("2026-02-30T03:04:05Z", ": day out of range"),
        ("2026-01-02T24:04:05Z", ": hour out of range"),
        ("2026-01-02T03:04:61Z", ": second out of range"),
        ("2026-01-02T03:04:05+25:00", ": time zone offset hour out of range"),
        ("2026-01-02T03:04:05Z!", ': extra text: "!"'),
    ],
)
def test_what_is_no_time_is_told_as_go_tells_it(text: str, why: str) -> None:
    with pytest.raises(ValueError, match="parsing time") as raised:
        read_time(text)
    assert str(raised.value) == f'parsing time "{text}"{why}'


@given(st.text() | st.from_regex(NEARLY_A_TIME, fullmatch=True), st.booleans())
def test_no_text_is_more_than_refused(text: str, micro: bool) -> None:
    with suppress(ValueError):
        assert read_time(text, micro=micro).endswith("Z")


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("YQ==", None),
        ("YQ\n==\r\n", None),
        ("", None),
        ("x", 0),
        ("Not_Valid!", 3),
        ("YWJjZ", 4),
        ("AAECAw==x", 8),
        ("AAE=xyzw", 4),
        ("AA=x", 2),
        ("AA=", 3),
        ("A===", 1),
    ],
)
def test_bytes_are_in_base64(text: str, at: int | None) -> None:
    said = "" if at is None else f"illegal base64 data at input byte {at}"
    assert base64_problem(text) == said


def test_bytes_come_back_as_go_writes_them() -> None:
    secret = {"metadata": {"name": "a"}, "data": {"a": "AAECAwx="}}
    answer = Asking().answer("POST", "/api/v1/namespaces/default/secrets", secret)
    assert json.loads(answer.body)["data"] == {"a": "AAECAww="}


def test_an_object_with_a_time_that_is_none_is_not_read() -> None:
    lease = {"metadata": {"name": "a"}, "spec": {"renewTime": "2026-01-01T00:00:00Z"}}
    path = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
    answer = Asking().answer("POST", path, lease)
    assert answer.status == 400
    assert json.loads(answer.body)["message"] == (
        'Lease in version "v1" cannot be handled as a Lease: parsing time "2026-01-01T00:00:00Z" '
        'as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"'
    )
