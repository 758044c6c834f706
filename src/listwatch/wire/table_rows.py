"""TableRows: the decoder that asks for Tables, so that their rows can be listed, watched and
mirrored as objects (B9).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import msgspec
from msgspec import Raw, Struct

from listwatch.api import (
    APIResource,
    EventType,
    GroupVersionResource,
    ListMeta,
    MalformedObject,
    Unstructured,
)
from listwatch.api._lenient import JSONBytes

from .codec import Codec, Envelope, ListHead
from .decoders import ObjectDecoder
from .errors import EnvelopeError, ListDecodeError, quote
from .json_codec import JSONCodec
from .json_list import JSONListFramer
from .list_framer import Piece
from .media import JSON
from .table import (
    CellsAndObject,
    TableColumn,
    TableOutside,
    TableRow,
    WholeTable,
    cells_of,
    is_table,
    named_as,
    object_of,
    row_of,
    whole_table,
)

__all__ = ["TableReader", "TableRows"]

T = TypeVar("T")

_TABLE = "Table"
_NO_OBJECT = "a Table row without its object: do not ask for includeObject=None here"


class _Beginning(Struct, gc=False):
    kind: Any = None
    rows: Raw = Raw()
    items: Any = None


_decode_outside = msgspec.json.Decoder(TableOutside).decode
_decode_beginning = msgspec.json.Decoder(_Beginning).decode
_decode_row = msgspec.json.Decoder(CellsAndObject).decode


class _Seen:
    """The columns that came last, which rows of equal ones share."""

    __slots__ = ("columns",)

    def __init__(self) -> None:
        self.columns: tuple[TableColumn, ...] = ()

    def take(self, columns: tuple[TableColumn, ...] | None) -> tuple[TableColumn, ...]:
        if columns and columns != self.columns:
            self.columns = columns
        return self.columns


class TableRows:
    """A decoder that asks the server for Tables, and gives their rows, as `TableRow`.

        async with client.watch("widgets", decoder=TableRows()) as changes:
            async for event in changes:
                print(event.type, *event.object.cells)

    It is taken wherever a decoder is, and rows are followed as exactly as objects are, by the
    metadata that comes with each. A server that makes no Tables sends whole objects: rows without
    cells. `columns` are those of the Table that was read last, for whoever lists what is empty.
    It goes with no transforms: those are for whole objects.
    """

    reads_all = True
    takes_type_meta = True
    identifies = True
    asks_for = _TABLE
    reads = frozenset({JSON})

    def __init__(self, *, api_version: str = "", kind: str = "") -> None:
        self._api_version = api_version
        self._kind = kind
        self._seen = _Seen()

    @property
    def columns(self) -> tuple[TableColumn, ...]:
        """Of the Table that was read last; empty before, and where the server makes none."""
        return self._seen.columns

    def of(self, resource: APIResource | GroupVersionResource) -> TableRows:
        """The same for one resource, whose kind its objects have, even where only their metadata
        comes. (A `GroupVersionResource` does not say the kind.)
        """
        if not isinstance(resource, APIResource):
            return self
        found = type(self)(api_version=resource.api_version, kind=resource.kind)
        found._seen = self._seen
        return found

    def for_answer(self, codec: Codec) -> tuple[ObjectDecoder[TableRow], Codec]:
        """What reads one answer. Only in JSON are there Tables."""
        if JSON not in codec.media_types:
            return self, codec
        reader = TableReader(self)
        return reader, reader

    def __call__(self, raw: JSONBytes, *, api_version: str = "", kind: str = "") -> TableRow:
        """An answer that is one object, or a Table with one row. Raises `MalformedObject`."""
        data = raw if type(raw) is bytes else bytes(raw)
        if not is_table(data):
            return self.plain(data, api_version=api_version, kind=kind)
        found = whole_table(data)
        row = _only_row(found)
        obj = object_of(row)
        if not obj:
            raise MalformedObject(_NO_OBJECT)
        return self.row(obj, cells_of(row), self._seen.take(found.columns))

    def plain(self, raw: JSONBytes, *, api_version: str = "", kind: str = "") -> TableRow:
        """A whole object, from a server that makes no Tables. Raises `MalformedObject`."""
        return row_of(Unstructured.from_bytes(raw, api_version=api_version, kind=kind))

    def row(self, raw: bytes, cells: tuple[Any, ...], columns: tuple[TableColumn, ...]) -> TableRow:
        """The row of an object. Raises `MalformedObject`."""
        own = named_as(raw, self._api_version, self._kind)
        return row_of(Unstructured.from_bytes(own), cells, columns)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TableRows):
            return NotImplemented
        return self._arguments() == other._arguments()

    def __hash__(self) -> int:
        return hash(self._arguments())

    def __repr__(self) -> str:
        return "TableRows()"

    def _arguments(self) -> tuple[object, ...]:
        return type(self), self._api_version, self._kind


class TableReader(JSONCodec):
    """Reads one answer, a LIST or a WATCH, be it of Tables or, from a server that makes none, of
    whole objects.

    It is codec and decoder at once: as the codec it takes the Table off each event and item, so
    that what is around sees the object alone, and as the decoder it puts the cells beside that.
    """

    usual_beginnings = ()  # every envelope is opened
    usual_end = b""

    reads_all = True
    takes_type_meta = True

    def __init__(self, rows: TableRows) -> None:
        self._rows = rows
        self._columns: tuple[TableColumn, ...] = ()
        self._told: tuple[bytes, tuple[Any, ...]] | None = None  # of the event that is being read

    def __call__(self, raw: JSONBytes, *, api_version: str = "", kind: str = "") -> TableRow:
        """The row of an object whose cells were taken off a moment ago, or a plain object. Raises
        `MalformedObject`.
        """
        told, self._told = self._told, None
        if told is not None and told[0] is raw:
            return self._rows.row(told[0], told[1], self._columns)
        return self._rows.plain(raw, api_version=api_version, kind=kind)

    # Of a watch

    def decode_envelope(self, frame: bytes) -> Envelope:
        kind, raw = super().decode_envelope(frame)
        if not raw or not is_table(raw):
            return Envelope(kind, raw)
        try:
            found = whole_table(raw)
            self._take_columns(found.columns)
            if kind == EventType.BOOKMARK and not found.rows:
                return Envelope(kind, msgspec.json.encode({"metadata": found.metadata}))
            row = _only_row(found)
        except MalformedObject as error:
            raise EnvelopeError(f"{error}: {quote(raw)}") from error
        obj = object_of(row)
        if not obj:
            raise EnvelopeError(_NO_OBJECT)
        self._told = obj, cells_of(row)
        return Envelope(kind, obj)

    # Of a list

    def list_framer(self) -> JSONListFramer:
        return _RowsFramer()

    def decode_list(self, outside: bytes) -> ListHead:
        if not is_table(outside) and not _begins_with_rows(outside):
            return super().decode_list(outside)
        try:
            found = _decode_outside(outside)
        except (msgspec.DecodeError, RecursionError) as error:
            raise ListDecodeError(f"a Table that cannot be read: {error}") from error
        self._take_columns(found.columns)
        # Without an apiVersion it counts as not known yet, and rows wait for the columns.
        api_version = (found.api_version or "") if found.columns else ""
        return ListHead(api_version, _TABLE, found.metadata or ListMeta())

    def item_decoder(self, decoder: ObjectDecoder[T], head: ListHead) -> Callable[[Piece], T]:
        if head.kind != _TABLE:
            return super().item_decoder(decoder, head)
        if cast(object, decoder) is self:
            return cast(Callable[[Piece], T], self._row)
        return lambda piece: decoder(_row_object(_row(piece)))

    def _row(self, piece: Piece) -> TableRow:
        row = _row(piece)
        return self._rows.row(_row_object(row), cells_of(row), self._columns)

    def _take_columns(self, columns: tuple[TableColumn, ...] | None) -> None:
        if columns:
            self._columns = self._rows._seen.take(columns)


class _RowsFramer(JSONListFramer):
    """Cuts the rows of a Table as it cuts the items of a list."""

    __slots__ = ()

    @property
    def _is_items(self) -> bool:
        key = bytes(self._outside[self._members + 1 :]).removesuffix(b":")
        return key == b'"rows"' or super()._is_items


def _begins_with_rows(outside: bytes) -> bool:
    """Whether what has come so far is rows of something whose kind will come behind them."""
    try:
        found = _decode_beginning(outside)
    except (msgspec.DecodeError, RecursionError):
        return False  # whoever decodes all of it says why
    return found.kind is None and bytes(found.rows) == b"[]" and not found.items


def _row(piece: Piece) -> CellsAndObject:
    try:
        return _decode_row(piece)
    except (msgspec.DecodeError, RecursionError) as error:
        raise MalformedObject(f"this is no row of a Table: {error}") from error


def _row_object(row: CellsAndObject) -> bytes:
    obj = object_of(row)
    if not obj:
        raise MalformedObject(_NO_OBJECT)
    return obj


def _only_row(found: WholeTable) -> CellsAndObject:
    rows = found.rows or []
    if len(rows) != 1:
        raise MalformedObject(f"a Table of {len(rows)} rows, where there has to be one")
    return rows[0]
