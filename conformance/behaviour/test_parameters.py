"""Parameters and members that are not what they are to be: each has an answer of its own."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.behaviour.space import Space, refusal, with_query
from conformance.objects import config_map

_STRATEGIC = "application/strategic-merge-patch+json"


@pytest.mark.parametrize(
    ("timeout", "wrong"),
    [
        ("x", 'invalid duration "x"'),
        ("5", 'missing unit in duration "5"'),
        ("1d", 'unknown unit "d" in duration "1d"'),
    ],
)
def test_a_timeout_is_a_duration(space: Space, timeout: str, wrong: str) -> None:
    """400 before anything else of a request is looked at, whatever its path; not for watches."""
    for path in (space.path(), "/version", "/nosuch"):
        answer = space.ask("GET", with_query(path, timeout=timeout))
        text = f"invalid timeout specified in the request URL - time: {wrong}"
        assert refusal(answer) == (400, "BadRequest", text)
    watch = space.path(watch=1, timeoutSeconds=1, timeout=timeout)
    assert space.ask("GET", watch).status == 200


def test_a_dry_run_is_all_or_nothing(space: Space) -> None:
    """An empty dryRun is 422, for deletions, too (K28)."""
    space.put(config_map("a"))
    for method, path, body in (
        ("POST", space.path(dryRun=""), config_map("b")),
        ("PUT", space.path(name="a", dryRun=""), config_map("a")),
        ("DELETE", space.path(name="a", dryRun=""), None),
    ):
        assert space.ask(method, path, body).status == 422
    assert space.ask("DELETE", space.path(name="a"), {"dryRun": ""}).status == 400


_ENTRY = {
    "manager": "m",
    "operation": "Update",
    "apiVersion": "v1",
    "fieldsType": "FieldsV1",
    "fieldsV1": {"f:data": {"f:x": {}}},
}


@pytest.mark.parametrize(
    ("name", "value", "go_type"),
    [
        ("manager", 1, "number into Go struct field {}manager of type string"),
        ("operation", 1, "number into Go struct field {}operation of type v1.ManagedFieldsOp"),
        ("time", {}, "object into Go struct field {}time of type string"),
    ],
)
def test_managed_fields_have_types(space: Space, name: str, value: Any, go_type: str) -> None:
    """A member of a wrong type is 400; a set of fields that is none is passed over (K9)."""
    metadata = {"name": "a", "managedFields": [{**_ENTRY, name: value}]}
    code, _, message = refusal(space.ask("POST", space.path(), {"metadata": metadata}))
    assert code == 400
    assert go_type.format("ManagedFieldsEntry.metadata.managedFields.") in message


@pytest.mark.parametrize("fields", [1, "x", [], {"x": {}}, {"f:data": 1}, {"k:{": {}}])
def test_what_is_no_set_of_fields_is_passed_over(space: Space, fields: Any) -> None:
    """The object is made, and its entries are the server's (K9)."""
    metadata = {"name": "a", "managedFields": [{**_ENTRY, "fieldsV1": fields}]}
    answer = space.ask("POST", space.path(), {"metadata": metadata, "data": {"x": "1"}})
    assert answer.status == 201
    [entry] = answer.json()["metadata"]["managedFields"]
    assert entry["manager"] != "m"


@pytest.mark.parametrize(
    ("patch", "why"),
    [
        ({"kind": 1}, "cannot convert int64 to string"),
        ({"kind": {}}, "unrecognized type: string"),
        ({"apiVersion": True}, "unrecognized type: string"),
        ({"data": []}, "cannot restore map from slice"),
        ({"metadata": {"managedFields": {}}}, "cannot restore slice from map"),
        ({"metadata": {"managedFields": [1]}}, "cannot restore struct from: int64"),
    ],
)
def test_a_strategic_patch_of_wrong_types_is_refused(space: Space, patch: Any, why: str) -> None:
    """422, in the words of the reader of such patches (K30)."""
    space.put(config_map("a"))
    answer = space.ask("PATCH", space.path(name="a"), patch, content_type=_STRATEGIC)
    code, _, message = refusal(answer)
    assert code == 422
    assert message.endswith(why)


def test_copies_of_a_json_patch_add_three_megabytes_at_most(space: Space) -> None:
    """422 for more: a patch that doubles a document again and again ends (K30)."""
    space.put(config_map("a", x="1"))
    add = {"op": "add", "path": "/data/y", "value": "x" * 1_048_000}
    copy = {"op": "copy", "from": "/data/y", "path": "/data/y"}
    kind = "application/json-patch+json"
    for times, code in ((3, 200), (4, 422)):
        path = space.path(name="a", dryRun="All")
        assert space.ask("PATCH", path, [add, *[copy] * times], content_type=kind).status == code
