"""What stands behind Services."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.testing.apiserver.controllers.endpoint_subsets import CAPACITY, packed, truncated
from listwatch.testing.apiserver.controllers.slice_packing import MOST, Packing
from listwatch.testing.apiserver.storage.log import StoredObject
from tests.testing.apiserver.controllers.acting import (
    CORE,
    DEPLOYMENTS,
    PODS,
    Acting,
    container,
    workload,
)

SERVICES = f"{CORE}/services"
ENDPOINTS = f"{CORE}/endpoints"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"


@pytest.fixture
def server() -> Acting:
    return Acting(
        "garbage-collector", "deployment", "replicaset", "kubelet", "endpoints", "endpointslice"
    )


def service(name: str = "web", **spec: Any) -> dict[str, Any]:
    made = {"selector": {"app": "web"}, "ports": [{"port": 80}], **spec}
    return {"metadata": {"name": name, "labels": {"a": "b"}}, "spec": made}


def addresses(server: Acting) -> tuple[list[str], list[str]]:
    """Of the Endpoints, and of the EndpointSlices."""
    subsets = server.found(f"{ENDPOINTS}/web").get("subsets") or ()
    one = [address["ip"] for subset in subsets for address in subset.get("addresses") or ()]
    other = [
        endpoint["addresses"][0]
        for found in server.items(SLICES)
        for endpoint in found["endpoints"] or ()
        if endpoint["conditions"]["ready"]
    ]
    return sorted(one), sorted(other)


def test_the_pods_of_a_deployment_can_be_reached(server: Acting) -> None:
    server.made(SERVICES, service())
    server.made(DEPLOYMENTS, workload("web", 3))
    server.wait(2)
    ips = sorted(pod["status"]["podIP"] for pod in server.items(PODS))
    assert addresses(server) == (ips, ips)
    server.merge(f"{DEPLOYMENTS}/web/scale", {"spec": {"replicas": 0}})
    server.wait(2)
    assert addresses(server) == ([], [])


def test_what_was_made_goes_with_its_service(server: Acting) -> None:
    server.made(SERVICES, service())
    server.wait(1)
    assert server.found(f"{ENDPOINTS}/web")["metadata"]["labels"]["a"] == "b"
    server.write("DELETE", f"{SERVICES}/web")
    server.wait(1)
    assert not server.is_there(f"{ENDPOINTS}/web")
    assert server.items(SLICES) == []


def test_what_somebody_else_changes_is_put_right(server: Acting) -> None:
    server.made(SERVICES, service())
    server.wait(1)
    server.merge(f"{ENDPOINTS}/web", {"subsets": [{"addresses": [{"ip": "10.9.9.9"}]}]})
    server.wait(1)
    assert addresses(server) == ([], [])


def test_a_port_has_the_number_that_the_pod_gives_it(server: Acting) -> None:
    server.made(SERVICES, service(ports=[{"port": 80, "targetPort": "http"}]))
    ports = [{"name": "http", "containerPort": 8080}]
    spec = {"containers": [container(ports=ports)]}
    server.made(PODS, {"metadata": {"name": "a", "labels": {"app": "web"}}, "spec": spec})
    server.wait(2)
    [subset] = server.found(f"{ENDPOINTS}/web")["subsets"]
    assert subset["ports"] == [{"port": 8080, "protocol": "TCP"}]
    [made] = server.items(SLICES)
    assert made["ports"] == [{"name": "", "port": 8080, "protocol": "TCP"}]


def test_many_pods_are_in_several_slices(server: Acting) -> None:
    server.made(SERVICES, service())
    server.made(DEPLOYMENTS, workload("web", 120))
    server.wait(5)
    sizes = sorted(len(found["endpoints"]) for found in server.items(SLICES))
    assert (sum(sizes), max(sizes)) == (120, 100)


def stored(name: str, *ips: str) -> StoredObject:
    value = {"metadata": {"name": name}, "endpoints": [endpoint(ip) for ip in ips]}
    return StoredObject(("default", name), value, 1)


def endpoint(ip: str, *, ready: bool = True) -> dict[str, Any]:
    return {"addresses": [ip], "conditions": {"ready": ready}}


def test_endpoints_stay_where_they_are() -> None:
    slices = [stored("a", "1", "2"), stored("b", "3", "4")]
    wanted = [endpoint("2"), endpoint("3", ready=False), endpoint("4"), endpoint("5")]
    packing = Packing(slices, wanted)
    assert packing.changed == {
        "a": [endpoint("2")],
        "b": [endpoint("3", ready=False), endpoint("4"), endpoint("5")],
    }
    assert (packing.new, packing.empty, packing.unchanged) == ([], [], [])


def test_what_is_new_fills_one_slice_before_it_makes_another() -> None:
    many = [str(number) for number in range(MOST)]
    slices = [stored("full", *many), stored("a", "x"), stored("b", "y", "z")]
    wanted = [endpoint(ip) for ip in (*many, "x", "y", "z", "new")]
    assert list(Packing(slices, wanted).changed) == ["b"]
    assert len(Packing(slices[:1], wanted).new) == 1


def test_a_slice_of_which_nothing_is_left_goes() -> None:
    packing = Packing([stored("a", "1")], [])
    assert [found.key[1] for found in packing.empty] == ["a"]


def test_ports_that_the_same_addresses_have_are_in_one_subset() -> None:
    http, metrics = {"port": 80}, {"port": 9090}
    one, other = {"ip": "10.0.0.1"}, {"ip": "10.0.0.2"}
    assert packed([(one, [http, metrics], True), (other, [metrics, http], True)]) == [
        {"addresses": [one, other], "ports": [http, metrics]}
    ]
    assert packed([(one, [http, metrics], True), (other, [metrics], False)]) == [
        {"addresses": [one], "notReadyAddresses": [other], "ports": [metrics]},
        {"addresses": [one], "ports": [http]},
    ]


@pytest.mark.parametrize(("ready", "others"), [(700, 900), (1500, 10), (0, 3000)])
def test_one_object_has_a_thousand_addresses(ready: int, others: int) -> None:
    subset = {
        "addresses": [{"ip": str(number)} for number in range(ready)],
        "notReadyAddresses": [{"ip": str(number)} for number in range(others)],
    }
    cut = truncated([subset])
    assert cut is not None
    assert len(cut[0].get("addresses", [])) == min(ready, CAPACITY)
    assert len(cut[0].get("notReadyAddresses", [])) == max(0, CAPACITY - ready)
    assert truncated([{"addresses": subset["addresses"][:5]}]) is None
