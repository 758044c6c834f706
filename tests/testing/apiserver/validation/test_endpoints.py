"""Endpoints and EndpointSlices: orders, and what changes nothing (K28). The recorded answers of a
real server (`conformance/validation`) have the rest.
"""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.testing.apiserver.validation.checks import checks_of

ENDPOINTS = checks_of("endpoints")
SLICES = checks_of("discovery.k8s.io/endpointslices")


def subsets(*addresses: str) -> dict[str, Any]:
    points = [{"ip": address} for address in addresses]
    return {"subsets": [{"addresses": points, "ports": [{"port": 80, "protocol": "TCP"}]}]}


def slice_of(*addresses: str, kind: str = "IPv4") -> dict[str, Any]:
    return {"addressType": kind, "endpoints": [{"addresses": list(addresses)}]}


def test_nothing_is_wrong_with_plain_ones() -> None:
    assert not list(ENDPOINTS.create(subsets("10.1.0.1")))
    assert not list(SLICES.create(slice_of("10.1.0.1")))
    assert not list(ENDPOINTS.create({}))


def test_an_address_is_looked_at_twice_with_its_names_between() -> None:
    address = {"ip": "nonsense", "hostname": "A", "nodeName": "B"}
    found = ENDPOINTS.create({"subsets": [{"addresses": [address]}]})
    assert [problem.field.rpartition(".")[2] for problem in found] == [
        "ip",
        "hostname",
        "nodeName",
        "ip",
    ]


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("0.0.0.0", "may not be unspecified (0.0.0.0)"),
        ("127.8.8.8", "may not be in the loopback range (127.0.0.0/8, ::1/128)"),
        ("169.254.1.1", "may not be in the link-local range (169.254.0.0/16, fe80::/10)"),
        ("224.0.0.251", "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"),
    ],
)
def test_nobody_is_behind_a_special_address(address: str, said: str) -> None:
    for problems in (ENDPOINTS.create(subsets(address)), SLICES.create(slice_of(address))):
        assert [problem.message.partition(f'"{address}": ')[2] for problem in problems] == [said]


def test_endpoints_that_do_not_change_may_be_wrong() -> None:
    old, new = subsets("127.0.0.1"), subsets("127.0.0.1", "10.1.0.1")
    assert not list(ENDPOINTS.of_update(old, old))
    assert [problem.field for problem in ENDPOINTS.of_update(new, old)] == [
        "subsets[0].addresses[0].ip"
    ]
    local = slice_of("127.0.0.1")
    assert not list(SLICES.of_update({**local, "ports": None}, local))


def test_the_kind_of_addresses_stays() -> None:
    old, new = slice_of("10.1.0.1"), slice_of("2001:db8::1", kind="IPv6")
    assert [str(problem) for problem in SLICES.of_update(new, old)] == [
        'addressType: Invalid value: "IPv6": field is immutable'
    ]


def test_there_are_only_so_many() -> None:
    many = {"addressType": "IPv4", "endpoints": [{"addresses": ["10.1.0.1"]}] * 1001}
    assert [str(problem) for problem in SLICES.create(many)] == [
        "endpoints: Too many: 1001: must have at most 1000 items"
    ]
    full = slice_of(*["10.1.0.1"] * 101)
    assert [problem.field for problem in SLICES.create(full)] == ["endpoints[0].addresses"]


def test_controllers_are_not_warned_of_their_addresses() -> None:
    odd = {**slice_of("2001:DB8::1"), "kind": "EndpointSlice"}
    label = "endpointslice.kubernetes.io/managed-by"
    mine = {"labels": {label: "endpointslice-controller.k8s.io"}}
    assert len(list(SLICES.warnings(odd))) == 1
    assert list(SLICES.warnings({**odd, "metadata": mine})) == []


def test_only_who_creates_a_slice_of_names_is_told_that_they_are_old() -> None:
    names = slice_of("a.example", kind="FQDN")
    assert list(SLICES.warnings(names)) == ["spec.addressType: FQDN endpoints are deprecated"]
    assert list(SLICES.of_update_warnings(names, names)) == []
