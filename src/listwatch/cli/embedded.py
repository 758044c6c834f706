"""The embedded server, for the commands that bring their own cluster."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from time import monotonic
from typing import Any

from listwatch.api import BUILTIN_RESOURCES, ListWatchError
from listwatch.testing.apiserver import APIServer, Settings
from listwatch.testing.apiserver.auth import ADMIN, Auth, User
from listwatch.testing.apiserver.embedded import EmbeddedServer
from listwatch.testing.apiserver.faults.current import Faults
from listwatch.testing.apiserver.faults.model import Fault
from listwatch.testing.churn import Churn, ChurnDriver

from .collector import collecting_seldom
from .failures import CommandError

__all__ = ["DEMO_NAMESPACE", "Cluster", "Contents", "embedded", "settled_load"]

DEMO_NAMESPACE = "shop"
"""Where those are taken who name none: in `default` there is nothing."""
_LOAD = {"pods": 60}
_RATE = 20.0


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """What kind of cluster is wanted. Nothing given: an empty one."""

    load: Mapping[str, int] = field(default_factory=dict)
    churn: float | None = None
    """Writes a second."""
    seed: int = 0
    objects: Sequence[Mapping[str, Any]] = ()
    """More of them, to be stored as they are."""
    faults: Sequence[Fault] = ()
    host: str = "127.0.0.1"
    port: int = 0
    tls: bool = False
    token: str | None = None
    """The only one that is let in; None: everybody is."""
    control: bool = False
    controllers: Sequence[str] = ()
    """Those that are switched on, by name."""
    bootstrap: bool = False
    """Whether it has the roles and flow schemas that a real server makes for itself."""
    endless: bool = False
    """Whether watches last for as long as anybody looks."""

    @classmethod
    def lively(cls, *, churn: float | None = _RATE, seed: int = 0) -> Cluster:
        """One with things in it, in which things happen."""
        return cls(load=_LOAD, churn=churn, seed=seed, endless=True)


@dataclass(frozen=True)
class Contents:
    """A running server, and what was put into it."""

    server: EmbeddedServer
    counts: Mapping[str, int]
    """By plural, the largest first, without what every cluster has."""

    @property
    def namespace(self) -> str:
        """Where there is most to see."""
        return DEMO_NAMESPACE if self.counts.get("pods") else "default"

    def __str__(self) -> str:
        return ", ".join(f"{count} {name}" for name, count in self.counts.items()) or "nothing yet"


def settled_load(load: Mapping[str, int] | None, *, churn: float | None) -> Mapping[str, int]:
    """Churn needs something to happen to: what is there unless the user says."""
    if churn is not None and not load:
        return _LOAD
    if churn is not None and not (load or {}).keys() & {"pods", "deployments"}:
        return {**_LOAD, **(load or {})}
    return load or {}


@asynccontextmanager
async def embedded(cluster: Cluster) -> AsyncIterator[Contents]:
    """Start it, fill it, and have things happen in it. Raises `CommandError`."""
    clock = _Clock()
    core = _core(cluster, clock)
    churn = None
    counts: Counter[str] = Counter()
    if cluster.load:
        try:
            churn = Churn(cluster.seed, wall=core.state.wall, load=cluster.load)
        except ValueError as error:
            raise CommandError(f"no such cluster can be made up: {error}") from error
        counts += _fill(core, churn)
    for value in cluster.objects:
        try:
            core.load([value])
        except ListWatchError as error:
            raise CommandError(f"the manifest cannot be loaded: {error}") from error
        counts[_plural(value)] += 1
    core.run_controllers(cluster.controllers)
    clock.run()
    server = EmbeddedServer(
        core,
        host=cluster.host,
        port=cluster.port,
        tls=cluster.tls,
        control=cluster.control,
        faults=Faults(*cluster.faults, rng=Random(cluster.seed)),
    )
    async with AsyncExitStack() as stack:
        try:
            await stack.enter_async_context(server)
        except OSError as error:
            raise CommandError(
                f"cannot listen on {cluster.host} port {cluster.port}: {error.strerror or error}"
            ) from error
        if churn is not None and churn.busy and cluster.churn is not None:
            await stack.enter_async_context(ChurnDriver(core, churn, rate=cluster.churn))
        stack.enter_context(collecting_seldom())
        yield Contents(server, dict(counts.most_common()))


class _Clock:
    """Stands still until it runs: while the server is filled nothing is late, and a definition is
    in force before what it defines comes.
    """

    def __init__(self) -> None:
        self._stopped_at: float | None = monotonic()

    def __call__(self) -> float:
        return monotonic() if self._stopped_at is None else self._stopped_at

    def run(self) -> None:
        self._stopped_at = None


def _core(cluster: Cluster, clock: Callable[[], float]) -> APIServer:
    settings = Settings(bootstrap=cluster.bootstrap)
    if cluster.endless:
        settings.min_request_timeout = 1e6
    auth = None
    if cluster.token is not None:
        groups = ("system:masters",)
        auth = Auth([User(name="admin", token=cluster.token, rules=ADMIN, groups=groups)])
    return APIServer(
        clock=clock,
        wall=lambda: datetime.now(UTC),
        rng=Random(cluster.seed),
        settings=settings,
        auth=auth,
    )


def _fill(core: APIServer, churn: Churn) -> Counter[str]:
    """Store what there is at the start."""
    counts: Counter[str] = Counter()

    def counted() -> Any:
        for value in churn.objects():
            counts[_plural(value)] += 1
            yield value

    collects = gc.isenabled()
    # Nothing of this is garbage, and looking for some takes twice as long as all the rest.
    gc.disable()
    try:
        core.load(counted())
    finally:
        if collects:
            gc.enable()
    return counts


_PLURALS = {(found.api_version, found.kind): found.name for found in BUILTIN_RESOURCES}


def _plural(value: Mapping[str, Any]) -> str:
    kind = str(value.get("kind", ""))
    return _PLURALS.get((str(value.get("apiVersion")), kind), f"{kind.lower()}s")
