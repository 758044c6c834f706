"""What client-go tries of its pager, told as stories of ours (docs/parity.md)."""

from __future__ import annotations

import asyncio

import pytest

from listwatch import Expired, ListMeta, ListOptions, ObjectList, ResourceVersionMatch, Status
from listwatch.api import error_for_status
from listwatch.cache.pager import Pager


class Numbers:
    """A server with so many objects, which checks what it is asked."""

    def __init__(self, objects: int, *, expires: bool = False) -> None:
        self.left = list(range(objects))
        self.sent = 0
        self.expires = expires
        self.asked: list[ListOptions] = []

    async def alist(self, options: ListOptions) -> ObjectList[int]:
        self.asked.append(options)
        if options.continue_:
            assert options.continue_ == f"20:{self.sent}"
            assert (options.resource_version, options.resource_version_match) == ("", None)
            if self.expires:
                raise error_for_status(Status(status="Failure", code=410, reason="Expired"))
        start = self.sent if options.continue_ else 0
        end = len(self.left) if options.limit is None else start + options.limit
        self.sent = end
        more = f"20:{end}" if end < len(self.left) else ""
        return ObjectList(self.left[start:end], ListMeta(resource_version="20", continue_=more))


@pytest.mark.clause("G1")
@pytest.mark.parametrize(
    ("objects", "requests"),
    [(0, 1), (9, 1), (10, 1), (11, 2), (21, 3)],
    ids=["none", "part of a page", "one page", "two pages", "three pages"],
)
@pytest.mark.parametrize(
    "options",
    [
        ListOptions(),
        ListOptions(resource_version="10"),
        ListOptions(
            resource_version="10", resource_version_match=ResourceVersionMatch.NOT_OLDER_THAN
        ),
    ],
    ids=["newest", "at an RV", "not older than"],
)
async def test_a_list_has_all_objects_in_as_many_requests_as_pages(
    objects: int, requests: int, options: ListOptions
) -> None:
    source = Numbers(objects)
    pager = Pager(source, page_size=10)
    found = await pager.list(options)
    assert found.items == list(range(objects))
    assert found.resource_version == "20"
    assert pager.paged is (requests > 1)
    assert len(source.asked) == requests
    assert source.asked[0] == options.replace(limit=10)


@pytest.mark.clause("G2")
async def test_a_list_that_expires_on_its_second_page_is_read_whole() -> None:
    source = Numbers(21, expires=True)
    pager = Pager(source, page_size=10)
    assert (await pager.list(ListOptions())).items == list(range(21))
    assert [options.limit for options in source.asked] == [10, 10, None]
    assert pager.paged


class TestWhoTakesPageByPage:
    """client-go's visitor of each item is a loop here."""

    pytestmark = pytest.mark.clause("G4")

    @pytest.mark.parametrize("objects", [0, 9, 10, 11, 21])
    async def test_sees_every_object_once_in_order(self, objects: int) -> None:
        seen: list[int] = []
        async for page in Pager(Numbers(objects), page_size=10).pages(ListOptions()):
            seen += page.list.items
        assert seen == list(range(objects))

    async def test_is_told_that_what_it_has_seen_does_not_count_when_the_list_begins_anew(
        self,
    ) -> None:
        """client-go's visitor gets the error, having seen a page."""
        seen: list[int] = []
        async for page in Pager(Numbers(21, expires=True), page_size=10).pages(ListOptions()):
            if page.restarted:
                seen.clear()
            seen += page.list.items
        assert seen == list(range(21))

    async def test_stops_the_list_by_an_error_of_its_own(self) -> None:
        source = Numbers(51)
        seen: list[int] = []

        async def visit() -> None:
            async for page in Pager(source, page_size=10).pages(ListOptions()):
                for item in page.list.items:
                    seen.append(item)
                    if len(seen) == 3:
                        raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await visit()
        assert seen == [0, 1, 2]
        assert len(source.asked) == 1

    async def test_stops_the_list_by_being_cancelled(self) -> None:
        source = Numbers(51)
        seen: list[int] = []
        has_seen = asyncio.Event()

        async def visit() -> None:
            async for page in Pager(source, page_size=10).pages(ListOptions()):
                seen.extend(page.list.items)
                has_seen.set()
                await asyncio.sleep(0)

        task = asyncio.create_task(visit())
        await has_seen.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert seen == list(range(10))
        assert len(source.asked) == 1

    @pytest.mark.parametrize("pages", [1, 2, 5])
    async def test_costs_no_request_ahead_of_the_page_in_hand(self, pages: int) -> None:
        """client-go asks for the next page, or for as many as a buffer holds, meanwhile."""
        source = Numbers(50)
        iterator = Pager(source, page_size=10).pages(ListOptions())
        for _ in range(pages):
            await anext(iterator)
        assert len(source.asked) == pages
        await iterator.aclose()

    async def test_that_expired_again_is_an_error(self) -> None:
        class AlwaysExpired(Numbers):
            async def alist(self, options: ListOptions) -> ObjectList[int]:
                if len(self.asked) == 2:
                    raise error_for_status(Status(status="Failure", code=410, reason="Expired"))
                return await super().alist(options)

        with pytest.raises(Expired):
            await Pager(AlwaysExpired(21, expires=True), page_size=10).list(ListOptions())
