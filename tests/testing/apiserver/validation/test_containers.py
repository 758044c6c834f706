"""What is inside of containers: in which order it is told what is wrong with them, and what never
is (K28). The recorded answers of a real server (`conformance/validation`) have the rest.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from listwatch.testing.apiserver.validation.pod.container_warnings import container_warnings
from listwatch.testing.apiserver.validation.pod.containers import container_problems
from listwatch.testing.apiserver.validation.pod.resources import resource_problems
from tests.testing.apiserver.validation.go_values import any_value, member_of

COMPLETE = {"imagePullPolicy": "Always", "terminationMessagePolicy": "File"}
PROBE = {"successThreshold": 1}


def container(name: str = "a", **members: Any) -> dict[str, Any]:
    return {"name": name, "image": "a", **COMPLETE, **members}


def told(spec: dict[str, Any], path: str = "spec") -> list[str]:
    return [str(problem) for problem in container_problems(spec, path)]


def test_nothing_is_wrong_with_a_plain_container() -> None:
    assert told({"containers": [container()]}) == []


def test_a_pod_has_a_container() -> None:
    required = ["spec.template.spec.containers: Required value"]
    assert told({}, "spec.template.spec") == required
    assert told({"containers": None}, "spec.template.spec") == required


def test_everything_is_told_of_a_container_in_the_order_of_the_real_server() -> None:
    wrong = {
        "ports": [{"protocol": "TCP"}],
        "env": [{}],
        "envFrom": [{"configMapRef": {}}],
        "volumeMounts": [{"name": "nowhere", "mountPath": "/a"}],
        "volumeDevices": [{"name": "missing", "devicePath": "/b"}],
        "resources": {"limits": {"cpu": "-1"}},
        "resizePolicy": [{"resourceName": "gpu", "restartPolicy": "NotRequired"}],
        "securityContext": {"runAsUser": -1},
        "lifecycle": {"preStop": {}},
        "startupProbe": PROBE,
        "livenessProbe": PROBE,
        "restartPolicy": "Sometimes",
    }
    fields = [each.split(": ")[0] for each in told({"containers": [wrong]})]
    assert [field.removeprefix("spec.containers[0].") for field in fields] == [
        "name",
        "image",
        "terminationMessagePolicy",
        "ports[0].containerPort",
        "env[0].name",
        "envFrom[0].configMapRef.name",
        "volumeMounts[0].name",
        "volumeDevices[0].name",
        "imagePullPolicy",
        "resources.limits[cpu]",
        "resizePolicy",
        "securityContext.runAsUser",
        "lifecycle.preStop",
        "livenessProbe",
        "startupProbe",
        "restartPolicy",
    ]


def test_a_name_belongs_to_one_container_of_any_kind() -> None:
    spec = {
        "containers": [container("a"), container("a")],
        "initContainers": [container("b"), container("a")],
        "ephemeralContainers": [container("b"), container("c"), container("c")],
    }
    assert told(spec) == [
        'spec.containers[1].name: Duplicate value: "a"',
        'spec.initContainers[1].name: Duplicate value: "a"',
        'spec.ephemeralContainers[0].name: Duplicate value: "b"',
        'spec.ephemeralContainers[2].name: Duplicate value: "c"',
    ]


def test_only_containers_side_by_side_compete_for_the_ports_of_a_node() -> None:
    port = {"containerPort": 80, "hostPort": 80, "protocol": "TCP"}
    alone = {
        "containers": [container(ports=[port])],
        "initContainers": [container("b", ports=[port])],
    }
    assert told(alone) == []
    together = {"containers": [container(ports=[port]), container("b", ports=[port])]}
    assert told(together) == ['spec.containers[1].ports[0].hostPort: Duplicate value: "TCP//80"']


def test_only_a_sidecar_of_the_init_containers_has_probes() -> None:
    probed = container("b", readinessProbe={**PROBE, "exec": {"command": ["a"]}})
    assert told({"containers": [container()], "initContainers": [probed]}) == [
        "spec.initContainers[0].readinessProbe: Forbidden: may not be set for init containers "
        "without restartPolicy=Always"
    ]
    sidecar = {**probed, "restartPolicy": "Always"}
    assert told({"containers": [container()], "initContainers": [sidecar]}) == []


def test_a_volume_that_is_not_valid_cannot_be_mounted() -> None:
    spec = {
        "volumes": [{"name": "v", "emptyDir": {}}],
        "containers": [container(volumeMounts=[{"name": "v", "mountPath": "/a"}])],
    }
    assert told(spec) == []
    found = [str(problem) for problem in container_problems(spec, "spec", volumes={})]
    assert found == ['spec.containers[0].volumeMounts[0].name: Not found: "v"']


def test_privileged_containers_are_allowed() -> None:
    mount = {"name": "v", "mountPath": "/a", "mountPropagation": "Bidirectional"}
    spec = {
        "volumes": [{"name": "v", "emptyDir": {}}],
        "containers": [container(volumeMounts=[mount], securityContext={"privileged": True})],
    }
    assert told(spec) == []
    spec["containers"][0]["securityContext"] = {"privileged": False}
    assert told(spec) == [
        "spec.containers[0].volumeMounts.mountPropagation: Forbidden: Bidirectional mount "
        "propagation is available only to privileged containers"
    ]


def test_a_privileged_container_cannot_be_kept_from_more_rights() -> None:
    context = {"privileged": True, "allowPrivilegeEscalation": False}
    (found,) = told({"containers": [container(securityContext=context)]})
    assert found == (
        'spec.containers[0].securityContext: Invalid value: {"Capabilities":null,'
        '"Privileged":true,"SELinuxOptions":null,"WindowsOptions":null,"RunAsUser":null,'
        '"RunAsGroup":null,"RunAsNonRoot":null,"ReadOnlyRootFilesystem":null,'
        '"AllowPrivilegeEscalation":false,"ProcMount":null,"SeccompProfile":null,'
        '"AppArmorProfile":null}: cannot set `allowPrivilegeEscalation` to false and `privileged` '
        "to true"
    )


@pytest.mark.parametrize(
    ("resources", "said"),
    [
        ({"limits": {"cpu": "1"}, "requests": {"cpu": "1000m"}}, []),
        (
            {"limits": {"cpu": "1"}, "requests": {"cpu": "1001m"}},
            ['r.requests: Invalid value: "1001m": must be less than or equal to cpu limit of 1'],
        ),
        (
            {"limits": {"a.b/c": "2"}, "requests": {"a.b/c": "1"}},
            ['r.requests: Invalid value: "1": must be equal to a.b/c limit of 2'],
        ),
        (
            {"requests": {"a.b/c": "1500m"}},
            [
                'r.requests[a.b/c]: Invalid value: "1500m": must be an integer',
                "r.limits: Required value: Limit must be set for non overcommitable resources",
            ],
        ),
        (
            {"limits": {"hugepages-2Mi": "3Mi"}},
            [
                'r.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer '
                "multiple of hugepages-2Mi",
                "r: Forbidden: HugePages require cpu or memory",
            ],
        ),
        (
            {"claims": [{"name": "a"}]},
            [
                'r.claims[0]: Not found: "a": must be one of the names in pod.spec.resourceClaims '
                "which is empty"
            ],
        ),
    ],
)
def test_what_is_asked_for_fits_what_is_allowed(resources: dict[str, Any], said: list[str]) -> None:
    assert [str(problem) for problem in resource_problems(resources, "r")] == said


def warnings(spec: dict[str, Any], path: str = "spec", **annotations: str) -> list[str]:
    return list(container_warnings(spec, path, {"annotations": annotations}))


def test_a_client_is_warned_of_variables_that_hide_others() -> None:
    def hides(**second: Any) -> bool:
        env = [{"name": "A", "value": "a"}, {"name": "A", **second}]
        return bool(warnings({"containers": [container(env=env)]}))

    assert hides(value="b")
    assert hides(value="$(A)")
    assert hides(valueFrom={"fieldRef": {"fieldPath": "metadata.name"}})
    assert not hides(value="$(A)b")


def test_a_client_is_warned_of_ports_in_the_way_of_others() -> None:
    def ports(*hosts: tuple[str, int]) -> list[str]:
        found = [
            {"containerPort": 1, "protocol": "TCP", "hostIP": ip, "hostPort": port}
            for ip, port in hosts
        ]
        return [
            each.split(" port ")[0] for each in warnings({"containers": [container(ports=found)]})
        ]

    at = "spec.containers[0].ports[1]: "
    assert ports(("", 0), ("", 0)) == [f"{at}duplicate"]
    assert ports(("", 0), ("", 5)) == [f"{at}overlapping"]
    assert ports(("", 5), ("10.0.0.1", 5)) == [f"{at}dangerously ambiguous"]
    assert ports(("10.0.0.2", 5), ("10.0.0.1", 5)) == []


def test_a_template_is_warned_of_at_its_own_place() -> None:
    spec = {"containers": [container(resources={"limits": {"memory": "1500m"}})]}
    key = "container.apparmor.security.beta.kubernetes.io/a"
    assert warnings(spec, "spec.template.spec", **{key: "unconfined"}) == [
        f"spec.template.metadata.annotations[{key}]: deprecated since v1.30; use the "
        '"appArmorProfile" field instead',
        "spec.template.spec.containers[0].resources.limits[memory]: fractional byte value "
        '"1500m" is invalid, must be an integer',
    ]


CONTAINERS = member_of("v1", "Pod", "spec", "containers")


@settings(max_examples=50, deadline=None)
@given(st.randoms(use_true_random=True))
def test_whatever_is_sent_is_told_of(rng: Random) -> None:
    kinds = ("containers", "initContainers", "ephemeralContainers")
    spec = {kind: any_value(CONTAINERS, rng) for kind in kinds}
    assert all(problem.field.startswith("spec.") for problem in container_problems(spec, "spec"))
    assert all(isinstance(text, str) for text in container_warnings(spec, "spec"))
