"""The defaults of the smaller types: what a kube-apiserver v1.36 made of the same bodies."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.testing.apiserver.defaulting.defaults import fill
from listwatch.testing.apiserver.types.go_structs import in_go_form
from listwatch.testing.apiserver.types.type_table import builtin_types

TYPES = {str(found): found for found in builtin_types()}
RBAC = "rbac.authorization.k8s.io"


def filled(address: str, **members: Any) -> dict[str, Any]:
    value: dict[str, Any] = {"metadata": {"name": "x"}, **members}
    fill(TYPES[address], value)
    return value


def written(address: str, **members: Any) -> dict[str, Any]:
    of = TYPES[address]
    return in_go_form(of.api_version, of.kind, filled(address, **members), {})


@pytest.mark.parametrize(
    ("address", "member", "sent", "expected"),
    [
        (
            "v1/endpoints",
            "subsets",
            [{"addresses": [{"ip": "10.1.1.1"}], "ports": [{"port": 80}]}],
            [{"addresses": [{"ip": "10.1.1.1"}], "ports": [{"port": 80, "protocol": "TCP"}]}],
        ),
        (
            "discovery.k8s.io/v1/endpointslices",
            "ports",
            [{"port": 80}],
            [{"name": "", "protocol": "TCP", "port": 80}],
        ),
        (
            "discovery.k8s.io/v1/endpointslices",
            "endpoints",
            [{"addresses": ["10.1.1.1"]}],
            [{"addresses": ["10.1.1.1"], "conditions": {}}],
        ),
        (
            "v1/limitranges",
            "spec",
            {"limits": [{"type": "Container", "default": {"cpu": "1"}}]},
            {
                "limits": [
                    {"type": "Container", "default": {"cpu": "1"}, "defaultRequest": {"cpu": "1"}}
                ]
            },
        ),
        (
            "v1/limitranges",
            "spec",
            {"limits": [{"type": "Pod", "max": {"cpu": "1"}}]},
            {"limits": [{"type": "Pod", "max": {"cpu": "1"}}]},
        ),
        ("v1/nodes", "spec", {"podCIDR": "a"}, {"podCIDR": "a", "podCIDRs": ["a"]}),
        (
            f"{RBAC}/v1/rolebindings",
            "subjects",
            [{"kind": "User", "name": "u"}, {"kind": "ServiceAccount", "name": "s"}],
            [
                {"kind": "User", "apiGroup": RBAC, "name": "u"},
                {"kind": "ServiceAccount", "name": "s"},
            ],
        ),
    ],
    ids=["endpoints", "slice-ports", "slice-endpoints", "limits", "pod-limits", "node", "binding"],
)
def test_what_is_left_out_is_filled_in(address: str, member: str, sent: Any, expected: Any) -> None:
    assert filled(address, **{member: sent})[member] == expected


def test_members_of_rules_have_their_order() -> None:
    rule = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
    [found] = written(f"{RBAC}/v1/roles", rules=[rule])["rules"]
    assert list(found) == ["verbs", "apiGroups", "resources"]


def test_an_autoscaler_looks_at_the_cpu() -> None:
    spec = {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "D", "name": "a"}, "maxReplicas": 3}
    found = written("autoscaling/v2/horizontalpodautoscalers", spec=spec)["spec"]
    assert list(found["scaleTargetRef"]) == ["kind", "name", "apiVersion"]
    [metric] = found["metrics"]
    assert metric["resource"]["target"] == {"type": "Utilization", "averageUtilization": 80}


def test_a_path_of_the_host_has_a_type() -> None:
    found = filled("v1/persistentvolumes", spec={"hostPath": {"path": "/tmp"}})
    assert found["spec"]["hostPath"] == {"path": "/tmp", "type": ""}


def test_a_csi_driver_says_what_it_needs() -> None:
    assert list(filled("storage.k8s.io/v1/csidrivers", spec={})["spec"]) == [
        "attachRequired",
        "podInfoOnMount",
        "volumeLifecycleModes",
        "storageCapacity",
        "fsGroupPolicy",
        "requiresRepublish",
        "seLinuxMount",
    ]


def test_a_pod_asks_for_what_it_is_limited_to() -> None:
    limits = {"cpu": "1", "memory": "1Gi"}
    resources = {"requests": {"cpu": "100m"}, "limits": limits}
    container = {"name": "c", "image": "i", "resources": resources}
    found = written("v1/pods", spec={"containers": [container]})["spec"]["containers"][0]
    assert found["resources"] == {
        "limits": limits,
        "requests": {"cpu": "100m", "memory": "1Gi"},
    }
    assert list(found["resources"]) == ["limits", "requests"]


@pytest.mark.parametrize(
    ("address", "member"),
    [
        ("v1/endpoints", "subsets"),
        ("discovery.k8s.io/v1/endpointslices", "endpoints"),
        (f"{RBAC}/v1/roles", "rules"),
        (f"{RBAC}/v1/rolebindings", "subjects"),
        ("v1/limitranges", "spec"),
    ],
)
@pytest.mark.parametrize("nonsense", [None, "text", [None, 1, "x"]])
def test_nonsense_does_no_harm(address: str, member: str, nonsense: Any) -> None:
    assert filled(address, **{member: nonsense})[member] == nonsense
