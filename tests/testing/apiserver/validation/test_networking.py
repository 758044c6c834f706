"""Ingresses, NetworkPolicies and their kin: orders, and what never is refused (K28). The recorded
answers of a real server (`conformance/validation`) have the rest.
"""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.testing.apiserver.validation.checks import checks_of

GROUP = "networking.k8s.io"
INGRESSES = checks_of(f"{GROUP}/ingresses")
CLASSES = checks_of(f"{GROUP}/ingressclasses")
POLICIES = checks_of(f"{GROUP}/networkpolicies")
ADDRESSES = checks_of(f"{GROUP}/ipaddresses")
RANGES = checks_of(f"{GROUP}/servicecidrs")
CLASS = "kubernetes.io/ingress.class"


def told(problems: Any) -> list[str]:
    return [str(problem) for problem in problems]


def fields(problems: Any) -> list[str]:
    return [problem.field for problem in problems]


def ingress(annotations: Any = None, **spec: Any) -> dict[str, Any]:
    backend = {"service": {"name": "web", "port": {"number": 80}}}
    metadata = {"annotations": annotations}
    return {"metadata": metadata, "spec": {"defaultBackend": backend, **spec}}


def paths(*found: dict[str, Any], host: str = "") -> dict[str, Any]:
    backend = {"service": {"name": "web", "port": {"name": "http"}}}
    whole = [{"backend": backend, "pathType": "Prefix", "path": "/", **each} for each in found]
    return ingress(rules=[{"host": host, "http": {"paths": whole}}])


def test_nothing_is_wrong_with_plain_ones() -> None:
    assert not told(INGRESSES.create(ingress()))
    assert not told(INGRESSES.create(paths({})))
    assert not told(POLICIES.create({"spec": {"podSelector": {}, "policyTypes": ["Ingress"]}}))
    assert not told(CLASSES.create({"spec": {"controller": "a.example/b"}}))


def test_an_ingress_leads_somewhere() -> None:
    assert told(INGRESSES.create({"spec": {}})) == [
        "spec: Invalid value: null: either `defaultBackend` or `rules` must be specified"
    ]
    assert told(INGRESSES.create(ingress(defaultBackend={}))) == [
        'spec.defaultBackend: Invalid value: "": resource or service backend is required'
    ]


def test_everything_is_told_of_an_ingress_in_the_order_of_the_real_server() -> None:
    wrong = ingress(
        {CLASS: "other"},
        defaultBackend={"service": {"name": "A", "port": {}}},
        ingressClassName="B",
        tls=[{"hosts": ["C"], "secretName": "D"}],
        rules=[{"host": "192.0.2.1", "http": {"paths": [{"pathType": "Exact", "path": "a"}]}}],
    )
    assert fields(INGRESSES.create(wrong)) == [
        "spec.defaultBackend.service.name",
        "spec.defaultBackend",
        "spec.rules[0].host",
        "spec.rules[0].http.paths[0].path",
        "spec.rules[0].http.paths[0].backend",
        "spec.tls[0].hosts[0]",
        "spec.tls[0].secretName",
        "spec.ingressClassName",
        f"annotations.{CLASS}",
    ]


@pytest.mark.parametrize(
    ("kind", "path", "said"),
    [
        ("Prefix", "", ["must be an absolute path"]),
        ("Exact", "/a//b/.", ["must not contain '//'", "cannot end with '/.'"]),
        ("ImplementationSpecific", "", []),
        ("ImplementationSpecific", "/a//b/.", []),
        ("ImplementationSpecific", "a", ["must be an absolute path"]),
    ],
)
def test_what_a_path_may_be_depends_on_its_type(kind: str, path: str, said: list[str]) -> None:
    found = INGRESSES.create(paths({"pathType": kind, "path": path}))
    assert [problem.message.partition(f'"{path}": ')[2] for problem in found] == said


def test_what_is_wrong_with_rules_of_any_host_stays_once_it_is_stored() -> None:
    old = paths({"path": "a"}, host="*.example")
    assert fields(INGRESSES.create(old)) == ["spec.rules[0].http.paths[0].path"]
    assert not fields(INGRESSES.of_update(old, old))
    assert fields(INGRESSES.of_update(paths({"path": "a"}, host="b.example"), old)) == [
        "spec.rules[0].http.paths[0].path"
    ]


