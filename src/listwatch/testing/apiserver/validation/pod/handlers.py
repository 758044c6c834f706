"""What is done to a container: probes and hooks of its life."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..basics import non_negative, port_at
from ..checks import Value
from ..problems import (
    Problem,
    forbidden_field,
    invalid_field,
    required_field,
    unsupported_field,
)

__all__ = ["lifecycle_problems", "probe_problems"]

_SCHEMES = ("HTTP", "HTTPS")
_OF_PROBES = ("exec", "httpGet", "tcpSocket", "grpc")
_OF_HOOKS = ("exec", "httpGet", "tcpSocket", "sleep")
_NUMBERS = (
    "initialDelaySeconds",
    "timeoutSeconds",
    "periodSeconds",
    "successThreshold",
    "failureThreshold",
)

_HEADER = "[-A-Za-z0-9]+"
_NO_HEADER = (
    "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', "
    f"regex used for validation is '{_HEADER}')"
)
_is_header = re.compile(_HEADER).fullmatch


def probe_problems(container: Value, path: str) -> Iterator[Problem]:
    """The three probes of a container."""
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        probe = container.get(name)
        if probe is not None:
            yield from _probe(probe, f"{path}.{name}", is_readiness=name == "readinessProbe")


def _probe(probe: Value, path: str, *, is_readiness: bool) -> Iterator[Problem]:
    yield from _handler(probe, path, _OF_PROBES, None)
    for name in _NUMBERS:
        yield from non_negative(f"{path}.{name}", probe.get(name))
    grace = probe.get("terminationGracePeriodSeconds")
    if grace is not None and grace <= 0:
        yield invalid_field(
            f"{path}.terminationGracePeriodSeconds", grace, "must be greater than 0"
        )
    if is_readiness:
        if grace is not None:
            text = "must not be set for readinessProbes"
            yield invalid_field(f"{path}.terminationGracePeriodSeconds", grace, text)
    elif probe.get("successThreshold") != 1:
        value = probe.get("successThreshold") or 0
        yield invalid_field(f"{path}.successThreshold", value, "must be 1")


def lifecycle_problems(lifecycle: Value, path: str, grace: int | None) -> Iterator[Problem]:
    """The hooks of a container; `grace`: how many seconds its pod has to end."""
    for name in ("postStart", "preStop"):
        hook = lifecycle.get(name)
        if hook is not None:
            yield from _handler(hook, f"{path}.{name}", _OF_HOOKS, grace)


def _handler(
    handler: Value, path: str, kinds: tuple[str, ...], grace: int | None
) -> Iterator[Problem]:
    found = False
    for kind in kinds:
        action = handler.get(kind)
        if action is None:
            continue
        if found:
            text = "may not specify more than 1 handler type"
            yield forbidden_field(f"{path}.{kind}", text)
            continue
        found = True
        yield from _action(kind, action, f"{path}.{kind}", grace)
    if not found:
        yield required_field(path, "must specify a handler type")


def _action(kind: str, action: Value, path: str, grace: int | None) -> Iterator[Problem]:
    if kind == "exec":
        if not action.get("command"):
            yield required_field(f"{path}.command")
    elif kind == "sleep":
        seconds = action.get("seconds") or 0
        if grace is not None and not 0 <= seconds <= grace:
            text = f"must be non-negative and less than terminationGracePeriodSeconds ({grace})"
            yield invalid_field(path, seconds, text)
    else:
        if kind == "httpGet" and not action.get("path"):
            yield required_field(f"{path}.path")
        yield from port_at(f"{path}.port", action.get("port"))
        if kind == "httpGet":
            yield from _http(action, path)


def _http(action: Value, path: str) -> Iterator[Problem]:
    scheme = action.get("scheme") or ""
    if scheme not in _SCHEMES:
        yield unsupported_field(f"{path}.scheme", scheme, _SCHEMES)
    for header in action.get("httpHeaders") or ():
        name = header.get("name") or ""
        if not _is_header(name):
            yield invalid_field(f"{path}.httpHeaders", name, _NO_HEADER)
