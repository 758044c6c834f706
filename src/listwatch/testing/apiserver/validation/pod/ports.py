"""The ports of containers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..basics import PROTOCOLS, in_range, one_of, port_name_problems, texts
from ..checks import Value
from ..problems import Problem, duplicate_field, required_field

__all__ = ["host_port_problems", "port_problems"]


def port_problems(ports: Sequence[Value], path: str) -> Iterator[Problem]:
    """The ports of one container."""
    names: set[str] = set()
    for at, port in enumerate(ports):
        here = f"{path}[{at}]"
        name = port.get("name")
        if name:
            wrong = list(port_name_problems(name))
            yield from texts(f"{here}.name", name, wrong)
            if name in names:
                yield duplicate_field(f"{here}.name", name)
            elif not wrong:
                names.add(name)
        number = port.get("containerPort")
        if not number:
            yield required_field(f"{here}.containerPort")
        else:
            yield from in_range(f"{here}.containerPort", number, 1, 65535)
        yield from in_range(f"{here}.hostPort", port.get("hostPort") or None, 1, 65535)
        yield from one_of(f"{here}.protocol", port.get("protocol"), PROTOCOLS)


def host_port_problems(containers: Sequence[Value], path: str) -> Iterator[Problem]:
    """Ports of the node that more than one of `containers` wants."""
    taken: set[str] = set()
    for index, container in enumerate(containers):
        for at, port in enumerate(container.get("ports") or ()):
            number = port.get("hostPort")
            if not number:
                continue
            wanted = f"{port.get('protocol') or ''}/{port.get('hostIP') or ''}/{number}"
            if wanted in taken:
                yield duplicate_field(f"{path}[{index}].ports[{at}].hostPort", wanted)
            taken.add(wanted)
