"""LimitRanges: what they add to pods, and what they allow of pods and claims."""

from __future__ import annotations

import pytest

from conformance.behaviour.admitting import a_claim, a_pod, known, said, tried
from conformance.behaviour.space import Space, refusal
from conformance.requests import Json


def _limits(space: Space, *limits: Json) -> None:
    """Have these limits."""
    space.put({"metadata": {"name": "l"}, "spec": {"limits": [*limits]}}, "limitranges")


def test_a_container_gets_the_limits_of_its_namespace(space: Space) -> None:
    """LimitRange: containers get default and defaultRequest, an annotation tells; no owner."""
    item = {"type": "Container", "default": {"cpu": "1", "memory": "1Gi"}}
    _limits(space, {**item, "defaultRequest": {"cpu": "500m"}})
    known(space, a_pod(), lambda answer: "limits" in str(answer.json()["spec"]["containers"]))
    made = space.put(a_pod(), "pods")
    assert made["spec"]["containers"][0]["resources"] == {
        "limits": {"cpu": "1", "memory": "1Gi"},
        "requests": {"cpu": "500m", "memory": "1Gi"},
    }
    assert made["metadata"]["annotations"] == {
        "kubernetes.io/limit-ranger": "LimitRanger plugin set: cpu, memory request for container "
        "c; cpu, memory limit for container c"
    }
    assert made["status"]["qosClass"] == "Burstable"
    assert "f:annotations" not in made["metadata"]["managedFields"][0]["fieldsV1"].get(
        "f:metadata", {}
    )


def test_what_a_container_says_itself_stays(space: Space) -> None:
    """LimitRange: only what a container does not say is added."""
    _limits(space, {"type": "Container", "default": {"cpu": "1"}})
    known(space, a_pod(), lambda answer: "limits" in str(answer.json()["spec"]["containers"]))
    made = space.put(a_pod(resources={"limits": {"cpu": "2"}}), "pods")
    assert made["spec"]["containers"][0]["resources"] == {
        "limits": {"cpu": "2"},
        "requests": {"cpu": "2"},
    }
    assert "annotations" not in made["metadata"]


def test_initial_containers_get_limits_too(space: Space) -> None:
    """LimitRange: init containers are completed, and named as such."""
    _limits(space, {"type": "Container", "default": {"cpu": "1"}})
    pod = a_pod(initContainers=[{"name": "i", "image": "i"}])
    known(space, pod, lambda answer: "limits" in str(answer.json()["spec"]["containers"]))
    made = space.put(pod, "pods")
    assert made["spec"]["initContainers"][0]["resources"]["limits"] == {"cpu": "1"}
    assert made["metadata"]["annotations"]["kubernetes.io/limit-ranger"] == (
        "LimitRanger plugin set: cpu request for container c; cpu limit for container c; "
        "cpu request for init container i; cpu limit for init container i"
    )


