"""A source that says what a test wrote down, and remembers what it was asked.

    source = Scripted(Page(pod("a", 5), rv="5"), watch := Watch())
    async with reflecting(source) as life:
        watch.send(modified(pod("a", 6)))
        await settle()
    assert source.asked == ["list rv=0 limit=500", "watch rv=5"]

Answers are given in their order: a `Page` to a LIST, a `Watch` to a WATCH or WatchList, an
exception to either. When none is left, a request waits for ever. A question that does not fit the
next answer ends the reflector: a test never goes on with another story than it tells.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeAlias

from listwatch.api import (
    INITIAL_EVENTS_END,
    APIError,
    Event,
    EventType,
    ListMeta,
    ListOptions,
    ObjectMeta,
    PartialObjectMetadata,
    Status,
    StatusCause,
    StatusDetails,
    Unstructured,
    compare_resource_versions,
    error_for_status,
)
from listwatch.cache import Delta, Listed, Note, Reflector, Setback, Store
from listwatch.watch import EmptyWatch, StreamWatcher
from listwatch.wire import ObjectDecodeError, ObjectList

# Objects and events


def pod(name: str, rv: int | str, *, uid: str = "", kind: str = "Pod", **more: Any) -> Unstructured:
    """A pod of the namespace default."""
    metadata = {"name": name, "namespace": "default", "resourceVersion": str(rv)}
    metadata["uid"] = uid or f"uid-{name}"
    return Unstructured.from_dict({"apiVersion": "v1", "kind": kind, "metadata": metadata, **more})


def added(obj: Any) -> Event[Any]:
    return Event(EventType.ADDED, obj, getattr(obj, "raw", b""))


def modified(obj: Any) -> Event[Any]:
    return Event(EventType.MODIFIED, obj, getattr(obj, "raw", b""))


def deleted(obj: Any) -> Event[Any]:
    return Event(EventType.DELETED, obj, getattr(obj, "raw", b""))


def refused_object(kind: EventType, obj: Unstructured) -> Event[Any]:
    """An event of whose object the decoder made nothing (D6)."""
    error = ObjectDecodeError(obj.key, obj.raw, ValueError("no such field"))
    return Event(kind, obj.raw, obj.raw, error)


def bookmark(rv: int | str) -> Event[Any]:
    return Event(EventType.BOOKMARK, _bookmark(rv, {}))


def end_of_initial_events(rv: int | str) -> Event[Any]:
    return Event(EventType.BOOKMARK, _bookmark(rv, {INITIAL_EVENTS_END: "true"}))


def _bookmark(rv: int | str, annotations: dict[str, str]) -> PartialObjectMetadata:
    metadata = ObjectMeta(resource_version=str(rv), annotations=annotations)
    return PartialObjectMetadata("v1", "Pod", metadata)


# What goes wrong

_REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    406: "NotAcceptable",
    409: "Conflict",
    410: "Expired",
    415: "UnsupportedMediaType",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}


def status(code: int, *, retry_after: int = 0, reason: str | None = None) -> Status:
    return Status(
        status="Failure",
        code=code,
        reason=_REASONS[code] if reason is None else reason,
        message=f"a scripted {code}",
        details=StatusDetails(retry_after_seconds=retry_after),
    )


def refusal(code: int, *, retry_after: int = 0) -> APIError:
    return error_for_status(status(code, retry_after=retry_after))


def too_large(*, retry_after: int = 1) -> APIError:
    return error_for_status(too_large_status(retry_after=retry_after))


def too_large_status(*, retry_after: int = 1) -> Status:
    cause = StatusCause(reason="ResourceVersionTooLarge", message="Too large resource version")
    return Status(
        status="Failure",
        code=504,
        reason="Timeout",
        message="Timeout: Too large resource version: 9, current: 5",
        details=StatusDetails(causes=(cause,), retry_after_seconds=retry_after),
    )


def failure(code: int, *, retry_after: int = 0) -> Event[Any]:
    """An ERROR event."""
    return Event(EventType.ERROR, status(code, retry_after=retry_after))


def error_event(told: Status) -> Event[Any]:
    return Event(EventType.ERROR, told)


# Answers


class Page(ObjectList[Any]):
    """An answer to a LIST: a page of it where `more` is the `continue` for the next."""

    def __init__(
        self,
        *items: Any,
        rv: int | str = "",
        more: str = "",
        remaining: int | None = None,
        kind: str = "PodList",
        undecodable: Iterable[Unstructured] = (),
    ) -> None:
        metadata = ListMeta(
            resource_version=str(rv), continue_=more, remaining_item_count=remaining
        )
        problems = [
            ObjectDecodeError(obj.key, obj.raw, ValueError("no such field")) for obj in undecodable
        ]
        super().__init__(list(items), metadata, "v1", kind, problems)


class Watch:
    """An answer to a WATCH: a stream that the test holds the other end of.

    `events` are there from the start, in one read.
    """

    def __init__(self, *events: Event[Any]) -> None:
        self._reads: asyncio.Queue[list[Event[Any]] | Exception] = asyncio.Queue()
        self.opened_at: float | None = None
        self.closed_at: float | None = None
        self.reads = 0
        """How often it was read from."""
        self.last_read: float | None = None
        self.source: Scripted | None = None
        if events:
            self._reads.put_nowait(list(events))

    def send(self, *events: Event[Any]) -> None:
        """One read that brings all of these."""
        self.last_read = asyncio.get_running_loop().time()
        self._reads.put_nowait(list(events))

    def trickle(self) -> None:
        """Bytes arrive that complete no event."""
        self.last_read = asyncio.get_running_loop().time()

    def end(self) -> None:
        """The server ends it in order."""
        self._reads.put_nowait([])

    def fail(self, error: Exception | None = None) -> None:
        """It breaks off; or the decoder raises anything else."""
        self._reads.put_nowait(error or ConnectionResetError("cut"))

    @property
    def is_open(self) -> bool:
        return self.opened_at is not None and self.closed_at is None

    @property
    def unread(self) -> int:
        return self._reads.qsize()

    # The Decoder of its StreamWatcher

    async def decode(self) -> list[Event[Any]]:
        self.reads += 1
        found = await self._reads.get()
        if isinstance(found, Exception):
            raise found
        if self.source is not None:
            for event in found:
                self.source.saw(str(getattr(event.object, "resource_version", "")))
        return found

    def close(self) -> None:
        self.closed_at = asyncio.get_running_loop().time()

    def opened(self) -> StreamWatcher[Any]:
        assert self.opened_at is None, "the script gives one watch twice"
        self.opened_at = asyncio.get_running_loop().time()
        if self.last_read is None:
            self.last_read = self.opened_at
        return StreamWatcher(self)


@dataclass
class Delayed:
    """An answer that comes after so many seconds."""

    seconds: float
    answer: Page | Watch | Exception


Answer: TypeAlias = Page | Watch | EmptyWatch[Any] | Exception | Delayed


class ScriptMismatch(BaseException):
    """The reflector asked for something else than the script answers. Nobody catches it."""


@dataclass(frozen=True)
class Request:
    at: float
    verb: str
    options: ListOptions

    def __str__(self) -> str:
        options = self.options
        if options.continue_:
            parts = [f"continue={options.continue_}"]
        else:
            parts = [f"rv={options.resource_version or '-'}"]
        if options.resource_version_match and self.verb != "watch-list":
            parts.append(str(options.resource_version_match))
        if options.limit is not None:
            parts.append(f"limit={options.limit}")
        return " ".join([self.verb, *parts])


class Scripted:
    """An AsyncListerWatcher that gives these answers one after the other.

    The looks at the server's RV, which are a LIST with limit 1 and RV `""` (H18, K11), have answers
    of their own, `checks`; when none is left, the newest RV that was told so far.
    """

    def __init__(
        self,
        *answers: Answer,
        watch_list: bool = False,
        checks: Iterable[int | str | Exception] = (),
    ) -> None:
        self.answers = list(answers)
        self.checks = list(checks)
        self.supports_watch_list = watch_list
        self.requests: list[Request] = []
        self.rv = ""
        """The newest that the server has told."""
        self.open_lists = 0
        """Lists whose answer is still awaited."""
        self.watches: list[Watch] = []
        """Those that were given out."""

    def then(self, *answers: Answer) -> None:
        """More answers."""
        self.answers.extend(answers)

    @property
    def asked(self) -> list[str]:
        """The requests, looks at the RV aside."""
        return [str(request) for request in self.requests if request.verb != "check"]

    @property
    def asked_at(self) -> list[tuple[float, str]]:
        """The same with their times."""
        return [
            (round(request.at, 3), str(request))
            for request in self.requests
            if request.verb != "check"
        ]

    @property
    def checked_at(self) -> list[float]:
        """When the server's RV was looked at."""
        return [request.at for request in self.requests if request.verb == "check"]

    async def alist(self, options: ListOptions, /) -> ObjectList[Any]:
        if options.limit == 1 and not options.resource_version and not options.continue_:
            self._note("check", options)
            found = self.checks.pop(0) if self.checks else self.rv
            if isinstance(found, Exception):
                raise found
            return Page(rv=found)
        self._note("list", options)
        return await self._list_answer()

    async def awatch(self, options: ListOptions, /) -> Any:
        assert options.watch
        assert options.allow_watch_bookmarks
        self._note("watch-list" if options.send_initial_events else "watch", options)
        answer = await self._next()
        if isinstance(answer, Page):
            raise ScriptMismatch(f"{self.requests[-1]}, where the script has a page")
        return answer.opened() if isinstance(answer, Watch) else answer

    async def _list_answer(self) -> ObjectList[Any]:
        self.open_lists += 1
        try:
            answer = await self._next()
        finally:
            self.open_lists -= 1
        if not isinstance(answer, Page):
            raise ScriptMismatch(f"{self.requests[-1]}, where the script has a watch")
        self.saw(answer.resource_version)
        return answer

    async def _next(self) -> Page | Watch | EmptyWatch[Any]:
        if not self.answers:
            await asyncio.get_running_loop().create_future()
        answer = self.answers.pop(0)
        if isinstance(answer, Delayed):
            await asyncio.sleep(answer.seconds)
            answer = answer.answer
        if isinstance(answer, Exception):
            raise answer
        assert not isinstance(answer, Delayed)
        if isinstance(answer, Watch):
            answer.source = self
            self.watches.append(answer)
        return answer

    @property
    def open_watches(self) -> int:
        return sum(watch.is_open for watch in self.watches)

    def _note(self, verb: str, options: ListOptions) -> None:
        self.requests.append(Request(asyncio.get_running_loop().time(), verb, options))

    def saw(self, rv: str) -> None:
        """The server has told this RV."""
        if not self.rv or compare_resource_versions(rv, self.rv) == 1:
            self.rv = rv


