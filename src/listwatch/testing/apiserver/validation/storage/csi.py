"""CSIDrivers, CSINodes and CSIStorageCapacities."""

from __future__ import annotations

from collections.abc import Iterator

from ...types.quantities import quantity_value
from ..basics import (
    IMMUTABLE,
    NOT_NEGATIVE,
    driver_name_problems,
    immutable,
    non_negative,
    selector_at,
    texts,
)
from ..checks import Checks, Value
from ..internal_values import internal
from ..names import key_problems, subdomain_problems
from ..node_selectors import DEPRECATED_LABELS, label_warnings
from ..problems import (
    Problem,
    duplicate_field,
    invalid_field,
    required_field,
    unsupported_field,
)
from ..value_diffs import same

__all__ = ["CHECKS"]

_NEEDED = (
    ("attachRequired", "attachedRequired"),  # the real server does not spell it as it is sent
    ("podInfoOnMount", "podInfoOnMount"),
    ("storageCapacity", "storageCapacity"),
)
_GROUP_POLICIES = ("File", "None", "ReadWriteOnceWithFSType")
_LIFECYCLE_MODES = ("Persistent", "Ephemeral")
_LEAST_EXPIRATION = 600
_MOST_EXPIRATION = 1 << 32
_LONGEST_NODE_ID = 256


def _driver(new: Value) -> Iterator[Problem]:
    spec = new.get("spec") or {}
    for name, shown in _NEEDED:
        if spec.get(name) is None:
            yield required_field(f"spec.{shown}")
    policy = spec.get("fsGroupPolicy")
    if policy is not None and policy not in _GROUP_POLICIES:
        yield unsupported_field("spec.fsGroupPolicy", policy, _GROUP_POLICIES)
    requests = spec.get("tokenRequests") or ()
    yield from _token_requests(requests)
    for mode in spec.get("volumeLifecycleModes") or ():
        if mode not in _LIFECYCLE_MODES:
            yield unsupported_field("spec.volumeLifecycleModes", mode, _LIFECYCLE_MODES)
    if spec.get("seLinuxMount") is None:
        yield required_field("spec.seLinuxMount")
    period = spec.get("nodeAllocatableUpdatePeriodSeconds")
    if period is not None and period < 10:
        text = "must be greater than or equal to 10 seconds"
        yield invalid_field("spec.nodeAllocatableUpdatePeriodSeconds", period, text)
    in_secrets = spec.get("serviceAccountTokenInSecrets")
    if in_secrets is not None and not requests:
        text = "serviceAccountTokenInSecrets is set but no tokenRequests are specified"
        yield invalid_field("spec.serviceAccountTokenInSecrets", in_secrets, text)


def _token_requests(requests: object) -> Iterator[Problem]:
    seen = set()
    for at, each in enumerate(requests if isinstance(requests, list) else ()):
        path = f"spec.tokenRequests[{at}]"
        audience = (each or {}).get("audience") or ""
        if audience in seen:
            yield duplicate_field(f"{path}.audience", audience)
            continue
        seen.add(audience)
        seconds = (each or {}).get("expirationSeconds")
        if seconds is None:
            continue
        if seconds < _LEAST_EXPIRATION:
            text = "may not specify a duration less than 10 minutes"
            yield invalid_field(f"{path}.expirationSeconds", seconds, text)
        if seconds > _MOST_EXPIRATION:
            text = "may not specify a duration larger than 2^32 seconds"
            yield invalid_field(f"{path}.expirationSeconds", seconds, text)


def _changed_driver(new: Value, old: Value) -> Iterator[Problem]:
    yield from _driver(new)
    now, before = new.get("spec") or {}, old.get("spec") or {}
    required = now.get("attachRequired")
    yield from immutable("spec.attachedRequired", required, before.get("attachRequired"))
    modes = now.get("volumeLifecycleModes")
    yield from immutable("spec.volumeLifecycleModes", modes, before.get("volumeLifecycleModes"))


