"""A list, page by page."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import tracemalloc
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from weakref import ref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch import (
    ClientConfig,
    Expired,
    GroupVersionResource,
    ListMeta,
    ListOptions,
    ListWatch,
    ObjectList,
    ResourceVersionMatch,
    RESTClient,
    Status,
    Unstructured,
    decode_unstructured,
)
from listwatch.api import error_for_status
from listwatch.cache.pager import Page, Pager, PagerError
from listwatch.rest import ConnectionLost
from listwatch.testing.apiserver import APIServer, ServerTransport
from listwatch.wire import ObjectDecodeError, decode_list

PODS = GroupVersionResource.parse("v1/pods")

Answer = ObjectList[str] | Exception


def page(
    *items: str, rv: str = "7", more: str = "", remaining: int | None = None, bad: int = 0
) -> ObjectList[str]:
    refused = [ObjectDecodeError(None, b"", ValueError("no")) for _ in range(bad)]
    metadata = ListMeta(resource_version=rv, continue_=more, remaining_item_count=remaining)
    return ObjectList(list(items), metadata, "v1", "PodList", refused)


def expired() -> Expired:
    error = error_for_status(Status(status="Failure", code=410, reason="Expired"))
    assert isinstance(error, Expired)
    return error


class Script:
    """A source that gives these answers one after the other."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.asked: list[ListOptions] = []

    async def alist(self, options: ListOptions) -> ObjectList[str]:
        self.asked.append(options)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


async def taken(pages: AsyncIterator[Page[str]]) -> list[list[str]]:
    return [found.list.items async for found in pages]


THREE = (page("a", "b", more="1"), page("c", "d", rv="9", more="2"), page("e", rv="11"))


@pytest.mark.clause("G1")
class TestPages:
    async def test_are_followed_until_there_is_no_continue(self) -> None:
        source = Script(*THREE)
        pager = Pager(source, page_size=2)
        assert await taken(pager.pages(ListOptions(label_selector="a=b"))) == [
            ["a", "b"],
            ["c", "d"],
            ["e"],
        ]
        first = ListOptions(label_selector="a=b", limit=2)
        assert source.asked == [
            first,
            first.replace(continue_="1"),
            first.replace(continue_="2"),
        ]

    async def test_are_numbered(self) -> None:
        pages = Pager(Script(*THREE)).pages(ListOptions())
        assert [(found.number, found.restarted) async for found in pages] == [
            (1, False),
            (2, False),
            (3, False),
        ]

    @pytest.mark.parametrize("match", [None, ResourceVersionMatch.NOT_OLDER_THAN])
    async def test_after_the_first_are_asked_for_without_an_rv(
        self, match: ResourceVersionMatch | None
    ) -> None:
        source = Script(*THREE)
        asked = ListOptions(resource_version="5", resource_version_match=match)
        await taken(Pager(source).pages(asked))
        assert [(one.resource_version, one.resource_version_match) for one in source.asked] == [
            ("5", match),
            ("", None),
            ("", None),
        ]

    async def test_are_of_500_by_default(self) -> None:
        source = Script(page())
        await taken(Pager(source).pages(ListOptions()))
        assert source.asked == [ListOptions(limit=500)]

    async def test_are_still_followed_where_no_limit_is_sent(self) -> None:
        source = Script(*THREE)
        assert len(await taken(Pager(source, page_size=None).pages(ListOptions(limit=3)))) == 3
        assert [options.limit for options in source.asked] == [None] * 3

    async def test_show_the_state_of_the_first(self) -> None:
        pager = Pager(Script(*THREE))
        assert pager.resource_version == ""
        async for _ in pager.pages(ListOptions()):
            assert pager.resource_version == "7"
        assert pager.resource_version == "7"

    @pytest.mark.parametrize(("answers", "paged"), [(THREE, True), ((page("a"),), False)])
    async def test_are_told_from_a_list_in_one_piece(
        self, answers: tuple[ObjectList[str], ...], paged: bool
    ) -> None:
        pager = Pager(Script(*answers))
        await taken(pager.pages(ListOptions()))
        assert pager.paged is paged

    def test_of_nothing_are_refused(self) -> None:
        with pytest.raises(ValueError, match="a page of 0 objects"):
            Pager(Script(), page_size=0)

    async def test_of_a_second_list_have_nothing_of_the_first(self) -> None:
        source = Script(*THREE, page("x", rv="20", more="1"), page("y", rv="21"))
        counts: list[int] = []
        pager = Pager(source, progress=lambda count, _: counts.append(count))
        await taken(pager.pages(ListOptions()))
        assert await taken(pager.pages(ListOptions())) == [["x"], ["y"]]
        assert (pager.resource_version, counts[-2:]) == ("20", [1, 2])


