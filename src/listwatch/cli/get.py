"""`listwatch get`: one LIST, or one GET of a named object; with `--watch` all that follows, too."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from listwatch.api import APIResource, ListMeta, Unstructured
from listwatch.wire import ObjectDecoder, ObjectList

from .asked import Access, Output, Selection
from .decoding import asking, decoder_for_output
from .events import object_printer
from .failures import FAILED, OK, CommandError, describe
from .notes import note, say
from .objects import objects_text
from .session import Session, connect
from .several import ask_for_all, tables_of
from .sink import Sink
from .watch import watch

__all__ = ["get", "get_on"]

_RETRIES = 3
"""How often a request is repeated when the server says that it is busy and for how long (B4): fewer
times than a program would, because a person waits."""


async def get(
    selections: Sequence[Selection],
    access: Access,
    output: Output,
    sink: Sink,
    *,
    with_managed_fields: bool = False,
    server_print: bool = True,
) -> int:
    """Print what is selected, by one request for each resource or object; the exit code. With
    `server_print`, tables in the server's words.
    """
    decoder = decoder_for_output(output, server_print=server_print)
    async with connect(access, max_retries=_RETRIES) as session:

        async def ask(
            resource: APIResource, namespace: str, selection: Selection
        ) -> ObjectList[Unstructured]:
            return await _find(session, resource, namespace, selection, decoder)

        found, refused = await ask_for_all(session, selections, ask)

    def text(objects: Sequence[Unstructured], resource: APIResource, prefix: str = "") -> bytes:
        return objects_text(
            objects,
            output,
            resource,
            single=len(selections) == 1 and bool(selections[0].name),
            with_namespace=selections[0].all_namespaces,
            with_managed_fields=with_managed_fields,
            now=datetime.now(UTC),
            prefix=prefix,
        )

    in_tables = output in (Output.TABLE, Output.WIDE)
    objects = [obj for each in found for obj in each.objects.items]
    if in_tables:
        sink.write(tables_of(found, text))
    elif found:
        sink.write(text(objects, found[0].resource))
    if not objects and not refused and (in_tables or output is Output.NAME):
        where = {each.namespace for each in found}
        within = f" in {where.pop()} namespace." if len(where) == 1 and "" not in where else ""
        say(f"No resources found{within}")
    for each in found:
        _note_more(each.objects, each.resource.name if len(found) > 1 else "")
    for error in refused:
        note(describe(error)[0])
    undecodable = any(each.objects.undecodable for each in found)
    return FAILED if refused or undecodable else OK


async def get_on(
    selection: Selection,
    access: Access,
    output: Output,
    sink: Sink,
    *,
    initial: bool,
    with_managed_fields: bool = False,
    server_print: bool = True,
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
    decoder = decoder_for_output(output, server_print=server_print)
    printed = await watch(selection, access, printer, sink, decoder=decoder, initial=initial)
    return printed.code


async def _find(
    session: Session,
    resource: APIResource,
    namespace: str,
    selection: Selection,
    decoder: ObjectDecoder[Unstructured],
) -> ObjectList[Unstructured]:
    request = asking(session.rest, resource, namespace, decoder)
    if not selection.name:
        return await request.list(selection.options())
    obj = await request.name(selection.name)
    if not obj.name:
        raise CommandError(
            f"{session.config.server} sent no object where {selection.name} was asked for"
        )
    return ObjectList([obj], metadata=ListMeta())


def _note_more(found: ObjectList[Unstructured], what: str) -> None:
    if not found.continue_:
        return
    shown = len(found)
    these = f"{what}: these" if what else "these"
    if found.remaining_item_count is None:
        note(f"{these} are the first {shown}; there are more: leave --limit out for all")
    else:
        more = found.remaining_item_count
        note(f"{these} are {shown} of {shown + more}: leave --limit out for all")
