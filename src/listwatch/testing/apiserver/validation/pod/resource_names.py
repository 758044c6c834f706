"""The names of resources: cpu, memory, huge pages, and those that devices bring."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from ..names import key_problems
from ..problems import Problem, invalid_field

__all__ = [
    "container_resource_problems",
    "is_counted",
    "is_extended",
    "is_huge_pages",
    "is_native",
    "is_standard",
    "may_be_overcommitted",
    "resource_name_problems",
]

_COMPUTE = ("cpu", "memory", "ephemeral-storage")
_COUNTED = frozenset(
    (
        "configmaps",
        "persistentvolumeclaims",
        "pods",
        "replicationcontrollers",
        "resourcequotas",
        "secrets",
        "services",
        "services.loadbalancers",
        "services.nodeports",
    )
)
_STANDARD = frozenset(
    (
        *(prefix + name for prefix in ("", "requests.", "limits.") for name in _COMPUTE),
        *_COUNTED,
        "storage",
        "requests.storage",
    )
)
_HUGE = "hugepages-"


def is_huge_pages(name: str) -> bool:
    return name.startswith(_HUGE)


def is_standard(name: str) -> bool:
    """Whether it is one of those without a prefix, anywhere."""
    return name in _STANDARD or name.startswith((_HUGE, "requests." + _HUGE))


def is_native(name: str) -> bool:
    return "/" not in name or "kubernetes.io/" in name


@lru_cache(maxsize=1024)
def is_extended(name: str) -> bool:
    """Whether it can be a resource of somebody else, such as `example.com/gpu`."""
    if is_native(name) or name.startswith("requests."):
        return False
    return not key_problems(f"requests.{name}")


def is_counted(name: str) -> bool:
    """Whether there are only whole ones."""
    return name in _COUNTED or is_extended(name)


def may_be_overcommitted(name: str) -> bool:
    """Whether containers can ask for less than they may have."""
    return is_native(name) and not is_huge_pages(name)


def resource_name_problems(field: str, name: str) -> Iterator[Problem]:
    """The name of any resource."""
    wrong = key_problems(name)
    for text in wrong:
        yield invalid_field(field, name, text, named=True)
    if not wrong and "/" not in name and not is_standard(name):
        text = "must be a standard resource type or fully qualified"
        yield invalid_field(field, name, text, named=True)


def container_resource_problems(field: str, name: str) -> Iterator[Problem]:
    """The name of a resource that containers can have."""
    if name in _COMPUTE:
        return
    yield from resource_name_problems(field, name)
    if "/" not in name:
        if not is_huge_pages(name):
            text = "must be a standard resource for containers"
            yield invalid_field(field, name, text, named=True)
    elif not is_native(name) and not is_extended(name):
        text = "doesn't follow extended resource name standard"
        yield invalid_field(field, name, text, named=True)
