"""Where containers have the volumes of their pod."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..checks import Value
from ..problems import (
    Problem,
    forbidden_field,
    invalid_field,
    not_found_field,
    required_field,
    unsupported_field,
)
from .paths import descending_path_problems, no_way_back

__all__ = ["device_problems", "mount_problems"]

_PROPAGATIONS = ("Bidirectional", "HostToContainer", "None")
_RECURSIVE = ("Disabled", "Enabled", "IfPossible")


def mount_problems(container: Value, path: str, volumes: Mapping[str, Value]) -> Iterator[Problem]:
    """The `volumeMounts` of a container; `volumes`: those that it can have, by name."""
    mounts: Sequence[Value] = container.get("volumeMounts") or ()
    if not mounts:
        return
    devices = _paths(container.get("volumeDevices"), "devicePath")
    seen: set[str] = set()
    for at, mount in enumerate(mounts):
        here = f"{path}[{at}]"
        name, where = mount.get("name") or "", mount.get("mountPath") or ""
        if not name:
            yield required_field(f"{here}.name")
        if name not in volumes:
            yield not_found_field(f"{here}.name", name)
        if not where:
            yield required_field(f"{here}.mountPath")
        if where in seen:
            yield invalid_field(f"{here}.mountPath", where, "must be unique")
        seen.add(where)
        if name in devices:
            yield invalid_field(f"{here}.name", name, "must not already exist in volumeDevices")
        if where in devices.values():
            text = "must not already exist as a path in volumeDevices"
            yield invalid_field(f"{here}.mountPath", where, text)
        yield from _part_problems(mount, path, here)
        yield from _propagation_problems(mount, container, f"{path}.mountPropagation")
        yield from _recursive_problems(mount, f"{path}.recursiveReadOnly")


def _part_problems(mount: Value, path: str, here: str) -> Iterator[Problem]:
    """The part of the volume that is seen. Most of it is told without the mount's index."""
    part, expression = mount.get("subPath"), mount.get("subPathExpr")
    if part:
        yield from descending_path_problems(f"{path}.subPath", part)
    if expression:
        if part:
            text = "subPathExpr and subPath are mutually exclusive"
            yield invalid_field(f"{here}.subPathExpr", expression, text)
        yield from descending_path_problems(f"{path}.subPathExpr", expression)


def _propagation_problems(mount: Value, container: Value, field: str) -> Iterator[Problem]:
    mode = mount.get("mountPropagation")
    if mode is None:
        return
    if mode not in _PROPAGATIONS:
        yield unsupported_field(field, mode, _PROPAGATIONS)
    elif mode == "Bidirectional" and not (container.get("securityContext") or {}).get("privileged"):
        text = "Bidirectional mount propagation is available only to privileged containers"
        yield forbidden_field(field, text)


def _recursive_problems(mount: Value, field: str) -> Iterator[Problem]:
    mode = mount.get("recursiveReadOnly")
    if mode is None or mode == "Disabled":
        return
    if mode not in _RECURSIVE:
        yield unsupported_field(field, mode, _RECURSIVE)
        return
    if not mount.get("readOnly"):
        yield forbidden_field(field, "may only be specified when readOnly is true")
    if mount.get("mountPropagation") not in (None, "None"):
        text = "may only be specified when mountPropagation is None or not specified"
        yield forbidden_field(field, text)


def device_problems(container: Value, path: str, volumes: Mapping[str, Value]) -> Iterator[Problem]:
    """The `volumeDevices` of a container."""
    devices: Sequence[Value] = container.get("volumeDevices") or ()
    if not devices:
        return
    mounts = _paths(container.get("volumeMounts"), "mountPath")
    names: set[str] = set()
    paths: set[str] = set()
    for at, device in enumerate(devices):
        here = f"{path}[{at}]"
        name, where = device.get("name") or "", device.get("devicePath") or ""
        volume = volumes.get(name)
        if not name:
            yield required_field(f"{here}.name")
        if name in names:
            yield invalid_field(f"{here}.name", name, "must be unique")
        if volume is None:
            yield not_found_field(f"{here}.name", name)
        elif volume.get("persistentVolumeClaim") is None and volume.get("ephemeral") is None:
            text = (
                "can only use volume source type of PersistentVolumeClaim or Ephemeral for block "
                "mode"
            )
            yield invalid_field(f"{here}.name", name, text)
        if not where:
            yield required_field(f"{here}.devicePath")
        if where in paths:
            yield invalid_field(f"{here}.devicePath", where, "must be unique")
        if any(no_way_back("", where)):
            yield invalid_field(f"{here}.devicePath", where, "can not contain backsteps ('..')")
        else:
            paths.add(where)
        if name in mounts:
            yield invalid_field(f"{here}.name", name, "must not already exist in volumeMounts")
        if where in mounts.values():
            text = "must not already exist as a path in volumeMounts"
            yield invalid_field(f"{here}.devicePath", where, text)
        if name:
            names.add(name)


def _paths(places: Sequence[Value] | None, member: str) -> dict[str, str]:
    """Where the volumes are, by their names."""
    return {place.get("name") or "": place.get(member) or "" for place in places or ()}
