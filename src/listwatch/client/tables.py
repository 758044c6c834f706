"""Tables for programs: objects as the server itself would print them (B9)."""

from __future__ import annotations

from listwatch.api import APIResource, GroupVersionResource, ListMeta, ListOptions, Unstructured
from listwatch.cache import ListWatch
from listwatch.cache.asking import for_resource
from listwatch.cache.pager import Pager
from listwatch.rest import Request, RESTClient
from listwatch.wire.table import Table
from listwatch.wire.table_rows import TableRows

__all__ = ["table"]


async def table(
    rest: RESTClient,
    resource: APIResource | GroupVersionResource,
    name: str = "",
    *,
    namespace: str = "",
    label_selector: str = "",
    field_selector: str = "",
    page_size: int | None = 500,
    whole: bool = False,
) -> Table:
    """What the server would print of these objects, or of the one with that name.

    Each row is the metadata of an object, or, if it is to be `whole`, all of it, with its cells
    beside it. A server that makes no Tables sends whole objects: there are no columns then, and
    rows have no cells. Pages are joined, as by `Client.list`. Raises what a request does.
    """
    rows = TableRows()
    getter = _Whole(rest) if whole else rest
    if name:
        request = getter.get().resource(resource).namespace(namespace).name(name)
        row = await request.decoder(for_resource(rows, resource)).form(rows.asks_for)
        return Table(row.columns, (row,), ListMeta(resource_version=row.resource_version))
    source = ListWatch.from_client(
        getter,
        resource,
        namespace,
        field_selector,
        label_selector=label_selector,
        decoder=rows,
        max_retries=None,
    )
    found = await Pager(source, page_size=page_size).list(ListOptions())
    return Table(rows.columns, tuple(found.items), found.metadata, tuple(found.undecodable))


class _Whole:
    """Requests for Tables whose rows have whole objects."""

    def __init__(self, rest: RESTClient) -> None:
        self._rest = rest

    def get(self) -> Request[Unstructured]:
        return self._rest.get().query("includeObject", "Object")
