"""Which resource a program means: by a name, by an address, or by an object of it."""

from __future__ import annotations

from collections.abc import Sequence

from listwatch.api import APIResource, GroupVersionResource, MalformedObject
from listwatch.api.builtin import BUILTIN_RESOURCES
from listwatch.rest import Discovery, InvalidRequest, RESTClient, UnknownResource
from listwatch.rest.builtin import Resource, builtin

__all__ = ["Resource", "Resources", "Unrepeated", "builtin"]


class Unrepeated:
    """Reads for the discovery of a mirror, which paces its requests itself: none is sent twice
    (B4).
    """

    def __init__(self, rest: RESTClient) -> None:
        self._rest = rest

    async def read(
        self, path: str, *, query: Sequence[tuple[str, str]] = (), accept: str = "application/json"
    ) -> bytes:
        request = self._rest.request("GET").path(path).header("Accept", accept).max_retries(0)
        for name, value in query:
            request = request.query(name, value)
        return await request.raw()


class Resources:
    """Turns what a program says into an `APIResource`.

    Built-in types cost no request. For another name the server is asked what it has, and asked
    again when a name is not in its last answer: see `Discovery`.
    """

    def __init__(self, discovery: Discovery) -> None:
        self._discovery = discovery

    async def find(
        self, resource: Resource, *, scope: bool = False, afresh: bool = False
    ) -> APIResource | GroupVersionResource:
        """The resource. An address of a type that is not built in is enough, unless `scope` says
        that it must be known whether the type is namespaced. `afresh`: forget what is known of the
        server.

        Where the server lets nobody read what it has, a name that is an address is believed too.
        Raises `UnknownResource`, and what `Discovery.resolve` raises.
        """
        known = builtin(resource)
        if isinstance(known, APIResource):
            return known
        if isinstance(resource, GroupVersionResource) and not scope:
            return resource
        if afresh:
            await self._discovery.refresh()
        try:
            return await self._discovery.resolve(str(resource))
        except UnknownResource:
            address = _address(str(resource))
            if scope or address is None or not self._nothing_told():
                raise
            return address

    async def of_object(self, api_version: str, kind: str) -> APIResource:
        """The resource whose objects say that they are this. Raises as `find` does, and
        `InvalidRequest` where they say nothing.
        """
        if not api_version or not kind:
            lacking = "kind" if api_version else "apiVersion" if kind else "apiVersion and kind"
            raise InvalidRequest(f"the object has no {lacking}: give it that, or say resource=")
        found = _of_kind(BUILTIN_RESOURCES, api_version, kind)
        if found is None:
            # A kind is found by name in any case, so that another resource may have been meant.
            named = await self._discovery.resolve(f"{api_version}/{kind}")
            known = (named, *await self._discovery.resources())
            found = _of_kind(known, api_version, kind)
            if found is None:
                raise UnknownResource(
                    f"the server has no resource of kind {kind} in {api_version}; is it"
                    f" {named.kind}?",
                    text=f"{api_version}/{kind}",
                    suggestions=(named.kind,),
                )
        return found

    def _nothing_told(self) -> bool:
        return {"/api", "/apis"} <= self._discovery.failures.keys()


def _of_kind(resources: Sequence[APIResource], api_version: str, kind: str) -> APIResource | None:
    return next(
        (item for item in resources if item.kind == kind and item.api_version == api_version), None
    )


def _address(text: str) -> GroupVersionResource | None:
    try:
        return GroupVersionResource.parse(text)
    except MalformedObject:
        return None
