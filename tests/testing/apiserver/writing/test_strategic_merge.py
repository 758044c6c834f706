"""Strategic merge patches: which lists merge, by what, and what directives in a patch do. The
results are those that a kube-apiserver v1.36 gave.
"""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.testing.apiserver.types.fields import schemas
from listwatch.testing.apiserver.writing.strategic_merge import (
    StrategicMergeError,
    strategic_merge,
)

POD_SPEC = schemas()["io.k8s.api.core.v1.PodSpec"]
META = schemas()["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"]
A, B = {"name": "a", "image": "x"}, {"name": "b", "image": "y"}


def pod(containers: list[Any], patch: Any) -> Any:
    return strategic_merge(POD_SPEC, {"containers": containers}, patch)["containers"]


def refused(node: Any, old: Any, patch: Any) -> tuple[int, str]:
    with pytest.raises(StrategicMergeError) as caught:
        strategic_merge(node, old, patch)
    return caught.value.code, str(caught.value)


@pytest.mark.parametrize(
    ("old", "patch", "new"),
    [
        ([A, B], [{"name": "b", "image": "z"}], [A, {"name": "b", "image": "z"}]),
        ([A], [B], [B, A]),
        ([A, B], [{"name": "a", "$patch": "delete"}], [B]),
        ([A, B], [{"$patch": "replace"}, {"name": "c"}], [{"name": "c"}]),
        ([A], [{"name": "a", "image": None}], [{"name": "a"}]),
        ([A], [{"name": "a", "$patch": "replace", "tty": True}], []),
        ([A, B], [{"name": "b", "command": ["q"]}], [A, {**B, "command": ["q"]}]),
    ],
)
def test_containers_merge_by_name(old: list[Any], patch: list[Any], new: list[Any]) -> None:
    assert pod(old, {"containers": patch}) == new


def test_the_order_may_be_said() -> None:
    order = [{"name": "b"}, {"name": "a"}]
    assert pod([A, B], {"$setElementOrder/containers": order}) == [B, A]
    patch = {"$setElementOrder/containers": [{"name": "c"}, {"name": "a"}], "containers": [A]}
    assert pod([B], patch) == [A, B]


def test_other_lists_are_replaced() -> None:
    old = {"tolerations": [{"key": "a"}], "nodeSelector": {"a": "1"}}
    patch = {"tolerations": [{"key": "b"}], "nodeSelector": {"b": "2"}}
    assert strategic_merge(POD_SPEC, old, patch) == {
        "tolerations": [{"key": "b"}],
        "nodeSelector": {"a": "1", "b": "2"},
    }


def test_finalizers_are_a_set() -> None:
    old = {"finalizers": ["a", "b"]}
    assert strategic_merge(META, old, {"finalizers": ["c", "a"]}) == {"finalizers": ["c", "a", "b"]}
    gone = {"$deleteFromPrimitiveList/finalizers": ["a"]}
    assert strategic_merge(META, old, gone) == {"finalizers": ["b"]}
    assert strategic_merge(META, {}, gone) == {}


def test_the_source_of_a_volume_may_be_retained_alone() -> None:
    old = {"volumes": [{"name": "v", "emptyDir": {}}]}
    new = {"$retainKeys": ["name", "hostPath"], "name": "v", "hostPath": {"path": "/x"}}
    assert strategic_merge(POD_SPEC, old, {"volumes": [new]}) == {
        "volumes": [{"name": "v", "hostPath": {"path": "/x"}}]
    }


def test_what_is_new_loses_its_nulls_and_directives() -> None:
    patch = {"securityContext": {"runAsUser": None, "fsGroup": 1, "x": {"$patch": "delete"}}}
    assert strategic_merge(POD_SPEC, {}, patch) == {"securityContext": {"fsGroup": 1}}


@pytest.mark.parametrize(
    ("patch", "new"),
    [({"$patch": "delete"}, {}), ({"$patch": "replace", "b": "1"}, {"b": "1"}), ({}, {"a": "1"})],
)
def test_maps_may_be_replaced(patch: dict[str, Any], new: dict[str, Any]) -> None:
    old = {"nodeSelector": {"a": "1"}}
    assert strategic_merge(POD_SPEC, old, {"nodeSelector": patch}) == {"nodeSelector": new}


def test_neither_argument_is_changed() -> None:
    old, patch = {"containers": [dict(A)]}, {"containers": [{"name": "a", "image": "z"}]}
    strategic_merge(POD_SPEC, old, patch)
    assert old == {"containers": [A]}
    assert patch == {"containers": [{"name": "a", "image": "z"}]}


@pytest.mark.parametrize(
    ("patch", "code", "said"),
    [
        (
            {"containers": [{"image": "x"}]},
            500,
            "map: map[image:x] does not contain declared merge key: name",
        ),
        (
            {"containers": [{"name": "a", "$patch": "bogus"}]},
            500,
            "unknown patch type: bogus in map: map[$patch:bogus name:a]",
        ),
        ({"$patch": "bogus"}, 500, "unknown patch type: bogus in map: map[$patch:bogus]"),
        (
            {"containers": [{"name": "a", "$patch": "merge"}]},
            500,
            "merging lists cannot yet be specified in the patch",
        ),
        (
            {"containers": [{"$patch": "delete"}]},
            500,
            "map: map[$patch:delete] does not contain declared merge key: name",
        ),
        (
            {"$setElementOrder/containers": 5},
            500,
            "expected a []interface {}, but received a int64",
        ),
        ({"$setElementOrder": []}, 400, "invalid patch format of setElementOrder list"),
        ({"$retainKeys": 5}, 400, "invalid patch format of retainKeys"),
        ({"$retainKeys": ["x"], "hostNetwork": True}, 400, "invalid patch format of retainKeys"),
        (
            {"$deleteFromPrimitiveList": ["a"]},
            400,
            "invalid patch format of primitive list",
        ),
        (
            {"containers": [5]},
            500,
            "list element types are not identical: [[map[image:x name:a]] [5]]",
        ),
    ],
)
def test_patches_that_make_no_sense(patch: dict[str, Any], code: int, said: str) -> None:
    assert refused(POD_SPEC, {"containers": [A]}, patch) == (code, said)


def test_a_patch_must_follow_the_order_that_it_says_itself() -> None:
    patch = {"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}], "containers": [A, B]}
    code, said = refused(POD_SPEC, {"containers": [A]}, patch)
    assert code == 500
    assert said.startswith("The order in patch list:\n[map[image:x name:a] map[image:y name:b]]\n")
