"""What other objects say of a new one: priorities, default classes, runtime classes, growth."""

from __future__ import annotations

import pytest

from conformance.behaviour.admitting import a_claim, a_pod, known, said, tried, while_there
from conformance.behaviour.space import Space, refusal
from conformance.requests import Json
from conformance.waiting import until

_CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
_STORAGE_CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
_INGRESS_CLASSES = "/apis/networking.k8s.io/v1/ingressclasses"
_RUNTIME_CLASSES = "/apis/node.k8s.io/v1/runtimeclasses"


def test_a_pod_has_the_priority_of_its_class(space: Space) -> None:
    """PriorityClass: a pod gets its value and its preemptionPolicy."""
    name = f"class-{space.name}"
    obj = {"metadata": {"name": name}, "value": 7, "preemptionPolicy": "Never"}
    with while_there(space, _CLASSES, obj):
        pod = a_pod(priorityClassName=name)
        known(space, pod, lambda answer: answer.status == 201)
        spec = space.put(pod, "pods")["spec"]
        assert (spec["priority"], spec["preemptionPolicy"]) == (7, "Never")
        assert said(tried(space, a_pod("q", priorityClassName=name, priority=8))) == (
            "the integer value of priority (8) must not be provided in pod spec; priority "
            "admission controller computed 7 from the given PriorityClass name"
        )
        policy = a_pod("q", priorityClassName=name, preemptionPolicy="PreemptLowerPriority")
        assert said(tried(space, policy)) == (
            "the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in "
            "pod spec; priority admission controller computed Never from the given PriorityClass "
            "name"
        )
        assert tried(space, a_pod("q", priorityClassName=name, priority=7)).status == 201


def test_an_unknown_class_of_priority_is_refused(space: Space) -> None:
    """PriorityClass: a pod of one that is not there is 403; without one it has priority 0."""
    answer = space.ask("POST", space.path("pods"), a_pod(priorityClassName="none"))
    assert refusal(answer) == (
        403,
        "Forbidden",
        'pods "p" is forbidden: no PriorityClass with name none was found',
    )
    generated = {**a_pod(priorityClassName="none"), "metadata": {"generateName": "some-"}}
    answer = space.ask("POST", space.path("pods"), generated)
    assert answer.json()["message"].startswith('pods "some-" is forbidden: ')
    assert answer.json()["details"] == {"name": "some-", "kind": "pods"}
    spec = space.put(a_pod(), "pods")["spec"]
    assert (spec["priority"], spec["preemptionPolicy"]) == (0, "PreemptLowerPriority")
    assert "priorityClassName" not in spec


@pytest.mark.parametrize(
    ("name", "value"),
    [("system-cluster-critical", 2000000000), ("system-node-critical", 2000001000)],
)
def test_the_systems_own_classes_are_there(space: Space, name: str, value: int) -> None:
    """PriorityClass: system-cluster-critical and system-node-critical exist from the start."""
    found = space.server.get(f"{_CLASSES}/{name}")
    assert (found["value"], found["preemptionPolicy"]) == (value, "PreemptLowerPriority")
    assert found["metadata"]["managedFields"][0]["manager"] == "kube-apiserver"
    assert space.put(a_pod(priorityClassName=name), "pods")["spec"]["priority"] == value


def test_there_is_one_default_class_of_priority(space: Space) -> None:
    """PriorityClass: globalDefault is for pods without a class; a second one is 403."""
    name = f"default-{space.name}"
    with while_there(
        space, _CLASSES, {"metadata": {"name": name}, "value": 9, "globalDefault": True}
    ):
        known(space, a_pod(), lambda answer: answer.json()["spec"].get("priority") == 9)
        spec = space.put(a_pod(), "pods")["spec"]
        assert (spec["priorityClassName"], spec["priority"]) == (name, 9)
        other = {"metadata": {"name": f"other-{space.name}"}, "value": 1, "globalDefault": True}
        answer = space.ask("POST", _CLASSES, other)
        text = f"PriorityClass {name} is already marked as default. Only one default can exist"
        assert said(answer) == text
        assert answer.json()["details"]["group"] == "scheduling.k8s.io"
        again = space.ask(
            "PATCH",
            f"{_CLASSES}/{name}",
            {"description": "Still."},
            content_type="application/merge-patch+json",
        )
        assert again.status == 200
    known(space, a_pod("q"), lambda answer: answer.json()["spec"]["priority"] == 0)


