"""InformerFactory: informers that a program's parts share (K8)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Protocol, Self, TypedDict, TypeVar, Unpack, overload

from listwatch.api import FieldSelector, LabelSelector, Unstructured
from listwatch.rest.builtin import Resource, builtin
from listwatch.wire import ObjectDecoder, decode_unstructured

from ._together import all_of
from .indexes import IndexFunction
from .informer import SharedInformer
from .notes import Note
from .projection import Projected, projected
from .reflector import ErrorHandler
from .reflector_options import ReflectorOptions
from .transforms import Transform

__all__ = ["InformerArguments", "InformerFactory", "MakesInformers", "options_of", "texts"]

T = TypeVar("T")
P = TypeVar("P")

_log = logging.getLogger("listwatch.cache")


class InformerArguments(TypedDict, total=False):
    """What `client.informer` takes besides the resource, decoder and projection; see there."""

    namespaces: Sequence[str]
    label_selectors: Sequence[str]
    label_selector: str
    field_selector: str
    transforms: Sequence[Transform]
    indexes: Mapping[str, IndexFunction[Any]] | None
    resync: float | None
    optional: Collection[str]
    recreate_as_two: bool
    fail_fast: bool
    options: ReflectorOptions | None
    on_note: Callable[[Note], None] | None
    on_error: ErrorHandler | None
    on_progress: Callable[[int, int | None], None] | None


class MakesInformers(Protocol):
    """What a factory needs of a client."""

    @property
    def informer(self) -> Callable[..., SharedInformer[Any]]:
        """Makes one, from a resource and `InformerArguments`."""
        ...


class InformerFactory:
    """Makes informers, and gives the same one to all who ask for the same.

        factory = InformerFactory(client)
        pods = factory.informer("pods", namespaces=["default"])
        pods.add_handler(on_add=added)
        async with factory:
            await factory.synced()

    The same is: the resource, by whichever name, and equal arguments, in whatever order and
    spelling; functions are equal if they are the same. `indexes` do not count: those of a shared
    informer are added up.

    Entering the factory starts all its informers, leaving it stops them, and one that is asked for
    in between is started at once. Nothing else starts any, reading least of all. Each keeps on by
    itself; where one ends with an error (`fail_fast`, or a bug), that is logged, the others go on,
    and `synced`, `run` and the end of the `async with` raise it.
    """

    def __init__(self, client: MakesInformers) -> None:
        self._client = client
        self._shared: list[_Shared] = []
        self._entered = False
        self._left = False
        self._over = asyncio.Event()
        """One informer has failed, or all have ended."""

    @property
    def informers(self) -> tuple[SharedInformer[Any], ...]:
        """All that were made, in their order."""
        return tuple(shared.informer for shared in self._shared)

    @overload
    def informer(
        self, resource: Resource, **arguments: Unpack[InformerArguments]
    ) -> SharedInformer[Unstructured]: ...
    @overload
    def informer(
        self,
        resource: Resource,
        *,
        decoder: ObjectDecoder[T],
        **arguments: Unpack[InformerArguments],
    ) -> SharedInformer[T]: ...
    @overload
    def informer(
        self, resource: Resource, *, projection: type[P], **arguments: Unpack[InformerArguments]
    ) -> SharedInformer[Projected[P]]: ...
    @overload
    def informer(
        self,
        resource: Resource,
        *,
        projection: Callable[[Unstructured], P],
        **arguments: Unpack[InformerArguments],
    ) -> SharedInformer[Projected[P]]: ...
    def informer(self, resource: Resource, **arguments: Any) -> SharedInformer[Any]:
        """The informer for these; the arguments are those of `client.informer`.

        Raises what that raises, `ValueError` for an index whose name has another function already,
        and `RuntimeError` once the factory was left.
        """
        if self._left:
            raise RuntimeError("this factory was left, and its informers have ended: make another")
        asked = _asked(resource, arguments)
        indexes = dict(arguments.get("indexes") or {})
        for shared in self._shared:
            if shared.asked == asked:
                shared.add_indexes(indexes)
                return shared.informer
        shared = _Shared(asked, self._client.informer(resource, **arguments), indexes)
        self._shared.append(shared)
        if self._entered:
            self._start(shared)
        return shared.informer

    async def synced(self, timeout: float | None = None) -> None:
        """Wait until every informer that was made by now has a complete store.

        Raises what ended one of them, `MirrorStopped` where the factory was not entered, and
        `TimeoutError` after `timeout` seconds, each with a note that names the informer.
        """
        await all_of(_named(informer.synced(timeout), informer) for informer in self.informers)

    async def run(self) -> None:
        """Start them all, and run until this is cancelled, one of them fails, which is raised, or
        all of them were stopped.
        """
        async with self:
            await self._over.wait()

    def _start(self, shared: _Shared) -> None:
        shared.informer.begin()
        shared.end = asyncio.create_task(_named(shared.informer.ended(), shared.informer))
        shared.end.add_done_callback(lambda end: self._ended(shared.informer, end))

    def _ended(self, informer: SharedInformer[Any], end: asyncio.Task[None]) -> None:
        error = None if end.cancelled() else end.exception()
        if error is not None:
            _log.error("informer %s has ended: %s: %s", informer.name, type(error).__name__, error)
        if error is not None or all(shared.has_ended for shared in self._shared):
            self._over.set()

    async def __aenter__(self) -> Self:
        if self._entered:
            raise RuntimeError("this factory was entered already: make another")
        self._entered = True
        for shared in self._shared:
            self._start(shared)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._left = True
        leaving = [informer.__aexit__(None, None, None) for informer in self.informers]
        try:
            ends = await asyncio.gather(*leaving, return_exceptions=True)
        finally:
            watching = [shared.end for shared in self._shared if shared.end is not None]
            await asyncio.gather(*watching, return_exceptions=True)
        failures = [end for end in ends if isinstance(end, BaseException)]
        if error is not None or not failures:
            return
        if len(failures) == 1:
            raise failures[0]
        raise BaseExceptionGroup(f"{len(failures)} informers have failed", failures)


@dataclass(slots=True)
class _Shared:
    asked: dict[str, Any]
    informer: SharedInformer[Any]
    indexes: dict[str, IndexFunction[Any]]
    end: asyncio.Task[None] | None = None

    @property
    def has_ended(self) -> bool:
        return self.end is not None and self.end.done()

    def add_indexes(self, indexes: Mapping[str, IndexFunction[Any]]) -> None:
        for name, function in indexes.items():
            if self.indexes.get(name, function) != function:
                raise ValueError(
                    f"informer {self.informer.name}, which is shared, has another index {name!r}"
                )
        for name in indexes.keys() - self.indexes.keys():
            self.informer.store.add_index(name, indexes[name])
            self.indexes[name] = indexes[name]


async def _named(waiting: Coroutine[Any, Any, None], informer: SharedInformer[Any]) -> None:
    try:
        await waiting
    except Exception as error:
        note = f"informer {informer.name}"
        if note not in getattr(error, "__notes__", ()):  # one error, however many wait for it
            error.add_note(note)
        raise


def _asked(resource: Resource, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What is asked for, in one spelling."""
    asked = {**arguments, "resource": builtin(resource) or resource}
    asked.pop("indexes", None)
    for name, one_spelling in _SPELLINGS.items():
        if name in asked:
            asked[name] = one_spelling(asked[name])
    if view := asked.pop("projection", None):
        asked["decoder"] = projected(view)
    asked["options"] = options_of(
        asked.get("options"),
        fail_fast=asked.pop("fail_fast", False),
        resync=asked.pop("resync", None),
    )
    return {name: value for name, value in asked.items() if value}


def _several(spelling: Callable[[Any], Any]) -> Callable[[Any], frozenset[Any]]:
    return lambda given: frozenset(spelling(each) for each in texts(given))


def _label_selector(text: str) -> str:
    return str(LabelSelector.parse(text))


_SPELLINGS: dict[str, Callable[[Any], Any]] = {
    "namespaces": _several(str),
    "optional": _several(str),
    "label_selectors": _several(_label_selector),
    "label_selector": _label_selector,
    "field_selector": lambda text: str(FieldSelector.parse(text)),
    "transforms": tuple,
    "decoder": lambda decoder: None if decoder is decode_unstructured else decoder,
}


def texts(given: Collection[str]) -> tuple[str, ...]:
    """The texts; where one was given that is no list, that one."""
    return (given,) if isinstance(given, str) else tuple(given)


def options_of(
    options: ReflectorOptions | None, *, fail_fast: bool = False, resync: float | None = None
) -> ReflectorOptions:
    """`options`, with what a program says in words of its own."""
    options = options or ReflectorOptions()
    if fail_fast:
        options = replace(options, fail_fast=True)
    return options if resync is None else replace(options, resync_period=resync)
