"""Services and what leads to them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from listwatch.api.cells import network
from listwatch.api.cells.reading import NONE, Obj, age, at, items, mapping, text

from .printer import (
    AGE,
    NAME,
    Column,
    Printer,
    Printers,
    label_text,
    name_of,
    selector_text,
    wide,
)

__all__ = ["PRINTERS"]


def _service(obj: Obj, now: datetime) -> list[Any]:
    addresses = items(obj, "spec", "clusterIPs")
    external = network.service_external(obj, now)
    if text(obj, "spec", "type") == "ExternalName":
        external = text(obj, "spec", "externalName")
    elif not text(obj, "spec", "type"):
        external = "<unknown>"
    return [
        name_of(obj),
        text(obj, "spec", "type"),
        str(addresses[0]) if addresses else text(obj, "spec", "clusterIP", default=NONE),
        external,
        network.service_ports(obj, now),
        age(obj, now),
        label_text(mapping(obj, "spec", "selector")),
    ]


def _endpoints(obj: Obj, now: datetime) -> list[Any]:
    return [name_of(obj), network.endpoints(obj, now), age(obj, now)]


def _endpoint_slice(obj: Obj, now: datetime) -> list[Any]:
    return [
        name_of(obj),
        text(obj, "addressType"),
        network.slice_ports(obj, now),
        network.slice_endpoints(obj, now),
        age(obj, now),
    ]


def _ingress(obj: Obj, now: datetime) -> list[Any]:
    name = at(obj, "spec", "ingressClassName")
    return [
        name_of(obj),
        NONE if name is None else str(name),
        network.ingress_hosts(obj, now),
        network.ingress_address(obj, now),
        network.ingress_ports(obj, now),
        age(obj, now),
    ]


def _ingress_class(obj: Obj, now: datetime) -> list[Any]:
    annotations = mapping(obj, "metadata", "annotations")
    is_default = annotations.get("ingressclass.kubernetes.io/is-default-class") == "true"
    parameters = at(obj, "spec", "parameters")
    shown = NONE
    if parameters is not None:
        group = at(parameters, "apiGroup")
        shown = text(parameters, "kind") + ("" if group is None else f".{group}")
        shown += f"/{text(parameters, 'name')}"
    return [
        name_of(obj) + " (default)" * is_default,
        text(obj, "spec", "controller"),
        shown,
        age(obj, now),
    ]


def _network_policy(obj: Obj, now: datetime) -> list[Any]:
    return [name_of(obj), selector_text(at(obj, "spec", "podSelector")) or NONE, age(obj, now)]


def _service_cidr(obj: Obj, now: datetime) -> list[Any]:
    return [name_of(obj), ",".join(map(str, items(obj, "spec", "cidrs"))), age(obj, now)]


def _ip_address(obj: Obj, now: datetime) -> list[Any]:
    parent = at(obj, "spec", "parentRef")
    shown = NONE
    if parent is not None:
        group = text(parent, "group")
        resource = text(parent, "resource") + (f".{group}" if group else "")
        parts = (resource.lower(), text(parent, "namespace"), text(parent, "name"))
        shown = "/".join(part for part in parts if part)
    # There is no column for the age: the real server has forgotten it.
    return [name_of(obj), shown, age(obj, now)]


PRINTERS: Printers = {
    ("", "Service"): Printer(
        (
            NAME,
            Column("Type", "How the service can be reached."),
            Column("Cluster-IP", "Its address within the cluster."),
            Column("External-IP", "Its addresses outside of the cluster."),
            Column("Port(s)", "Its ports; behind a colon, those of the nodes."),
            AGE,
            wide(Column("Selector", "The labels of the pods that serve it.")),
        ),
        _service,
    ),
    ("", "Endpoints"): Printer(
        (NAME, Column("Endpoints", "The first addresses behind the service."), AGE), _endpoints
    ),
    ("discovery.k8s.io", "EndpointSlice"): Printer(
        (
            NAME,
            Column("AddressType", "What kind of addresses these are."),
            Column("Ports", "The ports that each address has."),
            Column("Endpoints", "The first addresses behind the service."),
            AGE,
        ),
        _endpoint_slice,
    ),
    ("networking.k8s.io", "Ingress"): Printer(
        (
            NAME,
            Column("Class", "The class of controllers that carries it out."),
            Column("Hosts", "The hosts that its rules are for."),
            Column("Address", "Where its load balancer can be reached."),
            Column("Ports", "The ports that are open: 443, too, where there is TLS."),
            AGE,
        ),
        _ingress,
    ),
    ("networking.k8s.io", "IngressClass"): Printer(
        (
            NAME,
            Column("Controller", "Who carries out the ingresses of this class."),
            Column("Parameters", "The object with the settings of the controller."),
            AGE,
        ),
        _ingress_class,
    ),
    ("networking.k8s.io", "NetworkPolicy"): Printer(
        (NAME, Column("Pod-Selector", "The labels of the pods that it is for."), AGE),
        _network_policy,
    ),
    ("networking.k8s.io", "ServiceCIDR"): Printer(
        (NAME, Column("CIDRs", "The ranges that services get their addresses from."), AGE),
        _service_cidr,
    ),
    ("networking.k8s.io", "IPAddress"): Printer(
        (NAME, Column("ParentRef", "The object that has the address.")), _ip_address
    ),
}
