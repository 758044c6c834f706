"""Services: in which order it is told what is wrong with them, and what never is (K28). The
recorded answers of a real server (`conformance/validation`) have the rest.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.testing.apiserver.validation.checks import checks_of

CHECKS = checks_of("services")


def service(**spec: Any) -> dict[str, Any]:
    """One that nothing is wrong with, but for what is said."""
    whole = {
        "type": "ClusterIP",
        "sessionAffinity": "None",
        "internalTrafficPolicy": "Cluster",
        "ports": [{"port": 80, "protocol": "TCP", "targetPort": 80}],
        **spec,
    }
    return {"kind": "Service", "apiVersion": "v1", "metadata": {}, "spec": whole}


def told(new: dict[str, Any], old: dict[str, Any] | None = None) -> list[str]:
    problems = CHECKS.create(new) if old is None else CHECKS.of_update(new, old)
    return [str(problem) for problem in problems]


def fields(new: dict[str, Any], old: dict[str, Any] | None = None) -> list[str]:
    return [each.partition(": ")[0] for each in told(new, old)]


def test_nothing_is_wrong_with_a_plain_service() -> None:
    assert told(service()) == []
    assert list(CHECKS.warnings(service())) == []


def test_everything_is_told_in_the_order_of_the_real_server() -> None:
    port = {"name": "A", "port": 0, "protocol": "X", "targetPort": 0, "appProtocol": "a b"}
    wrong = service(
        ports=[{**port, "nodePort": 1}, {**port, "nodePort": 1}],
        selector={"a b": "c d"},
        sessionAffinity="Sometimes",
        clusterIP="10.0.0.1",
        clusterIPs=["nonsense"],
        ipFamilies=["IPv5"],
        ipFamilyPolicy="AnyStack",
        externalIPs=["127.0.0.1"],
        loadBalancerSourceRanges=["nonsense"],
        allocateLoadBalancerNodePorts=True,
        loadBalancerClass="a b",
        externalTrafficPolicy="Nope",
        healthCheckNodePort=1,
        internalTrafficPolicy="Nope",
        trafficDistribution="Nope",
    )
    members = ("name", "port", "protocol", "targetPort", "appProtocol")
    first = [f"spec.ports[0].{member}" for member in members]
    second = [f"spec.ports[1].{member}" for member in ("name", *members)]
    assert fields(wrong) == [
        *first,
        *second,
        "spec.selector",
        "spec.selector",
        "spec.sessionAffinity",
        "spec.clusterIPs",
        "spec.ipFamilies[0]",
        "spec.ipFamilyPolicy",
        "spec.clusterIPs[0]",
        "spec.externalIPs[0]",
        "spec.ports[0].nodePort",
        "spec.ports[1].nodePort",
        "spec.ports[1].nodePort",
        "spec.ports[1]",
        "spec.LoadBalancerSourceRanges",
        "spec.LoadBalancerSourceRanges[0]",
        "spec.allocateLoadBalancerNodePorts",
        "spec.loadBalancerClass",
        "spec.externalTrafficPolicy",
        "spec.healthCheckNodePort",
        "spec.internalTrafficPolicy",
        "spec.trafficDistribution",
    ]


def test_only_several_ports_need_names() -> None:
    port = {"port": 80, "protocol": "TCP", "targetPort": 80}
    assert told(service(ports=[port])) == []
    assert fields(service(ports=[port, {**port, "port": 81}])) == [
        "spec.ports[0].name",
        "spec.ports[1].name",
    ]


def test_a_port_that_is_there_twice_is_shown_as_the_real_server_holds_it() -> None:
    port = {"port": 80, "protocol": "TCP", "targetPort": "web"}
    assert told(service(ports=[{**port, "name": "a"}, {**port, "name": "b"}])) == [
        'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,'
        '"TargetPort":0,"NodePort":0}'
    ]


def test_the_address_stays_and_so_does_that_there_is_none() -> None:
    first, other = (service(clusterIP=ip, clusterIPs=[ip]) for ip in ("10.0.0.1", "10.0.0.2"))
    none = service(clusterIP="None", clusterIPs=["None"])
    once = 'spec.clusterIPs[0]: Invalid value: ["{}"]: may not change once set'
    assert told(first, first) == told(none, none) == []
    assert told(other, first) == [once.format("10.0.0.2")]
    assert told(none, first) == [once.format("None")]
    assert told(first, none) == [once.format("10.0.0.1")]


def test_what_was_accepted_once_is_accepted_again() -> None:
    old = service(externalIPs=["192.0.2.01"], externalTrafficPolicy="Cluster")
    more = service(externalIPs=["192.0.2.01", "192.0.2.02"], externalTrafficPolicy="Cluster")
    assert told(old, old) == []
    assert fields(more, old) == ["spec.externalIPs[1]"]


@pytest.mark.parametrize("kind", ["ClusterIP", "NodePort", "ExternalName"])
def test_only_load_balancers_tell_where_they_are(kind: str) -> None:
    status = {"loadBalancer": {"ingress": [{"ip": "192.0.2.1", "ipMode": "VIP"}]}}
    new = {**service(type=kind), "status": status}
    assert [problem.field for problem in CHECKS.status(new, service())] == [
        "status.loadBalancer.ingress"
    ]
    assert not list(CHECKS.status({**service(type="LoadBalancer"), "status": status}, service()))


@given(st.dictionaries(st.sampled_from([*sorted(service()["spec"]), "clusterIPs"]), st.none()))
def test_members_that_are_null_are_not_there(spec: dict[str, Any]) -> None:
    new = service(**spec)
    told(new)
    told(new, service())
    told(service(), new)
    list(CHECKS.warnings(new))
    list(CHECKS.status({**new, "status": None}, {**new, "status": {"loadBalancer": None}}))


def test_a_service_without_a_spec_does_no_harm() -> None:
    assert (
        fields({})
        == fields({"spec": None})
        == [
            "spec.ports",
            "spec.sessionAffinity",
            "spec.type",
        ]
    )
    told({}, {})
