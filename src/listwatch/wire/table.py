"""Tables: objects as the server itself would print them (B9)."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw, Struct, field

from listwatch.api import ListMeta, MalformedObject, ObjectView, Unstructured, freeze

from .errors import ObjectDecodeError

__all__ = ["Table", "TableColumn", "TableRow", "decode_table", "is_table"]

_SCALARS = frozenset({str, int, float, bool, type(None)})
_PARTIAL = "PartialObjectMetadata"
_PARTIAL_FRONT = b'{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",'
_TABLE_FRONT = b'{"kind":"Table","apiVersion":"meta.k8s.io/v1"'
_GROUP = "meta.k8s.io/"


class TableColumn(Struct, frozen=True):
    """One column of a Table, as the server describes it."""

    name: str = ""
    """The header, such as `Ready`; kubectl writes it in capitals."""
    type: str = ""
    """Of the cells, in the words of OpenAPI: `string`, `integer`, `number`, `boolean`, `date`."""
    format: str = ""
    """`name` for the column that has the object's name."""
    description: str = ""
    priority: int = 0
    """0: always shown; larger: by `-o wide` only."""


class TableRow(Unstructured, frozen=True, eq=False, gc=False):
    """An object with the cells that the server prints of it.

    The object is what was asked for: metadata alone, unless it was `includeObject=Object`. Without
    cells it is a whole object, from a server that makes no Tables.
    """

    cells: tuple[Any, ...] = ()
    """One for each column: a text, a number, a boolean or None. Times are text, such as `5m`, as
    they were when the server sent it."""
    columns: tuple[TableColumn, ...] = ()
    """Of its Table; the rows of one answer share them."""

    def same_content(self, other: ObjectView) -> bool:
        """Whether both are the same byte for byte, and so are their cells."""
        return super().same_content(other) and (
            not isinstance(other, TableRow)
            or (self.cells, self.columns) == (other.cells, other.columns)
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.raw, self.api_version, self.kind, self.cells, self.columns)


def _restored(
    raw: bytes,
    api_version: str,
    kind: str,
    cells: tuple[Any, ...],
    columns: tuple[TableColumn, ...],
) -> TableRow:
    obj = Unstructured.from_bytes(raw, api_version=api_version, kind=kind)
    return row_of(obj, cells, columns)


class Table(Struct, frozen=True):
    """Rows, and what is in them."""

    columns: tuple[TableColumn, ...] = ()
    """Empty where the server makes no Tables: the rows have no cells then."""
    rows: tuple[TableRow, ...] = ()
    metadata: ListMeta = ListMeta()
    undecodable: tuple[ObjectDecodeError, ...] = ()
    """Rows that could not be read, raw: they are on the server, and not in `rows` (D6)."""

    @property
    def resource_version(self) -> str:
        """The state of the server that it shows."""
        return self.metadata.resource_version


class CellsAndObject(Struct, gc=False):
    """A row as it travels."""

    cells: list[Any] | None = None
    object: Raw = Raw()


class TableOutside(Struct, gc=False):
    """A Table without its rows."""

    kind: str | None = None
    api_version: str | None = field(default=None, name="apiVersion")
    metadata: ListMeta | None = None
    columns: tuple[TableColumn, ...] | None = field(default=None, name="columnDefinitions")


class WholeTable(TableOutside, gc=False):
    """A Table as it travels."""

    rows: list[CellsAndObject] | None = None


class _Named(Struct, gc=False):
    kind: Any = None
    api_version: Any = field(default=None, name="apiVersion")


_decode_named = msgspec.json.Decoder(_Named).decode
_decode_whole = msgspec.json.Decoder(WholeTable).decode
_decode_members = msgspec.json.Decoder(dict[str, Raw]).decode


def is_table(raw: bytes) -> bool:
    """Whether it is a Table of the API's own: another group may have a kind of that name."""
    if raw.startswith(_TABLE_FRONT):
        return True
    try:
        found = _decode_named(raw)
    except (msgspec.DecodeError, RecursionError):
        return False  # whoever decodes it says why
    return found.kind == "Table" and str(found.api_version).startswith(_GROUP)


def whole_table(raw: bytes) -> WholeTable:
    """All of a Table as it travels. Raises `MalformedObject`."""
    try:
        return _decode_whole(raw)
    except (msgspec.DecodeError, RecursionError) as error:
        raise MalformedObject(f"a Table that cannot be read: {error}") from error


def object_of(row: CellsAndObject) -> bytes:
    """The JSON of a row's object; empty where it comes without."""
    # A copy, since a Raw keeps all that was decoded with it alive.
    found = bytes(row.object)
    return b"" if found == b"null" else found


def cells_of(row: CellsAndObject) -> tuple[Any, ...]:
    """Its cells, which nobody can change."""
    return tuple(cell if type(cell) in _SCALARS else freeze(cell) for cell in (row.cells or ()))


def row_of(
    obj: Unstructured, cells: tuple[Any, ...] = (), columns: tuple[TableColumn, ...] = ()
) -> TableRow:
    """The object with these cells."""
    return TableRow(
        obj.raw,
        obj.api_version,
        obj.kind,
        obj.key,
        obj.namespace,
        obj.uid,
        obj.resource_version,
        cells,
        columns,
    )


def named_as(raw: bytes, api_version: str, kind: str) -> bytes:
    """The JSON of an object's metadata as that of an object of this kind; whole objects and those
    of a kind that nobody knows stay as they are. Raises `MalformedObject`.
    """
    if not kind:
        return raw
    if raw.startswith(_PARTIAL_FRONT):
        front = b'{"kind":%b,"apiVersion":%b,' % (_text(kind), _text(api_version))
        return front + raw[len(_PARTIAL_FRONT) :]
    try:
        if _decode_named(raw).kind != _PARTIAL:
            return raw
        members = _decode_members(raw)
    except (msgspec.DecodeError, RecursionError) as error:
        raise MalformedObject(f"this is no Kubernetes object: {error}") from error
    members |= {"kind": Raw(_text(kind)), "apiVersion": Raw(_text(api_version))}
    return msgspec.json.encode(members)


def _text(value: str) -> bytes:
    return msgspec.json.encode(value)


def decode_table(body: bytes) -> Table:
    """A whole Table, such as the answer to a LIST or to a GET of one object.

    Rows that came without an object (`includeObject=None`) have an empty one. Raises
    `MalformedObject` for anything but a Table.

    >>> table = decode_table(
    ...     b'{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7"},'
    ...     b'"columnDefinitions":[{"name":"Name","type":"string","format":"name"}],'
    ...     b'"rows":[{"cells":["web-0"],"object":{"metadata":{"name":"web-0"}}}]}'
    ... )
    >>> [column.name for column in table.columns], table.rows[0].cells, table.rows[0].name
    (['Name'], ('web-0',), 'web-0')
    """
    if not is_table(body):
        raise MalformedObject("this is no Table")
    found = whole_table(body)
    columns = found.columns or ()
    rows = tuple(
        row_of(Unstructured.from_bytes(object_of(row) or b"{}"), cells_of(row), columns)
        for row in found.rows or ()
    )
    return Table(columns, rows, found.metadata or ListMeta())
