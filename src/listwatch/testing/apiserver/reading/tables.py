"""Tables: objects as the server itself would print them (K5, K16, K17, K52)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..statuses import Refused, failure
from ..storage.log import StoredObject
from ..types.served import ResourceType
from .encoding import go_json
from .metadata_only import metadata_view
from .views import INITIAL_EVENTS_END, ListMetadata, full_view

if TYPE_CHECKING:
    from .printers.printer import Printer

__all__ = ["TableView"]

_NO_COLUMNS = b'"columnDefinitions":null'
_FORMS = ("", "Metadata", "Object", "None")


class TableView:
    """Rows of cells, each with the object, its metadata, or nothing beside it.

    Cells that tell an age are of the moment in which they are made, by `wall`.
    """

    one_not_list = ""
    list_not_one = ""

    def __init__(
        self,
        of: ResourceType,
        version: str,
        included: str,
        wall: Callable[[], datetime],
        *,
        watch: bool = False,
    ) -> None:
        """`included` is what the client wants beside the cells. In a `watch` the columns are told
        once only: see `introduced`.
        """
        self._type = of
        self._watch = watch
        self._wall = wall
        self._included = included
        self._api_version = f"meta.k8s.io/{version}"
        self._partial = metadata_view(of, version, of_list=False)
        self._full = full_view(of)

    @cached_property
    def key(self) -> Hashable:
        # The cells of one stored object are others in each version of its type.
        return (self._api_version, "Table", self._included, self._type)

    def check(self) -> None:
        """Raises `Refused`: 400, for an `includeObject` that nobody knows."""
        if self._included not in _FORMS:
            message = (
                "Unable to convert to Table as requested: includeObject: Invalid value: "
                f"{go_json(self._included).decode()}: must be 'Metadata', 'Object', 'None', or "
                "empty"
            )
            raise Refused(failure(400, "BadRequest", message))

    def one(self, found: StoredObject) -> bytes:
        """A table of one row. Raises `Refused`."""
        self.check()
        metadata = {"resourceVersion": found.metadata.get("resourceVersion", "")}
        columns = b"null" if self._watch else self._columns
        return self._table(metadata, columns, [self._row(found)])

    def introduced(self, frame: bytes) -> bytes:
        """The first event of a watch, which has the columns."""
        return frame.replace(_NO_COLUMNS, b'"columnDefinitions":' + self._columns, 1)

    def bookmark(self, rv: int, *, end: bool) -> bytes:
        """A table with the cells of an object that has nothing in it (K16)."""
        metadata = {"resourceVersion": str(rv)}
        cells = self._printer.cells({}, self._wall())
        obj = b"null"
        if self._included == "Object":
            obj = self._full.bookmark(rv, end=end)
        elif self._included != "None" or end:
            annotations = {"annotations": INITIAL_EVENTS_END} if end else {}
            obj = self._partial.one(
                StoredObject(("", ""), {"metadata": metadata | annotations}, rv)
            )
        return self._table(metadata, b"null", [b'{"cells":%b,"object":%b}' % (go_json(cells), obj)])

    def page(self, items: Iterable[StoredObject], metadata: ListMetadata) -> bytes:
        self.check()
        return self._table(metadata.typed, self._columns, map(self._row, items)) + b"\n"

    def _table(self, metadata: Mapping[str, Any], columns: bytes, rows: Iterable[bytes]) -> bytes:
        return b'{"kind":"Table","apiVersion":"%b","metadata":%b,"columnDefinitions":%b,' % (
            self._api_version.encode(),
            go_json({name: value for name, value in metadata.items() if value != ""}),
            columns,
        ) + b'"rows":[%b]}' % b",".join(rows)

    def _row(self, found: StoredObject) -> bytes:
        of, printer = self._type, self._printer
        value = of.shown(found.value) if of.custom else found.value
        row = b'{"cells":%b,' % go_json(printer.cells(value, self._wall()))
        if printer.conditions is not None and (conditions := printer.conditions(value)):
            row += b'"conditions":%b,' % go_json(conditions)
        obj = b"null"
        if self._included == "Object":
            obj = self._full.one(found)
        elif self._included != "None":
            obj = self._partial.one(found)
        return row + b'"object":%b}' % obj

    @cached_property
    def _printer(self) -> Printer:
        from .printers import printer_of  # with the tables of all types: only for who wants them

        return printer_of(self._type)

    @cached_property
    def _columns(self) -> bytes:
        return go_json([column.definition for column in self._printer.columns])
