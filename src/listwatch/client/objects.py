"""One object, or one list: get, list, create, replace, patch and delete."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar, overload

from listwatch.api import (
    APIResource,
    GroupVersionResource,
    ListOptions,
    Status,
    Unstructured,
)
from listwatch.cache import ListWatch
from listwatch.cache.asking import asked_form, for_resource
from listwatch.cache.pager import Pager
from listwatch.rest import Discovery, PatchType, RESTClient
from listwatch.rest.request import Body, encode_body
from listwatch.wire import ObjectDecoder, ObjectList, Table, decode_unstructured

from .resources import Resource, Resources
from .tables import table

__all__ = ["Objects"]

T = TypeVar("T")
A = TypeVar("A")

Found = APIResource | GroupVersionResource


class Objects:
    """The verbs for objects. `Client` has them; see there for what their arguments mean."""

    def __init__(self, rest: RESTClient) -> None:
        self.rest = rest
        """What sends the requests: every verb with every option, and any path."""
        self._resources = Resources(Discovery(rest))

    @property
    def discovery(self) -> Discovery:
        """What the server has, as far as `get`, `list` and the writing verbs know it."""
        return self._resources.discovery

    async def resources(self, *, category: str = "") -> tuple[APIResource, ...]:
        """The types that the server has, each at the version that it prefers, in its order, without
        subresources. With a `category`, such as `all`, those of it that can be listed.

            for resource in await client.resources(category="all"):
                found = await client.list(resource, namespace="default")

        What has been asked once is known; see `Discovery`, which has all versions, too.
        """
        if category:
            return await self.discovery.in_category(category)
        return await self.discovery.preferred()

    @overload
    async def get(
        self,
        resource: Resource,
        name: str,
        *,
        namespace: str | None = None,
        subresource: str = "",
    ) -> Unstructured: ...
    @overload
    async def get(
        self,
        resource: Resource,
        name: str,
        *,
        namespace: str | None = None,
        subresource: str = "",
        decoder: ObjectDecoder[T],
    ) -> T: ...
    async def get(
        self,
        resource: Resource,
        name: str,
        *,
        namespace: str | None = None,
        subresource: str = "",
        decoder: ObjectDecoder[Any] = decode_unstructured,
    ) -> Any:
        """One object. Raises `NotFound`."""

        async def send(found: Found) -> Any:
            decode = for_resource(decoder, found)
            request = self.rest.get(
                found,
                name,
                namespace=self._namespace(found, namespace),
                subresource=subresource,
                decoder=decode,
            )
            return await request.form(asked_form(decode))

        return await self._ask(resource, send, scope=namespace is None)

    @overload
    async def list(
        self,
        resource: Resource,
        *,
        namespace: str = "",
        label_selector: str = "",
        field_selector: str = "",
        page_size: int | None = 500,
    ) -> ObjectList[Unstructured]: ...
    @overload
    async def list(
        self,
        resource: Resource,
        *,
        namespace: str = "",
        label_selector: str = "",
        field_selector: str = "",
        page_size: int | None = 500,
        decoder: ObjectDecoder[T],
    ) -> ObjectList[T]: ...
    async def list(
        self,
        resource: Resource,
        *,
        namespace: str = "",
        label_selector: str = "",
        field_selector: str = "",
        page_size: int | None = 500,
        decoder: ObjectDecoder[Any] = decode_unstructured,
    ) -> ObjectList[Any]:
        """All objects as they are now, of one namespace or of all.

        They are asked for `page_size` at a time (None: all at once). Where a page has expired
        before it was asked for, all of it is asked for once more (G2), so that the result is always
        one state of the server: that of its `resource_version`.
        """
        options = ListOptions(label_selector=label_selector, field_selector=field_selector)

        async def send(found: Found) -> ObjectList[Any]:
            source = ListWatch.from_client_filtered(
                self.rest, found, namespace, decoder=decoder, max_retries=None
            )
            return await Pager(source, page_size=page_size).list(options)

        return await self._ask(resource, send)

    async def table(
        self,
        resource: Resource,
        name: str | None = None,
        *,
        namespace: str | None = None,
        label_selector: str = "",
        field_selector: str = "",
        page_size: int | None = 500,
        whole: bool = False,
    ) -> Table:
        """What the server would print of these objects, as kubectl shows it, or of the one of that
        name (B9).

        Each row is an object's metadata, or, if it is to be `whole`, all of it, with its `cells`
        beside it. A server that makes no Tables sends whole objects: there are no columns then, and
        rows have no cells. Namespaces are as for `list`, and with a name as for `get`.
        """

        async def send(found: Found) -> Table:
            return await table(
                self.rest,
                found,
                name or "",
                namespace=self._namespace(found, namespace) if name else namespace or "",
                label_selector=label_selector,
                field_selector=field_selector,
                page_size=page_size,
                whole=whole,
            )

        return await self._ask(resource, send, scope=bool(name) and namespace is None)

    async def create(
        self,
        obj: Body,
        *,
        resource: Resource | None = None,
        namespace: str | None = None,
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: str = "",
    ) -> Unstructured:
        """Create `obj`, and give it as the server made it. Raises `AlreadyExists`, `Invalid`."""

        async def send(found: Found, sent: Unstructured) -> Unstructured:
            return await self.rest.create(
                found,
                sent,
                namespace=self._namespace(found, namespace, sent.namespace),
                dry_run=dry_run,
                field_manager=field_manager,
                field_validation=field_validation,
            )

        return await self._ask_for(obj, resource, send, namespace=namespace)

    async def replace(
        self,
        obj: Body,
        *,
        resource: Resource | None = None,
        namespace: str | None = None,
        subresource: str = "",
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: str = "",
    ) -> Unstructured:
        """Put `obj` in the place of the object of its name, and give that as it is then.

        The resourceVersion in `obj` is the lock: `Conflict` if the object has changed since, and
        then the way is to read it again. `subresource="status"` writes the status alone.
        """

        async def send(found: Found, sent: Unstructured) -> Unstructured:
            return await self.rest.replace(
                found,
                sent,
                namespace=self._namespace(found, namespace, sent.namespace),
                subresource=subresource,
                dry_run=dry_run,
                field_manager=field_manager,
                field_validation=field_validation,
            )

        return await self._ask_for(obj, resource, send, namespace=namespace)

    async def patch(
        self,
        resource: Resource,
        name: str,
        body: Body,
        *,
        patch_type: PatchType = PatchType.MERGE,
        namespace: str | None = None,
        subresource: str = "",
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: str = "",
        force: bool = False,
    ) -> Unstructured:
        """Change a part of an object, and give it as it is then.

        A merge patch is the changed part of the object; None takes a member away.
        """

        async def send(found: Found) -> Unstructured:
            return await self.rest.patch(
                found,
                name,
                body,
                patch_type=patch_type,
                namespace=self._namespace(found, namespace),
                subresource=subresource,
                dry_run=dry_run,
                field_manager=field_manager,
                field_validation=field_validation,
                force=force,
            )

        return await self._ask(resource, send, scope=namespace is None)

    async def delete(
        self,
        resource: Resource,
        name: str,
        *,
        namespace: str | None = None,
        uid: str = "",
        resource_version: str = "",
        propagation_policy: str = "",
        grace_period_seconds: int | None = None,
        dry_run: bool = False,
        options: Mapping[str, Any] | None = None,
    ) -> Unstructured | Status:
        """Delete an object; see `RESTClient.delete` for the options and the answer.

        An object with finalizers, or a pod with a grace period, is there for a while yet.
        """

        async def send(found: Found) -> Unstructured | Status:
            return await self.rest.delete(
                found,
                name,
                namespace=self._namespace(found, namespace),
                uid=uid,
                resource_version=resource_version,
                propagation_policy=propagation_policy,
                grace_period_seconds=grace_period_seconds,
                dry_run=dry_run,
                options=options,
            )

        return await self._ask(resource, send, scope=namespace is None)

    async def _ask(
        self, resource: Resource, send: Callable[[Found], Awaitable[A]], *, scope: bool = False
    ) -> A:
        """What `send` gives for the resource; see `Resources.ask`. Its scope must be known where no
        namespace is said.
        """

        async def find() -> Found:
            return await self._resources.find(resource, scope=scope)

        return await self._resources.ask(find, send, given=resource)

    async def _ask_for(
        self,
        obj: Body,
        resource: Resource | None,
        send: Callable[[Found, Unstructured], Awaitable[A]],
        *,
        namespace: str | None,
    ) -> A:
        """The same for an object that is sent, as it travels."""
        sent = obj if isinstance(obj, Unstructured) else Unstructured.from_bytes(encode_body(obj))

        async def find() -> Found:
            if resource is None:
                return await self._resources.of_object(sent.api_version, sent.kind)
            scope = namespace is None and not sent.namespace
            return await self._resources.find(resource, scope=scope)

        async def send_it(found: Found) -> A:
            whole = sent
            if isinstance(found, APIResource) and not (sent.kind and sent.api_version):
                whole = Unstructured.from_bytes(
                    sent.raw, api_version=found.api_version, kind=found.kind
                )
            return await send(found, whole)

        return await self._resources.ask(find, send_it, given=resource)

    def _namespace(self, found: Found, namespace: str | None, own: str = "") -> str:
        if namespace is not None:
            return namespace
        namespaced = isinstance(found, APIResource) and found.namespaced
        return own or (self.rest.config.namespace if namespaced else "")
