"""What a claim is made of is said twice, and what only the newer member can say is dropped from
the older one.
"""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.testing.apiserver.defaulting.claim_defaults import with_sources

CLAIM = {"kind": "PersistentVolumeClaim", "name": "a"}
OWN = {"apiGroup": "example.com", "kind": "Own", "name": "a"}


def sources(before: dict[str, Any] | None = None, **spec: Any) -> tuple[Any, Any]:
    made = with_sources(spec, before)
    return made.get("dataSource"), made.get("dataSourceRef")


def test_each_member_is_made_of_the_other() -> None:
    assert sources(dataSource=CLAIM) == (CLAIM, CLAIM)
    assert sources(dataSourceRef=OWN) == (OWN, OWN)
    assert sources() == (None, None)


def test_what_was_never_a_source_is_dropped_from_the_older_member() -> None:
    assert sources(dataSource=OWN) == (None, None)
    assert sources(dataSource=OWN, dataSourceRef=CLAIM) == (OWN, CLAIM)
    assert sources({"dataSource": OWN}, dataSource=OWN) == (OWN, OWN)


@pytest.mark.parametrize(("before", "kept"), [({}, False), ({"dataSourceRef": OWN}, True)])
def test_a_source_in_another_namespace_is_kept_where_there_was_one(
    before: dict[str, Any], kept: bool
) -> None:
    elsewhere = {**OWN, "namespace": "other"}
    assert sources(before, dataSourceRef=elsewhere) == (None, elsewhere if kept else None)


def test_what_is_given_is_not_changed() -> None:
    spec = {"dataSource": CLAIM}
    with_sources(spec)
    assert spec == {"dataSource": CLAIM}