def _driver_warnings(new: Value, old: Value | None = None) -> Iterator[str]:
    """That tokens are better kept in secrets, where something of them is new."""
    spec = new.get("spec") or {}
    requests = spec.get("tokenRequests") or []
    before = ((old or {}).get("spec") or {}).get("tokenRequests") or []
    unset = spec.get("serviceAccountTokenInSecrets") is None
    if requests and requests != before and unset:
        yield (
            "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to "
            "true to prevent possible logging of tokens in volume attributes"
        )


def _node(new: Value) -> Iterator[Problem]:
    seen = set()
    for at, each in enumerate((new.get("spec") or {}).get("drivers") or ()):
        each = each or {}
        path = f"spec.drivers[{at}]"
        name = each.get("name") or ""
        yield from driver_name_problems(f"{path}.name", name)
        yield from _node_id(each.get("nodeID") or "", f"{path}.nodeID")
        allocatable = each.get("allocatable") or {}
        yield from non_negative(f"{path}.allocatable.count", allocatable.get("count"))
        if name in seen:
            yield duplicate_field(f"{path}.name", name)
        seen.add(name)
        yield from _topology_keys(each.get("topologyKeys") or [], path)


def _node_id(name: str, field: str) -> Iterator[Problem]:
    if not name:
        yield required_field(field)
    if len(name.encode()) > _LONGEST_NODE_ID:
        text = f"must be {_LONGEST_NODE_ID} characters or less"
        yield invalid_field(field, name, text)


def _topology_keys(keys: list[str], path: str) -> Iterator[Problem]:
    seen = set()
    for key in keys:
        if not key:
            yield required_field(path)
        if key in seen:
            yield duplicate_field(path, key)
        seen.add(key)
        yield from texts(path, key, key_problems(key))


def _changed_node(new: Value, old: Value) -> Iterator[Problem]:
    yield from _node(new)
    now = (new.get("spec") or {}).get("drivers") or ()
    for before in (old.get("spec") or {}).get("drivers") or ():
        for each in now:
            if (each or {}).get("name") == (before or {}).get("name"):
                each, kept = ({**found, "allocatable": None} for found in (each, before))
                if not same(each, kept):
                    shown = internal("storage.v1.CSINodeDriver", each)
                    yield invalid_field("spec.drivers", shown, IMMUTABLE)


def _capacity(new: Value, *, any_values: bool = False) -> Iterator[Problem]:
    yield from selector_at("nodeTopology", new.get("nodeTopology"), allow_invalid_values=any_values)
    name = new.get("storageClassName") or ""
    yield from texts("storageClassName", name, subdomain_problems(name))
    amount = new.get("capacity")
    if amount is not None and quantity_value(amount) < 0:
        yield invalid_field("capacity", amount, NOT_NEGATIVE)


def _changed_capacity(new: Value, old: Value) -> Iterator[Problem]:
    before = old.get("nodeTopology")
    invalid_before = next(selector_at("", before), None) is not None
    yield from _capacity(new, any_values=invalid_before)
    if not same(new.get("nodeTopology"), before):
        yield invalid_field("nodeTopology", new.get("nodeTopology"), IMMUTABLE)
    name = new.get("storageClassName") or ""
    yield from immutable("storageClassName", name, old.get("storageClassName") or "")


def _capacity_warnings(new: Value) -> Iterator[str]:
    """That labels of nodes have another name now."""
    selector = new.get("nodeTopology") or {}
    for at, each in enumerate(selector.get("matchExpressions") or ()):
        field = f"nodeTopology.matchExpressions[{at}].key"
        yield from label_warnings(field, (each or {}).get("key") or "")
    for key in selector.get("matchLabels") or ():
        if key in DEPRECATED_LABELS:
            yield f"nodeTopology.matchLabels.{key}: {DEPRECATED_LABELS[key]}"


CHECKS: dict[str, Checks] = {
    "storage.k8s.io/csidrivers": Checks(
        _driver, _changed_driver, warnings=_driver_warnings, update_warnings=_driver_warnings
    ),
    "storage.k8s.io/csinodes": Checks(_node, _changed_node),
    "storage.k8s.io/csistoragecapacities": Checks(
        _capacity, _changed_capacity, warnings=_capacity_warnings, metadata=2
    ),
}
