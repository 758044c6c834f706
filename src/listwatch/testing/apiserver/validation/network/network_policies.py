"""The checks of NetworkPolicies."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ..basics import port_name_problems, port_number, selector_at, texts
from ..checks import Checks, Value
from ..problems import (
    Problem,
    forbidden_field,
    invalid_field,
    required_field,
    unsupported_field,
)
from .addresses import legacy_range, range_of, warnings_of_range

__all__ = ["CHECKS"]

_PROTOCOLS = ("TCP", "UDP", "SCTP")
_TYPES = ("Ingress", "Egress")
_PEERS = {"ingress": "from", "egress": "to"}


def _create(new: Value) -> Iterator[Problem]:
    yield from _spec(new.get("spec") or {}, ())


def _update(new: Value, old: Value) -> Iterator[Problem]:
    """Ranges that it had before need not be better than they were."""
    before = old.get("spec") or {}
    known: set[str] = set()
    for _, block in _blocks(before):
        known.add(block.get("cidr") or "")
        known.update(block.get("except") or ())
    lenient = any(selector_at("", before.get("podSelector")))
    yield from _spec(new.get("spec") or {}, known, lenient=lenient)


def _spec(spec: Value, known: Collection[str], *, lenient: bool = False) -> Iterator[Problem]:
    yield from selector_at(
        "spec.podSelector", spec.get("podSelector"), allow_invalid_values=lenient
    )
    for member, peers in _PEERS.items():
        for at, rule in enumerate(spec.get(member) or ()):
            path = f"spec.{member}[{at}]"
            for index, port in enumerate(rule.get("ports") or ()):
                yield from _port(f"{path}.ports[{index}]", port)
            for index, peer in enumerate(rule.get(peers) or ()):
                yield from _peer(f"{path}.{peers}[{index}]", peer, known, lenient=lenient)
    kinds = spec.get("policyTypes") or []
    if len(kinds) > len(_TYPES):
        text = "may not specify more than two policyTypes"
        yield invalid_field("spec.policyTypes", kinds, text)
        return
    for at, kind in enumerate(kinds):
        if kind not in _TYPES:
            yield unsupported_field(f"spec.policyTypes[{at}]", kind, _TYPES)


def _port(path: str, port: Value) -> Iterator[Problem]:
    protocol, number, last = port.get("protocol"), port.get("port"), port.get("endPort")
    if protocol is not None and protocol not in _PROTOCOLS:
        yield unsupported_field(f"{path}.protocol", protocol, _PROTOCOLS)
    if isinstance(number, int):
        yield from port_number(f"{path}.port", number)
        if last is not None:
            if last < number:
                text = "must be greater than or equal to `port`"
                yield invalid_field(f"{path}.endPort", number, text)
            yield from port_number(f"{path}.endPort", last)
        return
    if last is not None:
        what = "not specified" if number is None else "non-numeric"
        text = f"may not be specified when `port` is {what}"
        yield invalid_field(f"{path}.endPort", last, text)
    if number is not None:
        yield from texts(f"{path}.port", number, port_name_problems(number))


def _peer(path: str, peer: Value, known: Collection[str], *, lenient: bool) -> Iterator[Problem]:
    selectors = 0
    for member in ("podSelector", "namespaceSelector"):
        selector = peer.get(member)
        if selector is not None:
            selectors += 1
            yield from selector_at(f"{path}.{member}", selector, allow_invalid_values=lenient)
    block = peer.get("ipBlock")
    if block is not None:
        yield from _block(f"{path}.ipBlock", block, known)
        if selectors:
            yield forbidden_field(path, "may not specify both ipBlock and another peer")
    elif not selectors:
        yield required_field(path, "must specify a peer")


def _block(path: str, block: Value, known: Collection[str]) -> Iterator[Problem]:
    text = block.get("cidr")
    if not text:
        yield required_field(f"{path}.cidr")
        return
    yield from legacy_range(f"{path}.cidr", text, known)
    whole = range_of(text)
    if whole is None:
        return
    for at, text in enumerate(block.get("except") or ()):
        field = f"{path}.except[{at}]"
        yield from legacy_range(field, text, known)
        part = range_of(text)
        if part is not None and (part.first not in whole or whole.bits >= part.bits):
            yield invalid_field(field, text, "must be a strict subset of `cidr`")


def _blocks(spec: Value) -> Iterator[tuple[str, Value]]:
    """The ranges that peers are in, with where they are."""
    for member, peers in _PEERS.items():
        for at, rule in enumerate(spec.get(member) or ()):
            for index, peer in enumerate(rule.get(peers) or ()):
                block = peer.get("ipBlock")
                if block is not None:
                    yield f"spec.{member}[{at}].{peers}[{index}].ipBlock", block


def _warnings(new: Value) -> Iterator[str]:
    for path, block in _blocks(new.get("spec") or {}):
        yield from warnings_of_range(f"{path}.cidr", block.get("cidr") or "")
        for at, text in enumerate(block.get("except") or ()):
            yield from warnings_of_range(f"{path}.except[{at}]", text)


CHECKS = {
    "networking.k8s.io/networkpolicies": Checks(create=_create, update=_update, warnings=_warnings)
}
