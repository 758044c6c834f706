"""Client: objects, watches and mirrors of one server."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack, overload
from weakref import WeakSet

from listwatch.api import Unstructured
from listwatch.cache.changes import Changes
from listwatch.cache.delta import Delta
from listwatch.cache.factory import InformerArguments, options_of
from listwatch.cache.indexes import IndexFunction
from listwatch.cache.informer import SharedInformer
from listwatch.cache.mirror import Mirror
from listwatch.cache.notes import Note
from listwatch.cache.projection import Projected, projected
from listwatch.cache.reflector import ErrorHandler
from listwatch.cache.reflector_options import ReflectorOptions
from listwatch.cache.transforms import Transform
from listwatch.rest import ClientConfig, RESTClient, Transport, load_config
from listwatch.wire import Encoding, ObjectDecoder, decode_unstructured

from .objects import Objects
from .parts import optional_parts, parts_of
from .resources import Resource
from .sources import Sources

__all__ = ["Client"]

T = TypeVar("T")
P = TypeVar("P")
M = TypeVar("M", Mirror[Any], Changes[Any], SharedInformer[Any])

OnNote = Callable[[Note], None]
OnProgress = Callable[[int, int | None], None]
OnDeltas = Callable[[Sequence[Delta[T]]], None]


class Client(Objects):
    """One Kubernetes API server: its objects, watches and mirrors.

        async with Client() as client:  # kubeconfig, or the pod's own service account
            async with client.watch("pods", label_selector="app=web") as changes:
                async for event in changes:
                    print(event.type, event.object.key)

    `server`, `kubeconfig`, `context` and `token` say where to and as whom; `load_config` has the
    rules, and raises `ConfigError`. Or give all of that as `config`. `transport` is for tests and
    other HTTP libraries. `program`, such as `my-operator/1.2`, goes in front of the User-Agent, and
    names the field manager of writes. `trust_lines` promises that the server writes each event of a
    watch as a line of its own, as kube-apiserver does: that saves a fifth of the CPU at full load
    (`WatchDecoder` has what happens where it is not so). `encodings` are asked for in their order,
    wherever they can give what a decoder reads; JSON is what is left (B9).

    **A resource** is a name as kubectl takes it (`pods`, `po`, `deployments.apps`,
    `example.com/v1/widgets`), a `GroupVersionResource`, or an `APIResource`. Built-in types cost no
    request; for others the server is asked what it has. `UnknownResource` lists what is near.

    **A namespace** that is not given means all of them to `list`, `watch` and `mirror`. To the
    others, which are about one object, it is that in the object, else that of the configuration, as
    in kubectl. For what has no namespace none is given.

    All requests raise what those of `RESTClient` do, which is below as `rest`: `APIError` and its
    kinds, `TransportError`, `InvalidRequest`. 429 and 5xx are repeated when the server says when.
    A watch or mirror raises none of that: it goes on.

    It is used in one event loop, and must be closed, best by `async with`. Closing it ends its
    watches and mirrors.
    """

    def __init__(
        self,
        *,
        server: str | None = None,
        kubeconfig: str | os.PathLike[str] | None = None,
        context: str | None = None,
        token: str | None = None,
        config: ClientConfig | None = None,
        transport: Transport | None = None,
        program: str = "",
        trust_lines: bool = False,
        encodings: Sequence[Encoding] = (Encoding.JSON,),
    ) -> None:
        given = {"server": server, "kubeconfig": kubeconfig, "context": context, "token": token}
        if config is None:
            config = load_config(server=server, kubeconfig=kubeconfig, context=context, token=token)
        elif any(value is not None for value in given.values()):
            named = ", ".join(name for name, value in given.items() if value is not None)
            raise ValueError(f"config says all that {named} would: give the one or the other")
        super().__init__(
            RESTClient(
                config,
                transport=transport,
                program=program,
                trust_lines=trust_lines,
                encodings=encodings,
            )
        )
        self._sources = Sources(self.rest)
        self._running: WeakSet[Mirror[Any] | Changes[Any] | SharedInformer[Any]] = WeakSet()
        self._closed = False

    @property
    def config(self) -> ClientConfig:
        """Where to, and as whom."""
        return self.rest.config

    async def close(self) -> None:
        """End every watch and mirror, and close every connection. Idempotent.

        A watch that is being iterated ends as if the server had no more to say; a mirror keeps what
        it has, and its health says that it is stopped.
        """
        self._closed = True
        for running in tuple(self._running):
            running.stop()
        await self.rest.close()

    @overload
    def watch(
        self,
        resource: Resource,
        *,
        namespace: str = "",
        label_selector: str = "",
        field_selector: str = "",
        transforms: Sequence[Transform] = (),
        fail_fast: bool = False,
        options: ReflectorOptions | None = None,
        on_note: OnNote | None = None,
        on_error: ErrorHandler | None = None,
        on_progress: OnProgress | None = None,
    ) -> Changes[Unstructured]: ...
    @overload
    def watch(
        self,
        resource: Resource,
        *,
        namespace: str = "",
        label_selector: str = "",
        field_selector: str = "",
        decoder: ObjectDecoder[T],
        transforms: Sequence[Transform] = (),
        fail_fast: bool = False,
        options: ReflectorOptions | None = None,
        on_note: OnNote | None = None,
        on_error: ErrorHandler | None = None,
        on_progress: OnProgress | None = None,
    ) -> Changes[T]: ...
    def watch(
        self,
        resource: Resource,
        *,
        namespace: str = "",
        label_selector: str = "",
        field_selector: str = "",
        decoder: ObjectDecoder[Any] = decode_unstructured,
        transforms: Sequence[Transform] = (),
        fail_fast: bool = False,
        options: ReflectorOptions | None = None,
        on_note: OnNote | None = None,
        on_error: ErrorHandler | None = None,
        on_progress: OnProgress | None = None,
    ) -> Changes[Any]:
        """Every change, for ever: first what is there, as ADDED, then what happens.

            async with client.watch("pods", namespace="default") as changes:
                async for event in changes:
                    print(event.type, event.object.key, event.old)

        An event is a `Delta`: ADDED, MODIFIED or DELETED, `object`, and `old`, the state before.
        Whatever the server or the network does, no event comes twice, and what changed in between
        comes as the changes that it was, deletions included. It ends with its consumer or with the
        client; with `fail_fast` it raises the error of a first set that is refused, twice in a row,
        for a reason which waiting does not mend: 400, 401, 403, 404 or a name that means nothing.

        `decoder` makes the objects; `transforms` work on the bytes before. `options` are those of
        the reflector behind it. `on_note` is told what happens in one line each (`str(note)`),
        `on_error` of each failure, `on_progress` how many objects of a long list are there and how
        many remain.

        Raises `InvalidRequest`, `SelectorError` and `UnknownResource` for what can be seen without
        a request.
        """
        source, kind = self._sources.of(
            resource,
            namespace,
            label_selector,
            field_selector,
            decoder,
            transforms,
        )
        changes = Changes(
            source,
            name=_name(resource, namespace),
            kind=kind,
            options=options_of(options, fail_fast=fail_fast),
            on_note=on_note,
            on_error=on_error,
            on_progress=on_progress,
        )
        return self._kept(changes)

    @overload
    def mirror(
        self,
        resource: Resource,
        *,
        namespace: str = "",
        label_selector: str = "",
        field_selector: str = "",
        transforms: Sequence[Transform] = (),
        indexes: Mapping[str, IndexFunction[Unstructured]] | None = None,
        fail_fast: bool = False,
        options: ReflectorOptions | None = None,
        on_deltas: OnDeltas[Unstructured] | None = None,
        on_note: OnNote | None = None,
        on_error: ErrorHandler | None = None,
        on_progress: OnProgress | None = None,
    ) -> Mirror[Unstructured]: ...
    @overload
    def mirror(
        self,
        resource: Resource,
        *,
        namespace: str = "",
        label_selector: str = "",
        field_selector: str = "",
        decoder: ObjectDecoder[T],
        transforms: Sequence[Transform] = (),
        indexes: Mapping[str, IndexFunction[T]] | None = None,
        fail_fast: bool = False,
        options: ReflectorOptions | None = None,
        on_deltas: OnDeltas[T] | None = None,
        on_note: OnNote | None = None,
        on_error: ErrorHandler | None = None,
        on_progress: OnProgress | None = None,
    ) -> Mirror[T]: ...
    def mirror(
        self,
        resource: Resource,
        *,
        namespace: str = "",
        label_selector: str = "",
        field_selector: str = "",
        decoder: ObjectDecoder[Any] = decode_unstructured,
        transforms: Sequence[Transform] = (),
        indexes: Mapping[str, IndexFunction[Any]] | None = None,
        fail_fast: bool = False,
        options: ReflectorOptions | None = None,
        on_deltas: OnDeltas[Any] | None = None,
        on_note: OnNote | None = None,
        on_error: ErrorHandler | None = None,
        on_progress: OnProgress | None = None,
    ) -> Mirror[Any]:
        """A store that shows what the server has, kept so while it is entered.

            async with client.mirror("pods", indexes={"node": node_of}) as pods:
                await pods.synced()
                print(len(pods.store), pods.store.by_index("node", "node-1"), pods.health)

        `indexes` are functions from an object to the values to find it by. `on_deltas` is told each
        batch of changes, after the store has them. All else is as for `watch`; `synced()` raises
        the error of `fail_fast`.
        """
        source, kind = self._sources.of(
            resource,
            namespace,
            label_selector,
            field_selector,
            decoder,
            transforms,
        )
        mirror = Mirror(
            source,
            name=_name(resource, namespace),
            kind=kind,
            indexes=indexes,
            options=options_of(options, fail_fast=fail_fast),
            on_deltas=on_deltas,
            on_note=on_note,
            on_error=on_error,
            on_progress=on_progress,
        )
        return self._kept(mirror)

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
    def informer(
        self,
        resource: Resource,
        *,
        namespaces: Sequence[str] = (),
        label_selectors: Sequence[str] = (),
        label_selector: str = "",
        field_selector: str = "",
        decoder: ObjectDecoder[Any] = decode_unstructured,
        projection: Any = None,
        transforms: Sequence[Transform] = (),
        indexes: Mapping[str, IndexFunction[Any]] | None = None,
        resync: float | None = None,
        optional: Collection[str] = (),
        recreate_as_two: bool = False,
        fail_fast: bool = False,
        options: ReflectorOptions | None = None,
        on_note: OnNote | None = None,
        on_error: ErrorHandler | None = None,
        on_progress: OnProgress | None = None,
    ) -> SharedInformer[Any]:
        """A mirror that tells any number of handlers what changes in it, while it is entered.

            informer = client.informer("pods", namespaces=["team-a", "team-b"])
            informer.add_handler(on_add=added, on_update=updated, on_delete=deleted)
            async with informer:
                await informer.synced()

        `namespaces` are those to look in, all where none is named. Of several `label_selectors` one
        must match, and `label_selector` besides. Each namespace with each selector is a source of
        its own, and no source holds another back; `synced` waits for all of them, but not for those
        of the namespaces or selectors in `optional` (K9).

        With `projection`, a type or function, only what that makes of an object is kept, and
        changes of that alone are told: see `projected` (K12). `resync` is how often, in seconds,
        handlers are told of everything again. For `recreate_as_two` see `SharedInformer`; all else
        is as for `mirror`.
        """
        if projection is not None:
            if decoder is not decode_unstructured:
                raise ValueError("a projection is a decoder: give the one or the other")
            decoder = projected(projection)
        parts = parts_of(namespaces, label_selectors, label_selector)
        sources = {
            name: self._sources.of(
                resource,
                part.namespace,
                part.label_selector,
                field_selector,
                decoder,
                transforms,
            )
            for name, part in parts.items()
        }
        [(_, kind), *_] = sources.values()
        informer = SharedInformer(
            {name: source for name, (source, _) in sources.items()},
            name=str(resource),
            kind=kind,
            indexes=indexes,
            options=options_of(options, fail_fast=fail_fast, resync=resync),
            optional=optional_parts(parts, optional),
            recreate_as_two=recreate_as_two,
            on_note=on_note,
            on_error=on_error,
            on_progress=on_progress,
        )
        return self._kept(informer)

    def _kept(self, running: M) -> M:
        if self._closed:
            raise RuntimeError("this client is closed")
        self._running.add(running)
        return running

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"Client({self.config!r})"


def _name(resource: Resource, namespace: str) -> str:
    return f"{resource} in {namespace}" if namespace else str(resource)
