"""`listwatch get`: one LIST, or one GET of a named object; with `--watch` all that follows, too."""

from __future__ import annotations

from datetime import UTC, datetime

from listwatch.api import APIResource, ListMeta, Unstructured
from listwatch.wire import ObjectDecoder, ObjectList

from .asked import Access, Output, Selection
from .decoding import decoder_for
from .events import object_printer
from .failures import FAILED, OK, CommandError
from .notes import note, say
from .objects import objects_text
from .session import Session, connect
from .sink import Sink
from .watch import watch

__all__ = ["get", "get_on"]

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
        found = await _find(session, resource, namespace, selection, decoder_for(output))
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


async def get_on(
    selection: Selection,
    access: Access,
    output: Output,
    sink: Sink,
    *,
    initial: bool,
    with_managed_fields: bool = False,
) -> int:
    """Print what is selected, if `initial`, and every object again whenever it changes; the exit
    code, once nobody reads any more.
    """
    printer = object_printer(
        output,
        with_namespace=selection.all_namespaces,
        with_managed_fields=with_managed_fields,
        terminal=sink.is_terminal,
    )
    printed = await watch(
        selection, access, printer, sink, decoder=decoder_for(output), initial=initial
    )
    return printed.code


async def _find(
    session: Session,
    resource: APIResource,
    namespace: str,
    selection: Selection,
    decoder: ObjectDecoder[Unstructured],
) -> ObjectList[Unstructured]:
    request = session.rest.get(resource, namespace=namespace, decoder=decoder)
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
