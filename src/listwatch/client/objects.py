"""One object, or one list: get, list, create, replace, patch and delete."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, overload

from listwatch.api import (
    APIResource,
    GroupVersionResource,
    ListOptions,
    Status,
    Unstructured,
)
from listwatch.cache import ListWatch
from listwatch.cache.pager import Pager
from listwatch.rest import Discovery, PatchType, RESTClient
from listwatch.rest.request import Body, encode_body
from listwatch.wire import ObjectDecoder, ObjectList, decode_unstructured

from .resources import Resource, Resources

__all__ = ["Objects"]

T = TypeVar("T")


class Objects:
    """The verbs for objects. `Client` has them; see there for what their arguments mean."""

    def __init__(self, rest: RESTClient) -> None:
        self.rest = rest
        """What sends the requests: every verb with every option, and any path."""
        self._resources = Resources(Discovery(rest))

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
        found, namespace = await self._place(resource, namespace)
        return await self.rest.get(
            found, name, namespace=namespace, subresource=subresource, decoder=decoder
        )

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
        found = await self._resources.find(resource)
        source = ListWatch.from_client_filtered(
            self.rest, found, namespace, decoder=decoder, max_retries=None
        )
        return await Pager(source, page_size=page_size).list(options)

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
        found, namespace, obj = await self._place_of(obj, resource, namespace)
        return await self.rest.create(
            found,
            obj,
            namespace=namespace,
            dry_run=dry_run,
            field_manager=field_manager,
            field_validation=field_validation,
        )

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
        found, namespace, obj = await self._place_of(obj, resource, namespace)
        return await self.rest.replace(
            found,
            obj,
            namespace=namespace,
            subresource=subresource,
            dry_run=dry_run,
            field_manager=field_manager,
            field_validation=field_validation,
        )

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
        found, namespace = await self._place(resource, namespace)
        return await self.rest.patch(
            found,
            name,
            body,
            patch_type=patch_type,
            namespace=namespace,
            subresource=subresource,
            dry_run=dry_run,
            field_manager=field_manager,
            field_validation=field_validation,
            force=force,
        )

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
        found, namespace = await self._place(resource, namespace)
        return await self.rest.delete(
            found,
            name,
            namespace=namespace,
            uid=uid,
            resource_version=resource_version,
            propagation_policy=propagation_policy,
            grace_period_seconds=grace_period_seconds,
            dry_run=dry_run,
            options=options,
        )

    async def _place(
        self, resource: Resource, namespace: str | None
    ) -> tuple[APIResource | GroupVersionResource, str]:
        """The resource and the namespace of a request for one object."""
        found = await self._resources.find(resource, scope=namespace is None)
        return found, self._namespace(found, namespace, "")

    async def _place_of(
        self, obj: Body, resource: Resource | None, namespace: str | None
    ) -> tuple[APIResource | GroupVersionResource, str, Unstructured]:
        """The same for an object that is sent, and the object as it travels."""
        sent = obj if isinstance(obj, Unstructured) else Unstructured.from_bytes(encode_body(obj))
        found: APIResource | GroupVersionResource
        if resource is None:
            found = await self._resources.of_object(sent.api_version, sent.kind)
        else:
            scope = namespace is None and not sent.namespace
            found = await self._resources.find(resource, scope=scope)
        if isinstance(found, APIResource) and not (sent.kind and sent.api_version):
            sent = Unstructured.from_bytes(sent.raw, api_version=found.api_version, kind=found.kind)
        return found, self._namespace(found, namespace, sent.namespace), sent

    def _namespace(
        self, found: APIResource | GroupVersionResource, namespace: str | None, own: str
    ) -> str:
        if namespace is not None:
            return namespace
        namespaced = isinstance(found, APIResource) and found.namespaced
        return own or (self.rest.config.namespace if namespaced else "")
