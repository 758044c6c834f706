"""One request and its repeats, on virtual time: what is sent, when, and what comes of it."""

from __future__ import annotations

import asyncio
import logging

import pytest

from listwatch.api import (
    APIError,
    Forbidden,
    InternalError,
    ListWatchError,
    ResourceVersionTooLarge,
    ServiceUnavailable,
    TooManyRequests,
)
from listwatch.rest.errors import (
    ConnectFailed,
    ConnectionLost,
    ConnectionRefused,
    TLSFailed,
    TransportTimeout,
)
from listwatch.rest.exchange import beginning_of
from listwatch.rest.transport import HTTPRequest
from listwatch.rest.warnings import (
    CollectWarnings,
    RaiseWarnings,
    WarningError,
)
from listwatch.testing import HANG, MemoryBody, MemoryTransport, Reply, in_turn
from listwatch.testing.transport import Handler
from tests.rest.scripted import GET, OK, Asked, Token, busy, status
from tests.support.vectors import vector

pytestmark = pytest.mark.virtual_time


class TestRetryAfter:
    pytestmark = pytest.mark.clause("B4")

    @pytest.mark.parametrize("watch", [False, True])
    @pytest.mark.parametrize("code", [429, 500, 502, 503, 504])
    async def test_a_busy_server_is_asked_again_exactly_when_it_said(
        self, code: int, watch: bool
    ) -> None:
        asked = Asked(in_turn(busy(code, "2"), busy(code, "5"), OK))
        assert await asked.ends(watch=watch) == b'{"kind": "PodList", "items": []}'
        assert asked.times == [0, 2, 7]

    @pytest.mark.parametrize("retry_after", [None, "soon", "1.5", "Wed, 21 Oct 2015 07:28:00 GMT"])
    async def test_without_whole_seconds_it_is_an_error_at_once(
        self, retry_after: str | None
    ) -> None:
        asked = Asked(in_turn(busy(503, retry_after)))
        error = await asked.fails()
        assert isinstance(error, ServiceUnavailable)
        assert asked.times == [0]

    async def test_the_last_answer_is_the_error_when_the_retries_are_used_up(self) -> None:
        asked = Asked(lambda request: busy(429, "1"), max_retries=3)
        error = await asked.fails()
        assert isinstance(error, TooManyRequests)
        assert error.retry_after == 1
        assert asked.times == [0, 1, 2, 3]

    @pytest.mark.clause("H9")
    async def test_no_retries_means_one_attempt(self) -> None:
        asked = Asked(in_turn(busy()), max_retries=0)
        assert isinstance(await asked.fails(), TooManyRequests)

    async def test_ten_retries_by_default(self) -> None:
        asked = Asked(lambda request: busy(429, "0"))
        await asked.fails()
        assert len(asked.times) == 11

    async def test_the_error_mentions_the_one_before_it_when_they_differ(self) -> None:
        asked = Asked(
            in_turn(
                busy(429, "1", status(429, "TooManyRequests", "storage is (re)initializing")),
                Reply(403, status(403, "Forbidden", "not you")),
            )
        )
        error = await asked.fails()
        assert isinstance(error, Forbidden)
        [note] = error.__notes__
        assert "the attempt before this one" in note
        assert "storage is (re)initializing" in note

    async def test_the_error_does_not_mention_one_that_is_the_same(self) -> None:
        error = await Asked(lambda request: busy(), max_retries=1).fails()
        assert not hasattr(error, "__notes__")

    @pytest.mark.parametrize("watch", [False, True])
    @pytest.mark.parametrize(
        "name", ["2-list-rv-future", "k-list-pods-rv-future", "2-list-nocache-rv-future"]
    )
    async def test_too_large_is_never_retried(self, name: str, watch: bool) -> None:
        recorded = vector(name)
        asked = Asked(in_turn(Reply(recorded.status, recorded.body, recorded.headers)))
        error = await asked.fails(watch=watch)
        assert isinstance(error, ResourceVersionTooLarge)

    async def test_a_short_body_is_drained_and_its_connection_kept(self) -> None:
        body = MemoryBody(b"x" * 2048)
        body.end()
        asked = Asked(in_turn(Reply(429, body, {"Retry-After": "1"}), OK))
        await asked.ends()
        assert not body.closed
        assert body.pending == 1  # the end itself, which stays

    async def test_of_a_long_body_2_kib_are_read_and_then_its_connection_is_closed(self) -> None:
        body = MemoryBody(b"x" * 2000, b"y" * 2000, b"z" * 2000)
        asked = Asked(in_turn(Reply(429, body, {"Retry-After": "1"}), OK))
        await asked.ends()
        assert body.closed
        assert body.pending == 1

    async def test_a_body_that_hangs_delays_the_retry_by_no_more_than_the_silence(self) -> None:
        body = MemoryBody(b"never comp", HANG)
        asked = Asked(in_turn(Reply(429, body, {"Retry-After": "1"}), OK))
        await asked.ends(watch=True)
        assert body.closed
        assert asked.times == [0, 31]

    async def test_an_error_whose_body_breaks_off_is_still_that_error(self) -> None:
        asked = Asked(in_turn(Reply(500, [b"part of", ConnectionLost("cut")])))
        error = await asked.fails()
        assert isinstance(error, InternalError)
        assert error.message == "part of"

    async def test_a_long_status_is_read_whole_where_nothing_is_repeated(self) -> None:
        causes = [{"field": f"spec.f{n}", "message": "bad"} for n in range(1000)]
        asked = Asked(in_turn(Reply(422, status(422, "Invalid", "many", causes=causes))))
        error = await asked.fails()
        assert isinstance(error, APIError)
        assert len(error.causes) == 1000

    async def test_a_write_is_repeated_like_any_other(self) -> None:
        asked = Asked(in_turn(busy(), OK))
        request = HTTPRequest(method="POST", path="/api/v1/pods", body=b"{}")
        response = await asked.exchange.send(request)
        assert not isinstance(response, ListWatchError)
        await response.read()
        assert [received.request.body for received in asked.transport.requests] == [b"{}", b"{}"]


