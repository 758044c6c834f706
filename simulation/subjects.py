"""What a run is about: a mirror, an informer or `Changes`, and who looks at it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from listwatch.api import GroupVersionResource
from listwatch.cache import Changes, ListWatch, Mirror, ReflectorOptions, SharedInformer
from listwatch.rest import ClientConfig, RESTClient
from listwatch.rest.warnings import IgnoreWarnings

from .audience import Crowd
from .crowd import HandlerStep
from .heard import Audience
from .objects import ZONE, Objects, zones
from .recorder import Recorder
from .scenario import Scenario, Setup
from .watcher import Watcher
from .wire_log import WireLog
from .writer import NAMESPACES, SELECTORS, Selection

__all__ = ["Subject", "Workshop", "selections"]

_CONFIGMAPS = GroupVersionResource.parse("v1/configmaps")


@dataclass(slots=True)
class Subject:
    """What is run, and all that belongs to it."""

    runs: Any
    """What is entered and left."""
    mirrors: list[Mirror[Any]]
    watchers: list[Watcher]
    crowd: Crowd | None = None
    optional: int = 0
    """How many of the mirrors, from the end, nobody waits for."""

    @property
    def awaited(self) -> list[tuple[Mirror[Any], Watcher]]:
        """The mirrors for which somebody who waits does wait."""
        pairs = list(zip(self.mirrors, self.watchers, strict=True))
        return pairs[: len(pairs) - self.optional]

    def begun(self, handlers: Sequence[HandlerStep]) -> None:
        """It has been entered."""
        if isinstance(self.runs, Changes):
            assert self.crowd is not None
            self.crowd.consume(handlers[0])
        elif self.crowd is not None:
            self.crowd.begun()

    async def synced(self) -> None:
        """Wait for the first set."""
        await (self.mirrors[0] if isinstance(self.runs, Changes) else self.runs).synced()

    def at_least(self, rv: str, timeout: float) -> Awaitable[None]:
        """Wait for an RV."""
        if isinstance(self.runs, SharedInformer):
            return self.runs.at_least(rv, timeout)
        return self.mirrors[0].store.at_least(rv, timeout)

    def fresh(self, within: float, timeout: float) -> Awaitable[None]:
        """Wait for proof."""
        if isinstance(self.runs, SharedInformer):
            return self.runs.fresh(within, timeout)
        return self.mirrors[0].fresh(within, timeout)

    def held(self) -> int:
        """Decoded objects that it has to have: each source its own; and what handlers know of
        objects that cannot be decoded any more.
        """
        ids = {id(obj) for mirror in self.mirrors for _, obj in mirror.store.items()}
        if isinstance(self.runs, SharedInformer):
            ids |= {id(obj) for _, obj in self.runs.store.items()}
            ids |= {id(obj) for _, obj in self.runs._readable.last_known}
        return len(ids)


def selections(setup: Setup) -> dict[str, Selection]:
    """What each source asks for, by name."""
    namespace = NAMESPACES[0] if setup.namespaced else ""
    selector = SELECTORS[0] if setup.selected else ""
    match setup.informer.sources if setup.informer is not None else "one":
        case "namespaces":
            return {f"in-{name}": Selection(name, selector) for name in NAMESPACES}
        case "selectors":
            return {f"by-{text}": Selection(namespace, text) for text in SELECTORS}
        case _:
            return {"mirror": Selection(namespace, selector)}


class Workshop:
    """Makes what a scenario asks for."""

    def __init__(
        self, scenario: Scenario, transport: Any, recorder: Recorder, note: Callable[..., None]
    ) -> None:
        self._scenario = scenario
        self._setup = scenario.setup
        self._transport = transport
        self._recorder = recorder
        self._note = note
        setup = self._setup
        self._objects = Objects(
            transformed=setup.transformed, refusing=setup.undecodable, counted=setup.counted
        )

    def mirror(
        self, name: str, *, watch_list: bool, ready: Callable[[], Awaitable[None]] | None = None
    ) -> Subject:
        """A mirror alone."""
        watcher = self._watcher(name, indexed=self._setup.indexed)
        mirror: Mirror[Any] = Mirror(
            self._source(watcher, next(iter(selections(self._setup).values()))),
            name=name,
            indexes={ZONE: zones} if self._setup.indexed else None,
            on_deltas=watcher.on_deltas,
            on_note=watcher.on_note,
            ready=ready,
            **self._arguments({name: watcher}, watch_list=watch_list),
        )
        watcher.attach(mirror)
        watcher.seen.slow = self._setup.slow
        return Subject(mirror, [mirror], [watcher])

    def changes(self) -> Subject:
        """`Changes`, and their consumer."""
        watcher = self._watcher("mirror", indexed=False)
        changes: Changes[Any] = Changes(
            self._source(watcher, next(iter(selections(self._setup).values()))),
            name="mirror",
            **self._arguments({"mirror": watcher}, watch_list=self._setup.watch_list),
        )
        mirror = changes._mirror
        watcher.listen(mirror)
        return self._heard(changes, [mirror], [watcher], None)

    def informer(self) -> Subject:
        """An informer; its handlers come by the scenario's steps."""
        setup = self._setup
        made = setup.informer
        assert made is not None
        parts = selections(setup)
        several = len(parts) > 1
        watchers = {
            name: self._watcher(name, indexed=setup.indexed and not several) for name in parts
        }
        sources = {name: self._source(watchers[name], parts[name]) for name in parts}
        optional = frozenset([list(parts)[-1]] if made.optional else [])
        informer: SharedInformer[Any] = SharedInformer(
            sources if several else sources["mirror"],
            indexes={ZONE: zones} if setup.indexed else None,
            optional=optional,
            recreate_as_two=made.recreate_as_two,
            **self._arguments(watchers, watch_list=setup.watch_list, resync=made.resync),
        )
        mirrors = list(informer._mirrors.values())
        for watcher, mirror in zip(watchers.values(), mirrors, strict=True):
            watcher.listen(mirror)
        union = None
        if several:
            union = Watcher("union", self._recorder, self._objects, indexed=setup.indexed)
        subject = self._heard(informer, mirrors, list(watchers.values()), union)
        assert subject.crowd is not None
        subject.crowd.audience.optional = optional
        subject.crowd.audience.recreate_as_two = made.recreate_as_two
        subject.optional = len(optional)
        return subject

    def _heard(
        self,
        runs: Any,
        mirrors: list[Mirror[Any]],
        watchers: list[Watcher],
        union: Watcher | None,
    ) -> Subject:
        audience = Audience(
            [watcher.seen for watcher in watchers], None if union is None else union.seen
        )
        if any(
            step.queue == "block" and step.slow + step.stalls for step in self._scenario.handlers
        ):
            for watcher in watchers:
                watcher.seen.slow = float("inf")
        crowd = Crowd(
            runs,
            audience,
            watchers,
            union,
            self._recorder,
            self._objects,
            self._scenario.calm,
            self._note,
        )
        return Subject(runs, mirrors, watchers, crowd)

    def _watcher(self, name: str, *, indexed: bool) -> Watcher:
        return Watcher(name, self._recorder, self._objects, indexed=indexed)

    def _source(self, watcher: Watcher, selection: Selection) -> ListWatch[Any]:
        name = watcher.seen.name
        wire = WireLog(self._transport, self._recorder, name, watcher.standing)
        watcher.seen.asks = wire.asks
        client = RESTClient(
            ClientConfig(server="http://memory"),
            transport=wire,
            max_frame=self._setup.max_frame,
            warnings=IgnoreWarnings(),
        )
        return ListWatch.from_client(
            client,
            _CONFIGMAPS,
            selection.namespace,
            label_selector=selection.selector,
            decoder=self._objects.decoder(),
        )

    def _arguments(
        self, watchers: Mapping[str, Watcher], *, watch_list: bool, resync: float | None = None
    ) -> dict[str, Any]:
        def on_error(reflector: Any, error: Exception) -> None:
            watcher = watchers.get(reflector.name) or next(iter(watchers.values()))
            watcher.on_error(reflector, error)

        setup = self._setup
        return {
            "kind": "" if setup.counted else "ConfigMap",
            "options": ReflectorOptions(
                page_size=setup.page_size, watch_list=watch_list, resync_period=resync
            ),
            "on_error": on_error,
            "rng": Random(f"{next(iter(watchers))} {self._scenario.seed}"),
        }
