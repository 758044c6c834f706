"""Which resource a program means: by a name, by an address, or by an object of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from listwatch.api import (
    APIResource,
    GroupVersionResource,
    ListWatchError,
    MalformedObject,
    NotFound,
)
from listwatch.api.builtin import BUILTIN_RESOURCES
from listwatch.rest import Discovery, InvalidRequest, Request, RESTClient, UnknownResource
from listwatch.rest.builtin import Resource, builtin

__all__ = ["Resource", "Resources", "Unrepeated", "builtin"]

F = TypeVar("F", bound=APIResource | GroupVersionResource)
A = TypeVar("A")


class Unrepeated:
    """Reads for the discovery of a mirror, which paces its requests itself: none is sent twice
    (B4).
    """

    def __init__(self, rest: RESTClient) -> None:
        self._rest = rest

    def request(self, method: str) -> Request[Any]:
        return self._rest.request(method).max_retries(0)

    async def read(
        self, path: str, *, query: Sequence[tuple[str, str]] = (), accept: str = "application/json"
    ) -> bytes:
        request = self.request("GET").path(path).header("Accept", accept)
        for name, value in query:
            request = request.query(name, value)
        return await request.raw()


class Resources:
    """Turns what a program says into an `APIResource`.

    Built-in types cost no request. For another name the server is asked what it has, and asked
    again when a name is not in its last answer: see `Discovery`.
    """

    def __init__(self, discovery: Discovery) -> None:
        self.discovery = discovery

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
            await self.discovery.refresh()
        try:
            return await self.discovery.resolve(str(resource))
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
            named = await self.discovery.resolve(f"{api_version}/{kind}")
            known = (named, *await self.discovery.resources())
            found = _of_kind(known, api_version, kind)
            if found is None:
                raise UnknownResource(
                    f"the server has no resource of kind {kind} in {api_version}; is it"
                    f" {named.kind}?",
                    text=f"{api_version}/{kind}",
                    suggestions=(named.kind,),
                )
        return found

    async def ask(
        self,
        find: Callable[[], Awaitable[F]],
        send: Callable[[F], Awaitable[A]],
        *,
        given: Resource | None = None,
    ) -> A:
        """What `send` gives for what `find` finds.

        A type that the server had when it was asked may be gone, or be served at another version or
        scope: its path is then not found. The server is asked once more what it has, and where that
        is another address, `send` is called with that, too. Nothing has been done by the first
        request. `given` is what the program said, which is believed if it is a whole `APIResource`.

        Raises what both raise: `UnknownResource` where the type is gone.
        """
        found = await find()
        try:
            return await send(found)
        except NotFound as error:
            if error.details.name or found is given or not _is_learnt(found):
                raise  # an object is not there, or what we know is not from the server
            try:
                await self.discovery.recheck()
            except ListWatchError as problem:
                error.add_note(f"what the server has could not be asked again: {problem}")
                raise error from None
            again = await find()
            if again == found:
                raise
        return await send(again)

    def _nothing_told(self) -> bool:
        return {"/api", "/apis"} <= self.discovery.failures.keys()


def _of_kind(resources: Sequence[APIResource], api_version: str, kind: str) -> APIResource | None:
    return next(
        (item for item in resources if item.kind == kind and item.api_version == api_version), None
    )


def _is_learnt(resource: APIResource | GroupVersionResource) -> bool:
    """Whether it is of the server that we know it: what an address says is believed."""
    return isinstance(resource, APIResource) and all(
        resource is not known for known in BUILTIN_RESOURCES
    )


def _address(text: str) -> GroupVersionResource | None:
    try:
        return GroupVersionResource.parse(text)
    except MalformedObject:
        return None
