"""One request, built step by step, then sent by one of its verbs."""

from __future__ import annotations

import builtins
import logging
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import msgspec

from listwatch.api import (
    APIResource,
    Forbidden,
    GroupVersionResource,
    ListOptions,
    ListWatchError,
    ObjectView,
)
from listwatch.watch import BodyDecoder, EmptyWatch, StreamWatcher, Watch
from listwatch.wire import (
    DEFAULT_LIMIT,
    Codec,
    ListDecoder,
    ListHead,
    ObjectDecoder,
    ObjectList,
    ObjectTooLarge,
    UnsupportedContentType,
    WatchDecoder,
    codec_for,
)
from listwatch.wire.answers import codec_for_decoder
from listwatch.wire.decoders import object_decode_error

from .accepting import accept, readers
from .errors import InvalidRequest, UnexpectedContent
from .exchange import Exchange, beginning_of
from .forbidden import explain_forbidden
from .path import check_segment, raw_path, resource_path
from .transport import HTTPRequest, HTTPResponse, Timeouts

__all__ = ["Body", "Request", "Sender"]

T = TypeVar("T")
D = TypeVar("D")

Resource = APIResource | GroupVersionResource

Body = Mapping[str, Any] | Sequence[Any] | ObjectView | msgspec.Struct | bytes
"""What can be sent: JSON by its parts, an object, or bytes that travel as they are."""

_log = logging.getLogger("listwatch.rest")

_LARGEST = DEFAULT_LIMIT
"""Bytes of an object that is asked for, at least."""

_QUOTED = 2048
"""Bytes of a body of an unknown type that its error shows (B6)."""


@dataclass(frozen=True, slots=True)
class Sender:
    """What all requests of one client have in common."""

    exchange: Exchange
    codecs: tuple[Codec, ...]
    user_agent: str
    timeouts: Timeouts
    max_frame: int
    trust_lines: bool = False
    compression: bool = True


@dataclass(frozen=True, slots=True)
class _Parts:
    method: str
    resource: Resource | None = None
    namespace: str = ""
    name: str = ""
    subresource: tuple[str, ...] = ()
    path: str | None = None
    query: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    options: ListOptions = field(default_factory=ListOptions)
    timeouts: Timeouts = field(default_factory=Timeouts)
    max_retries: int | None = None
    form: str = ""


