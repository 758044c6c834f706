"""What a container is told of its own pod: `fieldRef` and `resourceFieldRef`."""

from __future__ import annotations

from collections.abc import Iterator

from ...types.quantities import quantity_value
from ..basics import texts
from ..checks import Value
from ..names import key_problems
from ..problems import Problem, invalid_field, required_field, unsupported_field

__all__ = ["VOLUME_FIELDS", "field_ref_problems", "resource_ref_problems"]

VOLUME_FIELDS = (
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
)
"""What the files of a volume can tell."""
_KNOWN = frozenset(
    (
        *VOLUME_FIELDS,
        *(
            f"spec.{name}"
            for name in ("nodeName", "restartPolicy", "serviceAccountName", "schedulerName")
        ),
        *(f"status.{name}" for name in ("phase", "hostIP", "hostIPs", "podIP", "podIPs")),
    )
)
_MAPS = ("metadata.annotations", "metadata.labels")
_RESOURCES = tuple(
    f"{side}.{name}"
    for side in ("limits", "requests")
    for name in ("cpu", "ephemeral-storage", "memory")
)
_HUGE = ("limits.hugepages-", "requests.hugepages-")
_SIZES_TEXT = "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei"
_SIZES = frozenset(_SIZES_TEXT.split(", "))


def field_ref_problems(ref: Value, path: str, allowed: tuple[str, ...]) -> Iterator[Problem]:
    """A `fieldRef`; `allowed`: the fields that it can be of, in alphabetical order."""
    version = ref.get("apiVersion") or ""
    name = ref.get("fieldPath") or ""
    if not version:
        yield required_field(f"{path}.apiVersion")
        return
    if not name:
        yield required_field(f"{path}.fieldPath")
        return
    whole, subscript = _parted(name)
    text = ""
    if version != "v1":
        text = f"unsupported pod version: {version}"
    elif subscript is not None:
        if whole not in _MAPS:
            text = f"field label does not support subscript: {name}"
    elif name == "spec.host":
        name = "spec.nodeName"
    elif name not in _KNOWN:
        text = f"field label not supported: {name}"
    if text:
        yield invalid_field(f"{path}.fieldPath", name, f"error converting fieldPath: {text}")
    elif subscript is not None:
        key = subscript.lower() if whole == "metadata.annotations" else subscript
        yield from texts(path, key, key_problems(key))
    elif name not in allowed:
        yield unsupported_field(f"{path}.fieldPath", name, allowed, plain=True)


def _parted(name: str) -> tuple[str, str | None]:
    """`metadata.labels['a']` as its two parts."""
    if name.endswith("']"):
        whole, bracket, key = name[:-2].partition("['")
        if bracket and whole:
            return whole, key
    return name, None


def resource_ref_problems(ref: Value, path: str, *, in_volume: bool) -> Iterator[Problem]:
    """A `resourceFieldRef`; a file has to say of which container."""
    resource = ref.get("resource") or ""
    if in_volume and not ref.get("containerName"):
        yield required_field(f"{path}.containerName")
    elif not resource:
        yield required_field(f"{path}.resource")
    elif resource not in _RESOURCES and not resource.startswith(_HUGE):
        yield unsupported_field(f"{path}.resource", resource, _RESOURCES, plain=True)
    divisor = ref.get("divisor") or "0"
    if not quantity_value(divisor):
        return
    allowed, names = _SIZES, _SIZES_TEXT
    if resource in ("limits.cpu", "requests.cpu"):
        allowed, names, what = frozenset(("1m", "1")), "1m and 1", "cpu"
    elif resource in ("limits.memory", "requests.memory"):
        what = "memory"
    elif resource in _RESOURCES:
        what = "local ephemeral storage"
    elif resource.startswith(_HUGE):
        what = "hugepages"
    else:
        return
    if divisor not in allowed:
        text = f"only divisor's values {names} are supported with the {what} resource"
        yield invalid_field(f"{path}.divisor", resource, text)
