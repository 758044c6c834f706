"""What reads objects that are going to be shown, and asks for them."""

from __future__ import annotations

from typing import Any, TypeVar

from listwatch.api import APIResource, Unstructured
from listwatch.api._lenient import JSONBytes
from listwatch.cache.asking import asked_form, for_resource
from listwatch.rest import Request, RESTClient
from listwatch.wire import ObjectDecoder, decode_unstructured
from listwatch.wire.table import TableRow
from listwatch.wire.table_rows import TableRows

from .asked import Output

__all__ = ["asking", "decode_readable", "decoder_for_output"]

T = TypeVar("T")


def decoder_for_output(output: Output, *, server_print: bool = True) -> ObjectDecoder[Any]:
    """What reads an object as far as that form needs it. With `server_print` a table is made of the
    server's own cells, where it has any.
    """
    match output:
        case Output.TABLE | Output.WIDE:
            return _ReadableRows() if server_print else decode_readable
        case Output.YAML:
            return decode_readable
        case _:
            return decode_unstructured


def asking(
    rest: RESTClient, resource: APIResource, namespace: str, decoder: ObjectDecoder[T]
) -> Request[T]:
    """A request for objects in the form that the decoder wants."""
    decode = for_resource(decoder, resource)
    return rest.get(resource, namespace=namespace, decoder=decode).form(asked_form(decode))


def decode_readable(raw: JSONBytes, *, api_version: str = "", kind: str = "") -> Unstructured:
    """An object all of which can be read. Raises `MalformedObject`.

    The usual decoder reads names only, and so lets objects pass whose spec is no text that anybody
    could print: such a one would then cost all that are printed with it.
    """
    obj = Unstructured.from_bytes(raw, api_version=api_version, kind=kind)
    obj.to_dict()
    return obj


class _ReadableRows(TableRows):
    """Rows, or whole objects that can be read."""

    def plain(self, raw: JSONBytes, *, api_version: str = "", kind: str = "") -> TableRow:
        found = super().plain(raw, api_version=api_version, kind=kind)
        found.to_dict()
        return found
