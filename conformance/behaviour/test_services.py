"""What Services are given when they are created and changed, and the IPAddresses of it."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.behaviour.space import Space, refusal
from conformance.requests import Json

_ADDRESSES = "/apis/networking.k8s.io/v1/ipaddresses"
_PORTS = [{"name": "http", "port": 80}, {"name": "https", "port": 443}]


def _service(**spec: Any) -> Json:
    return {"metadata": {"name": "a"}, "spec": {"ports": _PORTS, "selector": {"a": "b"}, **spec}}


def _put(space: Space, **spec: Any) -> Json:
    made: Json = space.server.replace(space.path("services", "a"), _service(**spec))["spec"]
    return made


def _node_ports(spec: Json) -> list[int]:
    return [port.get("nodePort", 0) for port in spec["ports"]]


def test_the_api_server_is_a_service(space: Space) -> None:
    """The Service `kubernetes` has the first address of the default ServiceCIDR."""
    found = space.server.get("/api/v1/namespaces/default/services/kubernetes")
    ranges = space.server.get("/apis/networking.k8s.io/v1/servicecidrs/kubernetes")
    assert ranges["spec"] == {"cidrs": ["10.0.0.0/24"]}
    assert found["spec"]["clusterIP"] == "10.0.0.1"
    assert found["metadata"]["labels"] == {"component": "apiserver", "provider": "kubernetes"}


def test_an_address_is_given_and_written_down(space: Space) -> None:
    """The IPAddress of a Service names it, and goes with it."""
    made = space.put(_service(), "services")["spec"]
    assert made["clusterIPs"] == [made["clusterIP"]]
    assert (made["ipFamilies"], made["ipFamilyPolicy"]) == (["IPv4"], "SingleStack")
    at = f"{_ADDRESSES}/{made['clusterIP']}"
    record = space.server.get(at)
    parent = {"resource": "services", "namespace": space.name, "name": "a"}
    assert record["spec"] == {"parentRef": parent}
    assert record["metadata"]["labels"] == {
        "ipaddress.kubernetes.io/ip-family": "IPv4",
        "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
    }
    space.server.delete(space.path("services", "a"))
    assert space.ask("GET", at).status == 404


def test_a_put_keeps_what_was_given(space: Space) -> None:
    """A PUT without addresses and node ports keeps those of the ports of the same names."""
    made = space.put(_service(type="NodePort"), "services")["spec"]
    again = _put(space, type="NodePort", ports=[{"name": "https", "port": 444}])
    assert again["clusterIP"] == made["clusterIP"]
    assert _node_ports(again) == _node_ports(made)[1:]


def test_a_type_comes_and_goes_with_what_it_needs(space: Space) -> None:
    """Changes of type give node ports and a health check port, and take them away again."""
    plain = space.put(_service(), "services")["spec"]
    ported = _put(space, type="NodePort")
    assert all(_node_ports(ported))
    balanced = _put(space, type="LoadBalancer", externalTrafficPolicy="Local")
    assert _node_ports(balanced) == _node_ports(ported)
    assert balanced["healthCheckNodePort"] not in (0, *_node_ports(ported))
    assert balanced["allocateLoadBalancerNodePorts"] is True
    changed = space.change("a", "services", spec={"type": "ClusterIP"})["spec"]
    assert changed == plain


def test_an_external_name_has_no_address(space: Space) -> None:
    """A Service that becomes an ExternalName loses its address, and gets another afterwards."""
    made = space.put(_service(), "services")["spec"]
    named = _put(space, type="ExternalName", externalName="a.example")
    assert not named.keys() & {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"}
    assert "internalTrafficPolicy" not in named
    assert space.ask("GET", f"{_ADDRESSES}/{made['clusterIP']}").status == 404
    assert _put(space)["clusterIP"].startswith("10.0.0.")


def test_an_address_is_one_services(space: Space) -> None:
    """An address that another Service has is refused, and so is one outside of the range."""
    made = space.put(_service(), "services")["spec"]
    other = {**_service(clusterIP=made["clusterIP"]), "metadata": {"name": "b"}}
    code, reason, message = refusal(space.ask("POST", space.path("services"), other))
    assert (code, reason) == (422, "Invalid")
    assert message.endswith("provided IP is already allocated")
    far = {**_service(clusterIP="10.0.7.1"), "metadata": {"name": "b"}}
    message = refusal(space.ask("POST", space.path("services"), far))[2]
    assert message.endswith("the provided network does not match the current range")


def test_a_dry_run_is_given_made_up_numbers(space: Space) -> None:
    """A dry run is given the network's own address, and ports from 32769 on."""
    path = space.path("services", dryRun="All")
    made = space.server.create(path, _service(type="LoadBalancer", externalTrafficPolicy="Local"))
    assert made["spec"]["clusterIP"] == "10.0.0.0"
    assert _node_ports(made["spec"]) == [32769, 32770]
    assert made["spec"]["healthCheckNodePort"] == 32771


def test_what_is_given_is_nobodys(space: Space) -> None:
    """Neither addresses nor node ports are in managedFields."""
    space.put(_service(type="NodePort"), "services")
    made = space.change("a", "services", spec={"type": "LoadBalancer"})
    owned = str(made["metadata"]["managedFields"])
    assert "f:clusterIP" not in owned
    assert "f:nodePort" not in owned


@pytest.mark.parametrize(
    ("selector", "policy", "families"),
    [
        ({}, "RequireDualStack", ["IPv4", "IPv6"]),
        ({"a": "b"}, "SingleStack", ["IPv4"]),
    ],
)
def test_a_headless_service_has_families(
    space: Space, selector: dict[str, str], policy: str, families: list[str]
) -> None:
    """Headless Services have one family, without a selector both, though there is IPv4 only."""
    spec = space.put(_service(clusterIP="None", selector=selector), "services")["spec"]
    assert (spec["ipFamilyPolicy"], spec["ipFamilies"]) == (policy, families)
    assert spec["clusterIPs"] == ["None"]


def test_endpoints_go_with_their_service(space: Space) -> None:
    """The Endpoints of its name go when a Service does."""
    space.put(_service(), "services")
    for name in ("a", "b"):
        space.put({"metadata": {"name": name}}, "endpoints")
    space.server.delete(space.path("services", "a"))
    assert space.ask("GET", space.path("endpoints", "a")).status == 404
    assert space.ask("GET", space.path("endpoints", "b")).status == 200
