"""Which resources a server has, and which one a name means."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from listwatch.api import APIError, APIResource, Forbidden, ListWatchError, NotFound
from listwatch.api.builtin import BUILTIN_RESOURCES

from .discovery_answers import (
    AGGREGATED_ACCEPT,
    Aggregated,
    NotDiscovery,
    parse_discovery,
    parse_resource_list,
)
from .resource_names import (
    FORMS,
    ResourceName,
    find_resource,
    near_names,
    parse_resource_name,
)

__all__ = ["Discovery", "UnknownResource"]

_LEGACY_AT_ONCE = 8
"""How many of a legacy server's group versions are asked for side by side: a cluster can have a
hundred."""


class _Reader(Protocol):
    """What discovery needs of a client: `RESTClient.read`."""

    async def read(
        self, path: str, *, query: Sequence[tuple[str, str]] = (), accept: str = "application/json"
    ) -> bytes: ...


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
    resources: tuple[APIResource, ...]
    failures: Mapping[str, ListWatchError | None]
    """What could not be learnt: a path or group version, and the error; None where the server
    itself calls it stale."""
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
    at once.

    **Failures.** A group whose discovery fails does not hide the others: it is in `failures`, and
    in the message of `UnknownResource`. So is a refusal (403) to read discovery at all. A server
    that cannot be reached, a 401 and a 5xx for `/api` or `/apis` are raised as they are, and
    nothing is kept then.
    """

    def __init__(
        self,
        client: _Reader,
        *,
        builtin: Sequence[APIResource] = BUILTIN_RESOURCES,
        refresh_interval: float = 5.0,
    ) -> None:
        self._client = client
        self._builtin = tuple(builtin)
        self._refresh_interval = refresh_interval
        self._snapshot: _Snapshot | None = None
        self._lock = asyncio.Lock()

    async def resources(self) -> tuple[APIResource, ...]:
        """All the server has, without subresources, in its order of preference; what is known
        already, or asked for now.

        Raises `APIError` or `TransportError` if `/api` or `/apis` cannot be had; where the server
        refuses both, the `Forbidden`.
        """
        snapshot = self._snapshot or await self._load(newer_than=None)
        refusal = snapshot.failures.get("/apis")
        if not snapshot.resources and refusal is not None:
            raise refusal
        return snapshot.resources

    async def refresh(self) -> None:
        """Ask the server now, whatever is known. Raises as `resources` does."""
        await self._load(newer_than=self._snapshot)

    @property
    def failures(self) -> Mapping[str, ListWatchError | None]:
        """What the last answer lacks: paths and group versions with the error, None where the
        server says that its own knowledge is stale."""
        return dict(self._snapshot.failures) if self._snapshot is not None else {}

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
        known = self._snapshot
        snapshot = known or await self._load(newer_than=None)
        found = self._find_in(snapshot, readings)
        if found is None and snapshot is known and self._is_old(snapshot):
            snapshot = await self._load(newer_than=snapshot)
            found = self._find_in(snapshot, readings)
        if found is None:
            raise self._unknown(text, readings[0], snapshot)
        return found

    def _find_in(
        self, snapshot: _Snapshot, readings: tuple[ResourceName, ...]
    ) -> APIResource | None:
        known = snapshot.resources or self._builtin
        return _find(known, readings, group_prefix=False) or _find(
            known, readings, group_prefix=True
        )

    def _is_old(self, snapshot: _Snapshot) -> bool:
        age = asyncio.get_running_loop().time() - snapshot.taken
        return age >= self._refresh_interval

    async def _load(self, *, newer_than: _Snapshot | None) -> _Snapshot:
        """Ask the server, unless somebody else has done so since `newer_than`."""
        async with self._lock:
            if self._snapshot is None or self._snapshot is newer_than:
                self._snapshot = await self._fetch()
            return self._snapshot

    async def _fetch(self) -> _Snapshot:
        resources: list[APIResource] = []
        failures: dict[str, ListWatchError | None] = {}
        for path in ("/api", "/apis"):
            try:
                answer = parse_discovery(await self._client.read(path, accept=AGGREGATED_ACCEPT))
            except (Forbidden, NotFound, NotDiscovery) as error:
                failures[path] = error
                continue
            if isinstance(answer, Aggregated):
                resources += answer.resources
                failures |= dict.fromkeys(answer.stale)
                continue
            found, failed = await self._fetch_legacy(answer.pairs)
            resources += found
            failures |= failed
        return _Snapshot(tuple(resources), failures, asyncio.get_running_loop().time())

    async def _fetch_legacy(
        self, pairs: Sequence[tuple[str, str]]
    ) -> tuple[list[APIResource], dict[str, ListWatchError]]:
        places = asyncio.Semaphore(_LEGACY_AT_ONCE)

        async def fetch(group: str, version: str) -> tuple[APIResource, ...] | ListWatchError:
            path = f"/apis/{group}/{version}" if group else f"/api/{version}"
            async with places:
                try:
                    return parse_resource_list(await self._client.read(path), group, version)
                except ListWatchError as error:  # a value: it must not cancel the others
                    return error

        async with asyncio.TaskGroup() as tasks:
            running = [tasks.create_task(fetch(*pair)) for pair in pairs]
        resources: list[APIResource] = []
        failures: dict[str, ListWatchError] = {}
        for (group, version), task in zip(pairs, running, strict=True):
            match result := task.result():
                case APIError() | NotDiscovery():
                    failures[f"{group}/{version}" if group else version] = result
                case ListWatchError():  # the way to the server is broken, not the group
                    raise result
                case _:
                    resources += result
        return resources, failures

    def _unknown(self, text: str, wanted: ResourceName, snapshot: _Snapshot) -> UnknownResource:
        suggestions = near_names((*snapshot.resources, *self._builtin), wanted)
        lines = [f"the server has no resource {text!r} that we know of."]
        if suggestions:
            lines.append(f"Did you mean {' or '.join(suggestions)}?")
        lines.append("`kubectl api-resources` lists what there is.")
        failed = [f"{name} ({error or 'stale'})" for name, error in snapshot.failures.items()]
        if failed and not snapshot.resources:
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
