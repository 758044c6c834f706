"""A mirror of the server, and what it is filled from."""

from .causes import Cause, HistoryIsBehind, NoEndMarker
from .changes import Changes
from .compact import Compact, CompactObject, compact
from .comparison import SetsDiffer
from .decisions import Next, Phase
from .delta import Delta
from .factory import InformerFactory
from .freshness import NotFresh
from .handlers import Tombstone
from .health import Health, State
from .identity import Identify, Identity, identity_of
from .indexes import IndexFunction, IndexFunctionError
from .informer import SharedInformer
from .lister import NAMESPACE_INDEX, NamespaceLister, ObjectLister, by_namespace
from .listwatch import Getter, ListWatch, supports_watch_list
from .liveness import Liveness
from .metadata_only import CompactMetadataObject, MetadataObject, MetadataOnly, metadata_only
from .mirror import Mirror, MirrorStopped
from .notes import Listed, Note, Setback, Undecoded, WatchListGivenUp
from .pacing import Pacing
from .pager import Page, Pager, PagerError
from .projection import Projected, Projection, projected
from .protocols import (
    AsyncLister,
    AsyncListerWatcher,
    AsyncWatcher,
    BlockingWatch,
    Lister,
    ListerWatcher,
    Watcher,
)
from .queues import Bounded, QueuePolicy, Unbounded
from .reflector import ErrorHandler, Reflector
from .reflector_options import ReflectorOptions
from .registration import Registration
from .retry_watcher import RetryWatcher
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
from .typed import Typed, typed
from .undecodable import Undecodable
from .until import NotMet, until, until_with_sync

__all__ = [
    "NAMESPACE_INDEX",
    "AsyncLister",
    "AsyncListerWatcher",
    "AsyncWatcher",
    "BlockingWatch",
    "Bounded",
    "Cause",
    "Changes",
    "Compact",
    "CompactMetadataObject",
    "CompactObject",
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
    "InformerFactory",
    "ListWatch",
    "Listed",
    "Lister",
    "ListerWatcher",
    "Liveness",
    "MetadataObject",
    "MetadataOnly",
    "Mirror",
    "MirrorStopped",
    "NamespaceLister",
    "Next",
    "NoEndMarker",
    "NotFresh",
    "NotMet",
    "Note",
    "ObjectLister",
    "Pacing",
    "Page",
    "Pager",
    "PagerError",
    "Phase",
    "Projected",
    "Projection",
    "QueuePolicy",
    "Reflector",
    "ReflectorOptions",
    "ReflectorTarget",
    "Registration",
    "Replaced",
    "RetryWatcher",
    "Setback",
    "SetsDiffer",
    "SharedInformer",
    "Snapshot",
    "State",
    "Store",
    "Tombstone",
    "Transform",
    "Typed",
    "Unbounded",
    "Undecodable",
    "Undecoded",
    "WatchListGivenUp",
    "Watcher",
    "by_namespace",
    "compact",
    "drop_annotations",
    "drop_managed_fields",
    "identity_of",
    "keep_metadata",
    "metadata_only",
    "projected",
    "supports_watch_list",
    "transformed",
    "typed",
    "until",
    "until_with_sync",
]
