"""RESTClient: every verb of the Kubernetes API, against one server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from random import Random
from types import TracebackType
from typing import Any, Self, TypeVar, overload

from listwatch.api import APIResource, GroupVersionResource, ListOptions, Status, Unstructured
from listwatch.watch import Watch
from listwatch.wire import (
    DEFAULT_LIMIT,
    Encoding,
    ObjectDecoder,
    ObjectList,
    codecs_of,
    decode_unstructured,
)

from .aiohttp_transport import AiohttpTransport
from .authentication import Authentication
from .config import ClientConfig
from .errors import InvalidRequest
from .exchange import Exchange
from .rate_limit import RateLimiter
from .request import Body, Request, Sender, encode_body
from .retry import DEFAULT_MAX_RETRIES, RetryPolicy
from .transport import Timeouts, Transport
from .user_agent import user_agent
from .warnings import LogWarnings, WarningHandler

__all__ = ["PatchType", "RESTClient"]

T = TypeVar("T")

Resource = APIResource | GroupVersionResource


class PatchType(StrEnum):
    """How a patch says what to change; the value is its Content-Type."""

    JSON = "application/json-patch+json"
    """A list of operations (RFC 6902)."""
    MERGE = "application/merge-patch+json"
    """A part of the object, lists replaced as a whole (RFC 7386)."""
    STRATEGIC = "application/strategic-merge-patch+json"
    """A part of the object, lists merged by key. Built-in types only."""
    APPLY = "application/apply-patch+yaml"
    """Server-side apply: the fields that this manager wants; needs `field_manager`."""


class RESTClient:
    """Sends requests to the API server of `config`.

        async with RESTClient(load_config()) as client:
            pod = await client.get(PODS, "web-0", namespace="default")
            for pod in await client.list(PODS, namespace="default"):
                print(pod.name)

    `max_retries` is how often a request is repeated that the server answers with 429 or 5xx and a
    `Retry-After`, and a watch whose connection is lost before the answer (B4, B5); whoever paces by
    itself sets 0. `rate_limiter` holds back everything but watches (B3). `warnings` is told what
    the server warns of (B7); None logs each text once. `max_frame` bounds one event of a watch, in
    bytes (C5); an object that is asked for, alone or in a list, may have 16 MiB in any case. For
    `trust_lines`, which makes watches a fifth faster at full load, see `WatchDecoder`. With `rng`
    each wait before a repeat is up to a tenth longer, at random. `program`, such as
    `my-operator/1.2`, goes in front of the User-Agent, and names the field manager of writes.
    `encodings` are asked for in their order, wherever they can give what the decoder of a request
    reads; JSON is what is left (B9). `EncodingUnavailable` says what has to be installed for one.

    Its verbs raise what `Request` says. It belongs to no event loop: see `AiohttpTransport`. It
    must be closed, best by `async with`.
    """

    def __init__(
        self,
        config: ClientConfig,
        *,
        transport: Transport | None = None,
        max_retries: int = DEFAULT_MAX_RETRIES,
        rate_limiter: RateLimiter | None = None,
        warnings: WarningHandler | None = None,
        timeouts: Timeouts | None = None,
        max_frame: int = DEFAULT_LIMIT,
        trust_lines: bool = False,
        rng: Random | None = None,
        program: str = "",
        encodings: Sequence[Encoding] = (Encoding.JSON,),
    ) -> None:
        timeouts = timeouts or Timeouts()
        codecs = codecs_of(encodings)
        self.config = config
        self.transport: Transport = transport or AiohttpTransport(config)
        self._sender = Sender(
            exchange=Exchange(
                self.transport,
                authentication=Authentication(config),
                policy=RetryPolicy(max_retries, rng),
                warnings=warnings if warnings is not None else LogWarnings(),
                rate_limiter=rate_limiter,
                silence=timeouts.silence,
            ),
            codecs=codecs,
            user_agent=user_agent(program),
            timeouts=timeouts,
            max_frame=max_frame,
            trust_lines=trust_lines,
            compression=not config.disable_compression,
        )

    async def close(self) -> None:
        """Close every connection; a watch that is still open ends. Idempotent."""
        await self.transport.close()

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
        return f"RESTClient({self.config!r})"

    def request(self, method: str) -> Request[Unstructured]:
        """Start any request, such as `client.request("DELETE").resource(PODS).namespace("a")`."""
        return Request.start(self._sender, method, decode_unstructured)

    @overload
    def get(
        self,
        resource: Resource | None = None,
        name: str | None = None,
        *,
        namespace: str = "",
        subresource: str = "",
    ) -> Request[Unstructured]: ...
    @overload
    def get(
        self,
        resource: Resource | None = None,
        name: str | None = None,
        *,
        namespace: str = "",
        subresource: str = "",
        decoder: ObjectDecoder[T],
    ) -> Request[T]: ...
    def get(
        self,
        resource: Resource | None = None,
        name: str | None = None,
        *,
        namespace: str = "",
        subresource: str = "",
        decoder: ObjectDecoder[Any] = decode_unstructured,
    ) -> Request[Any]:
        """One object: `await client.get(PODS, "web-0", namespace="default")`.

        Without arguments it starts a GET request (F3).
        """
        request = self.request("GET").decoder(decoder).namespace(namespace)
        if resource is not None:
            request = request.resource(resource)
        if name is not None:
            request = request.name(name)
        return request.subresource(subresource) if subresource else request

    @overload
    async def list(
        self, resource: Resource, *, namespace: str = "", options: ListOptions | None = None
    ) -> ObjectList[Unstructured]: ...
    @overload
    async def list(
        self,
        resource: Resource,
        *,
        namespace: str = "",
        options: ListOptions | None = None,
        decoder: ObjectDecoder[T],
    ) -> ObjectList[T]: ...
    async def list(
        self,
        resource: Resource,
        *,
        namespace: str = "",
        options: ListOptions | None = None,
        decoder: ObjectDecoder[Any] = decode_unstructured,
    ) -> ObjectList[Any]:
        """One LIST, of one namespace or of all; with `limit` one page. See `Request.list`."""
        request = self.get(resource, namespace=namespace, decoder=decoder)
        return await request.list(options)

    @overload
    async def watch(
        self, resource: Resource, *, namespace: str = "", options: ListOptions | None = None
    ) -> Watch[Unstructured]: ...
    @overload
    async def watch(
        self,
        resource: Resource,
        *,
        namespace: str = "",
        options: ListOptions | None = None,
        decoder: ObjectDecoder[T],
    ) -> Watch[T]: ...
    async def watch(
        self,
        resource: Resource,
        *,
        namespace: str = "",
        options: ListOptions | None = None,
        decoder: ObjectDecoder[Any] = decode_unstructured,
    ) -> Watch[Any]:
        """Open one WATCH, to be stopped by whoever gets it. See `Request.watch`.

        async with await client.watch(PODS, namespace="default") as watch:
            async for event in watch:
                print(event.type, event.object.key)
        """
        request = self.get(resource, namespace=namespace, decoder=decoder)
        return await request.watch(options)

    async def create(
        self,
        resource: Resource,
        obj: Body,
        *,
        namespace: str = "",
        name: str = "",
        subresource: str = "",
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: str = "",
    ) -> Unstructured:
        """Create `obj` (POST), and give it as the server made it.

        The namespace is that of the object where none is given. With a `subresource`, such as
        `eviction`, the object named by `name` (or by `obj`) is its parent.
        """
        body, own_namespace, own_name = _named(obj)
        request = self._write("POST", resource, namespace or own_namespace, body)
        if subresource:
            request = request.name(name or own_name).subresource(subresource)
        elif (
            isinstance(resource, APIResource)
            and resource.namespaced
            and not (namespace or own_namespace)
        ):
            raise InvalidRequest(
                f"{resource.name} are namespaced: in which one should this be created?"
            )
        return await _with_parameters(request, dry_run, field_manager, field_validation)

    async def replace(
        self,
        resource: Resource,
        obj: Body,
        *,
        namespace: str = "",
        name: str = "",
        subresource: str = "",
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: str = "",
    ) -> Unstructured:
        """Replace an object by `obj` (PUT), which names it, and give it as it is then.

        The RV in `obj` is the optimistic lock: `Conflict` if the object has changed since.
        """
        body, own_namespace, own_name = _named(obj)
        request = self._write("PUT", resource, namespace or own_namespace, body)
        request = request.name(name or own_name)
        if subresource:
            request = request.subresource(subresource)
        return await _with_parameters(request, dry_run, field_manager, field_validation)

    async def patch(
        self,
        resource: Resource,
        name: str,
        body: Body,
        *,
        patch_type: PatchType,
        namespace: str = "",
        subresource: str = "",
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: str = "",
        force: bool = False,
    ) -> Unstructured:
        """Change a part of an object (PATCH), and give it as it is then.

        `force` is of APPLY: take fields over from other managers instead of a `Conflict`.
        """
        request = self._write("PATCH", resource, namespace, encode_body(body), patch_type)
        request = request.name(name)
        if subresource:
            request = request.subresource(subresource)
        if force:
            request = request.query("force", "true")
        return await _with_parameters(request, dry_run, field_manager, field_validation)

    async def delete(
        self,
        resource: Resource,
        name: str,
        *,
        namespace: str = "",
        uid: str = "",
        resource_version: str = "",
        propagation_policy: str = "",
        grace_period_seconds: int | None = None,
        dry_run: bool = False,
        options: Mapping[str, Any] | None = None,
    ) -> Unstructured | Status:
        """Delete an object, and give what the server answers: a Status, or, by type and while
        finalizers hold it, the object (K33).

        `uid` and `resource_version` are preconditions: `Conflict` if the object has another.
        `propagation_policy` is `Foreground`, `Background` or `Orphan`. `options` are further fields
        of DeleteOptions.
        """
        preconditions = {"uid": uid, "resourceVersion": resource_version}
        preconditions = {key: value for key, value in preconditions.items() if value}
        body: dict[str, Any] = {
            **({"preconditions": preconditions} if preconditions else {}),
            **({"propagationPolicy": propagation_policy} if propagation_policy else {}),
            **(
                {} if grace_period_seconds is None else {"gracePeriodSeconds": grace_period_seconds}
            ),
            **({"dryRun": ["All"]} if dry_run else {}),
            **(options or {}),
        }
        request = self.request("DELETE").resource(resource).namespace(namespace).name(name)
        if body:
            request = request.body({"kind": "DeleteOptions", "apiVersion": "v1", **body})
        return await request.decoder(_object_or_status)

    async def read(
        self,
        path: str,
        *,
        query: Sequence[tuple[str, str]] = (),
        accept: str = "application/json",
    ) -> bytes:
        """GET any path, such as `/openapi/v3`: the body as it is."""
        request = self.request("GET").path(path).header("Accept", accept)
        for name, value in query:
            request = request.query(name, value)
        return await request.raw()

    def _write(
        self,
        method: str,
        resource: Resource,
        namespace: str,
        body: bytes,
        content_type: str = "application/json",
    ) -> Request[Unstructured]:
        request = self.request(method).resource(resource).namespace(namespace)
        return request.body(body, content_type)


def _with_parameters(
    request: Request[Unstructured], dry_run: bool, field_manager: str, field_validation: str
) -> Request[Unstructured]:
    parameters = {
        "dryRun": "All" if dry_run else "",
        "fieldManager": field_manager,
        "fieldValidation": field_validation,
    }
    for name, value in parameters.items():
        if value:
            request = request.query(name, value)
    return request


def _named(obj: Body) -> tuple[bytes, str, str]:
    """An object as it travels, its namespace and its name."""
    body = encode_body(obj)
    found = obj if isinstance(obj, Unstructured) else Unstructured.from_bytes(body)
    return body, found.namespace, found.name


def _object_or_status(body: bytes) -> Unstructured | Status:
    found = Unstructured.from_bytes(body)
    return Status.from_bytes(body) if found.kind == "Status" else found
