from __future__ import annotations

import json
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.api import BUILTIN_RESOURCES
from listwatch.cli.columns import COLUMNS, cells, columns_for
from tests.support.vectors import vector

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


def _row(group: str, kind: str, obj: dict[str, Any]) -> dict[str, str]:
    columns = columns_for(group, kind, with_namespace=False)
    row = cells(columns, obj, NOW)
    return dict(zip((column.header for column in columns), row, strict=True))


def test_a_kind_without_columns_of_its_own_has_name_and_age() -> None:
    widget = {"metadata": {"name": "w", "creationTimestamp": "2026-11-29T11:58:00Z"}}
    assert _row("example.com", "Widget", widget) == {"NAME": "w", "AGE": "2m"}


def test_a_kind_of_the_same_name_in_another_group_is_another_kind() -> None:
    assert list(_row("serving.knative.dev", "Service", {})) == ["NAME", "AGE"]


def test_the_namespace_comes_first_where_it_is_wanted() -> None:
    columns = columns_for("", "Pod", with_namespace=True)
    assert cells(columns, {"metadata": {"name": "a", "namespace": "ns"}}, NOW)[:2] == ["ns", "a"]


def test_every_kind_in_the_table_is_one_that_servers_have() -> None:
    known = {(resource.group, resource.kind) for resource in BUILTIN_RESOURCES}
    assert set(COLUMNS) <= known


# What a real server shows of the same objects, but for the columns that only -o wide has.
@pytest.mark.parametrize(
    ("name", "ours_alone"),
    [
        ("pods", {"NODE"}),
        ("nodes", {"INTERNAL-IP"}),
        ("namespaces", set()),
        ("configmaps", set()),
        ("secrets", set()),
        ("services", set()),
        ("events", set()),
        ("events-k8s-io", set()),
        ("deployments", set()),
        ("replicasets", set()),
        ("jobs", set()),
        ("leases", set()),
        ("endpointslices", set()),
        ("crds", set()),
    ],
)
def test_the_rows_are_those_of_a_servers_own_table(name: str, ours_alone: set[str]) -> None:
    recording = vector(f"k-list-{name}-table")
    table = json.loads(recording.body)
    now = parsedate_to_datetime(recording.headers.get("Date") or "")
    listed = json.loads(vector(f"k-list-{name}").body)
    objects = {
        (item["metadata"].get("namespace"), item["metadata"]["name"]): item
        for item in listed["items"]
    }
    group, _, _ = listed["apiVersion"].rpartition("/")
    columns = columns_for(group, listed["kind"].removesuffix("List"), with_namespace=False)
    shown = [at for at, one in enumerate(table["columnDefinitions"]) if one["priority"] == 0]
    headers = [table["columnDefinitions"][at]["name"].upper() for at in shown]
    assert [each.header for each in columns if each.header not in ours_alone] == headers
    compared = 0
    for row in table["rows"]:
        metadata = row["object"]["metadata"]
        obj = objects.get((metadata.get("namespace"), metadata["name"]))
        if obj is None or obj["metadata"]["resourceVersion"] != metadata["resourceVersion"]:
            continue  # the two lists are of two moments
        compared += 1
        ours = dict(zip((each.header for each in columns), cells(columns, obj, now), strict=True))
        theirs = [str(row["cells"][at]) for at in shown]
        assert [ours[header] for header in headers] == theirs
    assert compared


_PARTS = st.sampled_from(
    [
        *("metadata", "spec", "status", "conditions", "containerStatuses", "initContainers"),
        *("state", "waiting", "terminated", "reason", "ports", "addresses", "labels", "data"),
        *("subsets", "creationTimestamp", "replicas", "name", "type", "endpoints", "rules"),
    ]
)
_ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2**40) | st.floats() | st.text(max_size=5),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(_PARTS, children, max_size=4),
    max_leaves=20,
)


@given(obj=st.dictionaries(_PARTS, _ANY))
def test_no_object_however_wrong_is_too_much(obj: dict[str, Any]) -> None:
    for group, kind in COLUMNS:
        for cell in _row(group, kind, obj).values():
            assert cell.isprintable()


def test_what_a_terminal_would_obey_is_shown_instead() -> None:
    event = {"message": "\x1b[2Jfirst\nsecond", "involvedObject": {"kind": "Pod", "name": "a"}}
    assert _row("", "Event", event)["MESSAGE"] == "^[[2Jfirst..."
