"""What the made-up cluster knows about itself: nodes, apps, and their pods."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from listwatch.testing.apiserver.controllers.nodes import Node

from .blueprints import Blueprint

__all__ = ["App", "Group", "Node", "Pod"]


@dataclass(slots=True, eq=False)
class App:
    """A Deployment, a StatefulSet or a CronJob."""

    blueprint: Blueprint
    name: str
    replicas: int
    usual: int = 0
    """How many pods it has when nobody has scaled it."""
    version: int = 0
    """Which image runs."""
    uid: str = ""
    current: Group | None = None
    """Whose pods run: the newest ReplicaSet, the StatefulSet itself, the latest Job."""
    old: list[Group] = field(default_factory=list)
    """ReplicaSets that are kept, the oldest first."""
    revision: int = 1
    """How often it was rolled out."""
    reported: Any = None
    """What its status said last."""
    available: dict[str, Any] | None = None
    """Its condition of that name."""

    @property
    def namespace(self) -> str:
        return self.blueprint.namespace

    @property
    def groups(self) -> list[Group]:
        return [*self.old, self.current] if self.current is not None else self.old

    @property
    def image(self) -> str:
        minor, patch = divmod(self.version, 10)
        return f"registry.example/{self.blueprint.team}/{self.blueprint.name}:2.{minor}.{patch}"


@dataclass(slots=True, eq=False)
class Group:
    """What owns pods: a ReplicaSet, a StatefulSet or a Job."""

    app: App
    kind: str
    name: str
    template_hash: str = ""
    desired: int = 0
    """How many pods it is to have."""
    uid: str = ""
    pods: dict[str, Pod] = field(default_factory=dict)
    """By name: those that the server has, or is about to have."""
    image: str = ""
    succeeded: int = 0
    failed: int = 0
    reported: Any = None

    @property
    def ready(self) -> int:
        return sum(pod.ready and not pod.doomed for pod in self.pods.values())

    @property
    def live(self) -> list[Pod]:
        """The pods that count: neither finished nor told to end."""
        return [pod for pod in self.pods.values() if not pod.doomed and not pod.finished]


@dataclass(slots=True, eq=False)
class Pod:
    group: Group
    name: str
    image_id: str
    token: str
    """What ends the name of its service account's volume."""
    uid: str = ""
    node: Node | None = None
    ip: str = ""
    started_at: str = ""
    """When its kubelet saw it first."""
    phase: str = "Pending"
    reason: str = ""
    message: str = ""
    state: dict[str, Any] = field(default_factory=dict)
    """Of its container, as in containerStatuses."""
    last_state: dict[str, Any] = field(default_factory=dict)
    restarts: int = 0
    ready: bool = False
    conditions: dict[str, dict[str, Any]] = field(default_factory=dict)
    container_id: str = ""
    doomed: bool = False
    """Told to end."""
    finished: bool = False
    """Nothing runs in it any more."""
    task: Any = None
    """What lives its life."""

    @property
    def app(self) -> App:
        return self.group.app

    @property
    def namespace(self) -> str:
        return self.group.app.namespace
