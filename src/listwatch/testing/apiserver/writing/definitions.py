"""Requests for CustomResourceDefinitions: completed and checked before they are stored."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..deleting.deletion import Deletions
from ..messages import Answer, Reaction, ServerRequest
from ..reading.encoding import go_json
from ..reading.object_answers import warning_headers
from ..statuses import Refused
from ..storage.state import State, Target
from ..types.crd_checks import check_definition
from ..types.crd_shape import check_definition_shape
from ..types.crd_types import completed, definition_warnings, unknown_members
from ..types.routes import Route
from ..validation.problems import bad_request
from .patches import is_apply
from .request_bodies import read_body
from .writes import Writes

if TYPE_CHECKING:
    from ..types.crds import CustomResources

__all__ = ["Definitions"]

_STORAGE = "apiextensions.k8s.io/customresourcedefinitions"

Plain = Callable[[Target, str, ServerRequest], Reaction]


class Definitions:
    """What happens to definitions before, or instead of, what happens to other objects."""

    def __init__(
        self,
        state: State,
        writes: Writes,
        deletions: Deletions,
        custom: CustomResources,
        plainly: Plain,
    ) -> None:
        """`plainly` does what is done to objects of all types."""
        self._state = state
        self._writes = writes
        self._deletions = deletions
        self._custom = custom
        self._plainly = plainly

    def react(self, found: Route) -> Reaction:
        """Raises `Refused`."""
        target, verb, request = found.target, found.verb, found.request
        stored = self._state.log.get(_STORAGE, ("", target.name))
        warnings: list[str] = []
        if verb in ("create", "update") and not target.subresource:
            request, unknown = _completed(request)
            warnings += unknown
            if verb == "create":
                made = json.loads(self._writes.create(target, _dry(request)).body)
                check_definition(made)
                warnings += definition_warnings(made)
        if verb == "patch" and stored is None and is_apply(request):
            check_definition(json.loads(self._writes.patch(target, _dry(request)).body))
        if verb in ("update", "patch") and stored is not None:
            write = self._writes.update if verb == "update" else self._writes.patch
            made = json.loads(write(target, _dry(request)).body)
            if target.subresource:
                check_definition_shape(made, patched=verb == "patch")
            else:
                check_definition(made, stored.value, patched=verb == "patch")
                warnings += definition_warnings(made, stored.value)
        if verb == "delete" and stored is not None and "deletionTimestamp" not in stored.metadata:
            answer = self._deletions.delete(target, _dry(request))  # refuses what it has to refuse
            is_dry = request.parameter("dryRun") is not None
            return answer if is_dry else self._custom.terminate(stored)
        return _warned(self._plainly(target, verb, request), warnings)


def _dry(request: ServerRequest) -> ServerRequest:
    """The same request, of which nothing comes but a whole object in JSON."""
    headers = {**request.headers, "accept": "application/json"}
    return replace(request, query=(*request.query, ("dryRun", "All")), headers=headers)


def _completed(request: ServerRequest) -> tuple[ServerRequest, list[str]]:
    """The request with a whole definition in it, and what to warn of."""
    try:
        definition = read_body(request)
        whole: dict[str, Any] = completed(definition)
    except Refused:
        return request, []  # the writes say what is wrong with it, in other words
    headers = {**request.headers, "content-type": "application/json"}
    validation = request.parameter("fieldValidation")
    unknown = []
    if validation != "Ignore":
        unknown = [f'unknown field "{path}"' for path in unknown_members(definition)]
        if unknown and validation == "Strict":
            kind = "CustomResourceDefinition"
            raise bad_request(
                f'{kind} in version "v1" cannot be handled as a {kind}: strict decoding error: '
                f"{', '.join(unknown)}"
            )
    return replace(request, headers=headers, body=go_json(whole)), unknown


def _warned(reaction: Reaction, warnings: Sequence[str]) -> Reaction:
    if not warnings or not isinstance(reaction, Answer):
        return reaction
    return replace(reaction, headers=(*reaction.headers, *warning_headers(warnings)))