class TestLostConnections:
    pytestmark = pytest.mark.clause("B5")

    @pytest.mark.parametrize("error", [ConnectionLost, TransportTimeout])
    async def test_a_watch_is_opened_again_after_a_second(self, error: type[Exception]) -> None:
        asked = Asked(in_turn(error("first"), error("second"), OK))
        assert await asked.ends(watch=True)
        assert asked.times == [0, 1, 2]

    @pytest.mark.parametrize("error", [ConnectionLost, TransportTimeout])
    async def test_a_watch_that_cannot_be_opened_at_all_is_empty(
        self, error: type[Exception], caplog: pytest.LogCaptureFixture
    ) -> None:
        asked = Asked(lambda request: error("gone"), max_retries=2)
        with caplog.at_level(logging.INFO, "listwatch.rest"):
            assert type(await asked.ends(watch=True)) is error
        assert asked.times == [0, 1, 2]
        assert "the watch of /api/v1/pods was not opened: gone" in caplog.text

    async def test_with_no_retries_one_lost_connection_makes_it_empty(self) -> None:
        lost = ConnectionLost("gone")
        asked = Asked(in_turn(lost), max_retries=0)
        assert await asked.ends(watch=True) is lost

    @pytest.mark.parametrize("error", [ConnectionRefused, ConnectFailed, TLSFailed])
    async def test_refused_unreachable_or_without_tls_is_an_error_at_once(
        self, error: type[Exception]
    ) -> None:
        asked = Asked(in_turn(error("no")))
        assert type(await asked.fails(watch=True)) is error

    @pytest.mark.parametrize(
        "error", [ConnectionLost, TransportTimeout, ConnectionRefused, ConnectFailed, TLSFailed]
    )
    async def test_only_a_watch_is_repeated(self, error: type[Exception]) -> None:
        asked = Asked(in_turn(error("no")))
        assert type(await asked.fails()) is error

    async def test_lost_connections_and_busy_answers_count_together(self) -> None:
        asked = Asked(
            in_turn(ConnectionLost("a"), busy(429, "3"), ConnectionLost("b"), busy(429, "3")),
            max_retries=3,
        )
        error = await asked.fails(watch=True)
        assert isinstance(error, TooManyRequests)
        assert asked.times == [0, 1, 4, 5]
        assert "ConnectionLost: b" in error.__notes__[0]


class TestStatuses:
    pytestmark = pytest.mark.clause("B6")

    @pytest.mark.parametrize("code", [201, 204, 206, 301, 304, 400, 403, 410, 500, 503])
    async def test_any_status_but_200_is_an_error_of_a_watch(self, code: int) -> None:
        error = await Asked(in_turn(Reply(code, b"no"))).fails(watch=True)
        assert isinstance(error, APIError)
        assert error.code == code

    @pytest.mark.parametrize("code", [200, 201, 202])
    async def test_any_2xx_is_a_success_of_anything_else(self, code: int) -> None:
        assert await Asked(in_turn(Reply(code, b"yes"))).ends() == b"yes"

    @pytest.mark.parametrize("code", [301, 302, 304, 307, 400, 404, 500])
    async def test_a_redirect_and_everything_above_is_an_error(self, code: int) -> None:
        error = await Asked(in_turn(Reply(code, b"no"))).fails()
        assert isinstance(error, APIError)
        assert error.code == code

    @pytest.mark.clause("A5")
    async def test_a_proxys_page_is_an_error_with_its_text(self) -> None:
        page = b"<html><title>503 Service Unavailable</title><body>Come back later</body></html>"
        error = await Asked(in_turn(Reply(503, page, {"Content-Type": "text/html"}))).fails()
        assert isinstance(error, ServiceUnavailable)
        assert "Come back later" in str(error)

    @pytest.mark.clause("A5")
    @pytest.mark.parametrize("watch", [False, True])
    async def test_priority_and_fairness_answers_in_plain_text(self, watch: bool) -> None:
        recorded = vector("k-apf-429-list")
        reply = Reply(recorded.status, recorded.body, recorded.headers)
        asked = Asked(in_turn(reply, reply), max_retries=1)
        error = await asked.fails(watch=watch)
        assert isinstance(error, TooManyRequests)
        assert error.message == "Too many requests, please try again later."
        assert asked.times == [0, 1]

    async def test_plain_http_on_a_tls_port_says_what_to_do(self) -> None:
        body = b"Client sent an HTTP request to an HTTPS server.\n"
        error = await Asked(in_turn(Reply(400, body))).fails()
        assert isinstance(error, TLSFailed)
        assert "https://" in str(error)