def test_a_claim_gets_the_default_class(space: Space) -> None:
    """StorageClass: a claim that names none gets the default one; an empty name is a name."""
    name = f"class-{space.name}"
    mark = {"storageclass.kubernetes.io/is-default-class": "true"}
    obj = {"metadata": {"name": name, "annotations": mark}, "provisioner": "example.com/p"}
    with while_there(space, _STORAGE_CLASSES, obj):
        plural = "persistentvolumeclaims"
        known(space, a_claim(), lambda a: a.json()["spec"].get("storageClassName") == name, plural)
        made = space.put(a_claim(), plural)
        assert made["spec"]["storageClassName"] == name
        fields = made["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]
        assert "f:storageClassName" not in fields
        assert (
            space.put(a_claim("d", storageClassName=""), plural)["spec"]["storageClassName"] == ""
        )
    known(space, a_claim("e"), lambda a: "storageClassName" not in a.json()["spec"], plural)


def test_an_ingress_gets_the_default_class(space: Space) -> None:
    """IngressClass: an Ingress that names none gets the default one, unless an annotation does."""
    name = f"class-{space.name}"
    mark = {"ingressclass.kubernetes.io/is-default-class": "true"}
    obj = {"metadata": {"name": name, "annotations": mark}, "spec": {"controller": "example.com/c"}}
    backend = {"service": {"name": "s", "port": {"number": 80}}}
    ingress: Json = {"metadata": {"name": "i"}, "spec": {"defaultBackend": backend}}
    old = {"metadata": {"name": "o", "annotations": {"kubernetes.io/ingress.class": "x"}}}
    with while_there(space, _INGRESS_CLASSES, obj):
        plural = "ingresses"
        known(space, ingress, lambda a: a.json()["spec"].get("ingressClassName") == name, plural)
        assert space.put(ingress, plural)["spec"]["ingressClassName"] == name
        assert "ingressClassName" not in space.put({**ingress, **old}, plural)["spec"]
    other = {**ingress, "metadata": {"name": "j"}}
    known(space, other, lambda a: "ingressClassName" not in a.json()["spec"], plural)


def test_a_claim_grows_where_its_class_lets_it(space: Space) -> None:
    """StorageClass: only bound claims of a class with allowVolumeExpansion grow; 403 otherwise."""
    classes = {f"grows-{space.name}": True, f"stays-{space.name}": False}
    plural = "persistentvolumeclaims"
    for name, grows in classes.items():
        obj = {
            "metadata": {"name": name},
            "provisioner": "example.com/p",
            "allowVolumeExpansion": grows,
        }
        space.server.create(_STORAGE_CLASSES, obj)
    for name, claim in zip(classes, ("a", "b"), strict=True):
        space.put(a_claim(claim, storageClassName=name), plural)
    more = {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}
    merge = {"content_type": "application/merge-patch+json"}
    answer = space.ask("PATCH", space.path(plural, "a"), more, **merge)
    assert answer.status == 422  # it is not bound, so nothing of it may change
    for claim in ("a", "b"):
        status = {"status": {"phase": "Bound", "capacity": {"storage": "1Gi"}}}
        space.ask("PATCH", space.path(plural, claim) + "/status", status, **merge)
    until(
        lambda: space.ask("PATCH", space.path(plural, "a"), more, **merge).status == 200,
        what="a claim to grow",
    )
    assert said(space.ask("PATCH", space.path(plural, "b"), more, **merge)) == (
        "only dynamically provisioned pvc can be resized and the storageclass that provisions the "
        "pvc must support resize"
    )
    less = {"spec": {"resources": {"requests": {"storage": "1Gi"}}}}
    answer = space.ask("PATCH", space.path(plural, "a"), less, **merge)
    text = "spec.resources.requests.storage: Forbidden: field can not be less than status.capacity"
    assert answer.status == 422
    assert answer.json()["message"].endswith(text)


def test_a_pod_has_what_its_runtime_class_takes(space: Space) -> None:
    """RuntimeClass: overhead, nodeSelector and tolerations are added to pods; unknown ones 403."""
    name = f"class-{space.name}"
    tolerated = {"key": "a", "operator": "Exists", "effect": "NoSchedule"}
    obj = {
        "metadata": {"name": name},
        "handler": "h",
        "overhead": {"podFixed": {"cpu": "250m"}},
        "scheduling": {"nodeSelector": {"a": "b"}, "tolerations": [tolerated]},
    }
    with while_there(space, _RUNTIME_CLASSES, obj):
        pod = a_pod(runtimeClassName=name)
        known(space, pod, lambda answer: answer.status == 201)
        spec = space.put(pod, "pods")["spec"]
        assert spec["overhead"] == {"cpu": "250m"}
        assert spec["nodeSelector"] == {"a": "b"}
        assert [found["key"] for found in spec["tolerations"]] == [
            "node.kubernetes.io/not-ready",
            "node.kubernetes.io/unreachable",
            "a",
        ]
        other = a_pod("q", runtimeClassName=name, nodeSelector={"a": "c"})
        assert said(tried(space, other)) == (
            "conflict: runtimeClass.scheduling.nodeSelector[a] = b; pod.spec.nodeSelector[a] = c"
        )
        other = a_pod("q", runtimeClassName=name, overhead={"cpu": "1"})
        assert said(tried(space, other)) == (
            "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
        )
    assert said(tried(space, a_pod("q", runtimeClassName="none"))) == (
        'pod rejected: RuntimeClass "none" not found'
    )
    assert said(tried(space, a_pod("q", overhead={"cpu": "1"}))) == (
        "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
    )
