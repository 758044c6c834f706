"""The ports of a Service."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..basics import PROTOCOLS, one_of, port_at, port_number, texts
from ..checks import Value
from ..names import key_problems, label_name_problems
from ..problems import Problem, duplicate_field, forbidden_field, required_field

__all__ = ["port_problems", "repeated_ports"]


def port_problems(field: str, ports: Sequence[Value]) -> Iterator[Problem]:
    """What is wrong with each one by itself, and with their names."""
    names: set[str] = set()
    for at, port in enumerate(ports):
        path = f"{field}[{at}]"
        name = port.get("name")
        if name:
            yield from texts(f"{path}.name", name, label_name_problems(name))
            if name in names:
                yield duplicate_field(f"{path}.name", name)
            names.add(name)
        elif len(ports) > 1:
            yield required_field(f"{path}.name")
        yield from port_number(f"{path}.port", port.get("port"))
        yield from one_of(f"{path}.protocol", port.get("protocol"), PROTOCOLS)
        yield from port_at(f"{path}.targetPort", port.get("targetPort"))
        protocol = port.get("appProtocol")
        if protocol is not None:
            yield from texts(f"{path}.appProtocol", protocol, key_problems(protocol))


def repeated_ports(field: str, ports: Sequence[Value], kind: str | None) -> Iterator[Problem]:
    """Node ports where there can be none, and ports that are there twice."""
    if kind == "ClusterIP":
        for at, port in enumerate(ports):
            if port.get("nodePort"):
                text = "may not be used when `type` is 'ClusterIP'"
                yield forbidden_field(f"{field}[{at}].nodePort", text)
    seen: set[tuple[Any, Any]] = set()
    for at, port in enumerate(ports):
        number = port.get("nodePort")
        if number:
            key = (port.get("protocol"), number)
            if key in seen:
                yield duplicate_field(f"{field}[{at}].nodePort", number)
            seen.add(key)
    seen = set()
    for at, port in enumerate(ports):
        key = (port.get("protocol"), port.get("port"))
        if key in seen:
            yield duplicate_field(f"{field}[{at}]", _as_in_go(port))
        seen.add(key)


def _as_in_go(port: Value) -> Value:
    """What the real server shows of a port that is there twice."""
    return {
        "Name": "",
        "Protocol": port.get("protocol") or "",
        "AppProtocol": None,
        "Port": port.get("port") or 0,
        "TargetPort": 0,
        "NodePort": 0,
    }
