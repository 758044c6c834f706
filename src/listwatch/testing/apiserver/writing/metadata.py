"""What the server itself writes into metadata: names, uids, times, generations."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID

from ..storage.state import State
from ..types.served import ResourceType
from ..validation.problems import Problem, forbidden_field, invalid_field

__all__ = [
    "carry_over",
    "generated_name",
    "immutable_problems",
    "new_uid",
    "next_generation",
    "prepare_new",
    "timestamp",
]

_SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX_LENGTH = 5
_NAME_LENGTH = 63
_SET_BY_SERVER = frozenset(
    {
        "selfLink",
        "resourceVersion",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "managedFields",
    }
)
_COUNTED_METADATA = {
    "apps/deployments": "annotations",
    "discovery.k8s.io/endpointslices": "labels",
}
"""What of metadata `metadata.generation` counts the changes of, by storage."""
_NEVER_COUNTED = frozenset({"scheduling.k8s.io/priorityclasses"})
"""Types whose generation stays what it was at first."""
_COUNTED_LATE = frozenset({"storage.k8s.io/csidrivers"})
"""Types whose objects have a generation once they have been changed."""
_IMMUTABLE = ("uid", "deletionTimestamp", "deletionGracePeriodSeconds")


def timestamp(wall: datetime, *, later: float = 0.0) -> str:
    """As Kubernetes writes times: UTC, whole seconds. `later`: seconds to add."""
    moment = (wall + timedelta(seconds=later) if later else wall).astimezone(UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def new_uid(rng: Random) -> str:
    """A random UUID (version 4), the same from the same seed."""
    return str(UUID(int=rng.getrandbits(128), version=4))


def generated_name(prefix: str, rng: Random) -> str:
    """A prefix, cut to 58 characters, and five that spell no words."""
    suffix = "".join(rng.choices(_SUFFIX_ALPHABET, k=_SUFFIX_LENGTH))
    return prefix[: _NAME_LENGTH - _SUFFIX_LENGTH] + suffix


def prepare_new(
    state: State, of: ResourceType, metadata: Mapping[str, Any], namespace: str
) -> dict[str, Any]:
    """The metadata of an object that is to be created: without what only the server may set, with
    uid and creationTimestamp, and a name where it has but a generateName.
    """
    prepared = {
        name: value for name, value in metadata.items() if value and name not in _SET_BY_SERVER
    }
    if of.namespaced:
        prepared["namespace"] = namespace
    else:
        prepared.pop("namespace", None)
    if not prepared.get("name") and prepared.get("generateName"):
        prepared["name"] = generated_name(prepared["generateName"], state.rng)
    prepared["uid"] = new_uid(state.rng)
    prepared["creationTimestamp"] = timestamp(state.wall())
    if of.generation:
        prepared["generation"] = 1
    return prepared


def immutable_problems(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Problem]:
    """What an update must not do to metadata. Of what the client leaves out, `carry_over` sees
    that it stays.
    """
    problems: list[Problem] = []
    if old.get("deletionTimestamp") is not None:
        before = old.get("finalizers") or ()
        added = sorted(name for name in new.get("finalizers") or () if name not in before)
        if added:
            shown = ", ".join(f'"{name}"' for name in added)
            problems.append(
                forbidden_field(
                    "metadata.finalizers",
                    "no new finalizers can be added if the object is being deleted, found new "
                    f"finalizers []string{{{shown}}}",
                )
            )
    problems += (
        invalid_field(f"metadata.{name}", new[name], "field is immutable")
        for name in _IMMUTABLE
        if new.get(name) != old.get(name)
    )
    return problems


def carry_over(of: ResourceType, old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata of an update, with what no client can change or take away."""
    carried = {
        name: value
        for name, value in new.items()
        if value or value == 0 or name == "managedFields"  # none at all asks to forget them
    }
    for name in ("namespace", "creationTimestamp", "generation", "resourceVersion"):
        if name in old:
            carried[name] = old[name]
        else:
            carried.pop(name, None)
    carried.pop("selfLink", None)
    if not carried.get("uid"):
        carried["uid"] = old["uid"]
    if "deletionTimestamp" in old:
        carried["deletionTimestamp"] = old["deletionTimestamp"]
    if "deletionGracePeriodSeconds" in old and "deletionGracePeriodSeconds" not in carried:
        carried["deletionGracePeriodSeconds"] = old["deletionGracePeriodSeconds"]
    return carried


def next_generation(of: ResourceType, old: Mapping[str, Any], new: Mapping[str, Any]) -> int | None:
    """What `metadata.generation` becomes; None where it stays.

    It counts the changes of spec; of types without one, all but those of metadata and status. Where
    the status has no path of its own, its changes count too.
    """
    if of.storage in _NEVER_COUNTED or not (of.generation or of.storage in _COUNTED_LATE):
        return None
    if of.custom or "spec" not in of.members:
        without = {"metadata", "kind", "apiVersion"}
        if of.has_status:
            without.add("status")
        none: Any = ... if of.custom else None  # what is null is there, if in custom objects alone
        names = {*old, *new} - without
        same = all(old.get(name, none) == new.get(name, none) for name in names)
    else:
        same = old.get("spec") == new.get("spec")
    counted = _COUNTED_METADATA.get(of.storage)
    if same and counted is not None:
        same = (old["metadata"].get(counted) or {}) == (new["metadata"].get(counted) or {})
    return None if same else int(old["metadata"].get("generation", 0)) + 1
