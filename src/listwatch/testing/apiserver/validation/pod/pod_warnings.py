"""What a client is warned of in a pod, or a template of one, that is accepted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..basics import byte_warnings
from ..checks import Value
from ..network.addresses import warnings_of_address
from ..node_selectors import (
    DEPRECATED_LABELS,
    label_warnings,
    node_selector_warnings,
    term_warnings,
)
from ..problems import go_quoted
from .affinity import PREFERRED, REQUIRED
from .annotations import SECCOMP_POD
from .container_warnings import container_warnings
from .volume_warnings import volume_warnings

__all__ = ["pod_spec_warnings"]

_DEPRECATED_ANNOTATIONS = {
    "scheduler.alpha.kubernetes.io/critical-pod": (
        'non-functional in v1.16+; use the "priorityClassName" field instead'
    ),
    "security.alpha.kubernetes.io/sysctls": (
        'non-functional in v1.11+; use the "sysctls" field instead'
    ),
    "security.alpha.kubernetes.io/unsafe-sysctls": (
        'non-functional in v1.11+; use the "sysctls" field instead'
    ),
}
_MATCHES_NOTHING = "a null labelSelector results in matching no pod"


def pod_spec_warnings(spec: Value, metadata: Value, above: str = "") -> Iterator[str]:
    """`above`: where the spec and the metadata are, with a dot ("spec.template."); pods have them
    at the top.
    """
    path = f"{above}spec"
    annotations: Mapping[str, str] = metadata.get("annotations") or {}
    for key in spec.get("nodeSelector") or ():
        if key in DEPRECATED_LABELS:
            yield f"{path}.nodeSelector[{key}]: {DEPRECATED_LABELS[key]}"
    affinity = spec.get("affinity") or {}
    if affinity:
        yield from _node_warnings(affinity.get("nodeAffinity") or {}, f"{path}.affinity")
    for at, constraint in enumerate(spec.get("topologySpreadConstraints") or ()):
        here = f"{path}.topologySpreadConstraints[{at}]"
        yield from label_warnings(f"{here}.topologyKey", constraint.get("topologyKey") or "")
        if constraint.get("labelSelector") is None:
            yield f"{here}.labelSelector: {_MATCHES_NOTHING}"
    for key, text in _DEPRECATED_ANNOTATIONS.items():
        if key in annotations:
            yield f"{above}metadata.annotations[{key}]: {text}"
    if spec.get("volumes"):
        yield from volume_warnings(spec["volumes"], f"{path}.volumes")
    yield from _twice(spec.get("hostAliases") or (), "ip", f"{path}.hostAliases")
    secrets = spec.get("imagePullSecrets") or ()
    yield from _twice(secrets, "name", f"{path}.imagePullSecrets")
    for at, secret in enumerate(secrets):
        if not secret.get("name"):
            yield f'{path}.imagePullSecrets[{at}].name: invalid empty name ""'
    yield from _overhead_warnings(spec.get("overhead") or {}, f"{path}.overhead")
    if SECCOMP_POD in annotations and not (spec.get("securityContext") or {}).get("seccompProfile"):
        yield (
            f"{above}metadata.annotations[{SECCOMP_POD}]: non-functional in v1.27+; use the "
            '"seccompProfile" field instead'
        )
    yield from container_warnings(spec, path, metadata)
    if (spec.get("terminationGracePeriodSeconds") or 0) < 0:
        yield (
            f"{path}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and "
            "will be treated as 1"
        )
    if affinity:
        yield from _pod_affinity_warnings(affinity, f"{path}.affinity")
    for at, server in enumerate((spec.get("dnsConfig") or {}).get("nameservers") or ()):
        yield from warnings_of_address(f"{path}.dnsConfig.nameservers[{at}]", server)
    for at, alias in enumerate(spec.get("hostAliases") or ()):
        yield from warnings_of_address(f"{path}.hostAliases[{at}].ip", alias.get("ip") or "")


def _node_warnings(affinity: Value, path: str) -> Iterator[str]:
    here = f"{path}.nodeAffinity"
    yield from node_selector_warnings(affinity.get(REQUIRED) or {}, f"{here}.{REQUIRED}")
    for at, preferred in enumerate(affinity.get(PREFERRED) or ()):
        field = f"{here}.{PREFERRED}[{at}].preference"
        yield from term_warnings(preferred.get("preference") or {}, field, values=True)


def _pod_affinity_warnings(affinity: Value, path: str) -> Iterator[str]:
    for name in ("podAffinity", "podAntiAffinity"):
        pods = affinity.get(name) or {}
        for at, term in enumerate(pods.get(REQUIRED) or ()):
            if term.get("labelSelector") is None:
                yield f"{path}.{name}.{REQUIRED}[{at}].labelSelector: {_MATCHES_NOTHING}"
        for at, weighted in enumerate(pods.get(PREFERRED) or ()):
            if (weighted.get("podAffinityTerm") or {}).get("labelSelector") is None:
                field = f"{path}.{name}.{PREFERRED}[{at}].podAffinityTerm.labelSelector"
                yield f"{field}: {_MATCHES_NOTHING}"


def _twice(items: Sequence[Value], member: str, path: str) -> Iterator[str]:
    seen: set[str] = set()
    for at, item in enumerate(items):
        value = item.get(member) or ""
        if value in seen:
            yield f"{path}[{at}].{member}: duplicate {member} {go_quoted(value)}"
        seen.add(value)


def _overhead_warnings(overhead: Mapping[str, str], path: str) -> Iterator[str]:
    for name in ("memory", "ephemeral-storage"):
        if overhead.get(name) is not None:
            yield from byte_warnings(f"{path}[{name}]", overhead[name])
