"""What a DELETE makes of an object that does not go at once: time, grace, finalizers (K34, K35)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ..types.served import ResourceType
from ..validation.problems import conflict
from ..writing.metadata import timestamp
from .delete_options import DeleteOptions

__all__ = ["Step", "check_preconditions", "first_step"]

_ORPHAN, _FOREGROUND = "orphan", "foregroundDeletion"
_ORPHANED_BY_DEFAULT = frozenset({"batch/jobs", "replicationcontrollers"})
_WITHOUT_DEPENDENTS = frozenset({"events"})
_FINISHED = ("Succeeded", "Failed")
_DEFAULT_GRACE = 30


class Step:
    """The first thing that a DELETE does."""

    __slots__ = ("goes", "value")

    def __init__(self, value: Mapping[str, Any] | None, *, goes: bool) -> None:
        self.value = value
        """The object as it is now; None where it stays as it was."""
        self.goes = goes
        """Whether it is deleted after this."""


def check_preconditions(
    of: ResourceType, metadata: Mapping[str, Any], options: DeleteOptions
) -> None:
    """Raises 409 (K33)."""
    if options.uid is not None and options.uid != metadata["uid"]:
        text = (
            f"the UID in the precondition ({options.uid}) does not match the UID in record "
            f"({metadata['uid']}). The object might have been deleted and then recreated"
        )
        raise conflict(of, metadata["name"], text, by_kind=True)
    rv = options.resource_version
    if rv is not None and rv != metadata["resourceVersion"]:
        text = (
            f"the ResourceVersion in the precondition ({rv}) does not match the ResourceVersion in "
            f"record ({metadata['resourceVersion']}). The object might have been modified"
        )
        raise conflict(of, metadata["name"], text, by_kind=True)


def first_step(
    of: ResourceType, old: Mapping[str, Any], options: DeleteOptions, now: datetime
) -> Step:
    """What `old` becomes: nothing, an object that waits for its finalizers or its grace period, or
    one that is deleted right after it was told to end.
    """
    metadata = dict(old["metadata"])
    grace = _grace(of, old, options)
    if grace is not None and metadata.get("deletionTimestamp") is not None:
        before = metadata.get("deletionGracePeriodSeconds") or 0
        if before == 0:
            grace = None
        elif options.grace_period is None or grace >= before:
            return Step(None, goes=False)  # it may only become shorter
        else:
            metadata["deletionTimestamp"] = _earlier(metadata["deletionTimestamp"], before - grace)
            metadata["deletionGracePeriodSeconds"] = grace
    elif grace is not None:
        metadata["deletionTimestamp"] = timestamp(now, later=grace)
        metadata["deletionGracePeriodSeconds"] = grace
        _count(metadata)
    finalizers = _finalizers(of, metadata.get("finalizers") or [], options)
    if finalizers:
        metadata["finalizers"] = finalizers
    else:
        metadata.pop("finalizers", None)
    if grace is None:
        if not finalizers:
            return Step(None, goes=True)
        if metadata.get("deletionTimestamp") is None:
            _count(metadata)
        stamp = timestamp(now)
        if metadata.get("deletionTimestamp") is None or metadata["deletionTimestamp"] > stamp:
            metadata["deletionTimestamp"] = stamp
        metadata["deletionGracePeriodSeconds"] = 0
    return Step({**old, "metadata": metadata}, goes=grace == 0 and not finalizers)


def _grace(of: ResourceType, value: Mapping[str, Any], options: DeleteOptions) -> int | None:
    """Seconds that a pod is given to end; None for what needs none. For a pod that nothing runs,
    0.
    """
    if of.storage != "pods":
        return None
    grace = options.grace_period
    spec, status = value.get("spec") or {}, value.get("status") or {}
    if value["metadata"].get("deletionTimestamp") is None:
        if grace is None:
            grace = spec.get("terminationGracePeriodSeconds")
        if not spec.get("nodeName") or status.get("phase") in _FINISHED:
            return 0
    if grace is None or not isinstance(grace, int):
        return _DEFAULT_GRACE
    return 1 if grace < 0 else grace


def _earlier(stamp: str, seconds: int) -> str:
    return timestamp(datetime.fromisoformat(stamp), later=-seconds)


def _count(metadata: dict[str, Any]) -> None:
    if metadata.get("generation"):
        metadata["generation"] += 1


def _finalizers(of: ResourceType, finalizers: list[str], options: DeleteOptions) -> list[str]:
    """With the one that says what is to become of the dependents, and without the other."""
    if of.storage in _WITHOUT_DEPENDENTS:
        orphan = foreground = False
    elif options.orphan is not None:
        orphan, foreground = options.orphan, False
    elif options.propagation is not None:
        orphan = options.propagation == "Orphan"
        foreground = options.propagation == "Foreground"
    elif _ORPHAN in finalizers or _FOREGROUND in finalizers:
        orphan, foreground = _ORPHAN in finalizers, _FOREGROUND in finalizers
    else:
        orphan, foreground = of.storage in _ORPHANED_BY_DEFAULT, False
    kept = [name for name in finalizers if name not in (_ORPHAN, _FOREGROUND)]
    if orphan:
        kept.append(_ORPHAN)
    if foreground:
        kept.append(_FOREGROUND)
    return finalizers if set(kept) == set(finalizers) else kept
