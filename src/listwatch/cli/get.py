"""`listwatch get`: one LIST, or one GET of a named object."""

from __future__ import annotations

from datetime import UTC, datetime

from listwatch.api import APIResource, ListMeta, Unstructured
from listwatch.wire import ObjectDecoder, ObjectList, decode_unstructured

from .asked import Access, Output, Selection
from .decoding import decode_readable
from .failures import FAILED, OK, CommandError
from .notes import note, say
from .objects import objects_text
from .session import Session, connect
from .sink import Sink

__all__ = ["get"]

_RETRIES = 3
"""How often a request is repeated when the server says that it is busy and for how long (B4): fewer
times than a program would, because a person waits."""


async def get(
    selection: Selection,
    access: Access,
    output: Output,
    sink: Sink,
    *,
    with_managed_fields: bool = False,
) -> int:
    """Print what is selected; the exit code."""
    async with connect(access, max_retries=_RETRIES) as session:
        resource = await session.resolve(selection.resource)
        namespace = selection.namespace_in(resource, session.config.namespace)
        decoder = decode_readable if output in (Output.TABLE, Output.YAML) else decode_unstructured
        found = await _find(session, resource, namespace, selection, decoder)
    text = objects_text(
        found.items,
        output,
        resource,
        single=bool(selection.name),
        with_namespace=selection.all_namespaces,
        with_managed_fields=with_managed_fields,
        now=datetime.now(UTC),
    )
    if text:
        sink.write(text)
    if not found.items and output in (Output.TABLE, Output.NAME):
        say(f"No resources found in {namespace} namespace." if namespace else "No resources found")
    _note_more(found)
    return FAILED if found.undecodable else OK


async def _find(
    session: Session,
    resource: APIResource,
    namespace: str,
    selection: Selection,
    decoder: ObjectDecoder[Unstructured],
) -> ObjectList[Unstructured]:
    request = session.client.get(resource, namespace=namespace, decoder=decoder)
    if not selection.name:
        return await request.list(selection.options())
    obj = await request.name(selection.name)
    if not obj.name:
        raise CommandError(
            f"{session.config.server} sent no object where {selection.name} was asked for"
        )
    return ObjectList([obj], metadata=ListMeta())


def _note_more(found: ObjectList[Unstructured]) -> None:
    if not found.continue_:
        return
    shown = len(found)
    if found.remaining_item_count is None:
        note(f"these are the first {shown}; there are more: leave --limit out for all")
    else:
        more = found.remaining_item_count
        note(f"these are {shown} of {shown + more}: leave --limit out for all")
