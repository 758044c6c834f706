"""What the server writes into metadata by itself."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from random import Random
from typing import Any

import pytest

from listwatch.testing.apiserver.types.served import ResourceType
from listwatch.testing.apiserver.types.type_table import builtin_types
from listwatch.testing.apiserver.writing.metadata import (
    carry_over,
    generated_name,
    immutable_problems,
    new_uid,
    next_generation,
    timestamp,
)

TYPES = {found.plural: found for found in builtin_types()}
NOON = datetime(2026, 1, 1, 12, 0, 0, 999_999, tzinfo=UTC)


def custom(*, has_status: bool) -> ResourceType:
    return ResourceType(
        resource=TYPES["configmaps"].resource,
        storage="example.com/widgets",
        custom=True,
        generation=True,
        has_status=has_status,
    )


def test_times_are_whole_seconds_of_utc() -> None:
    assert timestamp(NOON) == "2026-01-01T12:00:00Z"
    assert timestamp(NOON, later=30) == "2026-01-01T12:00:30Z"
    elsewhere = NOON.astimezone(timezone(timedelta(hours=5)))
    assert timestamp(elsewhere) == "2026-01-01T12:00:00Z"


def test_uids_are_random_uuids_and_the_same_from_the_same_seed() -> None:
    assert new_uid(Random(1)) == new_uid(Random(1)) != new_uid(Random(2))
    assert new_uid(Random(1))[14] == "4"


def test_k28_a_generated_name_has_five_letters_more_and_63_at_most() -> None:
    name = generated_name("gen-", Random(1))
    assert len(name) == 9
    assert name.startswith("gen-")
    assert set(name[4:]) <= set("bcdfghjklmnpqrstvwxz2456789")
    assert len(generated_name("x" * 100, Random(1))) == 63


def test_k27_a_client_cannot_take_away_what_the_server_set() -> None:
    old = {
        "name": "a",
        "namespace": "n",
        "uid": "u",
        "resourceVersion": "7",
        "creationTimestamp": "C",
        "deletionTimestamp": "D",
        "deletionGracePeriodSeconds": 0,
    }
    new = {"name": "a", "generation": 9, "selfLink": "/x", "labels": {}, "creationTimestamp": "X"}
    carried = carry_over(TYPES["configmaps"], old, new)
    assert carried == old
    assert immutable_problems(old, carried) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ({"uid": "u"}, {"uid": "v"}, 'metadata.uid: Invalid value: "v": field is immutable'),
        (
            {},
            {"deletionGracePeriodSeconds": 4},
            "metadata.deletionGracePeriodSeconds: Invalid value: 4: field is immutable",
        ),
        (
            {"deletionTimestamp": "D", "finalizers": ["a.b/c"]},
            {"deletionTimestamp": "D", "finalizers": ["a.b/e", "a.b/c", "a.b/d"]},
            "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being "
            'deleted, found new finalizers []string{"a.b/d", "a.b/e"}',
        ),
    ],
)
def test_k34_what_an_update_must_not_do(
    old: dict[str, Any], new: dict[str, Any], said: str
) -> None:
    assert [str(found) for found in immutable_problems(old, new)] == [said]


@pytest.mark.parametrize(
    ("of", "old", "new", "counted"),
    [
        (TYPES["pods"], {"spec": {"a": 1}}, {"spec": {"a": 2}}, True),
        (TYPES["pods"], {"status": {"a": 1}}, {"status": {"a": 2}}, False),
        (TYPES["configmaps"], {"data": {"a": "1"}}, {"data": {"a": "2"}}, False),
        (TYPES["endpointslices"], {"endpoints": []}, {"endpoints": [1]}, True),
        (TYPES["endpointslices"], {"metadata": {}}, {"metadata": {"labels": {"a": "b"}}}, True),
        (
            TYPES["endpointslices"],
            {"metadata": {}},
            {"metadata": {"annotations": {"a": ""}}},
            False,
        ),
        (TYPES["replicasets"], {"metadata": {}}, {"metadata": {"annotations": {"a": "b"}}}, False),
        (TYPES["deployments"], {"metadata": {}}, {"metadata": {"annotations": {"a": "b"}}}, True),
        (TYPES["deployments"], {"metadata": {}}, {"metadata": {"labels": {"a": "b"}}}, False),
        (custom(has_status=True), {"spec": 1}, {"spec": 2}, True),
        (custom(has_status=True), {"other": 1}, {}, True),
        (custom(has_status=True), {"status": 1}, {"status": 2}, False),
        (custom(has_status=False), {"status": 1}, {"status": 2}, True),
    ],
)
def test_k27_generation_counts_changes_of_what_is_wanted(
    of: ResourceType, old: dict[str, Any], new: dict[str, Any], counted: bool
) -> None:
    before = {**old, "metadata": {"generation": 3, **old.get("metadata", {})}}
    after = {**new, "metadata": {"generation": 3, **new.get("metadata", {})}}
    assert next_generation(of, before, after) == (4 if counted else None)