@pytest.mark.clause("G1")
class TestTheWholeList:
    async def test_has_the_items_of_all_pages_and_the_rv_of_the_first(self) -> None:
        found = await Pager(Script(*THREE)).list(ListOptions())
        assert found.items == ["a", "b", "c", "d", "e"]
        assert (found.resource_version, found.continue_) == ("7", "")
        assert (found.api_version, found.kind) == ("v1", "PodList")

    async def test_has_what_could_not_be_decoded(self) -> None:
        found = await Pager(Script(page("a", more="1", bad=1), page(bad=2))).list(ListOptions())
        assert len(found.undecodable) == 3

    @pytest.mark.clause("G2")
    async def test_has_nothing_of_the_pages_before_a_new_beginning(self) -> None:
        source = Script(page("a", "gone", more="1"), expired(), page("a", "b", rv="30"))
        found = await Pager(source).list(ListOptions())
        assert (found.items, found.resource_version) == (["a", "b"], "30")


@pytest.mark.clause("G2")
class TestAnExpiredContinue:
    @pytest.mark.parametrize("rv", ["", "0", "5"])
    async def test_falls_back_to_one_list_without_a_limit_at_the_rv_that_was_asked_for(
        self, rv: str
    ) -> None:
        source = Script(page("a", more="1"), page("b", more="2"), expired(), page("a", rv="30"))
        pager = Pager(source, page_size=1)
        asked = ListOptions(resource_version=rv, label_selector="a=b")
        found = [(one.number, one.restarted, one.list.items) async for one in pager.pages(asked)]
        assert found == [(1, False, ["a"]), (2, False, ["b"]), (1, True, ["a"])]
        assert source.asked[-1] == asked
        assert pager.resource_version == "30"
        assert pager.paged

    async def test_on_the_first_page_is_an_error(self) -> None:
        source = Script(expired())
        with pytest.raises(Expired):
            await taken(Pager(source).pages(ListOptions(resource_version="5")))
        assert len(source.asked) == 1

    @pytest.mark.parametrize("code", [410, 500])
    async def test_falls_back_once(self, code: int) -> None:
        error = error_for_status(Status(status="Failure", code=code, reason="Expired"))
        source = Script(page("a", more="1"), expired(), error)
        with pytest.raises(Expired):
            await taken(Pager(source).pages(ListOptions()))
        assert len(source.asked) == 3

    async def test_falls_back_once_also_where_the_full_list_came_in_pages(self) -> None:
        source = Script(page("a", more="1"), expired(), page("b", more="2"), expired())
        with pytest.raises(Expired):
            await taken(Pager(source).pages(ListOptions()))
        assert len(source.asked) == 4

    async def test_of_a_list_that_is_lost_has_nothing_to_resume(self) -> None:
        source = Script(page("a", more="1"), expired(), ConnectionLost("cut"))
        pager = Pager(source)
        with pytest.raises(ConnectionLost):
            await taken(pager.pages(ListOptions()))
        assert pager.continue_ == ""

    async def test_of_another_kind_is_no_reason_to_begin_anew(self) -> None:
        error = error_for_status(Status(status="Failure", code=429, reason="TooManyRequests"))
        source = Script(page("a", more="1"), error)
        with pytest.raises(type(error)):
            await taken(Pager(source).pages(ListOptions()))
        assert len(source.asked) == 2


@pytest.mark.clause("G3")
class TestAnEmptyPage:
    async def test_with_a_continue_is_not_the_end(self) -> None:
        source = Script(page(more="1"), page("a", more="2"), page(more="3"), page("b"))
        assert await taken(Pager(source).pages(ListOptions())) == [[], ["a"], [], ["b"]]

    async def test_is_a_short_one_that_is_shorter_still(self) -> None:
        source = Script(page("a", more="1"), page("b"))
        assert await taken(Pager(source, page_size=100).pages(ListOptions())) == [["a"], ["b"]]

    @pytest.mark.clause("H9")
    async def test_is_taken_for_endless_with_the_tenth_in_a_row(self) -> None:
        source = Script(page("a", more="x"), *(page(more=str(n)) for n in range(20)))
        with pytest.raises(PagerError, match="10 empty pages in a row"):
            await taken(Pager(source).pages(ListOptions()))
        assert len(source.asked) == 11

    @pytest.mark.clause("H9")
    async def test_is_no_empty_one_where_its_objects_could_not_be_decoded(self) -> None:
        source = Script(*(page(more=str(n), bad=1) for n in range(20)), page("a"))
        assert len(await taken(Pager(source).pages(ListOptions()))) == 21

    @pytest.mark.clause("H9")
    async def test_counts_from_the_last_that_was_not_empty(self) -> None:
        empty = [page(more=f"e{n}") for n in range(18)]
        source = Script(*empty[:9], page("a", more="x"), *empty[9:], page("b"))
        assert len(await taken(Pager(source).pages(ListOptions()))) == 20

    @pytest.mark.clause("H9")
    async def test_may_be_the_tenth_if_it_is_the_last(self) -> None:
        source = Script(*(page(more=str(n)) for n in range(9)), page())
        assert len(await taken(Pager(source).pages(ListOptions()))) == 10


