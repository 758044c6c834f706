"""A source that finds out what it is a source of."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from listwatch import (
    EmptyWatch,
    InvalidRequest,
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
from listwatch.cache.causes import ServedElsewhere
from listwatch.cache.resolving import ResolvingListWatch

pytestmark = pytest.mark.virtual_time

GONE = NotFound(Status(status="Failure", code=404, reason="NotFound"))
V1, V2 = "example.com/v1/widgets", "example.com/v2/widgets"
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

    def __init__(self, *answers: ListWatch[str] | Exception, addresses: Sequence[str] = ()) -> None:
        self.answers = list(answers)
        self.addresses = list(addresses)
        """Of the sources in turn; then it is always the same."""
        self.asked: list[tuple[float, bool]] = []

    async def __call__(self, afresh: bool) -> tuple[ListWatch[str], str]:
        self.asked.append((asyncio.get_running_loop().time(), afresh))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer, self.addresses.pop(0) if self.addresses else "example.com/v1/widgets"


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


class Changing:
    """A source that answers, or fails, as it is told."""

    def __init__(self, name: str = "a") -> None:
        self.name = name
        self.failure: Exception | None = None
        self.source = ListWatch(alist=self.alist, awatch=self.awatch)

    async def alist(self, options: ListOptions) -> ObjectList[str]:
        if self.failure is not None:
            raise self.failure
        return ObjectList([self.name], ListMeta())

    async def awatch(self, options: ListOptions) -> Watch[str]:
        await self.alist(options)
        return EmptyWatch()


async def test_what_has_worked_and_is_gone_is_looked_for_at_once_and_then_once_a_minute() -> None:
    widgets = Changing()
    find = Finder(widgets.source, UNKNOWN, UNKNOWN, widgets.source)
    resolving = ResolvingListWatch(find)
    await resolving.alist(ListOptions())
    await asyncio.sleep(10)
    widgets.failure = GONE
    raised = []
    for _ in range(9):  # ten seconds apart
        with pytest.raises((NotFound, UnknownResource)) as caught:
            await resolving.alist(ListOptions())
        raised.append(caught.type)
        await asyncio.sleep(10)
    assert raised == [NotFound, UnknownResource, *[NotFound] * 5, UnknownResource, NotFound]
    begin = find.asked[0][0]
    assert [when - begin for when, _ in find.asked] == [0, 20, 80]


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.__name__)
async def test_a_refusal_by_404_says_of_what(verb: Verb) -> None:
    widgets = Changing()
    resolving = ResolvingListWatch(Finder(widgets.source))
    widgets.failure = NotFound(Status(status="Failure", code=404, reason="NotFound"))
    with pytest.raises(NotFound) as caught:
        await verb(resolving, ListOptions())
    assert caught.value.__notes__ == [f"nothing is served as {V1}: is the type (CRD) gone?"]


@pytest.mark.parametrize("verb", [VERBS[1], VERBS[3]], ids=["list", "watch"])
async def test_who_reads_a_set_is_told_once_that_it_comes_from_another_address(verb: Verb) -> None:
    old, new = Changing("old"), Changing("new")
    resolving = ResolvingListWatch(Finder(old.source, new.source, addresses=[V1, V2]))
    await verb(resolving, ListOptions())
    old.failure = GONE
    with pytest.raises(NotFound):
        await verb(resolving, ListOptions())
    assert (await resolving.alist(ListOptions())).items == ["new"]  # this is no set: it may know
    with pytest.raises(ServedElsewhere, match=V2):
        await verb(resolving, ListOptions())
    await verb(resolving, ListOptions())


async def test_what_is_found_where_it_was_is_no_news() -> None:
    old, new = Changing("old"), Changing("new")
    resolving = ResolvingListWatch(Finder(old.source, new.source))
    await resolving.alist_shared(ListOptions(), str)
    old.failure = GONE
    with pytest.raises(NotFound):
        await resolving.alist_shared(ListOptions(), str)
    assert (await resolving.alist_shared(ListOptions(), str)).items == ["new"]


async def test_nothing_has_been_read_from_where_nothing_ever_was() -> None:
    find = Finder(source("old", GONE), source("new"), addresses=[V1, V2])
    resolving = ResolvingListWatch(find)
    with pytest.raises(NotFound):
        await resolving.alist_shared(ListOptions(), str)
    await asyncio.sleep(60)
    assert (await resolving.alist_shared(ListOptions(), str)).items == ["new"]


@pytest.mark.clause("H17")
async def test_a_request_that_makes_no_sense_any_more_may_make_sense_again() -> None:
    wrong = InvalidRequest("widgets are not namespaced")
    namespaced = Changing()
    find = Finder(namespaced.source, source("cluster", wrong), namespaced.source)
    resolving = ResolvingListWatch(find)
    await resolving.alist(ListOptions())
    namespaced.failure = GONE
    with pytest.raises(NotFound):
        await resolving.alist(ListOptions())
    with pytest.raises(UnknownResource, match="is not what it was: widgets are not namespaced"):
        await resolving.alist(ListOptions())
    await asyncio.sleep(60)
    namespaced.failure = None
    assert (await resolving.alist(ListOptions())).items == ["a"]


async def test_a_request_that_never_made_sense_is_raised_as_it_is() -> None:
    resolving = ResolvingListWatch(Finder(source("a", InvalidRequest("no"))))
    with pytest.raises(InvalidRequest):
        await resolving.alist(ListOptions())


@pytest.mark.clause("F6")
def test_it_may_be_asked_for_a_watch_list() -> None:
    assert supports_watch_list(ResolvingListWatch(Finder()))
