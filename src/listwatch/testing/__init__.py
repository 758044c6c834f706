"""For tests: virtual time, a transport without sockets, and recordings of real API servers."""

from .recording import Ending, Recording
from .recordings import demo_recordings
from .replay import Match, ReplayedRequest, ReplayServer
from .reply import HANG, Hang, MemoryBody, Part, Pause, Reply
from .transport import Handler, MemoryTransport, ReceivedRequest, in_turn
from .virtual_time import Deadlock, VirtualTimeLoop

__all__ = [
    "HANG",
    "Deadlock",
    "Ending",
    "Handler",
    "Hang",
    "Match",
    "MemoryBody",
    "MemoryTransport",
    "Part",
    "Pause",
    "ReceivedRequest",
    "Recording",
    "ReplayServer",
    "ReplayedRequest",
    "Reply",
    "VirtualTimeLoop",
    "demo_recordings",
    "in_turn",
]
