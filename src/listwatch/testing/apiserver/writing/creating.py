"""New objects: what POST makes, and PUT and PATCH where there is nothing yet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..admission.plugins import charged, checked, complete
from ..allocating import allocated
from ..defaulting.defaults import fill, fill_late, new_status
from ..defaulting.job_defaults import missing_labels
from ..deleting.namespaces import check_open
from ..messages import Answer
from ..reading.object_answers import object_answer
from ..reading.views import View
from ..storage.log import Key
from ..storage.state import State, Target
from ..types.served import ResourceType
from ..validation.checks import checks_of
from ..validation.names import finalizer_warnings, metadata_problems
from ..validation.problems import already_exists, internal_error, invalid
from .app_armor import copy_profiles
from .apply_patches import empty_of
from .certificate_requests import CERTIFICATE_REQUESTS, asked_by
from .forms import in_form, manager_of
from .managed_fields import Entries, after_create
from .metadata import generated_name, prepare_new
from .wanted import as_wanted, reader_of
from .write_checks import sets_version
from .write_options import WriteOptions

if TYPE_CHECKING:
    from ..webhooks.consulting import Consulting

__all__ = ["Creating"]

_NAME_ATTEMPTS = 8
_MADE_UP = ("uid", "creationTimestamp", "generation")


class Creating:
    """Makes objects of what clients send."""

    def __init__(self, state: State) -> None:
        self._state = state

    def create(
        self,
        target: Target,
        view: View,
        options: WriteOptions,
        value: dict[str, Any],
        warnings: list[str],
        entries: Entries | None = None,
    ) -> Answer:
        """The answer. `entries`: the managedFields, where an apply has made them. Raises
        `Refused`.
        """
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
            if of.storage == "batch/jobs":
                owned["metadata"] = {**metadata, **missing_labels(new)}
            entries = after_create(
                manager_of(target, options),
                empty_of(of),
                owned if of.has_status else new,
                metadata["creationTimestamp"],
                sent.get("managedFields") or (),
            )
        if entries:
            metadata["managedFields"] = list(entries)
        fill_late(of, new, state.rng)
        if of.storage == "pods":
            warnings += copy_profiles(new)
        complete(state, target, new, sent.get("name") or sent.get("generateName") or "")
        new_status(of, new)
        new = in_form(of, new)
        consulting = state.consulting
        if consulting is not None:
            consulting.keep(metadata)
            new = self._created_as_wanted(consulting, target, new, value, warnings)
            metadata = new["metadata"]
        if of.storage == "services":
            new = allocated(state, new, dry_run=options.dry_run)
        _validate_new(of, new)
        warnings += finalizer_warnings(of, metadata.get("finalizers") or [])
        warnings += checks_of(of.storage).warnings(new)
        warnings += checked(state, target, new)
        if consulting is not None:
            consulting.check(consulting.about("CREATE", target, new, None))
        charged(state, target, new, dry_run=options.dry_run)
        key = self._free_key(target, metadata, generated=not sent.get("name"))
        if options.dry_run:
            shown = of.without_empty_lists(of.ordered(new))
            return object_answer(view, shown, 201, warnings)
        metadata["resourceVersion"] = "0"  # its place; the log fills it in
        stored = state.log.put(of.storage, key, of.as_stored(of.ordered(new)))
        return object_answer(view, stored, 201, warnings)

    def _prepared(self, target: Target, value: dict[str, Any]) -> dict[str, Any]:
        """A new object with its defaults."""
        of = target.type
        metadata = prepare_new(self._state, of, value["metadata"], target.namespace)
        new = {**value, "metadata": metadata, "kind": of.kind, "apiVersion": of.api_version}
        if of.storage == CERTIFICATE_REQUESTS:
            new["spec"] = asked_by(self._state.user, new.get("spec") or {})
        fill(of, new)
        return in_form(of, new)

    def _created_as_wanted(
        self,
        consulting: Consulting,
        target: Target,
        new: dict[str, Any],
        sent: Mapping[str, Any],
        warnings: list[str],
    ) -> dict[str, Any]:
        """A new object as the mutating webhooks want it. They see the status that the client has
        sent, and nothing of what is made up last: not even the name, where it is generated.
        """
        of = target.type
        metadata = new["metadata"]
        made_up = {name: metadata[name] for name in _MADE_UP if name in metadata}
        shown = {name: value for name, value in metadata.items() if name not in made_up}
        if not sent["metadata"].get("name"):
            shown.pop("name", None)
        whole = {**new, "metadata": shown}
        if of.has_status:
            whole.pop("status", None)
            if sent.get("status") is not None:
                whole["status"] = sent["status"]
        about = consulting.about("CREATE", target, whole, None)
        wanted = consulting.mutated(about, reader_of(of))
        if wanted is about.new:
            return new
        changed = as_wanted(target, about.new or {}, wanted, {}, warnings)
        wanted_metadata = changed["metadata"]
        if sets_version(wanted_metadata):
            raise internal_error("resourceVersion should not be set on objects to be created")
        wanted_metadata |= made_up
        if not wanted_metadata.get("name") and wanted_metadata.get("generateName"):
            wanted_metadata["name"] = metadata["name"]
        if of.has_status:
            changed.pop("status", None)
            if "status" in new:
                changed["status"] = new["status"]
        return in_form(of, changed)

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


def _validate_new(of: ResourceType, new: dict[str, Any]) -> None:
    problems = metadata_problems(of, new["metadata"])
    if of.custom:
        from .custom_checks import custom_problems  # most have no such types, and it takes time

        problems += custom_problems(of, new)
    else:
        problems += checks_of(of.storage).create(new)
    if problems:
        name = new["metadata"].get("name") or ""
        raise invalid(of.kind, of.kind_group, name, problems)