def test_only_who_creates_an_ingress_is_told_of_the_old_annotation() -> None:
    old = ingress({CLASS: "nginx"})
    assert list(INGRESSES.warnings(old)) == [
        f"annotation \"{CLASS}\" is deprecated, please use 'spec.ingressClassName' instead"
    ]
    assert list(INGRESSES.of_update_warnings(old, old)) == []


def test_a_peer_is_a_range_or_chosen_by_labels() -> None:
    block = {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16", "10.0.0.0/8", "11.0.0.0/16"]}
    peers = [{}, {"ipBlock": block}, {"ipBlock": {"cidr": "10.0.0.0/8"}, "podSelector": {}}]
    assert told(POLICIES.create({"spec": {"ingress": [{"from": peers}]}})) == [
        "spec.ingress[0].from[0]: Required value: must specify a peer",
        'spec.ingress[0].from[1].ipBlock.except[1]: Invalid value: "10.0.0.0/8": must be a strict '
        "subset of `cidr`",
        'spec.ingress[0].from[1].ipBlock.except[2]: Invalid value: "11.0.0.0/16": must be a strict '
        "subset of `cidr`",
        "spec.ingress[0].from[2]: Forbidden: may not specify both ipBlock and another peer",
    ]


def test_ranges_that_a_policy_had_may_move_in_it() -> None:
    def policy(member: str, peers: str) -> dict[str, Any]:
        return {"spec": {member: [{peers: [{"ipBlock": {"cidr": "10.0.0.1/8"}}]}]}}

    old, new = policy("ingress", "from"), policy("egress", "to")
    assert fields(POLICIES.create(new)) == ["spec.egress[0].to[0].ipBlock.cidr"]
    assert not fields(POLICIES.of_update(new, old))


def test_the_end_of_ports_is_behind_their_start() -> None:
    ports = [{"port": 80, "endPort": 79}, {"port": "web", "endPort": 80}, {"endPort": 80}]
    found = POLICIES.create({"spec": {"egress": [{"ports": ports}]}})
    assert [problem.message for problem in found] == [
        "Invalid value: 80: must be greater than or equal to `port`",
        "Invalid value: 80: may not be specified when `port` is non-numeric",
        "Invalid value: 80: may not be specified when `port` is not specified",
    ]


def test_parameters_are_of_the_cluster_or_of_a_namespace() -> None:
    def class_(**parameters: str) -> dict[str, Any]:
        whole = {"kind": "A", "name": "b", **parameters}
        return {"spec": {"controller": "a.example/b", "parameters": whole}}

    assert not told(CLASSES.create(class_(scope="Namespace", namespace="a")))
    assert told(CLASSES.create(class_(scope="Namespace"))) == [
        "spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'"
    ]
    assert told(CLASSES.create(class_(scope="Cluster", namespace="a"))) == [
        "spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'"
    ]


def test_a_range_of_the_other_family_may_come_later() -> None:
    def ranges(*cidrs: str) -> dict[str, Any]:
        return {"spec": {"cidrs": list(cidrs)}}

    four, six = "192.0.2.0/24", "2001:db8::/64"
    assert not told(RANGES.of_update(ranges(four, six), ranges(four)))
    assert fields(RANGES.of_update(ranges(six), ranges(four))) == ["spec.cidrs[0]"]
    assert fields(RANGES.of_update(ranges(four), ranges(four, six))) == ["spec.cidrs"]
    assert fields(RANGES.create(ranges(four, "198.51.100.0/24"))) == ["spec.cidrs"]


@pytest.mark.parametrize("checks", [INGRESSES, CLASSES, POLICIES, ADDRESSES, RANGES])
@pytest.mark.parametrize("spec", [None, {}, {"rules": None, "ingress": None, "cidrs": None}])
def test_what_is_missing_does_no_harm(checks: Any, spec: Any) -> None:
    value = {"metadata": None, "spec": spec, "status": None}
    told(checks.create(value))
    told(checks.of_update(value, value))
    told(checks.status(value, value))
    list(checks.warnings(value))
    list(checks.status_warnings(value))
