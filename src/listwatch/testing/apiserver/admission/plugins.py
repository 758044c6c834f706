"""When which plugin looks at an object, in the order of the real server.

First some complete a new object; then it is found valid, and others look at it; then the webhooks;
quotas come last.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from ..storage.state import State, Target
from .amounts import Value

__all__ = ["charged", "checked", "complete"]

_Complete = Callable[[State, Target, dict[str, Any], str], None]
_Check = Callable[[State, Target, Value, Value | None], list[str] | None]
_RESIZE = "resize"
_TEMPLATES = frozenset(
    {
        *("podtemplates", "replicationcontrollers", "batch/cronjobs", "batch/jobs"),
        *(f"apps/{name}" for name in ("daemonsets", "deployments", "replicasets", "statefulsets")),
    }
)
"""Types that make pods."""


def complete(state: State, target: Target, new: dict[str, Any], named: str) -> None:
    """Add to a new object what other objects say it shall have. `named`: how it is named in
    refusals, as long as no name is made for it. Raises `Refused`.
    """
    for plugin in _completing(target.type.storage):
        plugin(state, target, new, named)


def checked(state: State, target: Target, new: Value, old: Value | None = None) -> list[str]:
    """Look at a valid object that is created, or changed from `old`, and give what its client is
    to be warned of. Raises `Refused`.
    """
    warnings: list[str] = []
    if target.subresource in ("", "ephemeralcontainers"):
        for plugin in _checking(target.type.storage):
            warnings += plugin(state, target, new, old) or ()
    elif target.subresource == _RESIZE:
        from .limit_ranges import check_limits

        check_limits(state, target, new, old)
    return warnings


def charged(
    state: State, target: Target, new: Value, old: Value | None = None, *, dry_run: bool
) -> None:
    """Count an object for the quotas of its namespace, when nothing else speaks against it. Raises
    `Refused`.
    """
    counts = target.subresource in ("", _RESIZE)
    if counts and state.log.count("resourcequotas", namespace=target.namespace):
        from .quotas import charge

        charge(state, target, new, old, dry_run=dry_run)


@cache
def _completing(storage: str) -> tuple[_Complete, ...]:
    if storage == "pods":
        from .limit_ranges import add_limits
        from .priorities import add_priority
        from .runtime_classes import add_runtime_class

        return (add_limits, add_priority, add_runtime_class)
    if storage in ("persistentvolumeclaims", "networking.k8s.io/ingresses"):
        from .default_classes import add_ingress_class, add_storage_class

        return (add_storage_class if storage == "persistentvolumeclaims" else add_ingress_class,)
    return ()


@cache
def _checking(storage: str) -> tuple[_Check, ...]:
    if storage == "pods":
        from .limit_ranges import check_limits
        from .pod_security import check_security
        from .runtime_classes import check_overhead

        return (check_limits, check_security, check_overhead)
    if storage in _TEMPLATES:
        from .pod_security import warn_of_template

        return (warn_of_template,)
    if storage == "namespaces":
        from .pod_security import check_labels

        return (check_labels,)
    if storage == "persistentvolumeclaims":
        from .claim_growth import check_growth
        from .limit_ranges import check_limits

        return (check_limits, check_growth)
    if storage == "scheduling.k8s.io/priorityclasses":
        from .priorities import check_priority_class

        return (check_priority_class,)
    if storage == "certificates.k8s.io/certificatesigningrequests":
        from .certificate_subjects import check_subject

        return (check_subject,)
    if storage in ("resource.k8s.io/resourceclaims", "resource.k8s.io/resourceclaimtemplates"):
        from .device_access import check_device_access

        return (check_device_access,)
    return ()