@pytest.mark.parametrize(
    ("limit", "resources", "text"),
    [
        (
            {"max": {"cpu": "1"}},
            {"limits": {"cpu": "2"}},
            "maximum cpu usage per Container is 1, but limit is 2",
        ),
        (
            {"min": {"memory": "1Mi"}},
            {"requests": {"memory": "1Ki"}},
            "minimum memory usage per Container is 1Mi, but request is 1Ki",
        ),
        (
            {"maxLimitRequestRatio": {"cpu": "2"}},
            {"requests": {"cpu": "100m"}, "limits": {"cpu": "300m"}},
            "cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000",
        ),
        (
            {"maxLimitRequestRatio": {"cpu": "2"}},
            None,
            "cpu max limit to request ratio per Container is 2, but no request is specified or "
            "request is 0",
        ),
        (
            {"maxLimitRequestRatio": {"cpu": "2"}},
            {"requests": {"cpu": "100m"}},
            "cpu max limit to request ratio per Container is 2, but no limit is specified or "
            "limit is 0",
        ),
        (
            {"type": "Pod", "max": {"cpu": "1500m"}},
            {"limits": {"cpu": "1600m"}},
            "maximum cpu usage per Pod is 1500m, but limit is 1600m",
        ),
        (
            {"type": "Pod", "min": {"cpu": "1"}},
            None,
            "minimum cpu usage per Pod is 1.  No request is specified",
        ),
        (
            {"type": "Pod", "max": {"memory": "1Gi"}},
            None,
            "maximum memory usage per Pod is 1Gi.  No limit is specified",
        ),
        (
            {"type": "Pod", "max": {"memory": "1Gi"}, "min": {"cpu": "1"}},
            None,
            "[minimum cpu usage per Pod is 1.  No request is specified, maximum memory usage per "
            "Pod is 1Gi.  No limit is specified]",
        ),
    ],
)
def test_a_pod_beyond_the_limits_is_refused(
    space: Space, limit: Json, resources: Json | None, text: str
) -> None:
    """LimitRange: min, max and maxLimitRequestRatio of containers and pods; 403 tells which."""
    _limits(space, {"type": "Container", **limit})
    known(space, a_pod(resources=resources), lambda answer: answer.status == 403)
    answer = space.ask("POST", space.path("pods"), a_pod(resources=resources))
    assert refusal(answer)[2] == f'pods "p" is forbidden: {text}'


def test_initial_containers_count_by_the_largest(space: Space) -> None:
    """LimitRange: a pod takes what runs together, or its largest init container."""
    _limits(space, {"type": "Pod", "max": {"cpu": "2"}})
    first = {"name": "i", "image": "i", "resources": {"limits": {"cpu": "3"}}}
    pod = a_pod(resources={"limits": {"cpu": "1500m"}}, initContainers=[first])
    known(space, pod, lambda answer: answer.status == 403)
    assert said(tried(space, pod)) == "maximum cpu usage per Pod is 2, but limit is 3"
    beside = {**first, "restartPolicy": "Always", "resources": {"limits": {"cpu": "1"}}}
    pod = a_pod(resources={"limits": {"cpu": "1500m"}}, initContainers=[beside])
    assert said(tried(space, pod)) == "maximum cpu usage per Pod is 2, but limit is 2500m"
    pod = a_pod(resources={"limits": {"cpu": "1500m"}})
    assert tried(space, pod).status == 201


def test_a_claim_has_limits(space: Space) -> None:
    """LimitRange: min and max of claims are those of what they request."""
    _limits(
        space,
        {"type": "PersistentVolumeClaim", "min": {"storage": "1Gi"}, "max": {"storage": "2Gi"}},
    )
    big = a_claim(size="3Gi")
    known(space, big, lambda answer: answer.status == 403, "persistentvolumeclaims")
    assert said(tried(space, big, "persistentvolumeclaims")) == (
        "maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi"
    )
    assert said(tried(space, a_claim(size="1Mi"), "persistentvolumeclaims")) == (
        "minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1Mi"
    )
    assert tried(space, a_claim(size="2Gi"), "persistentvolumeclaims").status == 201


def test_a_resize_of_a_pod_is_looked_at(space: Space) -> None:
    """LimitRange: PATCH of pods/resize is refused where containers would have too much."""
    made = space.put(a_pod("a", {"limits": {"cpu": "1"}}), "pods")
    _limits(space, {"type": "Container", "max": {"cpu": "2"}})
    wide = a_pod(resources={"limits": {"cpu": "3"}})
    known(space, wide, lambda answer: answer.status == 403)
    (container,) = made["spec"]["containers"]
    amounts = {"limits": {"cpu": "3"}, "requests": {"cpu": "3"}}
    patch = {"spec": {"containers": [{**container, "resources": amounts}]}}
    path = space.path("pods", "a") + "/resize"
    answer = space.ask("PATCH", path, patch, content_type="application/merge-patch+json")
    assert said(answer) == "maximum cpu usage per Container is 2, but limit is 3"