@pytest.mark.clause("H9")
class TestARepeatedContinue:
    @pytest.mark.parametrize("tokens", ["aa", "aba", "abcdb"])
    async def test_fails_the_list(self, tokens: str) -> None:
        source = Script(*(page("x", more=token) for token in tokens), page("y"))
        with pytest.raises(PagerError, match=f"on page {len(tokens)} as on a page before"):
            await taken(Pager(source).pages(ListOptions()))
        assert len(source.asked) == len(tokens)

    async def test_is_none_where_the_list_was_begun_anew(self) -> None:
        source = Script(page("x", more="1"), expired(), page("x", more="1"), page("y"))
        assert await taken(Pager(source).pages(ListOptions())) == [["x"], ["x"], ["y"]]


@pytest.mark.clause("H9")
class TestAListThatWasCut:
    async def test_goes_on_from_the_continue_it_had_reached(self) -> None:
        source = Script(THREE[0], ConnectionLost("cut"), *THREE[1:])
        pager = Pager(source, page_size=2)
        asked = ListOptions(resource_version="5", label_selector="a=b")
        with pytest.raises(ConnectionLost):
            await taken(pager.pages(asked))
        assert pager.continue_ == "1"
        rest = [(found.number, found.list.items) async for found in pager.resume()]
        assert rest == [(2, ["c", "d"]), (3, ["e"])]
        assert source.asked[2] == asked.replace(resource_version="", limit=2, continue_="1")
        assert (pager.resource_version, pager.continue_) == ("7", "")

    async def test_can_be_cut_again(self) -> None:
        lost = ConnectionLost("cut")
        pager = Pager(Script(THREE[0], lost, lost, THREE[1], lost, THREE[2]))
        seen: list[str] = []
        pages = pager.pages(ListOptions())
        while True:
            try:
                async for found in pages:
                    seen += found.list.items
                break
            except ConnectionLost:
                pages = pager.resume()
        assert seen == ["a", "b", "c", "d", "e"]

    async def test_begins_anew_where_its_continue_has_expired_meanwhile(self) -> None:
        pager = Pager(Script(THREE[0], ConnectionLost("cut"), expired(), page("a", rv="30")))
        with pytest.raises(ConnectionLost):
            await taken(pager.pages(ListOptions()))
        assert [found.restarted async for found in pager.resume()] == [True]

    @pytest.mark.parametrize("answers", [(ConnectionLost("cut"),), THREE])
    async def test_has_to_have_got_somewhere(self, answers: tuple[Answer, ...]) -> None:
        pager = Pager(Script(*answers))
        if answers is THREE:
            await taken(pager.pages(ListOptions()))
        else:
            with pytest.raises(ConnectionLost):
                await taken(pager.pages(ListOptions()))
        with pytest.raises(RuntimeError, match="no page was reached"):
            pager.resume()