class WithMetadata(Scripted):
    """The same with lists of metadata alone, which it answers out of the script, too."""

    async def alist_metadata(self, options: ListOptions, /) -> ObjectList[Any]:
        self._note("metadata", options)
        return await self._list_answer()


# Running it


class Still(Random):
    """Chance that never happens: no jitter, and the shortest watches."""

    def random(self) -> float:
        return 0.0

    def getrandbits(self, k: int) -> int:
        return 0


@dataclass
class Life:
    """A reflector at work, and what it said."""

    reflector: Reflector[Any]
    store: Store[Any]
    notes: list[Note]
    errors: list[Exception]
    task: asyncio.Task[None] | None = None
    deltas: list[Delta[Any]] = field(default_factory=list)

    @property
    def setbacks(self) -> list[Setback]:
        return [note for note in self.notes if isinstance(note, Setback)]

    @property
    def sets(self) -> list[Listed]:
        return [note for note in self.notes if isinstance(note, Listed)]

    @property
    def told(self) -> list[str]:
        return [str(note) for note in self.notes]


@asynccontextmanager
async def reflecting(source: Any, store: Any = None, **more: Any) -> AsyncIterator[Life]:
    """A reflector that runs inside; `store` is its target, `more` its arguments."""
    notes: list[Note] = []
    errors: list[Exception] = []
    target: Any = Store() if store is None else store
    arguments: dict[str, Any] = {
        "on_note": notes.append,
        "on_error": lambda reflector, error: errors.append(error),
        "rng": Still(),
        "kind": "Pod",
        **more,
    }
    reflector: Reflector[Any] = Reflector(source, target, **arguments)
    task = asyncio.create_task(reflector.run())
    life = Life(reflector, target, notes, errors, task)
    try:
        await settle()
        yield life
    finally:
        reflector.stop()
        await task  # what ended it, if anything did, explains more than the test's own failure


async def settle(turns: int = 40) -> None:
    """Let everything happen that needs no time."""
    for _ in range(turns):
        await asyncio.sleep(0)


async def until(seconds: float) -> None:
    """Go on to this time of the loop, and let what falls on it happen."""
    loop = asyncio.get_running_loop()
    await asyncio.sleep(max(seconds - loop.time(), 0))
    await settle()


def names(store: Any) -> dict[str, str]:
    """What a store shows: RVs by name."""
    return {key.removeprefix("default/"): store.known(key).resource_version for key in store}
