"""A mirror of the server, and what it is filled from."""

from .causes import Cause, HistoryIsBehind, NoEndMarker
from .changes import Changes
from .comparison import SetsDiffer
from .decisions import Next, Phase
from .delta import Delta
from .freshness import NotFresh
from .health import Health, State
from .identity import Identify, Identity, identity_of
from .indexes import IndexFunction, IndexFunctionError
from .listwatch import Getter, ListWatch, supports_watch_list
from .liveness import Liveness
from .mirror import Mirror, MirrorStopped
from .notes import Listed, Note, Setback, Undecoded, WatchListGivenUp
from .pacing import Pacing
from .pager import Page, Pager, PagerError
from .protocols import (
    AsyncLister,
    AsyncListerWatcher,
    AsyncWatcher,
    BlockingWatch,
    Lister,
    ListerWatcher,
    Watcher,
)
from .reflector import ErrorHandler, Reflector
from .reflector_options import ReflectorOptions
from .snapshot import Snapshot
from .store import HistoryWentBack, Replaced, Store
from .target import ReflectorTarget
from .transforms import (
    Transform,
    drop_annotations,
    drop_managed_fields,
    keep_metadata,
    transformed,
)
from .undecodable import Undecodable

__all__ = [
    "AsyncLister",
    "AsyncListerWatcher",
    "AsyncWatcher",
    "BlockingWatch",
    "Cause",
    "Changes",
    "Delta",
    "ErrorHandler",
    "Getter",
    "Health",
    "HistoryIsBehind",
    "HistoryWentBack",
    "Identify",
    "Identity",
    "IndexFunction",
    "IndexFunctionError",
    "ListWatch",
    "Listed",
    "Lister",
    "ListerWatcher",
    "Liveness",
    "Mirror",
    "MirrorStopped",
    "Next",
    "NoEndMarker",
    "NotFresh",
    "Note",
    "Pacing",
    "Page",
    "Pager",
    "PagerError",
    "Phase",
    "Reflector",
    "ReflectorOptions",
    "ReflectorTarget",
    "Replaced",
    "Setback",
    "SetsDiffer",
    "Snapshot",
    "State",
    "Store",
    "Transform",
    "Undecodable",
    "Undecoded",
    "WatchListGivenUp",
    "Watcher",
    "drop_annotations",
    "drop_managed_fields",
    "identity_of",
    "keep_metadata",
    "supports_watch_list",
    "transformed",
]
