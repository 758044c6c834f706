"""managedFields: who owns which field, as the server writes it down."""

from __future__ import annotations

from typing import Any

__all__ = ["entry", "owned"]

_KEYS = {
    "conditions": ("type",),
    "containers": ("name",),
    "env": ("name",),
    "hostIPs": ("ip",),
    "imagePullSecrets": ("name",),
    "initContainers": ("name",),
    "ownerReferences": ("uid",),
    "podIPs": ("ip",),
    "ports": ("containerPort", "protocol"),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
    "volumeMounts": ("mountPath",),
    "volumes": ("name",),
}
"""Lists that are merged by these members of their items. All others are owned as a whole."""

_ATOMIC = {"nodeSelector"}
_WITHOUT_DOT = {"metadata", "spec", "status", "containers", "conditions"}
"""What always exists, and so is nobody's."""


def owned(value: Any, name: str = "") -> dict[str, Any]:
    """The FieldsV1 of whoever set all of `value`, which is the member `name` of something."""
    fields: dict[str, Any] = {}
    if isinstance(value, dict) and name not in _ATOMIC:
        if value and name and name not in _WITHOUT_DOT:
            fields["."] = {}
        for member in sorted(value):
            fields[f"f:{member}"] = owned(value[member], member)
    elif (
        isinstance(value, list) and name in _KEYS and all(isinstance(item, dict) for item in value)
    ):
        if name not in _WITHOUT_DOT:
            fields["."] = {}
        for item in sorted(value, key=lambda item: _key(item, _KEYS[name])):
            members = {f"f:{member}": owned(item[member], member) for member in sorted(item)}
            # An owner reference is one value; of the rest each member has an owner.
            fields[_key(item, _KEYS[name])] = (
                {} if name == "ownerReferences" else {".": {}, **members}
            )
    return fields


def _key(item: dict[str, Any], names: tuple[str, ...]) -> str:
    members = ",".join(
        f'"{name}":{item[name]}' if isinstance(item[name], int) else f'"{name}":"{item[name]}"'
        for name in names
        if name in item
    )
    return f"k:{{{members}}}"


def entry(
    manager: str,
    time: str,
    fields: dict[str, Any],
    *,
    api_version: str = "v1",
    subresource: str = "",
) -> dict[str, Any]:
    """One entry of managedFields, its members in the server's order."""
    return {
        "manager": manager,
        "operation": "Update",
        "apiVersion": api_version,
        "time": time,
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
        **({"subresource": subresource} if subresource else {}),
    }
