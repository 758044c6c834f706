"""How many pods there are on each node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ..storage.log import StoredObject, Write, WriteKind

__all__ = ["NodeLoads"]


class NodeLoads:
    """Counted once, and kept up to date write by write."""

    def __init__(self) -> None:
        self.pods: Counter[str] = Counter()

    def start(self, pods: Iterable[StoredObject]) -> None:
        self.pods = Counter(_node(pod) for pod in pods)

    def note(self, write: Write) -> None:
        """Follow a write of a pod."""
        if write.old is not None:
            self.pods[_node(write.old)] -= 1
        if write.kind is not WriteKind.DELETED:
            self.pods[_node(write.new)] += 1


def _node(pod: StoredObject) -> str:
    return str((pod.value.get("spec") or {}).get("nodeName") or "")
