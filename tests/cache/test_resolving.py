"""A source that finds out what it is a source of."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from listwatch import (
    EmptyWatch,
    ListMeta,
    ListOptions,
    ListWatch,
    NotFound,
    ObjectList,
    Status,
    UnknownResource,
    Watch,
    supports_watch_list,
)
from listwatch.cache.resolving import ResolvingListWatch

pytestmark = pytest.mark.virtual_time

GONE = NotFound(Status(status="Failure", code=404, reason="NotFound"))
UNKNOWN = UnknownResource("no such resource", text="widgets")

Verb = Callable[[ResolvingListWatch[str], ListOptions], Awaitable[Any]]
VERBS: list[Verb] = [
    ResolvingListWatch.alist,
    lambda source, options: source.alist_shared(options, str),
    ResolvingListWatch.alist_metadata,
    ResolvingListWatch.awatch,
]


class Finder:
    """Finds sources in turn, or raises; remembers when it was asked, and whether afresh."""

    def __init__(self, *answers: ListWatch[str] | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[float, bool]] = []

    async def __call__(self, afresh: bool) -> ListWatch[str]:
        self.asked.append((asyncio.get_running_loop().time(), afresh))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def source(name: str, failure: Exception | None = None) -> ListWatch[str]:
    async def alist(options: ListOptions) -> ObjectList[str]:
        if failure is not None:
            raise failure
        return ObjectList([name], ListMeta(resource_version=options.resource_version))

    async def awatch(options: ListOptions) -> Watch[str]:
        if failure is not None:
            raise failure
        return EmptyWatch()

    return ListWatch(alist=alist, awatch=awatch)


async def test_it_is_found_within_the_first_request_and_kept() -> None:
    find = Finder(source("a"))
    resolving = ResolvingListWatch(find)
    assert find.asked == []
    for rv in ("1", "2"):
        listed = await resolving.alist(ListOptions(resource_version=rv))
        assert (listed.items, listed.resource_version) == (["a"], rv)
    assert isinstance(await resolving.awatch(ListOptions()), EmptyWatch)
    assert (await resolving.alist_metadata(ListOptions())).items == ["a"]
    assert len(find.asked) == 1


@pytest.mark.clause("H9")
@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.__name__)
async def test_each_request_looks_once_until_it_is_found(verb: Verb) -> None:
    find = Finder(UNKNOWN, OSError("no server"), source("a"))
    resolving = ResolvingListWatch(find)
    with pytest.raises(UnknownResource):
        await verb(resolving, ListOptions())
    with pytest.raises(OSError, match="no server"):
        await verb(resolving, ListOptions())
    await verb(resolving, ListOptions())
    assert [afresh for _, afresh in find.asked] == [False] * 3


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.__name__)
async def test_what_is_gone_is_looked_for_afresh_at_most_once_a_minute(verb: Verb) -> None:
    find = Finder(source("old", GONE), UNKNOWN, source("new"))
    resolving = ResolvingListWatch(find)
    raised = []
    for _ in range(14):  # ten seconds apart
        try:
            await verb(resolving, ListOptions())
        except Exception as error:
            raised.append(error)
        await asyncio.sleep(10)
    begin = find.asked[0][0]
    assert [(when - begin, afresh) for when, afresh in find.asked] == [
        (0, False),
        (60, True),
        (120, True),
    ]
    assert raised == [GONE] * 6 + [UNKNOWN] + [GONE] * 5


@pytest.mark.clause("H9")
async def test_a_look_asks_for_two_requests_first() -> None:
    permits: list[int] = []

    async def permit() -> None:
        permits.append(len(find.asked))

    find = Finder(UNKNOWN, source("a"))
    resolving = ResolvingListWatch(find)
    resolving.paced_by(permit)
    with pytest.raises(UnknownResource):
        await resolving.alist(ListOptions())
    for _ in range(3):
        await resolving.alist(ListOptions())
    assert permits == [0, 0, 1, 1]


async def test_what_was_gone_and_is_back_is_not_looked_for() -> None:
    failing = [GONE]

    async def alist(options: ListOptions) -> ObjectList[str]:
        if failing:
            raise failing.pop()
        return ObjectList(["a"], ListMeta())

    async def awatch(options: ListOptions) -> Watch[str]:
        return EmptyWatch()

    find = Finder(ListWatch(alist=alist, awatch=awatch))
    resolving = ResolvingListWatch(find)
    with pytest.raises(NotFound):
        await resolving.alist(ListOptions())
    await resolving.alist(ListOptions())
    await asyncio.sleep(100)
    await resolving.alist(ListOptions())
    assert len(find.asked) == 1


@pytest.mark.clause("F6")
def test_it_may_be_asked_for_a_watch_list() -> None:
    assert supports_watch_list(ResolvingListWatch(Finder()))
