"""The checks of DeviceClasses, ResourceClaims and ResourceClaimTemplates."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ..basics import IMMUTABLE, driver_name_problems
from ..checks import Checks, Value
from ..conditions import conditions_problems
from ..internal_values import internal
from ..network.addresses import interface_address
from ..node_selectors import node_selector_problems
from ..pod.resource_names import is_extended
from ..problems import (
    Problem,
    forbidden_field,
    invalid_field,
    required_field,
    too_long,
    too_many,
    unsupported_field,
)
from ..template_metadata import template_metadata_problems
from .device_claims import (
    Requests,
    claim_problems,
    configuration_problems,
    raw_problems,
    reference_problems,
    requests_of,
    selectors_problems,
)
from .device_names import (
    label_at,
    limited,
    pool_problems,
    uid_problems,
    unique,
)
from .device_slices import binding_problems

__all__ = ["CHECKS"]

_GROUP = "resource.k8s.io"
_MOST = 32
_MOST_CONSUMERS = 256
_MOST_CONDITIONS = 8
_MAX_DATA = 10 * 1024
_ANY_NUMBER = 1 << 31
_NETWORK_LENGTHS = {"interfaceName": 256, "hardwareAddress": 128}
_MOST_ADDRESSES = 16
_SOURCES = ("FromClaim", "FromClass")


def _class(new: Value) -> Iterator[Problem]:
    spec = new.get("spec") or {}
    yield from selectors_problems("spec.selectors", spec)
    yield from limited("spec.config", spec.get("config"), _MOST, configuration_problems)
    name = spec.get("extendedResourceName")
    if name is not None and not is_extended(name):
        text = "must be a valid extended resource name"
        yield invalid_field("spec.extendedResourceName", name, text)


def _claim(new: Value) -> Iterator[Problem]:
    yield from claim_problems("spec", new.get("spec") or {})


def _claim_update(new: Value, old: Value) -> Iterator[Problem]:
    if (new.get("spec") or {}) != (old.get("spec") or {}):
        yield invalid_field(
            "spec", internal("resource.v1.ResourceClaimSpec", new.get("spec")), IMMUTABLE
        )


def _template(new: Value) -> Iterator[Problem]:
    spec = new.get("spec") or {}
    yield from template_metadata_problems(spec.get("metadata") or {}, "spec.metadata")
    yield from claim_problems("spec.spec", spec.get("spec") or {})


def _template_update(new: Value, old: Value) -> Iterator[Problem]:
    yield from _template(new)
    if (new.get("spec") or {}) != (old.get("spec") or {}):
        shown = internal("resource.v1.ResourceClaimTemplateSpec", new.get("spec"))
        yield invalid_field("spec", shown, IMMUTABLE)


# The status of claims


def _claim_status(new: Value, old: Value) -> Iterator[Problem]:
    status, before = new.get("status") or {}, old.get("status") or {}
    names = requests_of((new.get("spec") or {}).get("devices") or {})
    consumers, allocation = status.get("reservedFor"), status.get("allocation")
    yield from unique(
        "status.reservedFor",
        consumers,
        _MOST_CONSUMERS,
        _consumer,
        lambda found: found.get("uid") or "",
    )
    results = ((allocation or {}).get("devices") or {}).get("results") or ()
    allocated = [_device_key(result) for result in results]
    yield from unique(
        "status.devices",
        status.get("devices"),
        _ANY_NUMBER,
        partial(_device_status, allocated),
        _device_key,
    )
    if consumers:
        yield from _reserved(new, allocation, consumers, before)
    was = before.get("allocation")
    if allocation is not None and was is not None:
        if allocation != was:
            shown = internal("resource.v1.AllocationResult", allocation)
            yield invalid_field("status.allocation", shown, IMMUTABLE)
    elif allocation is not None:
        yield from _allocation("status.allocation", allocation, names)


def _reserved(
    new: Value, allocation: Value | None, consumers: list[Value], before: Value
) -> Iterator[Problem]:
    field = "status.reservedFor"
    if allocation is None:
        yield forbidden_field(field, "may not be specified when `allocated` is not set")
    elif new["metadata"].get("deletionTimestamp") is not None:
        known = before.get("reservedFor") or ()
        if any(found not in known for found in consumers):
            text = (
                "new entries may not be added while `deallocationRequested` or "
                "`deletionTimestamp` are set"
            )
            yield forbidden_field(field, text)


def _consumer(field: str, consumer: Value) -> Iterator[Problem]:
    for name in ("resource", "name", "uid"):
        if not consumer.get(name):
            yield required_field(f"{field}.{name}")


def _device_key(device: Value) -> dict[str, str]:
    names = ("driver", "pool", "device", "shareID")
    return {name[:1].upper() + name[1:]: device.get(name) or "" for name in names}


def _device_status(allocated: list[dict[str, str]], field: str, device: Value) -> Iterator[Problem]:
    yield from driver_name_problems(f"{field}.driver", device.get("driver"))
    yield from pool_problems(f"{field}.pool", device.get("pool"))
    yield from label_at(f"{field}.device", device.get("device"))
    if device.get("shareID") is not None:
        yield from uid_problems(f"{field}.shareID", device["shareID"])
    if _device_key(device) not in allocated:
        text = "must be an allocated device in the claim"
        yield invalid_field(field, _device_key(device), text)
    conditions = device.get("conditions") or ()
    if len(conditions) > _MOST_CONDITIONS:
        yield too_many(f"{field}.conditions", len(conditions), _MOST_CONDITIONS)
    yield from conditions_problems(f"{field}.conditions", conditions)
    if device.get("data") is not None:
        yield from raw_problems(f"{field}.data", device["data"], _MAX_DATA)
    yield from _network(f"{field}.networkData", device.get("networkData") or {})


def _network(field: str, network: Value) -> Iterator[Problem]:
    for name, most in _NETWORK_LENGTHS.items():
        if len((network.get(name) or "").encode()) > most:
            yield too_long(f"{field}.{name}", most)
    yield from unique(f"{field}.ips", network.get("ips"), _MOST_ADDRESSES, interface_address)


def _allocation(field: str, allocation: Value, names: Requests) -> Iterator[Problem]:
    devices = allocation.get("devices") or {}
    path = f"{field}.devices"
    yield from limited(f"{path}.results", devices.get("results"), _MOST, partial(_result, names))
    yield from limited(f"{path}.config", devices.get("config"), 2 * _MOST, partial(_config, names))
    selector = allocation.get("nodeSelector")
    if selector is not None:
        yield from node_selector_problems(selector, f"{field}.nodeSelector")


def _result(names: Requests, field: str, result: Value) -> Iterator[Problem]:
    yield from reference_problems(names, f"{field}.request", result.get("request") or "")
    yield from driver_name_problems(f"{field}.driver", result.get("driver"))
    yield from pool_problems(f"{field}.pool", result.get("pool"))
    yield from label_at(f"{field}.device", result.get("device"))
    yield from binding_problems(field, result)
    if result.get("shareID") is not None:
        yield from uid_problems(f"{field}.shareID", result["shareID"])


def _config(names: Requests, field: str, config: Value) -> Iterator[Problem]:
    source = config.get("source") or ""
    if not source:
        yield required_field(f"{field}.source")
    elif source not in _SOURCES:
        yield unsupported_field(f"{field}.source", source, _SOURCES)
    yield from unique(
        f"{field}.requests", config.get("requests"), _MOST, partial(reference_problems, names)
    )
    yield from configuration_problems(field, config)


CHECKS = {
    f"{_GROUP}/deviceclasses": Checks(create=_class, metadata=2),
    f"{_GROUP}/resourceclaims": Checks(
        create=_claim, update=_claim_update, status=_claim_status, metadata=2
    ),
    f"{_GROUP}/resourceclaimtemplates": Checks(
        create=_template, update=_template_update, metadata=2
    ),
}
