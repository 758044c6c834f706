"""The checks of Ingresses and IngressClasses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..basics import immutable, port_name_problems, port_number, required, texts
from ..checks import Checks, Value
from ..domain_paths import domain_path_problems
from ..names import (
    byte_length,
    label_name_problems,
    path_segment_problems,
    subdomain_problems,
)
from ..problems import (
    Problem,
    forbidden_field,
    invalid_field,
    required_field,
    too_long,
    unsupported_field,
)
from .load_balancers import host_problems, ingress_status, status_warnings

__all__ = ["CHECKS"]

_PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
_SCOPES = ("Cluster", "Namespace")
_CLASS = "kubernetes.io/ingress.class"
_BAD_PARTS = ("//", "/./", "/../", "%2f", "%2F")
_BAD_ENDS = ("/..", "/.")
_CONTROLLER_LENGTH = 250
_SUBDOMAIN = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_WILDCARD = rf"\*\.{_SUBDOMAIN}(\.{_SUBDOMAIN})*"
_WILDCARD_TEXT = (
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which "
    "must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric "
    f"character (e.g. '*.example.com', regex used for validation is '{_WILDCARD}')"
)
_is_wildcard = re.compile(_WILDCARD).fullmatch


def _create(new: Value) -> Iterator[Problem]:
    spec = new.get("spec") or {}
    yield from _spec(spec)
    annotation = ((new.get("metadata") or {}).get("annotations") or {}).get(_CLASS)
    name = spec.get("ingressClassName")
    if annotation is not None and name is not None and annotation != name:
        text = "must match `ingressClassName` when both are specified"
        yield invalid_field(f"annotations.{_CLASS}", annotation, text)


def _update(new: Value, old: Value) -> Iterator[Problem]:
    """What was stored when less was looked at does not stand in the way."""
    before = old.get("spec") or {}
    secrets = any(
        tls.get("secretName") and any(subdomain_problems(tls["secretName"]))
        for tls in before.get("tls") or ()
    )
    wildcards = any(
        "*" in (rule.get("host") or "") and any(_rule_paths("", rule))
        for rule in before.get("rules") or ()
    )
    yield from _spec(new.get("spec") or {}, any_secret=secrets, any_wildcard=wildcards)


def _spec(
    spec: Value, *, any_secret: bool = False, any_wildcard: bool = False
) -> Iterator[Problem]:
    rules, backend = spec.get("rules") or (), spec.get("defaultBackend")
    if not rules and backend is None:
        text = "either `defaultBackend` or `rules` must be specified"
        yield invalid_field("spec", spec.get("rules"), text)
    if backend is not None:
        yield from _backend("spec.defaultBackend", backend)
    for at, rule in enumerate(rules):
        host = rule.get("host") or ""
        if host:
            yield from host_problems(f"spec.rules[{at}].host", host)
            yield from texts(f"spec.rules[{at}].host", host, _host_texts(host))
        if not (any_wildcard and "*" in host):
            yield from _rule_paths(f"spec.rules[{at}]", rule)
    for at, tls in enumerate(spec.get("tls") or ()):
        for index, host in enumerate(tls.get("hosts") or ()):
            yield from texts(f"spec.tls[{at}].hosts[{index}]", host, _host_texts(host))
        secret = tls.get("secretName")
        if secret and not any_secret:
            yield from texts(f"spec.tls[{at}].secretName", secret, subdomain_problems(secret))
    name = spec.get("ingressClassName")
    if name is not None:
        yield from texts("spec.ingressClassName", name, subdomain_problems(name))


def _host_texts(host: str) -> Iterator[str]:
    if "*" not in host:
        yield from subdomain_problems(host)
        return
    if byte_length(host) > 253:
        yield "must be no more than 253 characters"
    if not _is_wildcard(host):
        yield _WILDCARD_TEXT


def _rule_paths(path: str, rule: Value) -> Iterator[Problem]:
    http = rule.get("http")
    if http is None:
        return
    paths: Sequence[Value] = http.get("paths") or ()
    yield from required(f"{path}.http.paths", paths)
    for at, found in enumerate(paths):
        yield from _path(f"{path}.http.paths[{at}]", found)


def _path(path: str, found: Value) -> Iterator[Problem]:
    kind, text = found.get("pathType"), found.get("path") or ""
    field = f"{path}.path"
    if kind is None:
        yield required_field(f"{path}.pathType", "pathType must be specified")
        return
    if kind not in _PATH_TYPES:
        yield unsupported_field(f"{path}.pathType", kind, _PATH_TYPES)
    elif not text.startswith("/") and (text or kind != "ImplementationSpecific"):
        yield invalid_field(field, text, "must be an absolute path")
    if kind in ("Exact", "Prefix"):
        for part in _BAD_PARTS:
            if part in text:
                yield invalid_field(field, text, f"must not contain '{part}'")
        for end in _BAD_ENDS:
            if text.endswith(end):
                yield invalid_field(field, text, f"cannot end with '{end}'")
    yield from _backend(f"{path}.backend", found.get("backend") or {})


def _backend(path: str, backend: Value) -> Iterator[Problem]:
    resource, service = backend.get("resource"), backend.get("service")
    if resource is not None and service is not None:
        yield invalid_field(path, "", "cannot set both resource and service backends")
    elif resource is not None:
        yield from _reference(f"{path}.resource", resource)
    elif service is not None:
        yield from _service(path, service)
    else:
        yield invalid_field(path, "", "resource or service backend is required")


def _service(path: str, service: Value) -> Iterator[Problem]:
    name = service.get("name")
    if name:
        yield from texts(f"{path}.service.name", name, label_name_problems(name))
    else:
        yield required_field(f"{path}.service.name")
    port = service.get("port") or {}
    name, number = port.get("name"), port.get("number")
    if name and number:
        yield invalid_field(path, "", "cannot set both port name & port number")
    elif name:
        yield from texts(f"{path}.service.port.name", name, port_name_problems(name))
    elif number:
        yield from port_number(f"{path}.service.port.number", number)
    else:
        yield required_field(path, "port name or number is required")


def _reference(path: str, reference: Value) -> Iterator[Problem]:
    """Another object, by its group, kind and name."""
    group = reference.get("apiGroup")
    if group is not None:
        yield from texts(f"{path}.apiGroup", group, subdomain_problems(group))
    for member in ("kind", "name"):
        found = reference.get(member)
        if found:
            yield from texts(f"{path}.{member}", found, path_segment_problems(found))
        else:
            yield required_field(f"{path}.{member}")


def _warnings(new: Value) -> Iterator[str]:
    annotations = (new.get("metadata") or {}).get("annotations") or {}
    if _CLASS in annotations and (new.get("spec") or {}).get("ingressClassName") is None:
        yield f"annotation \"{_CLASS}\" is deprecated, please use 'spec.ingressClassName' instead"


def _no_warnings(new: Value, old: Value) -> tuple[str, ...]:
    """Only who creates one is told."""
    return ()


def _class(new: Value) -> Iterator[Problem]:
    spec = new.get("spec") or {}
    yield from _controller("spec.controller", spec.get("controller") or "")
    parameters = spec.get("parameters")
    if parameters is not None:
        yield from _parameters("spec.parameters", parameters)


def _changed_class(new: Value, old: Value) -> Iterator[Problem]:
    controller = (new.get("spec") or {}).get("controller") or ""
    before = (old.get("spec") or {}).get("controller") or ""
    yield from immutable("spec.controller", controller, before)
    yield from _class(new)


def _controller(field: str, text: str) -> Iterator[Problem]:
    if byte_length(text) > _CONTROLLER_LENGTH:
        yield too_long(field, _CONTROLLER_LENGTH)
    yield from domain_path_problems(field, text)


def _parameters(path: str, parameters: Value) -> Iterator[Problem]:
    yield from _reference(path, parameters)
    scope, namespace = parameters.get("scope"), parameters.get("namespace")
    if scope is None:
        yield required_field(f"{path}.scope")
    elif scope not in _SCOPES:
        yield unsupported_field(f"{path}.scope", scope, _SCOPES, plain=True)
    elif scope == "Cluster":
        if namespace is not None:
            text = "`parameters.scope` is set to 'Cluster'"
            yield forbidden_field(f"{path}.namespace", text)
    elif namespace is None:
        text = "`parameters.scope` is set to 'Namespace'"
        yield required_field(f"{path}.namespace", text)
    else:
        yield from texts(f"{path}.namespace", namespace, label_name_problems(namespace))


CHECKS = {
    "networking.k8s.io/ingresses": Checks(
        create=_create,
        update=_update,
        status=ingress_status,
        metadata=2,
        warnings=_warnings,
        update_warnings=_no_warnings,
        status_warnings=status_warnings,
    ),
    "networking.k8s.io/ingressclasses": Checks(create=_class, update=_changed_class, metadata=2),
}