@pytest.mark.clause("G5")
class TestProgress:
    async def test_is_what_has_come_and_what_remains(self) -> None:
        seen: list[tuple[int, int | None]] = []
        source = Script(
            page("a", "b", more="1", remaining=3, bad=1),
            page("c", more="2"),
            page("d", remaining=None),
        )
        await taken(Pager(source, progress=lambda *now: seen.append(now)).pages(ListOptions()))
        assert seen == [(3, 3), (4, None), (5, 0)]

    @pytest.mark.clause("G2")
    async def test_begins_anew_with_the_list(self) -> None:
        seen: list[tuple[int, int | None]] = []
        source = Script(page("a", "b", more="1", remaining=1), expired(), page("a"))
        await taken(Pager(source, progress=lambda *now: seen.append(now)).pages(ListOptions()))
        assert seen == [(2, 1), (1, 0)]

    async def test_may_raise_without_harm_to_the_list(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        def broken(count: int, remaining: int | None) -> None:
            raise ZeroDivisionError

        with caplog.at_level(logging.ERROR, "listwatch.cache"):
            assert (
                len(await taken(Pager(Script(*THREE), progress=broken).pages(ListOptions()))) == 3
            )
        assert "a progress callback failed" in caplog.text


@pytest.mark.clause("G1", "G3", "H9")
@given(
    st.lists(st.lists(st.integers(), max_size=3), min_size=1, max_size=30),
    st.sets(st.integers(0, 29)),
)
async def test_whatever_the_pages_and_the_cuts_nothing_is_lost_or_read_twice(
    pages: list[list[int]], cuts: set[int]
) -> None:
    if any(not any(pages[n : n + 10]) for n in range(len(pages) - 9)):
        pages = [[*items, 0] for items in pages]  # ten empty ones in a row are no list
    answers: list[Answer] = []
    for number, items in enumerate(pages):
        if number and number in cuts:
            answers.append(ConnectionLost("cut"))
        more = str(number) if number < len(pages) - 1 else ""
        answers.append(page(*map(str, items), more=more))
    pager = Pager(Script(*answers))
    found: list[str] = []
    iterator = pager.pages(ListOptions())
    for _ in range(len(cuts) + 1):
        try:
            async for one in iterator:
                found += one.list.items
            break
        except ConnectionLost:
            iterator = pager.resume()
    assert found == [str(item) for items in pages for item in items]


# Memory (G4)


class Tracked(ObjectList[str]):
    """One whose death can be seen."""


@pytest.mark.clause("G4")
async def test_a_page_is_handed_on_before_the_next_is_asked_for_and_dies_with_its_consumer() -> (
    None
):
    alive: list[Callable[[], object]] = []
    most = 0

    class Source:
        number = 0

        async def alist(self, options: ListOptions) -> ObjectList[str]:
            nonlocal most
            await asyncio.sleep(0)
            most = max(most, sum(1 for page in alive if page() is not None))
            self.number += 1
            more = str(self.number) if self.number < 8 else ""
            found = Tracked(["x"], ListMeta(continue_=more))
            alive.append(ref(found))
            return found

    numbers = []
    async for found in Pager(Source()).pages(ListOptions()):
        numbers.append((found.number, len(alive)))
        del found
    assert numbers == [(n, n) for n in range(1, 9)], "one at a time"
    assert most == 0, "while a page is fetched, none is held"


def big_page(number: int, *, last: int) -> bytes:
    items = [
        {
            "metadata": {"name": f"p-{number}-{n}", "uid": f"u-{number}-{n}"},
            "spec": {"x": "y" * 4000},
        }
        for n in range(500)
    ]
    more = str(number) if number < last else ""
    return json.dumps(
        {
            "kind": "PodList",
            "apiVersion": "v1",
            "metadata": {"resourceVersion": "7", "continue": more},
            "items": items,
        }
    ).encode()


@pytest.mark.clause("G4", "A7")
async def test_one_object_that_is_kept_keeps_no_page_alive() -> None:
    """Property 25: the peak is about one page and its body above what is kept."""

    class Source:
        number = 0

        async def alist(self, options: ListOptions) -> ObjectList[Unstructured]:
            self.number += 1
            body = big_page(self.number, last=6)
            tracemalloc.reset_peak()  # the making of the body is the server's affair
            return decode_list(body, decode_unstructured)

    size = len(big_page(1, last=6))
    pager = Pager(Source())
    kept: list[Unstructured] = []
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        async for found in pager.pages(ListOptions()):
            kept.append(found.list.items[250])
            del found
            gc.collect()
            held, peak = tracemalloc.get_traced_memory()
            assert held - before < size / 10
            assert peak - before < 3 * size
    finally:
        tracemalloc.stop()
    assert [pod.name for pod in kept] == [f"p-{n}-250" for n in range(1, 7)]


# Against the server


@asynccontextmanager
async def pods(count: int) -> AsyncIterator[tuple[APIServer, ListWatch[Unstructured]]]:
    clock = asyncio.get_running_loop().time
    core = APIServer(clock=clock, wall=lambda: datetime.now(UTC))
    core.load(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"p{n:04}"}} for n in range(count)
    )
    transport = ServerTransport(core)
    async with RESTClient(ClientConfig(server="http://memory"), transport=transport) as client:
        yield core, ListWatch.from_client(client, PODS)
    assert transport.open_responses == 0


@pytest.mark.virtual_time
@pytest.mark.clause("G1", "G5")
async def test_a_server_with_1_200_pods_is_listed_in_three_pages() -> None:
    seen: list[tuple[int, int | None]] = []
    async with pods(1200) as (_, source):
        pager = Pager(source, progress=lambda *now: seen.append(now))
        found = await pager.list(ListOptions())
    assert [pod.name for pod in found] == [f"p{n:04}" for n in range(1200)]
    assert found.resource_version.isdecimal()
    assert seen == [(500, 700), (1000, 200), (1200, 0)]


@pytest.mark.virtual_time
@pytest.mark.clause("G2")
async def test_a_server_that_has_forgotten_the_state_between_two_pages_is_listed_anew() -> None:
    async with pods(1200) as (core, source):
        pages = []
        async for page in Pager(source).pages(ListOptions()):
            pages.append((page.restarted, len(page.list)))
            if page.number == 2:
                core.load([{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "new"}}])
                core.compact()
                core.restart()
        assert pages == [(False, 500), (False, 500), (True, 1201)]
