"""What Services are given, keep and lose, and the IPAddresses that tell so."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.testing.apiserver.storage.state import Settings

from ..write_server import MERGE, Writing, causes, parsed

SERVICES = "/api/v1/namespaces/default/services"
ADDRESSES = "/apis/networking.k8s.io/v1/ipaddresses"
PORTS = [{"port": 80}]


@pytest.fixture
def server() -> Writing:
    return Writing(settings=Settings(service_range="10.0.0.0/24"))


def service(name: str = "a", **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"ports": PORTS, **spec}}


def put(server: Writing, **spec: Any) -> dict[str, Any]:
    answer = server.write("PUT", f"{SERVICES}/a", service(**spec))
    assert answer.status == 200, answer.body
    made: dict[str, Any] = parsed(answer)["spec"]
    return made


def addresses(server: Writing) -> dict[str, str]:
    """The names of the Services by their addresses."""
    items = parsed(server.get(ADDRESSES))["items"]
    return {item["metadata"]["name"]: item["spec"]["parentRef"]["name"] for item in items}


def test_the_api_server_is_a_service_itself(server: Writing) -> None:
    found = parsed(server.get(f"{SERVICES}/kubernetes"))
    assert found["spec"]["clusterIP"] == "10.0.0.1"
    assert addresses(server) == {"10.0.0.1": "kubernetes"}
    ranges = parsed(server.get("/apis/networking.k8s.io/v1/servicecidrs/kubernetes"))
    assert ranges["spec"] == {"cidrs": ["10.0.0.0/24"]}


def test_no_two_services_have_one_address(server: Writing) -> None:
    made = [server.made(SERVICES, service(f"a{number}")) for number in range(253)]
    given = [each["spec"]["clusterIP"] for each in made]
    assert len({*given, "10.0.0.1"}) == 254
    answer = server.write("POST", SERVICES, service("late"))
    assert (answer.status, parsed(answer)["message"]) == (
        500,
        'Internal error occurred: failed to allocate a serviceIP for Service "late": range is full',
    )
    server.write("DELETE", f"{SERVICES}/a7")
    assert server.made(SERVICES, service("late"))["spec"]["clusterIP"] == given[7]


def test_the_first_addresses_are_for_those_who_ask_for_them(server: Writing) -> None:
    made = [server.made(SERVICES, service(f"a{number}")) for number in range(50)]
    assert all(int(each["spec"]["clusterIP"].rpartition(".")[2]) > 16 for each in made)


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("10.0.0.1", "provided IP is already allocated"),
        ("10.0.1.1", "the provided network does not match the current range"),
        ("10.0.0.255", "the provided network does not match the current range"),
    ],
)
def test_an_address_that_cannot_be_had_is_refused(server: Writing, address: str, why: str) -> None:
    answer = server.write("POST", SERVICES, service(clusterIP=address))
    said = f'Invalid value: ["{address}"]: failed to allocate IP {address}: {why}'
    assert causes(answer) == [("spec.clusterIPs", said)]
    dry = server.write("POST", f"{SERVICES}?dryRun=All", service(clusterIP=address))
    assert (dry.status == 201) is ("already" in why)


def test_an_address_follows_its_service(server: Writing) -> None:
    server.made(SERVICES, service(clusterIP="10.0.0.9"))
    assert addresses(server)["10.0.0.9"] == "a"
    put(server, type="ExternalName", externalName="a.example")
    assert "10.0.0.9" not in addresses(server)
    assert put(server, clusterIP="10.0.0.10")["clusterIP"] == "10.0.0.10"
    server.write("DELETE", f"{SERVICES}/a")
    assert addresses(server) == {"10.0.0.1": "kubernetes"}


def test_an_address_that_somebody_has_written_down_is_taken(server: Writing) -> None:
    parent = {"resource": "things", "name": "b"}
    server.made(ADDRESSES, {"metadata": {"name": "10.0.0.9"}, "spec": {"parentRef": parent}})
    assert server.write("POST", SERVICES, service(clusterIP="10.0.0.9")).status == 422


def test_the_endpoints_of_a_service_go_with_it(server: Writing) -> None:
    endpoints = "/api/v1/namespaces/default/endpoints"
    server.made(SERVICES, service())
    server.made(endpoints, {"metadata": {"name": "a"}})
    server.made(endpoints, {"metadata": {"name": "b"}})
    server.write("DELETE", f"{SERVICES}/a")
    assert server.get(f"{endpoints}/a").status == 404
    assert server.get(f"{endpoints}/b").status == 200


def test_an_update_that_does_not_say_what_was_given_keeps_it(server: Writing) -> None:
    made = server.made(SERVICES, service(type="NodePort"))["spec"]
    again = put(server, type="NodePort", ports=[{"port": 81}])
    assert again["ports"] == [
        {"protocol": "TCP", "port": 81, "targetPort": 81, "nodePort": made["ports"][0]["nodePort"]}
    ]
    assert again["clusterIP"] == made["clusterIP"]


def test_a_type_brings_what_it_needs_and_takes_it_away_again(server: Writing) -> None:
    plain = server.made(SERVICES, service())["spec"]
    balanced = put(server, type="LoadBalancer", externalTrafficPolicy="Local")
    assert balanced["ports"][0]["nodePort"] in range(30000, 32768)
    assert balanced["healthCheckNodePort"] in range(30000, 32768)
    answer = server.write("PATCH", f"{SERVICES}/a", {"spec": {"type": "ClusterIP"}}, kind=MERGE)
    assert parsed(answer)["spec"] == plain


def test_what_is_changed_together_with_the_type_is_not_taken_away_but_refused(
    server: Writing,
) -> None:
    server.made(SERVICES, service(type="NodePort", ports=[{"port": 80, "nodePort": 30080}]))
    other = service(type="ClusterIP", ports=[{"port": 80, "nodePort": 30081}])
    answer = server.write("PUT", f"{SERVICES}/a", other)
    assert [field for field, _ in causes(answer)] == ["spec.ports[0].nodePort"]


def test_a_node_port_is_one_services(server: Writing) -> None:
    asked = [{"port": 80, "nodePort": 30080}]
    server.made(SERVICES, service(type="NodePort", ports=asked))
    taken = server.write("POST", SERVICES, service("b", type="NodePort", ports=asked))
    said = "Invalid value: 30080: provided port is already allocated"
    assert causes(taken) == [("spec.ports[0].nodePort", said)]
    outside = [{"port": 80, "nodePort": 80}]
    answer = server.write("POST", SERVICES, service("b", type="NodePort", ports=outside))
    assert causes(answer)[0][1].endswith("The range of valid ports is 30000-32767")
    server.write("DELETE", f"{SERVICES}/a")
    server.made(SERVICES, service("b", type="NodePort", ports=asked))


def test_two_protocols_of_a_port_share_a_node_port(server: Writing) -> None:
    both = [{"name": "t", "port": 53}, {"name": "u", "port": 53, "protocol": "UDP"}]
    ports = server.made(SERVICES, service(type="NodePort", ports=both))["spec"]["ports"]
    assert ports[0]["nodePort"] == ports[1]["nodePort"]


def test_a_dry_run_is_given_the_same_every_time_and_takes_nothing(server: Writing) -> None:
    ports = [{"name": "a", "port": 80}, {"name": "b", "port": 81}]
    asked = service(type="LoadBalancer", externalTrafficPolicy="Local", ports=ports)
    for _ in range(2):
        made = parsed(server.write("POST", f"{SERVICES}?dryRun=All", asked))["spec"]
        assert made["clusterIP"] == "10.0.0.0"
        assert [port["nodePort"] for port in made["ports"]] == [32769, 32770]
        assert made["healthCheckNodePort"] == 32771
    assert addresses(server) == {"10.0.0.1": "kubernetes"}


def test_what_was_given_belongs_to_nobody(server: Writing) -> None:
    made = server.made(SERVICES, service(type="NodePort"))
    server.merged(f"{SERVICES}/a", {"spec": {"type": "LoadBalancer"}})
    owned = str(made["metadata"]["managedFields"])
    assert "f:clusterIP" not in owned
    assert "f:nodePort" not in owned


def test_a_headless_service_without_a_selector_has_both_families(server: Writing) -> None:
    spec = server.made(SERVICES, service(clusterIP="None"))["spec"]
    assert (spec["ipFamilyPolicy"], spec["ipFamilies"]) == ("RequireDualStack", ["IPv4", "IPv6"])
    chosen = server.made(SERVICES, service("b", clusterIP="None", selector={"a": "b"}))["spec"]
    assert (chosen["ipFamilyPolicy"], chosen["ipFamilies"]) == ("SingleStack", ["IPv4"])


def test_the_addresses_may_be_of_another_network() -> None:
    server = Writing(settings=Settings(service_range="10.96.0.0/12"))
    assert addresses(server) == {"10.96.0.1": "kubernetes"}
    assert server.made(SERVICES, service())["spec"]["clusterIP"].startswith(("10.9", "10.1"))


def test_more_networks_may_be_added(server: Writing) -> None:
    ranges = "/apis/networking.k8s.io/v1/servicecidrs"
    asked = service(clusterIP="10.1.0.5")
    assert server.write("POST", SERVICES, asked).status == 422
    server.made(ranges, {"metadata": {"name": "b"}, "spec": {"cidrs": ["10.1.0.0/28"]}})
    assert server.made(SERVICES, asked)["spec"]["clusterIP"] == "10.1.0.5"
    not_ready = [{"type": "Ready", "status": "False", "reason": "a", "message": ""}]
    time = {"lastTransitionTime": "2026-01-01T00:00:00Z"}
    status = {"status": {"conditions": [{**not_ready[0], **time}]}}
    server.merged(f"{ranges}/b/status", status)
    assert server.write("POST", SERVICES, service("b", clusterIP="10.1.0.6")).status == 422


def test_services_that_are_loaded_have_their_addresses(server: Writing) -> None:
    spec = {"clusterIP": "10.0.0.50", "clusterIPs": ["10.0.0.50"], "type": "ClusterIP"}
    loaded = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "b"}, "spec": spec}
    server.server.load([loaded])
    assert addresses(server)["10.0.0.50"] == "b"
    assert server.write("POST", SERVICES, service(clusterIP="10.0.0.50")).status == 422
    server.server.restart("lost")
    assert addresses(server) == {"10.0.0.1": "kubernetes"}
