"""Several resources at once: `pods,services`, `deploy/web svc/web`, categories such as `all`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

from listwatch.api import APIError, APIResource, Unstructured
from listwatch.client.resources import builtin
from listwatch.wire import ObjectList

from .asked import Selection
from .session import Session

__all__ = ["Found", "Lister", "ask_for_all", "tables_of"]

Lister: TypeAlias = Callable[[APIResource, str, Selection], Awaitable[ObjectList[Unstructured]]]
"""Asks for what is selected of a resource in a namespace (empty: in all)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was found for one selection."""

    resource: APIResource
    namespace: str
    objects: ObjectList[Unstructured]


async def ask_for_all(
    session: Session, selections: Sequence[Selection], ask: Lister
) -> tuple[list[Found], list[APIError]]:
    """What is found for each selection, in their order, one request after another; and the errors
    by which the server refused some of several: one that is refused costs no other.

    Of a single one the error is raised, and so is what says that the server cannot be reached.
    Raises what `Session.resolve` does.
    """
    resolved = await _resolved(session, selections)
    found: list[Found] = []
    refused: list[APIError] = []
    for resource, selection in resolved:
        namespace = selection.namespace_in(resource, session.config.namespace)
        try:
            objects = await ask(resource, namespace, selection)
        except APIError as error:
            if len(resolved) == 1:
                raise
            refused.append(error)
        else:
            found.append(Found(resource=resource, namespace=namespace, objects=objects))
    return found, refused


def tables_of(
    found: Sequence[Found], text: Callable[[Sequence[Unstructured], APIResource, str], bytes]
) -> bytes:
    """One table after another, an empty line between them, as kubectl prints them. `text` makes one
    of the objects of a resource, with a prefix for their names where there are several.
    """
    several = len({each.resource.gvr for each in found}) > 1
    tables = []
    for _, parts in groupby(found, key=lambda each: each.resource.gvr):
        together = list(parts)
        objects = [obj for each in together for obj in each.objects.items]
        if objects:
            resource = together[0].resource
            tables.append(text(objects, resource, _prefix(resource, objects) if several else ""))
    return b"\n".join(tables)


def _prefix(resource: APIResource, objects: Sequence[Unstructured]) -> str:
    """What stands before the names of these objects, such as `deployment.apps/`."""
    kind = (resource.kind or objects[0].kind).lower()
    return f"{kind}.{resource.group}/" if resource.group else f"{kind}/"


async def _resolved(
    session: Session, selections: Sequence[Selection]
) -> list[tuple[APIResource, Selection]]:
    """Which resource each is of. A category is what it stands for, and what is named twice, by two
    names or by a category, is meant once.
    """
    resolved: dict[tuple[APIResource, str], Selection] = {}
    for selection in selections:
        for resource in await _meant(session, selection):
            resolved.setdefault((resource, selection.name), selection)
    return [(resource, selection) for (resource, _), selection in resolved.items()]


async def _meant(session: Session, selection: Selection) -> Sequence[APIResource]:
    members: Sequence[APIResource] = ()
    if not selection.name and builtin(selection.resource) is None:
        # As in kubectl, a category goes before a custom type of the same name.
        members = await session.discovery.in_category(selection.resource)
    return members or (await session.resolve(selection.resource),)
