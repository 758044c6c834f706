"""One stream of events, and the way to stop it."""

from .body import BodyDecoder
from .buffered import buffered
from .empty import EmptyWatch
from .ending import broken_by, last_read
from .protocols import ByteStream, Decoder, Reporter, Watch
from .reporter import ClientReporter
from .stream_watcher import StreamWatcher

__all__ = [
    "BodyDecoder",
    "ByteStream",
    "ClientReporter",
    "Decoder",
    "EmptyWatch",
    "Reporter",
    "StreamWatcher",
    "Watch",
    "broken_by",
    "buffered",
    "last_read",
]
