"""The subresource `scale`: how many replicas somebody wants, whatever the type (K32).

It is a view of its parent: an object of kind Scale with the parent's name, uid and RV. To write it
is to write `spec.replicas` of the parent, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
from ..validation.problems import bad_request, invalid, invalid_field, not_found
from .field_sets import FieldSet
from .go_syntax import go_kind
from .metadata import next_generation
from .patches import read_patch
from .write_checks import check_name, check_version, read_sent
from .write_options import WriteOptions, write_options

__all__ = ["SCALED", "Scales", "scale_of"]

SCALED = frozenset(
    {"replicationcontrollers", "apps/deployments", "apps/replicasets", "apps/statefulsets"}
)
"""Built-in types that have it, by storage."""
_SCALE = ResourceType(
    resource=APIResource(
        group="autoscaling", version="v1", name="scales", kind="Scale", namespaced=True
    ),
    storage="",
    members={"spec": {}, "status": {"replicas": 0}},
)
_ABSENT = -(1 << 31)
_NUMBER: FieldSet = {"f:spec": {"f:replicas": {}}}
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

    def _write(
        self,
        target: Target,
        request: ServerRequest,
        options: WriteOptions,
        make: Callable[[Mapping[str, Any]], dict[str, Any]],
        warnings: list[str],
    ) -> Answer:
        of, log = target.type, self._state.log
        view = view_of(request, _SCALE, collection=False, wall=self._state.wall)
        stored = self._found(target)
        old = of.shown(stored.value)
        made = make(self._scale(of, old, absent=_ABSENT))
        metadata = made["metadata"]
        uid = metadata.get("uid")
        if uid and uid != stored.metadata["uid"]:
            raise uid_precondition_failed(of, stored.key, uid, stored.metadata["uid"])
        if metadata.get("resourceVersion") or not of.custom:
            check_version(of, target.name, metadata, stored)
        replicas = made.get("spec", {}).get("replicas") or 0
        self._check(of, target.name, replicas)
        new = self._scaled(target, old, replicas, options.manager)
        if new is old:
            return object_answer(view, self._scale(of, old), 200, warnings)
        if not options.dry_run:
            new = log.put(of.storage, stored.key, of.as_stored(dict(new))).value
        return object_answer(view, self._scale(of, new), 200, warnings)

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

    def _scaled(
        self, target: Target, old: Mapping[str, Any], replicas: int, manager: str
    ) -> Mapping[str, Any]:
        """The object with another number; `old` itself where nothing changes."""
        new = _scaled(target.type, old, replicas, manager)
        return old if new == old else new

    def _found(self, target: Target) -> StoredObject:
        found = self._state.log.get(target.type.storage, (target.namespace, target.name))
        if found is None:
            raise not_found(target.type, target.name)
        return found


def _scaled(
    of: ResourceType, old: Mapping[str, Any], replicas: int, manager: str
) -> dict[str, Any]:
    metadata = dict(old["metadata"])
    entries = list(metadata.get("managedFields") or ())
    if old["spec"].get("replicas") == replicas:
        entries = _apart(entries)
    else:
        entries = _entries(entries, manager, of.api_version, replicas)
    if entries:
        metadata["managedFields"] = entries
    else:
        metadata.pop("managedFields", None)
    new = {**old, "metadata": metadata, "spec": {**old["spec"], "replicas": replicas}}
    generation = next_generation(of, old, new)
    if generation is not None:
        metadata["generation"] = generation
    return of.ordered(new)


def _entries(
    entries: Sequence[Mapping[str, Any]], manager: str, api_version: str, replicas: int
) -> list[dict[str, Any]]:
    """The number belongs to the one who scaled, and to nobody else. Where nobody had it before,
    or it is 0 now (which a Scale does not say), it is nobody's.
    """
    kept = [rest for entry in entries if (rest := _without_number(entry)) is not None]
    if replicas and any(map(_has_number, entries)):
        kept.append(
            {
                "manager": manager,
                "operation": "Update",
                "apiVersion": api_version,
                "fieldsType": "FieldsV1",
                "fieldsV1": _NUMBER,
                "subresource": "scale",
            }
        )
    return sorted(kept, key=_order)


def _apart(entries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """As the real server leaves them when the number stays the same: it has an entry of its own,
    of whoever had it, without a time.
    """
    made: list[dict[str, Any]] = []
    for entry in entries:
        rest = _without_number(entry)
        if rest is not None:
            made.append(rest)
        if _has_number(entry):
            mine = {name: value for name, value in entry.items() if name != "time"}
            made.append({**mine, "fieldsV1": _NUMBER})
    return sorted(made, key=_order)


def _has_number(entry: Mapping[str, Any]) -> bool:
    return "f:replicas" in (entry["fieldsV1"].get("f:spec") or {})


def _without_number(entry: Mapping[str, Any]) -> dict[str, Any] | None:
    """The entry but for the number; None: nothing is left."""
    if not _has_number(entry):
        return dict(entry)
    spec = dict(entry["fieldsV1"]["f:spec"])
    del spec["f:replicas"]
    fields = {name: below for name, below in entry["fieldsV1"].items() if name != "f:spec"}
    if spec:
        fields["f:spec"] = spec
    return {**entry, "fieldsV1": fields} if fields else None


def _order(entry: Mapping[str, Any]) -> tuple[str, str, str]:
    return entry.get("operation", ""), entry.get("time", ""), entry.get("manager", "")


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
