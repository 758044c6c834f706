"""POST, PUT and PATCH (K27 to K32)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..admission.admission import charged, checked, complete
from ..allocating import allocated, reallocated
from ..defaulting.defaults import fill, fill_late, keep_allocated, new_status
from ..defaulting.small_defaults import FILLED_ALWAYS
from ..deleting.namespaces import check_open
from ..messages import Answer, ServerRequest
from ..reading.object_answers import object_answer
from ..reading.object_negotiation import view_of
from ..reading.views import View
from ..storage.log import Key
from ..storage.state import State, Target
from ..storage.storage_keys import uid_precondition_failed
from ..types.crd_types import completed, completed_if_sound, with_stored_version
from ..types.go_structs import in_go_form
from ..types.served import ResourceType
from ..validation.checks import checks_of
from ..validation.names import (
    finalizer_warnings,
    label_map_problems,
    metadata_problems,
)
from ..validation.problems import (
    Problem,
    already_exists,
    bad_request,
    conflict,
    internal_error,
    invalid,
    not_found,
)
from .apply_patches import applied, empty_of, read_configuration, strict_problem
from .certificate_requests import CERTIFICATE_REQUESTS, asked_by, with_answer
from .custom_checks import custom_problems, custom_update_problems
from .managed_fields import Entries, Manager, after_create, after_update
from .metadata import (
    carry_over,
    generated_name,
    immutable_problems,
    next_generation,
    prepare_new,
    timestamp,
)
from .parts_of_pods import POD_PARTS
from .patches import cleaned, is_apply, read_patch
from .status_writes import with_phase_time, with_status_of
from .told import told
from .typed_types import type_of
from .write_checks import (
    check_kind,
    check_name,
    check_namespace,
    check_version,
    is_released,
    read_sent,
    sets_version,
)
from .write_options import WriteOptions, write_options

if TYPE_CHECKING:
    from ..webhooks.consulting import Consulting

__all__ = ["Writes"]

_NAME_ATTEMPTS = 8
_DEFINITIONS = "apiextensions.k8s.io/customresourcedefinitions"
_FILLED_ALWAYS = FILLED_ALWAYS | {
    "namespaces",
    "podtemplates",
    "secrets",
    "scheduling.k8s.io/priorityclasses",
    "storage.k8s.io/storageclasses",
}
"""Types with defaults outside of spec that an update can take away."""
_MADE_UP = ("uid", "creationTimestamp", "generation")


class Writes:
    """What creates and changes objects."""

    def __init__(self, state: State) -> None:
        self._state = state

    # Requests

    def create(self, target: Target, request: ServerRequest) -> Answer:
        """Raises `Refused`, as the others do."""
        return _shallow(self._post, target, request)

    def update(self, target: Target, request: ServerRequest) -> Answer:
        """PUT of an object, or of its status."""
        return _shallow(self._put, target, request)

    def patch(self, target: Target, request: ServerRequest) -> Answer:
        """PATCH of an object, or of its status: a merge patch or a JSON patch."""
        return _shallow(self._patch, target, request)

    def _post(self, target: Target, request: ServerRequest) -> Answer:
        view = view_of(request, target.type, collection=False, wall=self._state.wall)
        options = write_options(request)
        value, warnings = read_sent(target, request, options)
        with told(warnings):
            return self._create(target, view, options, value, warnings)

    def _put(self, target: Target, request: ServerRequest) -> Answer:
        view = view_of(request, target.type, collection=False, wall=self._state.wall)
        options = write_options(request)
        value, warnings = read_sent(target, request, options)
        with told(warnings):
            check_name(target, value["metadata"])
            return self._update(target, view, options, lambda old: value, warnings, value)

    def _patch(self, target: Target, request: ServerRequest) -> Answer:
        if is_apply(request):
            return self._apply(target, request)
        patch = read_patch(target.type, request)
        view = view_of(request, target.type, collection=False, wall=self._state.wall)
        options = write_options(request)
        warnings: list[str] = []

        def make(old: Mapping[str, Any]) -> dict[str, Any]:
            return patch(old, options.validation, warnings)

        with told(warnings):
            return self._update(target, view, options, make, warnings)

    def _apply(self, target: Target, request: ServerRequest) -> Answer:
        """Server-side apply (K31)."""
        state, of = self._state, target.type
        view = view_of(request, of, collection=False, wall=self._state.wall)
        options = write_options(request, apply=True)
        key = (target.namespace if of.namespaced else "", target.name)
        stored = state.log.get(of.storage, key)
        if stored is None and target.subresource:
            raise not_found(of, target.name)
        if stored is None:
            live: Mapping[str, Any] = {
                "kind": of.kind,
                "apiVersion": of.api_version,
                "metadata": {},
            }
        else:
            live = of.shown(stored.value)
        config, warnings = read_configuration(of, request, options)
        done = applied(target, live, config, options, timestamp(state.wall()))
        if warnings and options.validation == "Strict":
            raise strict_problem(warnings)
        value = done.value
        if of.storage == _DEFINITIONS:
            value = completed(value)
        made = cleaned(of, value, live, warnings)
        if stored is not None:
            return self._update(
                target, view, options, lambda old: made, warnings, entries=done.entries
            )
        if made["metadata"].get("uid"):
            text = (
                f"uid mismatch: the provided object specified uid {made['metadata']['uid']}, and "
                "no existing object was found"
            )
            raise conflict(of, target.name, text)
        made["metadata"] = {**made["metadata"], "resourceVersion": ""}
        check_namespace(target, made["metadata"])
        check_name(target, made["metadata"])
        return self._create(target, view, options, made, warnings, entries=done.entries)

    # Creating

    def _create(
        self,
        target: Target,
        view: View,
        options: WriteOptions,
        value: dict[str, Any],
        warnings: list[str],
        entries: Entries | None = None,
    ) -> Answer:
        """`entries`: the managedFields, where an apply has made them."""
        state, of = self._state, target.type
        sent = value["metadata"]
        if of.namespaced:
            check_open(state, of, target.namespace, sent.get("name") or "")
        new = self._prepared(target, value)
        if sets_version(sent):
            raise internal_error("resourceVersion should not be set on objects to be created")
        metadata = new["metadata"]
        if entries is None:
            nobodys = ("status", "spec") if of.storage == CERTIFICATE_REQUESTS else ("status",)
            owned = {name: member for name, member in new.items() if name not in nobodys}
            entries = after_create(
                self._manager(target, options),
                empty_of(of),
                owned if of.has_status else new,
                metadata["creationTimestamp"],
                sent.get("managedFields") or (),
            )
        if entries:
            metadata["managedFields"] = list(entries)
        fill_late(of, new, state.rng)
        complete(state, target, new, sent.get("name") or sent.get("generateName") or "")
        new_status(of, new)
        new = self._in_form(of, new)
        consulting = state.consulting
        if consulting is not None:
            consulting.keep(metadata)
            new = self._created_as_wanted(consulting, target, new, options)
            metadata = new["metadata"]
        if of.storage == "services":
            new = allocated(state, new, dry_run=options.dry_run)
        self._validate_new(of, new)
        checked(state, target, new)
        if consulting is not None:
            consulting.check(consulting.about("CREATE", target, new, None, options.dry_run))
        charged(state, target, new, dry_run=options.dry_run)
        key = self._free_key(target, metadata, generated=not sent.get("name"))
        warnings += finalizer_warnings(of, metadata.get("finalizers") or [])
        warnings += checks_of(of.storage).warnings(new)
        if options.dry_run:
            return object_answer(view, of.ordered(new), 201, warnings)
        metadata["resourceVersion"] = "0"  # its place; the log fills it in
        stored = state.log.put(of.storage, key, of.as_stored(of.ordered(new)))
        return object_answer(view, stored, 201, warnings)

    def _manager(self, target: Target, options: WriteOptions) -> Manager:
        of = target.type
        return Manager(
            options.manager,
            of.api_version,
            target.subresource,
            custom=of.custom,
            type=type_of(of),
        )

    def _prepared(self, target: Target, value: dict[str, Any]) -> dict[str, Any]:
        """A new object with its defaults."""
        of = target.type
        metadata = prepare_new(self._state, of, value["metadata"], target.namespace)
        new = {**value, "metadata": metadata, "kind": of.kind, "apiVersion": of.api_version}
        if of.storage == CERTIFICATE_REQUESTS:
            new["spec"] = asked_by(self._state.user, new.get("spec") or {})
        fill(of, new)
        return self._in_form(of, new)

    @staticmethod
    def _validate_new(of: ResourceType, new: dict[str, Any]) -> None:
        problems = metadata_problems(of, new["metadata"])
        problems += custom_problems(of, new) if of.custom else checks_of(of.storage).create(new)
        if problems:
            name = new["metadata"].get("name") or ""
            raise invalid(of.kind, of.group, name, problems)

    @staticmethod
    def _in_form(
        of: ResourceType, value: dict[str, Any], old: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        return value if of.custom else in_go_form(of.api_version, of.kind, value, old or {})

    def _free_key(self, target: Target, metadata: dict[str, Any], *, generated: bool) -> Key:
        """Where the object goes. A generated name that is taken is made again."""
        of, log = target.type, self._state.log
        namespace = target.namespace if of.namespaced else ""
        for attempt in range(_NAME_ATTEMPTS):
            if attempt and generated:
                metadata["name"] = generated_name(metadata["generateName"], self._state.rng)
            key = (namespace, metadata["name"])
            found = log.get(of.storage, key)
            if found is None:
                return key
            if not generated:
                break
        dying = found is not None and found.metadata.get("deletionTimestamp") is not None
        raise already_exists(of, metadata["name"], dying=dying)

    # Changing

    def _update(
        self,
        target: Target,
        view: View,
        options: WriteOptions,
        make: Callable[[Mapping[str, Any]], dict[str, Any]],
        warnings: list[str],
        put: dict[str, Any] | None = None,
        entries: Entries | None = None,
    ) -> Answer:
        """`make` makes the new object of the old one; `put` is what a PUT brought; `entries` are
        the managedFields, where an apply has made them.
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
            return self._create(target, view, options, put, warnings)
        old = of.shown(stored.value)
        made = make(old)
        if put is None and of.storage == _DEFINITIONS:
            made = completed_if_sound(made)
        sent = made["metadata"]
        if put is None:
            check_name(target, sent)
            check_namespace(target, sent)
        elif uid and uid != old["metadata"]["uid"]:
            raise uid_precondition_failed(of, key, uid, old["metadata"]["uid"])
        check_version(of, target.name, sent, stored)
        check_kind(of, target.name, made)
        new = self._changed(target, options, old, made, entries)
        new_metadata = new["metadata"]
        if new_metadata.get("finalizers") != old["metadata"].get("finalizers"):
            warnings += finalizer_warnings(of, new_metadata.get("finalizers") or [])
        if target.subresource == "status":
            warnings += checks_of(of.storage).status_warnings(new)
        else:
            warnings += checks_of(of.storage).of_update_warnings(new, old)
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
        old: Mapping[str, Any],
        made: dict[str, Any],
        entries: Entries | None = None,
    ) -> dict[str, Any]:
        """The next state of an object: what the client may change of it, found valid."""
        state, of = self._state, target.type
        before = old["metadata"]
        new = self._completed(target, old, made)
        metadata = new["metadata"]
        if entries is not None:
            entries = list(entries)
        elif target.subresource == "finalize":  # which nobody owns
            entries = before.get("managedFields")
        else:
            manager = self._manager(target, options)
            tracked = new
            if target.subresource in POD_PARTS:  # what it leaves as it is is owned all the same
                tracked = self._completed(replace(target, subresource=""), old, made)
            entries = after_update(manager, old, tracked, timestamp(state.wall()))
        if entries is not metadata.get("managedFields"):
            metadata = {**metadata, "managedFields": entries}
            if not entries:
                del metadata["managedFields"]
            new["metadata"] = metadata
        consulting = state.consulting
        if consulting is not None:
            about = consulting.about("UPDATE", target, new, old, options.dry_run)
            wanted = consulting.mutated(about)
            if wanted is not new:
                new = self._completed(target, old, cleaned(of, wanted, old, []))
        if of.storage == "services" and not target.subresource:
            new = reallocated(state, old, new, dry_run=options.dry_run)
        self._validate(target, before, new["metadata"], _update_problems(target, new, old))
        checked(state, target, new, old)
        if consulting is not None:
            consulting.check(consulting.about("UPDATE", target, new, old, options.dry_run))
        charged(state, target, new, old, dry_run=options.dry_run)
        if target.subresource != "status":
            generation = next_generation(of, old, new)
            if generation is not None:
                new["metadata"] = {**new["metadata"], "generation": generation}
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
                elif of.storage == _DEFINITIONS:
                    new["status"] = with_stored_version(new)
            if target.subresource == "finalize":
                new["spec"] = {name: member for name, member in made["spec"].items() if member}
            elif new.get("spec") is not old.get("spec"):
                keep_allocated(of, old, new)
            if new.get("spec") is not old.get("spec") or of.storage in _FILLED_ALWAYS:
                fill(of, new)
        return self._in_form(of, new, old)

    def _created_as_wanted(
        self, consulting: Consulting, target: Target, new: dict[str, Any], options: WriteOptions
    ) -> dict[str, Any]:
        """A new object as the mutating webhooks want it. They do not see what is made up last."""
        of = target.type
        metadata = new["metadata"]
        made_up = {name: metadata[name] for name in _MADE_UP if name in metadata}
        shown = {name: value for name, value in metadata.items() if name not in made_up}
        about = consulting.about(
            "CREATE", target, {**new, "metadata": shown}, None, options.dry_run
        )
        wanted = consulting.mutated(about)
        if wanted is about.new:
            return new
        changed = cleaned(of, wanted, {}, [])
        changed["metadata"] = {**changed["metadata"], **made_up}
        fill(of, changed)
        return self._in_form(of, changed)

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
        problems += (immutable + maps) * 2
        problems += others
        if problems:
            raise invalid(of.kind, of.group, target.name, problems)


def _update_problems(
    target: Target, new: Mapping[str, Any], old: Mapping[str, Any]
) -> Iterable[Problem]:
    """What is wrong outside of the metadata."""
    of = target.type
    if of.custom:
        return custom_update_problems(target, new, old)
    checks = checks_of(of.storage)
    if target.subresource:
        return checks.of_subresource(target.subresource, new, old)
    return checks.of_update(new, old)


def _shallow(
    write: Callable[[Target, ServerRequest], Answer], target: Target, request: ServerRequest
) -> Answer:
    """Refuse what is nested too deeply for Python, long before it is for Go."""
    try:
        return write(target, request)
    except RecursionError:
        raise bad_request("exceeded max depth") from None
