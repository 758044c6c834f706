"""ListWatch: four functions, and the way from any of them to any other (F1)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Generic, Protocol, TypeVar, overload

from listwatch.api import (
    APIResource,
    GroupVersionResource,
    ListOptions,
    PartialObjectMetadata,
    Unstructured,
)
from listwatch.rest import Request
from listwatch.watch import Watch
from listwatch.wire import (
    ObjectDecoder,
    ObjectList,
    decode_partial_metadata,
    decode_unstructured,
)

from .asking import asked_form, for_resource
from .bridges import blocking_watch, in_thread, open_blocking, run_blocking
from .protocols import BlockingWatch

__all__ = ["Getter", "ListWatch", "supports_watch_list"]

T = TypeVar("T")
D = TypeVar("D")


Modifier = Callable[[ListOptions], ListOptions]


def _unmodified(options: ListOptions) -> ListOptions:
    return options


class Getter(Protocol):
    """Anything whose `get()` starts a GET request; a RESTClient is one."""

    def get(self) -> Request[Unstructured]: ...


class ListWatch(Generic[T]):
    """How to list and to watch one set of objects, as up to four functions; it knows no resource
    itself.

    Give `alist` and `awatch` (async), or `list` and `watch` (blocking), or any mixture with at
    least one of each pair; the methods of the same names always work. An async method prefers the
    async function, and else runs the blocking one in a thread; a blocking method prefers the
    blocking function, and else runs the async one on an event loop of its own. `ametadata` lists
    metadata alone, for whoever compares a set with that of the server; `ashared` is what
    `alist_shared` calls.

    `disable_chunking` keeps `limit` out of every LIST (F2). `supports_watch_list=False` says that
    the initial set cannot come through a watch, as with fakes and old servers (F6). Raises
    `ValueError` where one of the pairs is missing.

    >>> import asyncio
    >>> from listwatch.api import ListMeta, ListOptions
    >>> from listwatch.watch import EmptyWatch
    >>> from listwatch.wire import ObjectList
    >>> async def awatch(options):
    ...     return EmptyWatch()
    >>> source = ListWatch(list=lambda options: ObjectList(["a", "b"], ListMeta()), awatch=awatch)
    >>> asyncio.run(source.alist(ListOptions())).items
    ['a', 'b']
    """

    def __init__(
        self,
        *,
        list: Callable[[ListOptions], ObjectList[T]] | None = None,
        watch: Callable[[ListOptions], BlockingWatch[T]] | None = None,
        alist: Callable[[ListOptions], Awaitable[ObjectList[T]]] | None = None,
        awatch: Callable[[ListOptions], Awaitable[Watch[T]]] | None = None,
        ashared: Callable[[ListOptions, Callable[[T], T]], Awaitable[ObjectList[T]]] | None = None,
        ametadata: Callable[[ListOptions], Awaitable[ObjectList[PartialObjectMetadata]]]
        | None = None,
        disable_chunking: bool = False,
        supports_watch_list: bool = True,
    ) -> None:
        missing = [
            names
            for names, pair in (
                ("list or alist", (list, alist)),
                ("watch or awatch", (watch, awatch)),
            )
            if pair == (None, None)
        ]
        if missing:
            raise ValueError(f"a ListWatch needs {' and '.join(missing)}")
        self._list, self._watch = list, watch
        self._alist, self._awatch = alist, awatch
        self._ashared = ashared
        self._ametadata = ametadata
        self.disable_chunking = disable_chunking
        self.supports_watch_list = supports_watch_list

    @overload
    @classmethod
    def from_client(
        cls,
        getter: Getter,
        resource: APIResource | GroupVersionResource,
        namespace: str = "",
        field_selector: str = "",
        *,
        label_selector: str = "",
        max_retries: int | None = 0,
    ) -> ListWatch[Unstructured]: ...
    @overload
    @classmethod
    def from_client(
        cls,
        getter: Getter,
        resource: APIResource | GroupVersionResource,
        namespace: str = "",
        field_selector: str = "",
        *,
        label_selector: str = "",
        decoder: ObjectDecoder[D],
        max_retries: int | None = 0,
    ) -> ListWatch[D]: ...
    @classmethod
    def from_client(
        cls,
        getter: Getter,
        resource: APIResource | GroupVersionResource,
        namespace: str = "",
        field_selector: str = "",
        *,
        label_selector: str = "",
        decoder: ObjectDecoder[Any] = decode_unstructured,
        max_retries: int | None = 0,
    ) -> ListWatch[Any]:
        """The objects of one resource, of one namespace or, where that is empty, of all (F3).

        A request is sent once: whoever uses a ListWatch paces its repeats (B4). Another
        `max_retries` gives it repeats of its own; None, as many as the client's. A decoder that
        needs no more than metadata, as `metadata_only` does, makes it ask for that alone (B9).

        >>> import listwatch
        >>> async def names(client: listwatch.RESTClient):
        ...     pods = listwatch.GroupVersionResource.parse("v1/pods")
        ...     source = listwatch.ListWatch.from_client(client, pods, "default")
        ...     return [pod.key for pod in await source.alist(listwatch.ListOptions())]
        """
        return cls.from_client_filtered(
            getter,
            resource,
            namespace,
            lambda options: options.replace(
                field_selector=field_selector, label_selector=label_selector
            ),
            decoder=decoder,
            max_retries=max_retries,
        )

    @overload
    @classmethod
    def from_client_filtered(
        cls,
        getter: Getter,
        resource: APIResource | GroupVersionResource,
        namespace: str = "",
        modify: Modifier = _unmodified,
        *,
        max_retries: int | None = 0,
    ) -> ListWatch[Unstructured]: ...
    @overload
    @classmethod
    def from_client_filtered(
        cls,
        getter: Getter,
        resource: APIResource | GroupVersionResource,
        namespace: str = "",
        modify: Modifier = _unmodified,
        *,
        decoder: ObjectDecoder[D],
        max_retries: int | None = 0,
    ) -> ListWatch[D]: ...
    @classmethod
    def from_client_filtered(
        cls,
        getter: Getter,
        resource: APIResource | GroupVersionResource,
        namespace: str = "",
        modify: Modifier = _unmodified,
        *,
        decoder: ObjectDecoder[Any] = decode_unstructured,
        max_retries: int | None = 0,
    ) -> ListWatch[Any]:
        """The same with `modify`, which returns the options to be sent instead of those it is
        given: for LIST and, with `watch` set already, for WATCH.
        """

        decode = for_resource(decoder, resource)
        form = asked_form(decode)

        def start() -> Request[Unstructured]:
            request = getter.get().resource(resource).namespace(namespace)
            return request if max_retries is None else request.max_retries(max_retries)

        def asking() -> Request[Any]:
            return start().decoder(decode).form(form)

        async def alist(options: ListOptions) -> ObjectList[Any]:
            return await asking().list(modify(options))

        async def ashared(options: ListOptions, share: Callable[[Any], Any]) -> ObjectList[Any]:
            return await asking().list(modify(options), share=share)

        async def ametadata(options: ListOptions) -> ObjectList[PartialObjectMetadata]:
            request = start().decoder(decode_partial_metadata).form("PartialObjectMetadata")
            return await request.list(modify(options))

        async def awatch(options: ListOptions) -> Watch[Any]:
            return await asking().watch(modify(options.replace(watch=True)))

        return ListWatch(
            alist=alist,
            awatch=awatch,
            ashared=ashared,
            ametadata=ametadata,
            list=lambda options: run_blocking(lambda: alist(options)),
            watch=lambda options: blocking_watch(lambda: awatch(options)),
        )

    async def alist(self, options: ListOptions) -> ObjectList[T]:
        """One LIST."""
        options = self._unchunked(options)
        if self._alist is not None:
            return await self._alist(options)
        blocking = self._list
        assert blocking is not None
        return await in_thread(lambda: blocking(options))

    async def alist_shared(self, options: ListOptions, share: Callable[[T], T]) -> ObjectList[T]:
        """One LIST for somebody who has much of it already: `share` is given each object as it
        arrives, and returns what stands for it in the list, so that no second copy of a set is ever
        held. Without `ashared` it is that of `alist`, and `share` is not asked.
        """
        if self._ashared is not None:
            return await self._ashared(self._unchunked(options), share)
        return await self.alist(options)

    async def alist_metadata(
        self, options: ListOptions
    ) -> ObjectList[PartialObjectMetadata] | ObjectList[T]:
        """One LIST of which only the metadata is wanted. Without `ametadata` it is that of `alist`,
        with the whole objects.
        """
        if self._ametadata is not None:
            return await self._ametadata(self._unchunked(options))
        return await self.alist(options)

    async def awatch(self, options: ListOptions) -> Watch[T]:
        """Open one WATCH."""
        if self._awatch is not None:
            return await self._awatch(options)
        blocking = self._watch
        assert blocking is not None
        return await open_blocking(lambda: blocking(options))

    def list(self, options: ListOptions) -> ObjectList[T]:
        """One LIST, for a thread without an event loop. Raises `RuntimeError` inside a running loop
        where only `alist` was given.
        """
        options = self._unchunked(options)
        if self._list is not None:
            return self._list(options)
        alist = self._alist
        assert alist is not None
        return run_blocking(lambda: alist(options))

    def watch(self, options: ListOptions) -> BlockingWatch[T]:
        """Open one WATCH, for a thread without an event loop. Raises as `list` does."""
        if self._watch is not None:
            return self._watch(options)
        awatch = self._awatch
        assert awatch is not None
        return blocking_watch(lambda: awatch(options))

    def _unchunked(self, options: ListOptions) -> ListOptions:
        return options.replace(limit=None) if self.disable_chunking else options


def supports_watch_list(source: object) -> bool:
    """Whether a source can be asked for its initial set through a watch: yes, unless it says
    `supports_watch_list = False` (F6).
    """
    return bool(getattr(source, "supports_watch_list", True))