class CountingLimiter:
    def __init__(self) -> None:
        self.asked = 0

    async def acquire(self) -> None:
        self.asked += 1


class TestRateLimit:
    pytestmark = pytest.mark.clause("B3")

    async def test_every_attempt_of_a_list_waits_its_turn(self) -> None:
        limiter = CountingLimiter()
        await Asked(in_turn(busy(), busy(), OK), rate_limiter=limiter).ends()
        assert limiter.asked == 3

    async def test_a_watch_and_its_repeats_never_do(self) -> None:
        limiter = CountingLimiter()
        asked = Asked(in_turn(busy(), ConnectionLost("x"), OK), rate_limiter=limiter)
        await asked.ends(watch=True)
        assert limiter.asked == 0


class TestWarnings:
    pytestmark = pytest.mark.clause("B7")

    async def test_those_of_every_answer_are_passed_on_in_order(self) -> None:
        collected = CollectWarnings()
        first = Reply(
            429, b"", [("Retry-After", "1"), ("Warning", '299 - "a"'), ("warning", '299 - "b"')]
        )
        second = Reply(404, b"", [("Warning", '299 - "c", 110 - "stale"')])
        await Asked(in_turn(first, second), warnings=collected).fails()
        assert [warning.text for warning in collected.warnings] == ["a", "b", "c"]
        assert collected.warnings[0].request == "GET /api/v1/pods"

    @pytest.mark.parametrize("code", [200, 404, 429])
    async def test_a_handler_that_raises_ends_the_request_and_its_answer(self, code: int) -> None:
        body = MemoryBody(b"{}")
        reply = Reply(code, body, [("Warning", '299 - "old"'), ("Retry-After", "1")])
        error = await Asked(in_turn(reply), warnings=RaiseWarnings()).fails()
        assert isinstance(error, WarningError)
        assert body.closed


class TestCancellation:
    pytestmark = pytest.mark.clause("B8")

    async def test_at_any_moment_nothing_is_left_open(self) -> None:
        """A drain, a retry, a refresh, a lost connection: cancelled after every half second."""

        def answers() -> Handler:
            return in_turn(
                Reply(429, MemoryBody(b"x", HANG), {"Retry-After": "1"}, delay=2),
                Reply(401, b"who?", delay=2),
                ConnectionLost("lost"),
                Reply(200, b"", delay=3),
            )

        for half_seconds in range(90):
            asked = Asked(answers(), credentials=Token("a", "b"))
            task = asyncio.create_task(asked.send(watch=True))
            await asyncio.sleep(half_seconds / 2)
            if task.done():
                break
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert asked.transport.open_responses == 0
            await asked.transport.close()
        else:
            pytest.fail("the exchange never came to its end")
        response = await task
        assert not isinstance(response, ListWatchError)
        await response.read()
        assert half_seconds > 60

    async def test_while_it_waits_for_its_turn(self) -> None:
        class Never:
            async def acquire(self) -> None:
                await asyncio.get_running_loop().create_future()

        asked = Asked(in_turn(), rate_limiter=Never())
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(5):
                await asked.send()


class TestBeginningOf:
    @pytest.mark.parametrize(
        ("pieces", "limit", "expected", "closed"),
        [
            ([b"abc"], 10, b"abc", False),
            ([b"abc"], 3, b"abc", False),
            ([b"abc"], 2, b"ab", True),
            ([b"a", b"b", b"c"], 2, b"ab", True),
            ([], 2, b"", False),
        ],
    )
    async def test_it_reads_no_more_than_the_limit_and_closes_only_what_is_longer(
        self, pieces: list[bytes], limit: int, expected: bytes, closed: bool
    ) -> None:
        body = MemoryBody(*pieces)
        body.end()
        transport = MemoryTransport(in_turn(Reply(500, body)))
        response = await transport.send(GET)
        assert await beginning_of(response, limit, None) == expected
        assert body.closed is closed
        assert transport.open_responses == 0
