"""APIServices: further servers behind this one."""

from __future__ import annotations

from collections.abc import Iterator

from ...types.go_texts import decoded_length
from ..basics import texts
from ..checks import Checks, Value
from ..names import path_segment_problems, rfc_1035_problems, subdomain_problems
from ..problems import Problem, invalid_field, required_field, unsupported_field

__all__ = ["CHECKS"]

_STATES = ("True", "False", "Unknown")
_NAME_OF_SERVICE = 'must be `spec.version+"."+spec.group`'


def _api_service(new: Value) -> Iterator[Problem]:
    spec, name = new.get("spec") or {}, new["metadata"].get("name") or ""
    group, version = spec.get("group") or "", spec.get("version") or ""
    wanted = f"{version}.{group}"
    if name and name != wanted and not any(path_segment_problems(name)):
        yield invalid_field("metadata.name", name, f'{_NAME_OF_SERVICE}: "{wanted}"')
    if group:
        yield from texts("spec.group", group, subdomain_problems(group))
    elif version != "v1":
        text = "only v1 may have an empty group and it better be legacy kube"
        yield required_field("spec.group", text)
    yield from texts("spec.version", version, rfc_1035_problems(version))
    for member, most in (("groupPriorityMinimum", 20000), ("versionPriority", 1000)):
        value = spec.get(member) or 0
        if not 0 < value <= most:
            text = f"must be positive and less than {most}"
            yield invalid_field(f"spec.{member}", value, text)
    yield from _address(spec)


def _address(spec: Value) -> Iterator[Problem]:
    """Where a further server is, and whether it is trusted."""
    bundle, insecure = spec.get("caBundle") or "", bool(spec.get("insecureSkipTLSVerify"))
    service = spec.get("service")
    if service is None:
        if bundle:
            text = "local APIServices may not have a caBundle"
            yield invalid_field("spec.caBundle", f"{decoded_length(bundle)} bytes", text)
        if insecure:
            text = "local APIServices may not have insecureSkipTLSVerify"
            yield invalid_field("spec.insecureSkipTLSVerify", insecure, text)
        return
    for member in ("namespace", "name"):
        if not service.get(member):
            yield required_field(f"spec.service.{member}")
    port = service.get("port")
    port = 443 if port is None else port
    if not 0 < port <= 65535:
        text = "port is not valid: must be between 1 and 65535, inclusive"
        yield invalid_field("spec.service.port", port, text)
    if insecure and bundle:
        text = "may not be true if caBundle is present"
        yield invalid_field("spec.insecureSkipTLSVerify", insecure, text)


def _api_service_status(new: Value, old: Value) -> Iterator[Problem]:
    for at, condition in enumerate((new.get("status") or {}).get("conditions") or ()):
        status = condition.get("status") or ""
        if status not in _STATES:
            yield unsupported_field(f"status.conditions[{at}].status", status, _STATES)


CHECKS = {
    "apiregistration.k8s.io/apiservices": Checks(
        create=_api_service, status=_api_service_status, metadata=2
    )
}
