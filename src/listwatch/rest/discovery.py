"""Which resources a server has, and which one a name means."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from listwatch.api import APIResource, ListWatchError
from listwatch.api.builtin import BUILTIN_RESOURCES

from ._per_loop import PerLoopLock
from .discovery_reading import DiscoveryReader, Found, Reader, Starter
from .resource_names import (
    FORMS,
    ResourceName,
    find_resource,
    near_names,
    parse_resource_name,
)

__all__ = ["Discovery", "UnknownResource"]

R = TypeVar("R")


class UnknownResource(ListWatchError):
    """No resource is meant by that name, as far as the server lets us know.

    `text` is the name, `suggestions` are up to three that are near it.
    """

    def __init__(self, message: str, *, text: str, suggestions: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.text = text
        self.suggestions = suggestions


@dataclass(frozen=True, slots=True)
class _Snapshot:
    found: Found
    taken: float


class Discovery:
    """Turns names such as `po`, `deployments.apps`, `apps/v1/deployments` or a CRD's short name
    into an `APIResource`.

        discovery = Discovery(client)
        widgets = await discovery.resolve("widgets.example.com")
        async for event in await client.watch(widgets): ...

    **Requests.** The names of built-in types cost none and always mean those types. The first other
    name costs two (`/api` and `/apis`, aggregated; on a server that knows only the legacy form also
    one for each group version), and the answer is kept. A name that is not in it makes `resolve`
    ask again, once a call, and never if what is known is younger than `refresh_interval` seconds of
    the event loop's clock: a CRD that has just appeared is found, and a loop over unknown names
    does not flood the server. Calls that need an answer at the same time share it. `refresh` asks
    at once. A server that tells by an Etag that nothing has changed (K42) sends nothing again.

    **Categories**, such as `all`, stand for several resources: `in_category` has them.

    **Failures.** A group whose discovery fails does not hide the others: it is in `failures`, and
    in the message of `UnknownResource`. So is a refusal (403) to read discovery at all. A server
    that cannot be reached, a 401 and a 5xx for `/api` or `/apis` are raised as they are, and
    nothing is kept then.
    """

    def __init__(
        self,
        client: Reader | Starter,
        *,
        builtin: Sequence[APIResource] = BUILTIN_RESOURCES,
        refresh_interval: float = 5.0,
    ) -> None:
        self._reader = DiscoveryReader(client)
        self._builtin = tuple(builtin)
        self._refresh_interval = refresh_interval
        self._snapshot: _Snapshot | None = None
        self._in_vain: float | None = None
        self._lock = PerLoopLock()
        self._failed = 0  # looks
        self._failure: ListWatchError | None = None  # of the last one that did

    async def resources(self) -> tuple[APIResource, ...]:
        """All the server has, without subresources, in its order of preference; what is known
        already, or asked for now.

        Raises `APIError` or `TransportError` if `/api` or `/apis` cannot be had; where the server
        refuses both, the `Forbidden`.
        """
        found = (self._snapshot or await self._load(newer_than=None)).found
        refusal = found.failures.get("/apis")
        if not found.resources and refusal is not None:
            raise refusal
        return found.resources

    async def preferred(self) -> tuple[APIResource, ...]:
        """The same with each resource once, at the version that the server prefers, or, where that
        has it not, the next. Raises as `resources` does.
        """
        return _once_each(await self.resources())

    async def in_category(self, name: str) -> tuple[APIResource, ...]:
        """What is meant by a category such as `all`, and can be listed: each resource once, at the
        version that the server prefers, in the server's order. Empty where there is no such
        category.

        The server is always asked, once: any custom type may be part of a category. Where it tells
        nothing of its resources it is the built-in ones. A category that is not there makes it ask
        again, as an unknown name does. Raises as `resolve` does.

            >>> [str(each) for each in await discovery.in_category("all")]  # doctest: +SKIP
            ['v1/pods', 'v1/services', 'apps/v1/deployments', ...]
        """

        def search(found: Found) -> tuple[APIResource, ...]:
            known = found.resources or self._builtin
            return _once_each(each for each in known if name in each.categories and _listable(each))

        members, _ = await self._search(search)
        return members

    async def refresh(self) -> None:
        """Ask the server now, whatever is known. Raises as `resources` does."""
        await self._load(newer_than=self._snapshot)

    async def recheck(self) -> None:
        """Ask the server again since it denied a resource that is known, by a 404 for its path: it
        may be gone, or be served at another version. That is done once for calls that come at the
        same time, and for `refresh_interval` not again where nothing was new. Raises as `resources`
        does.

        A server may learn of a change in its own resources a second later than it acts on it.
        """
        known, failed = self._snapshot, self._failed
        async with self._lock.here():
            if self._snapshot is not known:
                return  # somebody else has asked meanwhile
            self._share_failure(failed)
            if self._in_vain is not None and self._age_of(self._in_vain) < self._refresh_interval:
                return
            self._snapshot = await self._look()
            before = known.found.resources if known is not None else None
            nothing_new = self._snapshot.found.resources == before
            self._in_vain = self._snapshot.taken if nothing_new else None

    @property
    def failures(self) -> Mapping[str, ListWatchError | None]:
        """What the last answer lacks: paths and group versions with the error, None where the
        server says that its own knowledge is stale."""
        return dict(self._snapshot.found.failures) if self._snapshot is not None else {}

    async def resolve(self, text: str) -> APIResource:
        """The resource that `text` means: plural, singular, short name or kind in any case, with or
        without group and version.

        Of several, kubectl's choice: core group first, then the order of the server's groups, in
        each its preferred version first. Raises `UnknownResource`, and `APIError` or
        `TransportError` if the server had to be asked and did not answer.

            >>> await discovery.resolve("deploy")  # doctest: +SKIP
            APIResource(group='apps', version='v1', name='deployments', ...)
        """
        readings = readings_of(text)
        if builtin := _find(self._builtin, readings, group_prefix=False):
            return builtin
        meant, found = await self._search(lambda found: self._find_in(found, readings))
        if meant is None:
            raise self._unknown(text, readings[0], found)
        return meant

    def _find_in(self, found: Found, readings: tuple[ResourceName, ...]) -> APIResource | None:
        known = found.resources or self._builtin
        return _find(known, readings, group_prefix=False) or _find(
            known, readings, group_prefix=True
        )

    async def _search(self, search: Callable[[Found], R]) -> tuple[R, Found]:
        """What `search` finds in what is known, or in a newer answer; and in which."""
        known = self._snapshot
        snapshot = known or await self._load(newer_than=None)
        result = search(snapshot.found)
        if (
            not result
            and snapshot is known
            and self._age_of(snapshot.taken) >= self._refresh_interval
        ):
            snapshot = await self._load(newer_than=snapshot)
            result = search(snapshot.found)
        return result, snapshot.found

    def _age_of(self, moment: float) -> float:
        return asyncio.get_running_loop().time() - moment

    async def _load(self, *, newer_than: _Snapshot | None) -> _Snapshot:
        """Ask the server, unless somebody else has done so since `newer_than`."""
        failed = self._failed
        async with self._lock.here():
            if self._snapshot is None or self._snapshot is newer_than:
                self._share_failure(failed)
                self._snapshot = await self._look()
            return self._snapshot

    def _share_failure(self, before: int) -> None:
        """Raise what somebody else was told while we waited for our turn."""
        if self._failed != before and self._failure is not None:
            raise copy.copy(self._failure)

    async def _look(self) -> _Snapshot:
        try:
            found = await self._reader.look()
        except ListWatchError as error:
            self._failed += 1
            self._failure = copy.copy(error)  # without its traceback
            raise
        self._failure = None
        return _Snapshot(found, asyncio.get_running_loop().time())

    def _unknown(self, text: str, wanted: ResourceName, found: Found) -> UnknownResource:
        known = (*found.resources, *self._builtin)
        suggestions = near_names(known, wanted)
        lines = [f"the server has no resource {text!r} that we know of."]
        if any(text in each.categories for each in known):
            suggestions = ()
            lines.append("It is a category, which stands for several: here one of them is needed.")
        elif suggestions:
            lines.append(f"Did you mean {' or '.join(suggestions)}?")
        lines.append("`listwatch api-resources` lists what there is.")
        failed = [f"{name} ({error or 'stale'})" for name, error in found.failures.items()]
        if failed and not found.resources:
            lines.append(
                "The server told nothing of its resources, so only built-in types are known:"
                f" {'; '.join(failed)}. The cluster role system:discovery lets them be read; a"
                " program can also pass an APIResource."
            )
        elif failed:
            lines.append(f"Not known, because their discovery failed: {'; '.join(failed)}.")
        return UnknownResource(" ".join(lines), text=text, suggestions=suggestions)


def readings_of(text: str) -> tuple[ResourceName, ...]:
    """The ways to read `text`, the likeliest first. Raises `UnknownResource` if there are none."""
    try:
        return parse_resource_name(text)
    except ValueError as error:
        raise UnknownResource(
            f"{text!r} {error}. Expected something like {FORMS}.", text=text
        ) from None


def _find(
    resources: Sequence[APIResource], readings: tuple[ResourceName, ...], *, group_prefix: bool
) -> APIResource | None:
    for wanted in readings:
        if found := find_resource(resources, wanted, group_prefix=group_prefix):
            return found
    return None


def _listable(resource: APIResource) -> bool:
    return not resource.verbs or "list" in resource.verbs


def _once_each(resources: Iterable[APIResource]) -> tuple[APIResource, ...]:
    """Of each group's resource the first version: the one that the server prefers."""
    first: dict[tuple[str, str], APIResource] = {}
    for resource in resources:
        first.setdefault((resource.group, resource.name), resource)
    return tuple(first.values())
