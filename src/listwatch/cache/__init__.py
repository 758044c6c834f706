"""A mirror of the server, and what it is filled from."""

from .listwatch import Getter, ListWatch, supports_watch_list
from .protocols import (
    AsyncLister,
    AsyncListerWatcher,
    AsyncWatcher,
    BlockingWatch,
    Lister,
    ListerWatcher,
    Watcher,
)

__all__ = [
    "AsyncLister",
    "AsyncListerWatcher",
    "AsyncWatcher",
    "BlockingWatch",
    "Getter",
    "ListWatch",
    "Lister",
    "ListerWatcher",
    "Watcher",
    "supports_watch_list",
]
