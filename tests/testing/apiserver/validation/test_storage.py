"""Classes of storage, drivers, attachments: what may change of them, odd paths (K28)."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.testing.apiserver.validation.checks import checks_of

KINDS = {
    "StorageClass": "storageclasses",
    "VolumeAttributesClass": "volumeattributesclasses",
    "VolumeAttachment": "volumeattachments",
    "CSIDriver": "csidrivers",
    "CSINode": "csinodes",
    "CSIStorageCapacity": "csistoragecapacities",
}
CHECKS = {kind: checks_of(f"storage.k8s.io/{plural}") for kind, plural in KINDS.items()}


def storage_class(**more: Any) -> dict[str, Any]:
    return {
        "provisioner": "example.com/p",
        "reclaimPolicy": "Delete",
        "volumeBindingMode": "Immediate",
        **more,
    }


def fields(problems: Any) -> list[str]:
    return [problem.field for problem in problems]


def test_a_class_stays_what_it_is() -> None:
    checks = CHECKS["StorageClass"]
    new = storage_class(
        provisioner="example.com/q",
        reclaimPolicy="Retain",
        volumeBindingMode="WaitForFirstConsumer",
        parameters={"a": "b"},
    )
    assert fields(checks.of_update(new, storage_class())) == [
        "parameters",
        "provisioner",
        "reclaimPolicy",
        "volumeBindingMode",
    ]
    grows = storage_class(allowVolumeExpansion=True, mountOptions=["ro"])
    assert not list(checks.of_update(grows, storage_class()))


@pytest.mark.parametrize("count", [512, 513])
def test_parameters_are_few(count: int) -> None:
    parameters = {f"p{at}": "" for at in range(count)}
    found = CHECKS["StorageClass"].create(storage_class(parameters=parameters))
    assert fields(found) == ["parameters"] * (count - 512)


@pytest.mark.parametrize("size", [256 * 1024, 256 * 1024 + 1])
def test_parameters_are_small(size: int) -> None:
    found = CHECKS["StorageClass"].create(storage_class(parameters={"k": "x" * (size - 1)}))
    assert fields(found) == ["parameters"] * (size - 256 * 1024)


def test_the_same_topology_twice_is_told() -> None:
    def term(*values: str) -> dict[str, Any]:
        return {"matchLabelExpressions": [{"key": "zone", "values": list(values)}]}

    terms = [term("a", "b"), term("b", "a"), term("a")]
    found = CHECKS["StorageClass"].create(storage_class(allowedTopologies=terms))
    assert fields(found) == ["allowedTopologies[1].matchLabelExpressions"]


def test_a_driver_of_a_node_may_change_how_much_it_takes_and_nothing_else() -> None:
    checks = CHECKS["CSINode"]

    def node(**driver: Any) -> dict[str, Any]:
        return {"spec": {"drivers": [{"name": "a.b", "nodeID": "n", **driver}]}}

    assert not list(checks.of_update(node(allocatable={"count": 5}), node()))
    assert fields(checks.of_update(node(nodeID="m"), node())) == ["spec.drivers"]
    assert not list(checks.of_update(node(name="c.d", nodeID="m"), node()))


def test_an_attachment_is_never_another() -> None:
    def attachment(node: str) -> dict[str, Any]:
        source = {"persistentVolumeName": "v"}
        return {"spec": {"attacher": "a.b", "nodeName": node, "source": source}}

    (problem,) = CHECKS["VolumeAttachment"].of_update(attachment("b"), attachment("a"))
    assert problem.message == (
        'Invalid value: {"Attacher":"a.b","Source":{"PersistentVolumeName":"v",'
        '"InlineVolumeSpec":null},"NodeName":"b"}: field is immutable'
    )


def test_a_driver_is_warned_of_tokens_when_they_are_new() -> None:
    checks = CHECKS["CSIDriver"]
    plain: dict[str, Any] = {"spec": {}}
    asking = {"spec": {"tokenRequests": [{"audience": "a"}]}}
    assert len(list(checks.warnings(asking))) == 1
    assert not list(checks.of_update_warnings(asking, asking))
    assert len(list(checks.of_update_warnings(asking, plain))) == 1
