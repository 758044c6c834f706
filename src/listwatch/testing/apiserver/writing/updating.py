"""The next states of objects: what PUT and PATCH make of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from ..admission.plugins import charged, checked
from ..allocating import reallocated
from ..defaulting.defaults import fill, keep_allocated, keep_metadata
from ..defaulting.small_defaults import FILLED_ALWAYS
from ..messages import Answer
from ..reading.object_answers import object_answer
from ..reading.views import View
from ..storage.log import StoredObject
from ..storage.state import State, Target
from ..storage.storage_keys import uid_precondition_failed
from ..types.crd_types import completed_if_sound, with_stored_version
from ..types.served import ResourceType
from ..validation.checks import checks_of
from ..validation.managers import entry_problems
from ..validation.names import finalizer_warnings, label_map_problems, metadata_problems
from ..validation.problems import Problem, invalid, invalid_field, not_found
from .certificate_requests import CERTIFICATE_REQUESTS, with_answer
from .creating import Creating
from .forms import DEFINITIONS, in_form, manager_of
from .loaded import taken_up
from .managed_fields import Entries, after_update
from .metadata import carry_over, immutable_problems, next_generation, timestamp
from .parts_of_pods import POD_PARTS
from .status_writes import with_phase_time, with_status_of
from .wanted import as_wanted, reader_of
from .write_checks import check_kind, check_name, check_namespace, check_version, is_released
from .write_options import WriteOptions

__all__ = ["Updating"]

_FILLED_ALWAYS = FILLED_ALWAYS | {
    "namespaces",
    "podtemplates",
    "secrets",
    "scheduling.k8s.io/priorityclasses",
    "storage.k8s.io/storageclasses",
}
"""Types with defaults outside of spec that an update can take away."""


class Updating:
    """Changes objects as clients want it; `creating` makes those that a PUT may create."""

    def __init__(self, state: State, creating: Creating) -> None:
        self._state = state
        self._creating = creating

    def update(
        self,
        target: Target,
        view: View,
        options: WriteOptions,
        make: Callable[[Mapping[str, Any]], dict[str, Any]],
        warnings: list[str],
        put: dict[str, Any] | None = None,
        entries: Entries | None = None,
    ) -> Answer:
        """The answer. `make` makes the new object of the old one; `put` is what a PUT brought;
        `entries` are the managedFields, where an apply has made them. Raises `Refused`.
        """
        state, of = self._state, target.type
        key = (target.namespace if of.namespaced else "", target.name)
        stored = state.log.get(of.storage, key)
        uid = put["metadata"].get("uid") if put else ""
        if stored is None:
            if put is None or not of.put_creates or target.subresource:
                raise not_found(of, target.name)
            if uid:
                raise uid_precondition_failed(of, key, uid, "")
            put["metadata"] = {**put["metadata"], "resourceVersion": ""}
            return self._creating.create(target, view, options, put, warnings)
        old = of.shown(stored.value)
        if target.subresource != "status":
            old = taken_up(state, of, old)
        made = make(old)
        if put is None and of.storage == DEFINITIONS:
            made = completed_if_sound(made)
        sent = made["metadata"]
        if put is None:
            check_name(target, sent)
            check_namespace(target, sent)
        elif uid and uid != old["metadata"]["uid"]:
            raise uid_precondition_failed(of, key, uid, old["metadata"]["uid"])
        check_version(of, target.name, sent, stored)
        check_kind(of, target.name, made)
        cautions: list[str] = []
        new = self._changed(target, options, stored, old, made, cautions, entries)
        new_metadata = new["metadata"]
        if new_metadata.get("finalizers") != old["metadata"].get("finalizers"):
            warnings += finalizer_warnings(of, new_metadata.get("finalizers") or [])
        if target.subresource == "status":
            warnings += checks_of(of.storage).status_warnings(new)
        else:
            warnings += checks_of(of.storage).of_update_warnings(new, old)
        warnings += cautions
        if new == old:
            return object_answer(view, stored, 200, warnings)
        if options.dry_run:
            return object_answer(view, new, 200, warnings)
        if is_released(old["metadata"], new):
            # The answer has the old RV, the event a new one (K34).
            state.log.delete(of.storage, key)
            return object_answer(view, new, 200, warnings)
        stored = state.log.put(of.storage, key, of.as_stored(new))
        return object_answer(view, stored, 200, warnings)

    def _changed(
        self,
        target: Target,
        options: WriteOptions,
        stored: StoredObject,
        old: Mapping[str, Any],
        made: dict[str, Any],
        cautions: list[str],
        entries: Entries | None = None,
    ) -> dict[str, Any]:
        """The next state of an object: what the client may change of it, found valid. `old` is what
        was `stored`, read. `cautions` gets what it is to be warned of because of other objects.
        """
        state, of = self._state, target.type
        before = old["metadata"]
        new = self._completed(target, old, made)
        metadata = new["metadata"]
        if entries is not None:
            entries = list(entries)
        elif target.subresource == "finalize":  # which nobody owns
            entries = before.get("managedFields")
        else:
            manager = manager_of(target, options)
            tracked = new
            if target.subresource in POD_PARTS:  # what it leaves as it is is owned all the same
                tracked = self._completed(replace(target, subresource=""), old, made)
            zeros = {
                name: zero
                for name, zero in of.zero_members.items()
                if name in old and tracked.get(name) is None
            }
            tracked = {**tracked, **zeros}
            entries = after_update(manager, old, tracked, timestamp(state.wall()))
        if entries is not metadata.get("managedFields"):
            metadata = {**metadata, "managedFields": entries}
            if not entries:
                del metadata["managedFields"]
            new["metadata"] = metadata
        consulting = state.consulting
        if consulting is not None:
            about = consulting.about("UPDATE", target, _as_sent(of, new, made), old)
            wanted = consulting.mutated(about, reader_of(of, old))
            if wanted is not about.new:
                wanted = as_wanted(target, about.new or {}, wanted, old, cautions)
                self._check_kept_name(of, target.name, wanted["metadata"].get("name"))
                if wanted["metadata"].get("resourceVersion") != before["resourceVersion"]:
                    check_version(of, target.name, wanted["metadata"], stored)
                new = self._completed(target, old, wanted)
        if of.storage == "services" and not target.subresource:
            new = reallocated(state, old, new, dry_run=options.dry_run)
        self._validate(target, before, new["metadata"], _update_problems(target, new, old))
        cautions += checked(state, target, new, old)
        if not of.custom:
            new = of.without_empty_lists(new)
        if target.subresource != "status":
            generation = next_generation(of, old, new)
            if generation is not None:
                new["metadata"] = {**new["metadata"], "generation": generation}
        if consulting is not None:
            consulting.check(consulting.about("UPDATE", target, new, old))
        charged(state, target, new, old, dry_run=options.dry_run)
        return of.ordered(new)

    def _completed(
        self, target: Target, old: Mapping[str, Any], made: dict[str, Any]
    ) -> dict[str, Any]:
        """What a client has made of `old`, with what it cannot change, and with the defaults."""
        of = target.type
        before = old["metadata"]
        metadata = made["metadata"]
        if metadata is not before:
            metadata = carry_over(of, before, metadata)
        new = {**made, "metadata": metadata}
        if target.subresource in ("status", "approval"):
            new = with_status_of(of, old, new)
            if of.storage == CERTIFICATE_REQUESTS:
                now = timestamp(self._state.wall())
                new = with_answer(target.subresource, old, new, now)
            elif of.storage == "persistentvolumes":
                new = with_phase_time(old, new, timestamp(self._state.wall()))
        elif target.subresource in POD_PARTS:
            new = POD_PARTS[target.subresource](old, new)
            fill(of, new)
        else:
            if of.has_status:
                new["status"] = old.get("status")
                if new["status"] is None:
                    del new["status"]
                elif of.storage == DEFINITIONS:
                    new["status"] = with_stored_version(new)
            if target.subresource == "finalize":
                new["spec"] = {name: member for name, member in made["spec"].items() if member}
            elif new.get("spec") is not old.get("spec"):
                keep_allocated(of, old, new)
            keep_metadata(of, old, new)
            if new.get("spec") is not old.get("spec") or of.storage in _FILLED_ALWAYS:
                fill(of, new)
        return in_form(of, new, old)

    @staticmethod
    def _check_kept_name(of: ResourceType, old: str, new: str | None) -> None:
        """Of what a webhook has made. Raises 422."""
        if new != old:
            changed = invalid_field("metadata.name", new or "", "field is immutable")
            raise invalid(of.kind, of.group, new or "", [changed, changed])

    def _validate(
        self,
        target: Target,
        old: Mapping[str, Any],
        new: Mapping[str, Any],
        others: Iterable[Problem] = (),
    ) -> None:
        """`others`: what is wrong outside of the metadata."""
        of = target.type
        problems: list[Problem] = []
        immutable = immutable_problems(old, new)
        changed = any(
            new.get(name) != old.get(name) for name in ("labels", "annotations", "ownerReferences")
        )
        maps = label_map_problems(new) if changed else []
        if maps or new.get("finalizers") != old.get("finalizers"):
            times = 1 if of.custom or target.subresource else checks_of(of.storage).metadata
            problems = metadata_problems(of, {**new, "name": new["name"]}) * times
        owners = list(entry_problems(new.get("managedFields") or ()))
        problems += (immutable + maps + owners) * 2
        problems += others
        if problems:
            raise invalid(of.kind, of.kind_group, target.name, problems)


def _as_sent(of: ResourceType, new: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    """`new` as mutating webhooks see it: with what the client has sent of metadata and status, also
    where that is no business of its.
    """
    metadata = {**made["metadata"]}
    metadata.pop("managedFields", None)
    if "managedFields" in new["metadata"]:
        metadata["managedFields"] = new["metadata"]["managedFields"]
    if of.namespaced:
        metadata["namespace"] = new["metadata"]["namespace"]
    shown = {**new, "metadata": metadata}
    if of.has_status:
        shown.pop("status", None)
        if made.get("status") is not None:
            shown["status"] = made["status"]
    return shown


def _update_problems(
    target: Target, new: Mapping[str, Any], old: Mapping[str, Any]
) -> Iterable[Problem]:
    """What is wrong outside of the metadata."""
    of = target.type
    if of.custom:
        from .custom_checks import custom_update_problems  # as in a create

        return custom_update_problems(target, new, old)
    checks = checks_of(of.storage)
    if target.subresource:
        return checks.of_subresource(target.subresource, new, old)
    return checks.of_update(new, old)
