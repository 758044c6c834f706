"""PersistentVolumeClaims and PersistentVolumes: what may change of them, and how that is shown
(K28).
"""

from __future__ import annotations

from typing import Any

from listwatch.testing.apiserver.validation.checks import checks_of
from listwatch.testing.apiserver.validation.value_diffs import value_diff

CLAIMS, VOLUMES = checks_of("persistentvolumeclaims"), checks_of("persistentvolumes")
BETA = "volume.beta.kubernetes.io/storage-class"


def claim(size: str = "1Gi", status: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    resources = {"requests": {"storage": size}}
    spec = {"accessModes": ["ReadWriteOnce"], "resources": resources, **spec}
    return {"metadata": {}, "spec": spec, "status": status or {"phase": "Pending"}}


def volume(**spec: Any) -> dict[str, Any]:
    plain = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteMany"]}
    return {"metadata": {"name": "v"}, "spec": {**plain, **spec}}


BOUND = {"phase": "Bound", "capacity": {"storage": "2Gi"}}


def fields(problems: Any) -> list[str]:
    return [problem.field for problem in problems]


def test_a_bound_claim_may_ask_for_more() -> None:
    old = claim("2Gi", BOUND)
    assert not list(CLAIMS.of_update(claim("3Gi", BOUND), old))
    assert fields(CLAIMS.of_update(claim("1Gi", BOUND), old)) == ["spec.resources.requests.storage"]


def test_a_claim_that_failed_to_grow_may_ask_for_less_again() -> None:
    old = claim("9Gi", BOUND)
    assert not list(CLAIMS.of_update(claim("3Gi", BOUND), old))
    assert fields(CLAIMS.of_update(claim("2Gi", BOUND), old)) == ["spec.resources.requests.storage"]


def test_a_claim_that_is_not_bound_stays_as_it_is_but_for_its_volume_and_class() -> None:
    old = claim()
    assert not list(CLAIMS.of_update(claim(volumeName="v"), old))
    assert not list(CLAIMS.of_update(claim(storageClassName="a"), old))
    assert fields(CLAIMS.of_update(claim("2Gi"), old)) == ["spec"]
    named = claim(volumeName="v", storageClassName="a")
    assert fields(CLAIMS.of_update(claim(volumeName="w", storageClassName="b"), named)) == ["spec"]


def test_what_changed_is_shown_with_the_names_that_it_has_inside() -> None:
    (problem,) = CLAIMS.of_update(claim(accessModes=["ReadOnlyMany"]), claim())
    assert problem.message == (
        "Forbidden: spec is immutable after creation except resources.requests and "
        "volumeAttributesClassName for bound claims\n"
        "@@ -1,6 +1,6 @@\n"
        " {\n"
        '  "AccessModes": [\n'
        '-  "ReadWriteOnce"\n'
        '+  "ReadOnlyMany"\n'
        "  ],\n"
        '  "Selector": null,\n'
        '  "Resources": {\n'
    )


def test_a_class_may_move_from_the_annotation_to_its_member() -> None:
    old = claim()
    old["metadata"] = {"annotations": {BETA: "a"}}
    assert not list(CLAIMS.of_update(claim(storageClassName="a"), old))
    found = CLAIMS.of_update(claim(storageClassName="b"), old)
    assert fields(found) == [f"metadata.annotations.{BETA}", "spec"]


def test_a_volume_has_one_source() -> None:
    assert fields(VOLUMES.create(volume())) == ["spec"]
    two = volume(hostPath={"path": "/a"}, nfs={"server": "s", "path": "/a"})
    assert fields(VOLUMES.create(two)) == ["spec.nfs"]


def test_the_source_of_a_volume_stays() -> None:
    found = VOLUMES.of_update(volume(hostPath={"path": "/b"}), volume(hostPath={"path": "/a"}))
    (problem,) = found
    assert problem.field == "spec.persistentvolumesource"
    assert '-  "Path": "/a",\n+  "Path": "/b",\n' in problem.message


def test_the_secret_to_expand_a_volume_by_may_come_later() -> None:
    source = {"driver": "a.b", "volumeHandle": "c"}
    secret = {"controllerExpandSecretRef": {"name": "a", "namespace": "b"}}
    old, new = volume(csi=source), volume(csi={**source, **secret})
    assert not list(VOLUMES.of_update(new, old))
    assert fields(VOLUMES.of_update(old, new)) == ["spec.persistentvolumesource"]


def test_the_nodes_of_a_volume_stay_but_for_labels_with_new_names() -> None:
    def on(key: str) -> dict[str, Any]:
        terms = [{"matchExpressions": [{"key": key, "operator": "Exists"}]}]
        affinity = {"required": {"nodeSelectorTerms": terms}}
        return volume(hostPath={"path": "/a"}, nodeAffinity=affinity)

    assert not list(VOLUMES.of_update(on("kubernetes.io/os"), on("beta.kubernetes.io/os")))
    found = VOLUMES.of_update(on("kubernetes.io/arch"), on("beta.kubernetes.io/os"))
    assert fields(found) == ["nodeAffinity"]


def test_what_differs_is_shown_as_it_would_be_sent() -> None:
    assert value_diff({"a": "<", "b": 1}, {"a": "&", "b": 1}) == (
        '@@ -1,4 +1,4 @@\n {\n- "a": "\\u003c",\n+ "a": "\\u0026",\n  "b": 1\n }\n'
    )
