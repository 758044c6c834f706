"""What the parts of the core share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import TYPE_CHECKING

from ..auth import OPEN, User
from ..types.served import ResourceType, TypeRegistry
from ..watching.watch_cache import WatchCaches
from .log import WriteLog

if TYPE_CHECKING:
    from ..webhooks.consulting import Consulting

__all__ = ["Settings", "State", "Target"]


@dataclass(slots=True, kw_only=True)
class Settings:
    """How the server behaves where real ones differ, or a test wants another pace. Times in
    seconds.
    """

    watch_list: bool = True
    """False refuses sendInitialEvents as a server before 1.27 does (422)."""
    bookmark_interval: float = 60.0
    future_rv_wait: float = 3.0
    """How long LIST and GET at a future RV wait before they are 504."""
    min_request_timeout: float = 1800.0
    """A watch without timeoutSeconds ends after this times a random number in [1, 2)."""
    slow_watcher_events: int = 1000
    """Events that wait for a reader before it is cut off."""
    compaction_interval: float | None = 300.0
    """How often the log forgets what is older than this; None: never by itself."""
    git_version: str = "v1.36.3"
    service_range: str = "10.96.0.0/16"
    """The IPv4 network that Services get their addresses from: that of kind. The default of a
    kube-apiserver, `10.0.0.0/24`, has room for 254.
    """
    bootstrap: bool = False
    """Whether the server begins with what a real one makes for itself: the ClusterRoles `view`,
    `edit`, `admin`, `cluster-admin` and the others, their bindings, Roles, FlowSchemas and
    PriorityLevelConfigurations (153 objects). Who may do what does not depend on them.
    """
    namespace_deletion: bool = True
    """Whether a deleted namespace is emptied and goes, 5 s later (K37), as with the controllers.
    False: it stays Terminating.
    """
    pod_termination: bool = True
    """Whether a deleted pod is gone once its grace period is over, as if a kubelet had stopped it
    (K35). False: it stays until somebody deletes it with grace 0.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a path names."""

    type: ResourceType
    namespace: str = ""
    name: str = ""
    subresource: str = ""


@dataclass(slots=True, kw_only=True)
class State:
    """The one mutable thing that all parts hold. `clock` and `wall` are only ever read."""

    log: WriteLog
    types: TypeRegistry
    clock: Callable[[], float]
    wall: Callable[[], datetime]
    rng: Random
    settings: Settings = field(default_factory=Settings)
    consulting: Consulting | None = field(default=None, repr=False)
    """What the webhooks say to the request under way; None: none is to be asked."""
    runs_pods: bool = False
    """Whether the kubelets are there, which know what containers print."""
    user: User = OPEN
    """Whose request is under way."""
    caches: WatchCaches = field(init=False, repr=False)
    """How far the watch cache of each storage is, and what it remembers: of the reads and watches.
    """

    def __post_init__(self) -> None:
        self.caches = WatchCaches(self)
