"""The subresource `scale`: how many replicas somebody wants, whatever the type (K32).

It is a view of its parent: an object of kind Scale with the parent's name, uid and RV. To write it
is to write `spec.replicas` of the parent, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from listwatch.api import APIResource

from ..messages import Answer, ServerRequest
from ..reading.object_answers import object_answer
from ..reading.object_negotiation import view_of
from ..reading.object_selectors import selector_text
from ..storage.log import StoredObject
from ..storage.state import State, Target
from ..storage.storage_keys import uid_precondition_failed
from ..types.served import ResourceType
from ..validation.problems import (
    bad_request,
    conflict,
    invalid,
    invalid_field,
    not_found,
    unforeseen,
)
from .apply_patches import applied, read_configuration, strict_problem
from .go_syntax import go_kind
from .managed_fields import Entries, Manager, after_update
from .metadata import next_generation, timestamp
from .patches import cleaned, is_apply, read_patch
from .scale_owners import ScaleOwners
from .shapes import ShapeError, check_shape
from .subresource_name import SubresourceName
from .typed_types import type_of
from .write_checks import check_name, check_version, read_sent
from .write_options import WriteOptions, write_options

__all__ = ["Scales", "scale_of"]

_SCALE = ResourceType(
    resource=APIResource(
        group="autoscaling", version="v1", name="scales", kind="Scale", namespaced=True
    ),
    storage="",
    members={"spec": {}, "status": {"replicas": 0}},
)
_ABSENT = -(1 << 31)
_COUNT = "must be greater than or equal to 0"


def scale_of(parent: Mapping[str, Any]) -> dict[str, Any]:
    """The Scale of an object. A count of 0 is left out, as there."""
    metadata, spec = parent["metadata"], parent.get("spec") or {}
    replicas = spec.get("replicas")
    status: dict[str, Any] = {"replicas": (parent.get("status") or {}).get("replicas", 0)}
    selector = spec.get("selector")
    if parent["kind"] == "ReplicationController":
        selector = {"matchLabels": selector}
    if text := selector_text(selector):
        status["selector"] = text
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {
            name: metadata[name]
            for name in ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
        },
        "spec": {"replicas": replicas} if replicas else {},
        "status": status,
    }


class Scales:
    """Reads and writes the Scale of those built-in types that have one."""

    def __init__(self, state: State) -> None:
        self._state = state

    def get(self, target: Target, request: ServerRequest) -> Answer:
        """Raises `Refused`, as the others do."""
        view = view_of(request, _SCALE, collection=False, wall=self._state.wall)
        return object_answer(view, self._scale(target.type, self._found(target).value))

    def update(self, target: Target, request: ServerRequest) -> Answer:
        options = write_options(request)
        of_scale = replace(target, type=_SCALE)
        value, warnings = read_sent(of_scale, request, options)
        warnings += _unknown(value, options)
        if warnings and options.validation == "Strict":
            text = ", ".join(warnings)
            raise bad_request(
                f'Scale in version "v1" cannot be handled as a Scale: strict decoding error: {text}'
            )
        replicas = value.get("spec", {}).get("replicas")
        if not _is_count(replicas):
            raise bad_request(
                f'Scale in version "v1" cannot be handled as a Scale: {_no(replicas)}'
            )
        check_name(target, value["metadata"])
        return self._write(target, request, options, lambda scale: value, warnings)

    def patch(self, target: Target, request: ServerRequest) -> Answer:
        if is_apply(request):
            return self._apply(target, request)
        patch = read_patch(_SCALE, request)
        options = write_options(request)
        warnings: list[str] = []

        def make(scale: Mapping[str, Any]) -> dict[str, Any]:
            made = patch(scale, options.validation, warnings)
            warnings.extend(_unknown(made, options))
            replicas = made.get("spec", {}).get("replicas")
            if not _is_count(replicas):
                raise bad_request(_no(replicas))
            check_name(target, made["metadata"])
            return made

        return self._write(target, request, options, make, warnings)

    def _apply(self, target: Target, request: ServerRequest) -> Answer:
        """Server-side apply (K31) of a Scale."""
        options = write_options(request, apply=True)
        warnings: list[str] = []
        entries: list[Mapping[str, Any]] = []

        def make(scale: Mapping[str, Any]) -> dict[str, Any]:
            config, told = read_configuration(_SCALE, request, options)
            now = timestamp(self._state.wall())
            self._check_appliable(target.type, scale)
            done = applied(replace(target, type=_SCALE), scale, config, options, now)
            self._check_applied(target.type, scale, done.value)
            if told and options.validation == "Strict":
                raise strict_problem(told)
            warnings.extend(told)
            entries.extend(done.entries)
            made = cleaned(_SCALE, done.value, scale, warnings)
            check_name(target, made["metadata"])
            return made

        return self._write(target, request, options, make, warnings, entries)

    def _write(
        self,
        target: Target,
        request: ServerRequest,
        options: WriteOptions,
        make: Callable[[Mapping[str, Any]], dict[str, Any]],
        warnings: list[str],
        applied_entries: Entries | None = None,
    ) -> Answer:
        """`make` makes the new Scale of the old one; `applied_entries` are then the managedFields
        of the new one, where it was applied.
        """
        of, log = target.type, self._state.log
        view = view_of(request, _SCALE, collection=False, wall=self._state.wall)
        stored = self._found(target)
        old = of.shown(stored.value)
        owners = ScaleOwners(
            old["metadata"].get("managedFields") or (), self._path(of), of.api_version
        )
        scale = self._scale(of, old, absent=_ABSENT)
        scale["metadata"]["managedFields"] = list(owners.of_scale())
        made = make(scale)
        consulting = self._state.consulting
        if consulting is not None:
            about = consulting.about("UPDATE", target, made, scale)
            made = consulting.mutated(about, _read)
            consulting.check(replace(about, new=made))
        metadata = made["metadata"]
        self._check_uid(of, stored, metadata.get("uid"), put=request.method == "PUT")
        if metadata.get("resourceVersion") or not of.custom:
            check_version(of, target.name, metadata, stored)
        replicas = made.get("spec", {}).get("replicas") or 0
        self._check(of, target.name, replicas)
        new = self._numbered(target, old, replicas)
        entries = applied_entries
        if entries is None:
            entries = self._entries(options, scale, made, replicas)
        new = _owned(of, old, new, owners.of_object(entries))
        if new == old:
            return object_answer(view, self._scale(of, old), 200, warnings)
        if not options.dry_run:
            new = log.put(of.storage, stored.key, of.as_stored(dict(new))).value
        return object_answer(view, self._scale(of, new), 200, warnings)

    def _entries(
        self, options: WriteOptions, old: Mapping[str, Any], made: Mapping[str, Any], replicas: int
    ) -> Entries:
        """The managedFields of a Scale that was updated."""
        manager = Manager(
            options.manager, _SCALE.api_version, "scale", custom=False, type=type_of(_SCALE)
        )
        new = {**made, "spec": {"replicas": replicas} if replicas else {}}
        return after_update(manager, old, new, timestamp(self._state.wall()))

    # What is another for custom types

    def _scale(
        self, of: ResourceType, parent: Mapping[str, Any], *, absent: int | None = None
    ) -> dict[str, Any]:
        """The Scale of an object. `absent` stands for a count that it has not, where it must have
        one.
        """
        return scale_of(parent)

    def _check(self, of: ResourceType, name: str, replicas: int) -> None:
        """Raises 422, or 400, for a number that cannot be written."""
        if replicas < 0:
            problem = invalid_field("spec.replicas", replicas, _COUNT)
            raise invalid("Scale", "autoscaling", name, [problem])

    def _check_uid(
        self, of: ResourceType, stored: StoredObject, sent: str | None, *, put: bool
    ) -> None:
        found = stored.metadata["uid"]
        if not sent or sent == found:
            return
        if put:
            raise uid_precondition_failed(of, stored.key, sent, found)
        text = f"Precondition failed: UID in precondition: {sent}, UID in object meta: {found}"
        raise conflict(SubresourceName(of, "scale"), stored.key[1], text)

    def _check_appliable(self, of: ResourceType, scale: Mapping[str, Any]) -> None:
        """Raises 500 for a Scale that cannot be applied to."""

    def _check_applied(
        self, of: ResourceType, scale: Mapping[str, Any], made: Mapping[str, Any]
    ) -> None:
        """Raises 500 where the Scale that an apply has made cannot be had."""

    def _path(self, of: ResourceType) -> str:
        """Where in the object the number is."""
        return ".spec.replicas"

    def _numbered(self, target: Target, old: Mapping[str, Any], replicas: int) -> Mapping[str, Any]:
        """The object with another number; `old` itself where nothing changes."""
        if old["spec"].get("replicas") == replicas:
            return old
        return {**old, "spec": {**old["spec"], "replicas": replicas}}

    def _found(self, target: Target) -> StoredObject:
        found = self._state.log.get(target.type.storage, (target.namespace, target.name))
        if found is None:
            raise not_found(target.type, target.name)
        return found


def _owned(
    of: ResourceType, old: Mapping[str, Any], new: Mapping[str, Any], entries: Entries
) -> Mapping[str, Any]:
    """`new` with these managedFields, and with the generation that it then has."""
    metadata = dict(old["metadata"])
    if entries:
        metadata["managedFields"] = list(entries)
    else:
        metadata.pop("managedFields", None)
    made = {**new, "metadata": metadata}
    generation = next_generation(of, old, made)
    if generation is not None:
        metadata["generation"] = generation
    return of.ordered(made)


def _read(scale: dict[str, Any]) -> dict[str, Any]:
    """A Scale that a webhook has changed. Raises `Refused`."""
    try:
        check_shape(_SCALE, scale)
    except ShapeError as error:
        raise unforeseen(str(error)) from None
    spec = scale.get("spec", {})
    if not isinstance(spec, dict) or not _is_count(spec.get("replicas")):
        raise unforeseen(_no(spec.get("replicas") if isinstance(spec, dict) else spec))
    return scale


def _is_count(value: Any) -> bool:
    if value is None:
        return True
    return isinstance(value, int) and not isinstance(value, bool) and -(1 << 31) <= value < 1 << 31


def _no(value: Any) -> str:
    kind = go_kind(value)
    shown = f"{kind} {value}" if kind == "number" else kind
    return (
        f"json: cannot unmarshal {shown} into Go struct field ScaleSpec.spec.replicas of type int32"
    )


def _unknown(value: Mapping[str, Any], options: WriteOptions) -> list[str]:
    if options.validation == "Ignore":
        return []
    return [f'unknown field "spec.{name}"' for name in value.get("spec", {}) if name != "replicas"]
