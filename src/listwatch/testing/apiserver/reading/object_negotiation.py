"""In which form a client takes objects, by its Accept header (K5, K6, K18).

Objects are served as JSON, YAML or protobuf, whole or their metadata alone, or as a Table. Who asks
for CBOR first gets the next that it takes, or a 406.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from ..messages import ServerRequest
from ..statuses import Refused, failure
from ..types.served import ResourceType
from .metadata_only import metadata_view
from .negotiation import Clause, clauses
from .tables import TableView
from .views import View, full_view

__all__ = ["check_representation", "not_acceptable", "view_of"]

_JSON, _YAML = "application/json", "application/yaml"
_SERIALIZED = frozenset({_JSON, _YAML, "application/*", "*/*", "*"})
_PROTOBUF = "application/vnd.kubernetes.protobuf"
_TYPES = (_JSON, _YAML, _PROTOBUF)
_STREAMS = ("application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch")
_ONE, _LIST = "PartialObjectMetadata", "PartialObjectMetadataList"
_ONLY = "only the following media types are accepted: "


@dataclass(frozen=True, slots=True)
class _Choice:
    """A form, or why there is none."""

    kind: str = ""
    """What the objects are converted to; empty: nothing."""
    version: str = ""
    refusal: str = ""


def view_of(
    request: ServerRequest,
    of: ResourceType,
    *,
    collection: bool,
    watch: bool = False,
    wall: Callable[[], datetime] | None = None,
) -> View:
    """The form of what is answered to `request`. Raises `Refused`: 406.

    `collection` is whether the path is that of a collection. A view may still refuse to show a
    list or a single object. `wall` tells the time for the ages in a Table; without it there is
    none, as of the types that are never stored.
    """
    accept = request.headers.get("accept", "")
    if not of.custom and accept:
        check_representation(accept, (*_TYPES, *_STREAMS) if collection else _TYPES)
    choice = _choice(accept, watch=watch, tables=wall is not None, custom=of.custom)
    if choice.refusal:
        raise not_acceptable(choice.refusal)
    if choice.kind == "Table" and wall is not None:
        included = request.parameter("includeObject") or ""
        return TableView(of, choice.version, included, wall, watch=watch)
    if choice.kind:
        return metadata_view(of, choice.version, of_list=choice.kind == _LIST)
    return full_view(of)


def not_acceptable(message: str) -> Refused:
    return Refused(failure(406, "NotAcceptable", message))


def check_representation(accept: str, available: tuple[str, ...] = _TYPES) -> None:
    """The look that the built-in paths take at the header first. It knows no `application/*`.
    Raises `Refused`: 406.
    """
    for clause in accept.split(","):
        media_type = clause.partition(";")[0].strip()
        if media_type == "*/*" or media_type in available:
            return
    message = f"406: Not Acceptable\n\nAvailable representations: {', '.join(available)}"
    raise Refused(failure(406, "NotAcceptable", message, details={}))


@lru_cache(maxsize=1024)
def _choice(accept: str, *, watch: bool, tables: bool, custom: bool) -> _Choice:
    for clause in clauses(accept) if accept else (Clause("*/*", ()),):
        # All is written as JSON, and becomes YAML or protobuf at the end: see `presentation`.
        if clause.type == _PROTOBUF:
            form, version = clause.parameter("as"), clause.parameter("v")
            if not form and not custom:
                return _Choice()
            if form in (_ONE, _LIST) and version in ("v1", "v1beta1"):
                return _Choice(form, version)
        elif clause.type in _SERIALIZED and clause.parameter("stream") in ("", "watch"):
            choice = _form(clause, tables=tables)
            if choice is None or (clause.type == _YAML and not clause.is_yaml):
                continue
            if clause.is_yaml and watch:
                return _Choice(refusal=_ONLY + ", ".join(_STREAMS))
            return choice
    return _Choice(refusal=_ONLY + ", ".join(_TYPES))


def _form(clause: Clause, *, tables: bool) -> _Choice | None:
    """What the objects are converted to; None where that is not known."""
    parameters = dict(clause.params)
    kind, version = parameters.get("as"), parameters.get("v", "")
    if kind is None and "g" not in parameters and "v" not in parameters:
        return _Choice()
    if parameters.get("g") == "meta.k8s.io" and version in ("v1", "v1beta1"):
        if kind in (_ONE, _LIST):
            return _Choice(kind, version)
        if kind == "Table" and tables:
            return _Choice(kind, version)
    return None
