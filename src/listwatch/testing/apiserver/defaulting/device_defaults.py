"""The defaults of claims for devices, and what slices and claims do not keep."""

from __future__ import annotations

from typing import Any

__all__ = ["fill_claim", "fill_claim_template", "fill_slice"]

Value = dict[str, Any]

_EXACT_COUNT = "ExactCount"
_LISTS = ("bools", "ints", "strings", "versions")
"""Values of attributes that only clusters with a feature that is off by default know."""


def fill_claim(value: Value) -> None:
    if isinstance(value.get("spec"), dict):
        value["spec"] = _claim_spec(value["spec"])


def fill_claim_template(value: Value) -> None:
    spec = value.get("spec")
    if isinstance(spec, dict) and isinstance(spec.get("spec"), dict):
        value["spec"] = {**spec, "spec": _claim_spec(spec["spec"])}


def _claim_spec(spec: Value) -> Value:
    devices = spec.get("devices")
    if not isinstance(devices, dict) or not isinstance(devices.get("requests"), list):
        return spec
    filled = [
        _request(found) if isinstance(found, dict) else found for found in devices["requests"]
    ]
    return {**spec, "devices": {**devices, "requests": filled}}


def _request(request: Value) -> Value:
    complete = dict(request)
    if isinstance(request.get("exactly"), dict):
        complete["exactly"] = _counted(request["exactly"])
    if isinstance(request.get("firstAvailable"), list):
        complete["firstAvailable"] = [
            _counted(found) if isinstance(found, dict) else found
            for found in request["firstAvailable"]
        ]
    return complete


def _counted(request: Value) -> Value:
    mode = request.get("allocationMode") or _EXACT_COUNT
    complete = {**request, "allocationMode": mode}
    if mode == _EXACT_COUNT and not request.get("count"):
        complete["count"] = 1
    tolerations = complete.get("tolerations")
    if isinstance(tolerations, list):
        complete["tolerations"] = [
            {**found, "operator": found.get("operator") or "Equal"}
            if isinstance(found, dict)
            else found
            for found in tolerations
        ]
    return complete


def fill_slice(value: Value) -> None:
    spec = value.get("spec")
    if isinstance(spec, dict) and isinstance(spec.get("devices"), list):
        devices = [
            _device(found) if isinstance(found, dict) else found for found in spec["devices"]
        ]
        value["spec"] = {**spec, "devices": devices}


def _device(device: Value) -> Value:
    kept = {
        name: item for name, item in device.items() if name != "nodeAllocatableResourceMappings"
    }
    attributes = kept.get("attributes")
    if isinstance(attributes, dict):
        kept["attributes"] = {
            name: {key: item for key, item in found.items() if key not in _LISTS}
            if isinstance(found, dict)
            else found
            for name, found in attributes.items()
        }
    return kept
