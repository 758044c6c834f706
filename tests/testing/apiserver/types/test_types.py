"""What is known of each type: its place, its order, its field selectors, its warnings."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.api import APIResource
from listwatch.testing.apiserver.types.served import ResourceType, TypeRegistry
from listwatch.testing.apiserver.types.type_table import builtin_types

TYPES = TypeRegistry(builtin_types())


def find(address: str) -> ResourceType:
    group, version, plural = ("/" + address).rsplit("/", 2)
    found = TYPES.find(group.strip("/"), version, plural)
    assert found is not None, address
    return found


WIDGETS = ResourceType(
    resource=APIResource(
        group="example.com", version="v1", name="widgets", kind="Widget", namespaced=True
    ),
    storage="example.com/widgets",
    custom=True,
)


@pytest.mark.parametrize(
    ("address", "traits"),
    [
        # generation, DELETE answers the object, PUT needs an RV, PUT creates (K27, K33)
        ("v1/pods", (True, True, False, False)),
        ("v1/nodes", (False, False, False, False)),
        ("v1/namespaces", (False, True, False, False)),
        ("v1/services", (False, True, False, True)),
        ("v1/events", (False, False, False, True)),
        ("v1/serviceaccounts", (False, True, False, False)),
        ("v1/persistentvolumeclaims", (False, True, False, False)),
        ("apps/v1/deployments", (True, False, False, False)),
        ("batch/v1/jobs", (True, True, False, False)),
        ("coordination.k8s.io/v1/leases", (False, False, True, True)),
        ("policy/v1/poddisruptionbudgets", (True, False, True, False)),
        ("apiextensions.k8s.io/v1/customresourcedefinitions", (True, True, True, False)),
        ("apiregistration.k8s.io/v1/apiservices", (False, False, True, False)),
        ("rbac.authorization.k8s.io/v1/roles", (False, False, False, True)),
    ],
)
def test_has_the_traits_of_the_real_type(address: str, traits: tuple[bool, ...]) -> None:
    found = find(address)
    assert traits == (
        found.generation,
        found.delete_returns_object,
        found.put_needs_rv,
        found.put_creates,
    )


@pytest.mark.parametrize(
    ("address", "refusal"),
    [
        (
            "v1/configmaps",
            '"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
        ),
        ("v1/pods", "field label not supported: spec.x"),
        ("batch/v1/jobs", 'field label "spec.x" not supported for Job'),
        (
            "resource.k8s.io/v1/resourceslices",
            "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: spec.x",
        ),
    ],
)
def test_refuses_a_field_selector_in_the_words_of_its_type(address: str, refusal: str) -> None:
    # K39
    assert find(address).field_refusal("spec.x") == refusal


def test_a_custom_resource_refuses_other_fields_briefly() -> None:
    assert WIDGETS.field_refusal("spec.x") == "field label not supported: spec.x"


def test_nodes_and_namespaces_are_not_selected_by_namespace() -> None:
    # K38
    assert find("v1/nodes").selectable == {"metadata.name", "spec.unschedulable"}
    assert find("v1/namespaces").selectable == {"metadata.name", "status.phase"}
    assert "metadata.namespace" in find("v1/persistentvolumes").selectable


def test_events_of_both_groups_are_one_collection_without_a_watch_cache() -> None:
    # K12
    old, new = find("v1/events"), find("events.k8s.io/v1/events")
    assert old.storage == new.storage
    assert (old.watch_cache, new.watch_cache) == (False, False)
    assert find("v1/pods").watch_cache


def test_an_event_is_shown_in_the_form_of_the_group_that_was_asked() -> None:
    old, new = find("v1/events"), find("events.k8s.io/v1/events")
    stored = old.ordered(
        {
            "metadata": {"name": "e"},
            "message": "hello",
            "involvedObject": {"kind": "Pod", "name": "web"},
            "count": 3,
        }
    )
    shown = new.shown(stored)
    assert shown["apiVersion"] == "events.k8s.io/v1"
    assert (shown["note"], shown["deprecatedCount"]) == ("hello", 3)
    assert shown["regarding"] == {"kind": "Pod", "name": "web"}
    assert old.shown(shown) == stored
    assert old.shown(stored) is stored


def test_an_autoscaler_is_shown_in_the_form_of_the_version_that_is_asked_for() -> None:
    first = find("autoscaling/v1/horizontalpodautoscalers")
    second = find("autoscaling/v2/horizontalpodautoscalers")
    assert first.storage == second.storage
    target = {"type": "Utilization", "averageUtilization": 50}
    metric = {"type": "Resource", "resource": {"name": "cpu", "target": target}}
    stored = second.ordered({"metadata": {"name": "h"}, "spec": {"metrics": [metric]}})
    shown = first.shown(stored)
    assert shown["spec"]["targetCPUUtilizationPercentage"] == 50
    assert second.shown(shown)["spec"]["metrics"] == [metric]
    assert second.shown(stored) is stored


def test_what_a_revision_holds_stays_as_it_was_sent() -> None:
    value = {"metadata": {"name": "r"}, "data": {"b": 1, "a": 2}, "revision": 1}
    revision = find("apps/v1/controllerrevisions").ordered(value)
    assert list(revision["data"]) == ["b", "a"]
    assert list(find("v1/configmaps").ordered(value)["data"]) == ["a", "b"]


def test_a_built_in_object_is_written_in_the_order_of_its_type() -> None:
    # K7
    value = {
        "status": {"phase": "Running"},
        "spec": {"z": 1, "a": 2},
        "nosuch": 1,
        "metadata": {
            "labels": {"b": "2", "a": "1"},
            "uid": "u",
            "namespace": "n",
            "name": "web",
            "creationTimestamp": None,
            "annotations": {},
            "deletionGracePeriodSeconds": 0,
        },
        "apiVersion": "other",
    }
    written = json.dumps(find("v1/pods").ordered(value))
    assert written == json.dumps(
        {
            "kind": "Pod",
            "apiVersion": "v1",
            "metadata": {
                "name": "web",
                "namespace": "n",
                "uid": "u",
                "deletionGracePeriodSeconds": 0,
                "labels": {"a": "1", "b": "2"},
            },
            "spec": {"z": 1, "a": 2},
            "status": {"phase": "Running"},
        }
    )


def test_what_an_object_lacks_is_written_as_the_zero_of_its_type() -> None:
    pod = find("v1/pods")
    assert pod.ordered({})["status"] == {}
    assert find("apps/v1/replicasets").ordered({"spec": {}})["status"] == {"replicas": 0}
    assert list(find("v1/secrets").ordered({"type": "Opaque"})) == [
        "kind",
        "apiVersion",
        "metadata",
        "type",
    ]
    assert pod.zero_members == {"spec": {"containers": None}, "status": {}}


def test_the_zero_of_a_type_is_safe_from_those_who_change_an_object() -> None:
    pod = find("v1/pods")
    pod.ordered({})["spec"]["containers"] = []
    assert pod.ordered({})["spec"] == {"containers": None}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def _is_sorted(value: Any) -> bool:
    if isinstance(value, dict):
        return list(value) == sorted(value) and all(map(_is_sorted, value.values()))
    return all(map(_is_sorted, value)) if isinstance(value, list) else True


@given(st.dictionaries(st.text(), json_values, max_size=4))
def test_a_custom_object_is_sorted_throughout_and_loses_nothing(value: dict[str, Any]) -> None:
    ordered = WIDGETS.ordered(value)
    assert _is_sorted(ordered)
    assert ordered == {**value, "kind": "Widget", "apiVersion": "example.com/v1"}


def test_deprecated_types_warn() -> None:
    # K44
    assert find("v1/endpoints").warning == (
        "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"
    )
    assert find("v1/componentstatuses").warning == "v1 ComponentStatus is deprecated in v1.19+"


def test_the_registry_knows_groups_as_long_as_they_have_types() -> None:
    types = TypeRegistry(builtin_types())
    before = types.generation
    types.add(WIDGETS)
    assert types.find("example.com", "v1", "widgets") is WIDGETS
    assert types.find_kind("example.com/v1", "Widget") is WIDGETS
    assert types.group_exists("example.com", "v1")
    assert not types.is_builtin_group("example.com")
    types.remove(WIDGETS)
    assert types.find("example.com", "v1", "widgets") is None
    assert not types.group_exists("example.com", "v1")
    assert types.generation == before + 2
    assert types.is_builtin_group("apps")
    assert types.is_builtin_group("")


def test_a_type_that_is_added_again_takes_its_place() -> None:
    types = TypeRegistry([WIDGETS])
    again = ResourceType(resource=WIDGETS.resource, storage=WIDGETS.storage, custom=True)
    types.add(again)
    assert list(types) == [again]
    types.remove(again)
    assert not types.group_exists("example.com", "v1")


def test_a_type_that_is_only_asked_is_not_stored() -> None:
    assert not find("authentication.k8s.io/v1/tokenreviews").is_stored
    assert find("v1/pods").is_stored