class Request(Generic[T]):
    """A request to be sent. Immutable: each step gives a new one, so a beginning can be kept.

        pods = client.get().resource(PODS).namespace("default")
        pod = await pods.name("web-0")
        page = await pods.options(ListOptions(limit=100)).list()
        async with await pods.watch(ListOptions(resource_version="7")) as watch: ...

    `await request` is `await request.object()`. Each verb sends it, and may be called again.

    All verbs raise `InvalidRequest` before anything is sent (B1), the `APIError` that the server
    answers with (A5), a `TransportError` where no answer comes, and `UnexpectedContent` for an
    answer that is not the API's (B6). Cancelling one closes its connection (B8).
    """

    __slots__ = ("_decoder", "_parts", "_sender")

    def __init__(self, sender: Sender, parts: _Parts, decoder: ObjectDecoder[T]) -> None:
        self._sender = sender
        self._parts = parts
        self._decoder = decoder

    @classmethod
    def start(cls, sender: Sender, method: str, decoder: ObjectDecoder[T]) -> Request[T]:
        return cls(sender, _Parts(method, timeouts=sender.timeouts), decoder)

    def resource(self, resource: Resource) -> Request[T]:
        """Which type."""
        return self._with(resource=resource)

    def namespace(self, namespace: str) -> Request[T]:
        """Which namespace; an empty one means all of them."""
        if namespace:
            check_segment(namespace, "namespace")
        return self._with(namespace=namespace)

    def name(self, name: str) -> Request[T]:
        """Which object."""
        return self._with(name=check_segment(name, "name"))

    def subresource(self, *names: str) -> Request[T]:
        """Which part of the object, such as `status`."""
        return self._with(subresource=tuple(check_segment(name, "subresource") for name in names))

    def path(self, path: str) -> Request[T]:
        """A path such as `/openapi/v3` in place of a resource, without the server's base path. A
        query may stand in it.
        """
        path, query = raw_path(path)
        return self._with(path=path, query=self._parts.query + query)

    def query(self, name: str, value: str) -> Request[T]:
        """One more query parameter. It is percent-encoded when it is sent."""
        return self._with(query=(*self._parts.query, (name, value)))

    def header(self, name: str, value: str) -> Request[T]:
        """A header, in place of any of the same name that would be sent, such as `Accept`."""
        for text in (name, value):
            if any(character in text for character in "\r\n\0"):
                raise InvalidRequest(f"header {name!r} has a line break in it")
        return self._with(headers=_with_header(self._parts.headers, name, value))

    def body(self, body: Body, content_type: str = "application/json") -> Request[T]:
        """What to send. Raises `InvalidRequest` for what JSON cannot hold."""
        headers = _with_header(self._parts.headers, "Content-Type", content_type)
        return self._with(body=encode_body(body), headers=headers)

    def form(self, form: str) -> Request[T]:
        """Ask for the objects in another form of meta.k8s.io, such as `PartialObjectMetadata`,
        with whole ones as the fallback (B9). Empty: whole ones.
        """
        return self._with(form=form)

    def options(self, options: ListOptions) -> Request[T]:
        """The options of a LIST or WATCH, of which each verb sets `watch` itself."""
        return self._with(options=options)

    def timeouts(self, timeouts: Timeouts) -> Request[T]:
        """How long each step may take (B11), in place of the client's own limits."""
        return self._with(timeouts=timeouts)

    def max_retries(self, max_retries: int) -> Request[T]:
        """How often it is sent again (B4), in place of the client's own number; 0 where somebody
        above does the pacing (H9).
        """
        if max_retries < 0:
            raise InvalidRequest(f"max_retries must be 0 or more, not {max_retries}")
        return self._with(max_retries=max_retries)

    def decoder(self, decoder: ObjectDecoder[D]) -> Request[D]:
        """What reads each object (D6), in place of `decode_unstructured`."""
        return Request(self._sender, self._parts, decoder)

    def __await__(self) -> Generator[Any, None, T]:
        return self.object().__await__()

    async def object(self) -> T:
        """The one object that the server answers with.

        Raises `ObjectDecodeError` if the decoder cannot read it, and `ObjectTooLarge` where it is
        larger than 16 MiB, or the client's `max_frame` if that is more.
        """
        parts = self._parts
        if parts.method == "GET" and parts.resource is not None and not parts.name:
            raise InvalidRequest(
                f"which of the {parts.resource}? There is no name (or did you mean list?)"
            )
        body = await self._read(await self._send())
        try:
            return self._decoder(body)
        except Exception as error:  # a decoder is anybody's code (D6)
            raise object_decode_error(body, error) from error

    async def raw(self) -> bytes:
        """The body of the answer, whatever it is."""
        response = await self._send()
        try:
            return await response.read()
        except BaseException:
            response.close()
            raise

    async def list(
        self, options: ListOptions | None = None, *, share: Callable[[T], T] | None = None
    ) -> ObjectList[T]:
        """One LIST: one GET (B2). With `limit` it is one page.

        Objects are decoded while the body arrives, which is never held whole (C8). `share` is given
        each of them at once and returns what stands for it in the list: whoever has most of a list
        already returns what he has for what is the same, and the list takes next to no memory.

        An item that the decoder cannot read is in `undecodable`, and logged with its key. Raises
        `ListDecodeError` for an answer that is no list, and where one object is larger than 16 MiB,
        or the client's `max_frame` if that is more.
        """
        options = (options or self._parts.options).replace(watch=False)
        request = self._of_collection("list")
        try:
            response = await request._send(options)
        except Forbidden as error:
            explain_forbidden(error, self._parts.resource, self._parts.namespace)
            raise
        items: builtins.list[T] = []
        try:
            codec = await self._codec(response)
            body = ListDecoder(
                self._decoder, codec=codec, limit=self._largest, expected=self._expected
            )
            while data := await response.receive():
                found = body.feed(data)
                items += found if share is None else map(share, found)
            found = body.end()
            items += found if share is None else map(share, found)
        except BaseException:
            response.close()
            raise
        for problem in body.undecodable:
            _log.warning("%s", problem)
        return body.whole(items)

    async def watch(self, options: ListOptions | None = None) -> Watch[T]:
        """Open a WATCH (B2). Whoever gets it must stop it, best by `async with`.

        A server that cannot be heard at all gives a watch that ends at once, whose `broken` says
        why (B5).
        """
        options = (options or self._parts.options).replace(watch=True)
        request = self._of_collection("watch")
        http = request._http(options)
        try:
            response = await self._sender.exchange.send(
                http, watch=True, max_retries=self._parts.max_retries, codecs=request._codecs
            )
        except Forbidden as error:
            explain_forbidden(error, self._parts.resource, self._parts.namespace)
            raise
        if isinstance(response, ListWatchError):
            return EmptyWatch[T](response)
        try:
            codec = await self._codec(response)
            sender = self._sender
            events = WatchDecoder(
                self._decoder, codec=codec, limit=sender.max_frame, trust_lines=sender.trust_lines
            )
            return StreamWatcher(BodyDecoder(response, events))
        except BaseException:
            response.close()
            raise

    def _with(self, **changes: Any) -> Request[T]:
        return Request(self._sender, replace(self._parts, **changes), self._decoder)

    def _of_collection(self, verb: str) -> Request[T]:
        if self._parts.name:
            raise InvalidRequest(
                f"{verb} is of a collection, and {self._parts.name!r} was named: "
                "choose one object by the field selector metadata.name=NAME"
            )
        return self

    async def _send(self, options: ListOptions | None = None) -> HTTPResponse:
        response = await self._sender.exchange.send(
            self._http(options), max_retries=self._parts.max_retries, codecs=self._codecs
        )
        assert not isinstance(response, ListWatchError)  # only a watch can be empty
        return response

    def _http(self, options: ListOptions | None) -> HTTPRequest:
        parts, limits = self._parts, self._parts.timeouts
        watch = options is not None and options.watch
        headers = {
            "Accept": self._accept(of_list=options is not None and not watch),
            "User-Agent": self._sender.user_agent,
        }
        if not watch and self._sender.compression:
            headers["Accept-Encoding"] = "gzip"  # B10; a stream would come late (B10, server.md)
        for name, value in parts.headers.items():
            headers = _with_header(headers, name, value)
        return HTTPRequest(
            method=parts.method,
            path=self._path(),
            query=parts.query + (options.query() if options is not None else ()),
            headers=headers,
            body=parts.body,
            connect_timeout=limits.connect,
            first_byte_timeout=limits.watch_first_byte if watch else limits.first_byte,
            silence_timeout=None if watch else limits.silence,
        )

    @property
    def _expected(self) -> ListHead | None:
        """What a list of our resource calls itself, if we know."""
        resource = self._parts.resource
        if self._parts.form or not isinstance(resource, APIResource):
            return None
        return ListHead(resource.api_version, f"{resource.kind}List")

    @property
    def _codecs(self) -> tuple[Codec, ...]:
        return readers(self._decoder, self._parts.form, self._sender.codecs)

    def _accept(self, *, of_list: bool) -> str:
        return accept(self._codecs, self._parts.form, of_list=of_list)

    def _path(self) -> str:
        parts = self._parts
        if (parts.path is None) == (parts.resource is None):
            raise InvalidRequest("a request needs either a resource or a path")
        if parts.resource is None:
            assert parts.path is not None
            return parts.path
        return resource_path(
            parts.resource,
            namespace=parts.namespace,
            name=parts.name,
            subresource=parts.subresource,
        )

    async def _read(self, response: HTTPResponse) -> bytes:
        """The body of an answer that is one object."""
        most = self._largest
        try:
            codec = await self._codec(response)
            body = await response.read(most + 1)
        except BaseException:
            response.close()
            raise
        if len(body) > most:
            raise ObjectTooLarge(most, len(body))
        return codec_for_decoder(codec, self._decoder).object_bytes(body)

    @property
    def _largest(self) -> int:
        """Bytes of an object that is asked for. What a watch passes over as too large must come
        with the list that follows: a small `max_frame` does not bound this.
        """
        return max(self._sender.max_frame, _LARGEST)

    async def _codec(self, response: HTTPResponse) -> Codec:
        """What reads this answer, by its Content-Type (B6)."""
        codecs = self._codecs
        try:
            return codec_for(response.headers.get("Content-Type"), codecs)
        except UnsupportedContentType as error:
            body = await beginning_of(response, _QUOTED, self._parts.timeouts.silence)
            supported = ", ".join(codec.media_type for codec in codecs)
            raise UnexpectedContent(error.content_type, supported, body) from error


def encode_body(body: Body) -> bytes:
    """`body` as it travels. Raises `InvalidRequest` for what JSON cannot hold."""
    if isinstance(body, bytes):
        return body
    if isinstance(body, ObjectView):
        return body.raw
    try:
        return msgspec.json.encode(body)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidRequest(f"this cannot be sent as JSON: {error}") from error


def _with_header(headers: Mapping[str, str], name: str, value: str) -> builtins.dict[str, str]:
    others = {key: text for key, text in headers.items() if key.lower() != name.lower()}
    return {**others, name: value}
