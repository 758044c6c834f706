from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from listwatch.api.cells import network
from listwatch.api.cells.storage import volume_access_modes

NOW = datetime(2026, 11, 29, tzinfo=UTC)


def _hosts(*hosts: str | None) -> dict[str, Any]:
    return {"spec": {"rules": [{"host": host} if host else {} for host in hosts]}}


@pytest.mark.parametrize(
    ("ingress", "text"),
    [
        (_hosts(), "*"),
        (_hosts(None, None), "*"),
        (_hosts("a", None, "b"), "a,b"),
        (_hosts("a", "b", "c"), "a,b,c"),
        (_hosts("a", "b", "c", None), "a,b,c + 1 more..."),
        (_hosts("a", None, "b", "c", "d", "e"), "a,b,c + 3 more..."),
    ],
)
def test_three_hosts_are_shown_and_rules_are_counted(ingress: dict[str, Any], text: str) -> None:
    assert network.ingress_hosts(ingress, NOW) == text


def test_addresses_of_a_load_balancer_are_sorted_and_told_once() -> None:
    given = [{"ip": "9.9.9.9"}, {"hostname": "b"}, {"ip": "1.1.1.1"}, {"ip": "9.9.9.9"}]
    ingress = {"status": {"loadBalancer": {"ingress": given}}}
    assert network.ingress_address(ingress, NOW) == "1.1.1.1,9.9.9.9,b"


@pytest.mark.parametrize(
    ("obj", "text"),
    [
        ({}, "<none>"),
        ({"subsets": [{"notReadyAddresses": [{"ip": "1"}], "ports": [{"port": 80}]}]}, ""),
        ({"subsets": [{"addresses": [{"ip": "1"}]}]}, "1"),
    ],
)
def test_endpoints_of_nobody_ready_are_not_none(obj: dict[str, Any], text: str) -> None:
    assert network.endpoints(obj, NOW) == text


def test_a_port_without_a_number_has_a_name() -> None:
    ports = {"ports": [{"port": 80, "name": "a"}, {"name": "b"}, {}]}
    assert network.slice_ports(ports, NOW) == "80,b,*"


def test_access_modes_have_an_order() -> None:
    modes = ["ReadWriteMany", "Other", "ReadWriteOnce", "ReadWriteMany"]
    assert volume_access_modes({"spec": {"accessModes": modes}}, NOW) == "RWO,RWX"
