"""POST, PUT and PATCH (K27 to K32): what they have been sent, of which `creating` and `updating`
make objects.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..messages import Answer, ServerRequest
from ..reading.object_negotiation import view_of
from ..storage.state import State, Target
from ..types.crd_types import completed
from ..validation.problems import bad_request, conflict, not_found
from .apply_patches import applied, conversion_of, read_configuration, strict_problem
from .creating import Creating
from .forms import DEFINITIONS
from .metadata import timestamp
from .patches import cleaned, is_apply, read_patch
from .told import told
from .updating import Updating
from .write_checks import check_name, check_namespace, read_sent
from .write_options import write_options

__all__ = ["Writes"]


class Writes:
    """What creates and changes objects."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._creating = Creating(state)
        self._updating = Updating(state, self._creating)

    def create(self, target: Target, request: ServerRequest) -> Answer:
        """Raises `Refused`, as the others do."""
        return _shallow(self._post, target, request)

    def update(self, target: Target, request: ServerRequest) -> Answer:
        """PUT of an object, or of a part of it, such as its status."""
        return _shallow(self._put, target, request)

    def patch(self, target: Target, request: ServerRequest) -> Answer:
        """PATCH of an object, or of a part of it, with a patch of any kind or an apply."""
        return _shallow(self._patch, target, request)

    def _post(self, target: Target, request: ServerRequest) -> Answer:
        view = view_of(request, target.type, collection=False, wall=self._state.wall)
        options = write_options(request)
        value, warnings = read_sent(target, request, options)
        with told(warnings):
            return self._creating.create(target, view, options, value, warnings)

    def _put(self, target: Target, request: ServerRequest) -> Answer:
        view = view_of(request, target.type, collection=False, wall=self._state.wall)
        options = write_options(request)
        value, warnings = read_sent(target, request, options)
        with told(warnings):
            check_name(target, value["metadata"])
            return self._updating.update(target, view, options, lambda old: value, warnings, value)

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
            return self._updating.update(target, view, options, make, warnings)

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
        if of.storage == DEFINITIONS:
            value = completed(value)
        made = cleaned(of, value, live, warnings, conversion_of(of, config))
        if stored is not None:
            return self._updating.update(
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
        return self._creating.create(target, view, options, made, warnings, entries=done.entries)


def _shallow(
    write: Callable[[Target, ServerRequest], Answer], target: Target, request: ServerRequest
) -> Answer:
    """Refuse what is nested too deeply for Python, long before it is for Go."""
    try:
        return write(target, request)
    except RecursionError:
        raise bad_request("exceeded max depth") from None
