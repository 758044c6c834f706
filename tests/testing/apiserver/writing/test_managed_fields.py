"""metadata.managedFields: who owns what after which write (K9). The field sets are those that a
kube-apiserver v1.36 gave.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.testing.apiserver.writing.field_sets import FieldSet, difference, union
from listwatch.testing.apiserver.writing.managed_fields import Manager, after_create, after_update

NOON, LATER = "2026-01-01T12:00:00Z", "2026-01-01T13:00:00Z"


def manager(name: str = "one", *, custom: bool = False, subresource: str = "") -> Manager:
    return Manager(name, "v1", subresource, custom=custom)


def of_kind(value: dict[str, Any]) -> dict[str, Any]:
    """What tells which type an object is of."""
    return {"kind": "Pod" if "spec" in value else "ConfigMap", "metadata": {}}


def created(value: dict[str, Any], empty: dict[str, Any] | None = None, **of: Any) -> Any:
    entries = after_create(manager(**of), empty or {}, {**of_kind(value), **value}, NOON)
    return entries[0]["fieldsV1"] if entries else None


class Thing:
    """An object that several programs write to."""

    def __init__(self, value: dict[str, Any], by: str = "one", *, custom: bool = False) -> None:
        self.custom = custom
        self.value = {**of_kind(value), **value}
        self._set(after_create(manager(by, custom=custom), {}, self.value, NOON))

    def update(self, by: str, subresource: str = "", drop: str = "", **members: Any) -> None:
        new = {**self.value, **members}
        new.pop(drop, None)
        new["metadata"] = {
            "managedFields": self.value["metadata"].get("managedFields"),
            **members.get("metadata", {}),
        }
        writer = manager(by, custom=self.custom, subresource=subresource)
        entries = after_update(writer, self.value, new, LATER)
        self.value = new
        self._set(entries)

    def _set(self, entries: Any) -> None:
        self.value["metadata"] = {**self.value["metadata"], "managedFields": entries}

    @property
    def owned(self) -> dict[str, Any]:
        return {found["manager"]: found["fieldsV1"] for found in self.entries}

    @property
    def entries(self) -> list[dict[str, Any]]:
        entries: list[dict[str, Any]] = self.value["metadata"]["managedFields"]
        return entries


# What is owned at first


def test_k9_the_creator_owns_all_but_what_the_server_sets() -> None:
    metadata = {"name": "a", "uid": "u", "resourceVersion": "1", "labels": {"a": "b"}}
    fields = created({"kind": "ConfigMap", "metadata": metadata, "data": {"a": "1", "b": "2"}})
    assert fields == {
        "f:data": {".": {}, "f:a": {}, "f:b": {}},
        "f:metadata": {"f:labels": {".": {}, "f:a": {}}},
    }


def test_k9_nothing_but_a_name_has_no_owner() -> None:
    assert created({"metadata": {"name": "a"}}) is None
    assert created({"metadata": {"generateName": "a-"}}) == {"f:metadata": {"f:generateName": {}}}


def test_k9_an_entry_says_who_how_and_when() -> None:
    (entry,) = Thing({"data": {"a": "1"}}).entries
    assert list(entry.items())[:5] == [
        ("manager", "one"),
        ("operation", "Update"),
        ("apiVersion", "v1"),
        ("time", NOON),
        ("fieldsType", "FieldsV1"),
    ]


def test_k9_what_every_object_of_the_type_has_is_not_owned() -> None:
    pod = {
        "spec": {
            "containers": [{"name": "c", "image": "i", "resources": {}}],
            "restartPolicy": "Always",
        }
    }
    assert created(pod, {"spec": {"containers": None}, "status": {}}) == {
        "f:spec": {
            "f:containers": {
                'k:{"name":"c"}': {".": {}, "f:image": {}, "f:name": {}, "f:resources": {}}
            },
            "f:restartPolicy": {},
        }
    }
    assert created({"spec": {}}, {"spec": {}}) is None
    assert created({"spec": {}}, custom=True) == {"f:spec": {}}


def test_k9_lists_with_keys_are_owned_by_item() -> None:
    ports = [{"containerPort": 80, "protocol": "TCP"}]
    env = [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]
    fields = created({"spec": {"containers": [{"name": "c", "env": env, "ports": ports}]}})
    item = fields["f:spec"]["f:containers"]['k:{"name":"c"}']
    assert item["f:ports"] == {
        ".": {},
        'k:{"containerPort":80,"protocol":"TCP"}': {
            ".": {},
            "f:containerPort": {},
            "f:protocol": {},
        },
    }
    assert item["f:env"] == {
        ".": {},
        'k:{"name":"A"}': {".": {}, "f:name": {}, "f:valueFrom": {".": {}, "f:fieldRef": {}}},
    }


def test_k9_finalizers_are_owned_by_value_and_owners_by_uid() -> None:
    metadata = {"finalizers": ["a.b/c"], "ownerReferences": [{"uid": "u", "name": "n"}]}
    assert created({"metadata": metadata}) == {
        "f:metadata": {
            "f:finalizers": {".": {}, 'v:"a.b/c"': {}},
            "f:ownerReferences": {".": {}, 'k:{"uid":"u"}': {}},
        }
    }


@pytest.mark.parametrize(
    "value",
    [
        {"tolerations": [{"key": "a"}]},
        {"nodeSelector": {"a": "b"}},
        {"readinessGates": [{"conditionType": "a"}]},
        {"volumes": []},
    ],
)
def test_k9_the_rest_is_owned_as_a_whole(value: dict[str, Any]) -> None:
    (name,) = value
    assert created({"spec": value}) == {"f:spec": {".": {}, f"f:{name}": {}}}


def test_k9_lists_of_custom_objects_are_owned_as_a_whole() -> None:
    spec = {"containers": [{"name": "c"}], "selector": {"a": "b"}}
    assert created({"spec": spec}, custom=True) == {
        "f:spec": {".": {}, "f:containers": {}, "f:selector": {".": {}, "f:a": {}}}
    }


def test_k9_entries_that_a_client_sends_with_a_new_object_are_kept_if_they_make_sense() -> None:
    other = manager("other").entry({"f:data": {"f:q": {}}}, NOON)
    for sent, names in (([other], ["other", "one"]), ([{"manager": "x"}], ["one"])):
        entries = after_create(manager(), {}, {"metadata": {}, "data": {"a": "1"}}, LATER, sent)
        assert [found["manager"] for found in entries] == names


# What becomes of it


def test_k9_what_a_program_changes_is_its_own_then() -> None:
    thing = Thing({"data": {"a": "1"}})
    thing.update("two", data={"a": "2", "b": "3"})
    assert thing.owned == {"one": {"f:data": {}}, "two": {"f:data": {"f:a": {}, "f:b": {}}}}
    assert [found["time"] for found in thing.entries] == [NOON, LATER]


def test_k9_what_is_gone_belongs_to_nobody() -> None:
    thing = Thing({"data": {"a": "1"}})
    thing.update("two", data={"a": "2", "b": "3"})
    thing.update("three", data={"a": "2"})
    assert thing.owned == {"one": {"f:data": {}}, "two": {"f:data": {"f:a": {}}}}
    thing.update("three", drop="data")
    assert thing.owned == {}


def test_k9_a_change_of_the_own_fields_moves_the_time() -> None:
    thing = Thing({"data": {"a": "1"}})
    before = thing.owned["one"]
    thing.update("one", data={"a": "2"})
    assert thing.owned["one"] is before
    assert thing.entries[0]["time"] == LATER


def test_k9_no_change_moves_nothing() -> None:
    thing = Thing({"data": {"a": "1"}})
    before = thing.entries
    thing.update("one")
    assert thing.entries is before


def test_k9_the_status_has_an_entry_of_its_own() -> None:
    thing = Thing({"spec": {"hostname": "a"}})
    condition = {"type": "Ready", "status": "True"}
    thing.update("one", "status", status={"phase": "Running", "conditions": [condition]})
    assert [found.get("subresource") for found in thing.entries] == [None, "status"]
    assert thing.entries[1]["fieldsV1"]["f:status"]["f:conditions"] == {
        ".": {},
        'k:{"type":"Ready"}': {".": {}, "f:status": {}, "f:type": {}},
    }
    thing.update(
        "two",
        "status",
        status={"phase": "Running", "conditions": [{**condition, "status": "False"}]},
    )
    conditions = thing.owned["two"]["f:status"]["f:conditions"]
    assert conditions == {'k:{"type":"Ready"}': {"f:status": {}}}


def test_k9_items_that_go_take_their_paths_with_them() -> None:
    thing = Thing({"spec": {"containers": [{"name": "a"}, {"name": "b"}]}})
    thing.update("two", spec={"containers": [{"name": "b", "image": "i"}]})
    assert thing.owned == {
        "one": {
            "f:spec": {
                ".": {},
                "f:containers": {".": {}, 'k:{"name":"b"}': {".": {}, "f:name": {}}},
            }
        },
        "two": {"f:spec": {"f:containers": {'k:{"name":"b"}': {"f:image": {}}}}},
    }


def test_k9_an_object_without_owners_gets_none_by_updates() -> None:
    thing = Thing({})
    thing.update("two", data={"a": "1"})
    assert thing.owned == {}


@pytest.mark.parametrize(
    ("sent", "left"),
    [
        ([], []),
        ([{}], []),
        ([{"manager": "x"}], ["one"]),
        ([{"manager": "x", "operation": "Nonsense", "apiVersion": "v1"}], ["one"]),
        ([manager("x").entry({"f:data": {"f:b": {}}}, NOON)], ["x"]),
        ([manager("x").entry({"f:data": 5}, NOON)], ["one"]),
    ],
)
def test_k9_a_client_may_change_the_entries(sent: list[Any], left: list[str]) -> None:
    thing = Thing({"data": {"b": "1"}})
    thing.update("three", metadata={"managedFields": sent})
    assert [found["manager"] for found in thing.entries] == left


# The sets


LEAVES: st.SearchStrategy[dict[str, Any]] = st.just({})
SETS = st.recursive(
    LEAVES,
    lambda below: st.dictionaries(
        st.sampled_from(["f:a", "f:b", "f:c"]), below, min_size=1
    ).flatmap(lambda found: st.sampled_from([found, {".": {}, **found}])),
    max_leaves=10,
).filter(bool)


def paths(fields: FieldSet, at: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    """As plain sets of paths, against which the trees are checked."""
    found: set[tuple[str, ...]] = set()
    if at and (not fields or "." in fields):
        found.add(at)
    for name, below in fields.items():
        if name != ".":
            found |= paths(below, (*at, name))
    return found


def canonical(fields: FieldSet) -> bool:
    return list(fields) == sorted(fields) and all(
        name == "." or (set(below) != {"."} and canonical(below)) for name, below in fields.items()
    )


ROOTS = SETS.map(lambda found: {name: below for name, below in found.items() if name != "."})


@given(ROOTS, ROOTS)
def test_union_has_the_paths_of_both(one: FieldSet, other: FieldSet) -> None:
    joined = union(one, other)
    assert paths(joined) == paths(one) | paths(other)
    if paths(other) <= paths(one):
        assert joined is one


@given(ROOTS, ROOTS)
def test_difference_has_the_paths_of_the_first_alone(one: FieldSet, other: FieldSet) -> None:
    left = difference(one, other)
    assert paths(left or {}) == paths(one) - paths(other)
    if left:
        assert canonical(left) or not canonical(one)
    if not paths(one) & paths(other):
        assert left is one


ENTRY = {
    "manager": "m",
    "operation": "Update",
    "apiVersion": "v1",
    "time": NOON,
    "fieldsType": "FieldsV1",
    "fieldsV1": {"f:data": {"f:a": {}}},
}


@pytest.mark.parametrize(
    "fields",
    [1, "f:data", [], {"data": {}}, {"f:data": 1}, {"k:{": {}}, {"i:x": {}}, {"v:": {}}],
)
def test_k9_what_is_no_set_of_fields_changes_nothing(fields: Any) -> None:
    thing = Thing({"data": {"a": "1"}})
    before = thing.value["metadata"]["managedFields"]
    thing.update("two", metadata={"managedFields": [{**ENTRY, "fieldsV1": fields}]})
    assert thing.value["metadata"]["managedFields"] == before


def test_k9_an_entry_of_a_version_that_the_kind_has_not_is_dropped() -> None:
    thing = Thing({"data": {"a": "1"}})
    thing.update("two", metadata={"managedFields": [{**ENTRY, "apiVersion": "v9"}]})
    assert not thing.value["metadata"].get("managedFields")
