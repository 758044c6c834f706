"""For tests: virtual time, a transport without sockets, recordings of real API servers, and (in
`apiserver`) an API server of your own.

What is in here is imported when a name of it is first asked for: the pytest plugin is loaded in
every test run of whoever has installed it, and most need nothing of this.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .kube_apiserver import ClusterKubeAPIServer, EmbeddedKubeAPIServer, KubeAPIServer
    from .recording import Ending, Recording
    from .recordings import demo_recordings
    from .replay import Match, ReplayedRequest, ReplayServer
    from .reply import HANG, Hang, MemoryBody, Part, Pause, Reply
    from .server_thread import ServerThread
    from .transport import Handler, MemoryTransport, ReceivedRequest, in_turn
    from .virtual_time import Deadlock, VirtualTimeLoop

__all__ = [
    "HANG",
    "ClusterKubeAPIServer",
    "Deadlock",
    "EmbeddedKubeAPIServer",
    "Ending",
    "Handler",
    "Hang",
    "KubeAPIServer",
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
    "ServerThread",
    "VirtualTimeLoop",
    "demo_recordings",
    "in_turn",
]

_PLACES = {
    "kube_apiserver": ("ClusterKubeAPIServer", "EmbeddedKubeAPIServer", "KubeAPIServer"),
    "recording": ("Ending", "Recording"),
    "recordings": ("demo_recordings",),
    "replay": ("Match", "ReplayServer", "ReplayedRequest"),
    "reply": ("HANG", "Hang", "MemoryBody", "Part", "Pause", "Reply"),
    "server_thread": ("ServerThread",),
    "transport": ("Handler", "MemoryTransport", "ReceivedRequest", "in_turn"),
    "virtual_time": ("Deadlock", "VirtualTimeLoop"),
}


def __getattr__(name: str) -> Any:
    for module, names in _PLACES.items():
        if name in names:
            globals()[name] = value = getattr(import_module(f"{__name__}.{module}"), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
