"""Bytes to events, without any I/O, clock or event loop: the first four of the five layers of a
stream, and lists.
"""

from .codec import Codec, Envelope, ListHead, accept_header, codec_for
from .decoders import ObjectDecoder, decode_dict, decode_partial_metadata, decode_unstructured
from .encodings import Encoding, EncodingUnavailable, codecs_of
from .errors import (
    EnvelopeError,
    FrameSyntaxError,
    FramingError,
    ListDecodeError,
    ObjectDecodeError,
    ObjectTooLarge,
    UnexpectedEOF,
    UnsupportedContentType,
)
from .framer import DEFAULT_LIMIT, Framer, Frames
from .json_codec import JSON_CODEC, JSONCodec
from .json_framer import JSONFramer, json_frame
from .length_framer import LengthDelimitedFramer, length_delimited_frame
from .list import ObjectList
from .list_decoder import ListDecoder, decode_list
from .list_framer import ListFramer, Piece
from .media import MediaType
from .models import decoder_for
from .stream import StreamDecoder
from .table import Table, TableColumn, TableRow, decode_table
from .table_rows import TableRows
from .watch import WatchDecoder

__all__ = [
    "DEFAULT_LIMIT",
    "JSON_CODEC",
    "Codec",
    "Encoding",
    "EncodingUnavailable",
    "Envelope",
    "EnvelopeError",
    "FrameSyntaxError",
    "Framer",
    "Frames",
    "FramingError",
    "JSONCodec",
    "JSONFramer",
    "LengthDelimitedFramer",
    "ListDecodeError",
    "ListDecoder",
    "ListFramer",
    "ListHead",
    "MediaType",
    "ObjectDecodeError",
    "ObjectDecoder",
    "ObjectList",
    "ObjectTooLarge",
    "Piece",
    "StreamDecoder",
    "Table",
    "TableColumn",
    "TableRow",
    "TableRows",
    "UnexpectedEOF",
    "UnsupportedContentType",
    "WatchDecoder",
    "accept_header",
    "codec_for",
    "codecs_of",
    "decode_dict",
    "decode_list",
    "decode_partial_metadata",
    "decode_table",
    "decode_unstructured",
    "decoder_for",
    "json_frame",
    "length_delimited_frame",
]
