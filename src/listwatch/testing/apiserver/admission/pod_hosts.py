"""Which hosts and ports of nodes containers name."""

from __future__ import annotations

from .amounts import Value

__all__ = ["hosts_of", "ports_of"]

_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")


def hosts_of(container: Value) -> set[str]:
    """The hosts that its probes and its lifecycle hooks ask."""
    lifecycle = container.get("lifecycle") or {}
    handlers = [container.get(name) for name in _PROBES]
    handlers += [lifecycle.get(name) for name in ("postStart", "preStop")]
    asked = (
        (handler.get(name) or {}).get("host")
        for handler in handlers
        if handler is not None
        for name in ("httpGet", "tcpSocket")
    )
    return {host for host in asked if host}


def ports_of(container: Value) -> list[str]:
    """The ports of its node that it takes."""
    ports = (port.get("hostPort") for port in container.get("ports") or ())
    return [str(port) for port in ports if port]
