"""What the watches and mirrors of a client are filled from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from listwatch.api import APIResource, GroupVersionResource, ListOptions
from listwatch.cache import AsyncListerWatcher, ListWatch
from listwatch.cache.asking import asked_form
from listwatch.cache.resolving import ResolvingListWatch
from listwatch.cache.transforms import Transform, transformed
from listwatch.rest import Discovery, InvalidRequest, RESTClient
from listwatch.rest.path import resource_path
from listwatch.wire import ObjectDecoder

from .identified import identified
from .resources import Resource, Resources, Unrepeated, builtin

__all__ = ["Sources"]


class Sources:
    """Makes sources, none of which sends anything twice by itself: their reflectors pace them, and
    the discovery for them too (B4, H9).
    """

    def __init__(self, rest: RESTClient) -> None:
        self._rest = rest
        self._resources = Resources(Discovery(Unrepeated(rest)))

    def of(
        self,
        resource: Resource,
        namespace: str,
        label_selector: str,
        field_selector: str,
        decoder: ObjectDecoder[Any],
        transforms: Sequence[Transform],
    ) -> tuple[AsyncListerWatcher[Any], str]:
        """A source, and the kind of its objects where that is known yet, and they say it.

        What can be seen to be wrong without a request is raised: `InvalidRequest`, `SelectorError`,
        `UnknownResource`.
        """
        ListOptions(label_selector=label_selector, field_selector=field_selector)
        decode = transformed(identified(decoder), *transforms)

        def source_of(found: APIResource | GroupVersionResource) -> ListWatch[Any]:
            return ListWatch.from_client(
                self._rest,
                found,
                namespace,
                field_selector,
                label_selector=label_selector,
                decoder=decode,
            )

        async def find(afresh: bool) -> tuple[ListWatch[Any], str]:
            found = await self._resources.find(resource, afresh=afresh)
            return source_of(found), str(found)

        known = builtin(resource)
        address = known or (resource if isinstance(resource, GroupVersionResource) else None)
        if address is None:
            return ResolvingListWatch(find), ""
        resource_path(address, namespace=namespace)  # which refuses what makes no path
        if known is not None and known.verbs and "watch" not in known.verbs:
            raise InvalidRequest(
                f"{known.name} cannot be watched: the server knows them for"
                f" {', '.join(known.verbs)} only"
            )
        # Metadata alone is of a kind of its own, and the decoder looks that it is of this resource.
        kind = "" if known is None or asked_form(decode) else known.kind
        return source_of(address), kind
