"""How many pods there are on each node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ..storage.log import StoredObject, Write, WriteKind
from .pods import node_of

__all__ = ["NodeLoads"]


class NodeLoads:
    """Counted once, and kept up to date write by write."""

    def __init__(self) -> None:
        self.pods: Counter[str] = Counter()

    def start(self, pods: Iterable[StoredObject]) -> None:
        self.pods = Counter(node_of(pod) for pod in pods)

    def note(self, write: Write) -> None:
        """Follow a write of a pod."""
        if write.old is not None:
            self.pods[node_of(write.old)] -= 1
        if write.kind is not WriteKind.DELETED:
            self.pods[node_of(write.new)] += 1
