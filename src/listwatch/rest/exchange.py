"""One request and its repeats: the one owner of repetition below a caller (B4, B5, H15).

Around each attempt: the rate limiter, but never for a watch (B3); the credentials; the warnings of
the answer (B7). What to do after an attempt is decided by `RetryPolicy`; with fresh credentials a
request that was answered 401 is sent once more.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace

import msgspec

from listwatch.api import (
    APIError,
    Forbidden,
    ListWatchError,
    ResourceVersionTooLarge,
    Unauthorized,
    error_for_response,
)
from listwatch.wire import JSON_CODEC, Codec
from listwatch.wire.media import media_type

from .authentication import Authentication, Proof
from .errors import TLSFailed, TransportError
from .rate_limit import RateLimiter
from .retry import GiveUp, Outcome, RetryPolicy, SendAgain, parse_retry_after
from .transport import HTTPRequest, HTTPResponse, Transport
from .warnings import WarningHandler, for_handlers, parse_warnings

__all__ = ["Exchange", "beginning_of"]

_log = logging.getLogger("listwatch.rest")

_NOBODY = '"system:anonymous"'
"""Who asks, for a server that has found no credentials that it knows how to check."""

_DRAINED = 2048
"""Bytes of a body that are read before its request is repeated; with more to come its connection is
closed (B4)."""

_ERROR_BODY = 1024 * 1024
"""Bytes of an error's body that are read: a Status with many causes may be long."""

_HTTP_ON_TLS_PORT = b"HTTP request to an HTTPS server"
"""What Go's server answers, with 400 and in plain text, to HTTP on its TLS port."""


class Exchange:
    """Sends requests to one server, as often as the policy says."""

    def __init__(
        self,
        transport: Transport,
        *,
        authentication: Authentication,
        policy: RetryPolicy,
        warnings: WarningHandler,
        rate_limiter: RateLimiter | None = None,
        silence: float | None = None,
    ) -> None:
        self._transport = transport
        self._authentication = authentication
        self._policy = policy
        self._warnings = warnings
        self._rate_limiter = rate_limiter
        self._silence = silence

    async def send(
        self,
        request: HTTPRequest,
        *,
        watch: bool = False,
        max_retries: int | None = None,
        codecs: Sequence[Codec] = (JSON_CODEC,),
    ) -> HTTPResponse | ListWatchError:
        """The successful answer: 200 for a watch, any 2xx else. Its body is the caller's to read or
        close. An error that is returned stands for the empty watch of B5, and says why it is empty.

        Raises the `APIError` of any other answer, or the `TransportError` that ended the last
        attempt. It has a note about the attempt before it where that failed otherwise.
        `max_retries` goes before that of the policy; `codecs` are those that were asked for, in
        any of which an error may come.
        """
        policy = self._policy
        if max_retries is not None:
            policy = replace(policy, max_retries=max_retries)
        failure: ListWatchError | None = None
        attempt = 0
        renewed = False
        while True:
            if self._rate_limiter is not None and not watch:
                await self._rate_limiter.acquire()
            proof = await self._authentication.prove()
            previous = failure
            try:
                response = await self._transport.send(_with(request, proof))
            except TransportError as error:
                failure = error
                decision = policy.decide(Outcome(attempt=attempt, watch=watch, error=error))
            else:
                try:
                    self._pass_on_warnings(request, response)
                    if response.status == 200 or (200 <= response.status < 300 and not watch):
                        return response
                    outcome = Outcome(
                        attempt=attempt,
                        watch=watch,
                        status=response.status,
                        retry_after=response.headers.get("Retry-After"),
                    )
                    failure, decision = await self._judge(
                        request, response, outcome, policy, codecs
                    )
                except BaseException:
                    response.close()
                    raise
                if response.status == 401 and not renewed:
                    renewed = True
                    if await self._renewed(proof, failure):
                        continue
            match decision:
                case SendAgain(after):
                    delay = policy.spread(after)
                    _log.debug(
                        "%s %s: %s; again in %g s", request.method, request.path, failure, delay
                    )
                    await asyncio.sleep(delay)
                    attempt += 1
                case GiveUp.EMPTY_WATCH:
                    _log.info("the watch of %s was not opened: %s", request.path, failure)
                    return failure
                case GiveUp.ERROR:
                    self._blame(failure)
                    _mention(failure, previous)
                    raise failure

    def _pass_on_warnings(self, request: HTTPRequest, response: HTTPResponse) -> None:
        headers = response.headers.get_all("Warning")
        if not headers:
            return
        asked = f"{request.method} {request.path}"
        for warning in for_handlers(parse_warnings(headers, request=asked)):
            self._warnings.handle(warning)

    async def _judge(
        self,
        request: HTTPRequest,
        response: HTTPResponse,
        outcome: Outcome,
        policy: RetryPolicy,
        codecs: Sequence[Codec],
    ) -> tuple[ListWatchError, SendAgain | GiveUp]:
        """The error that an answer stands for, and what to do about it. Ends the answer."""
        likely = policy.decide(outcome)
        limit = _DRAINED if isinstance(likely, SendAgain) else _ERROR_BODY
        body = await beginning_of(response, limit, self._silence)
        if response.status == 400 and _HTTP_ON_TLS_PORT in body[:200]:
            message = (
                "the server speaks TLS, and was sent plain HTTP: does its address want https://?"
            )
            return TLSFailed(message, url=request.path), GiveUp.ERROR
        failure = _error(response, body, parse_retry_after(outcome.retry_after), codecs)
        too_large = isinstance(failure, ResourceVersionTooLarge)
        return failure, policy.decide(replace(outcome, too_large=too_large))

    def _blame(self, failure: ListWatchError) -> None:
        """Say which credentials a server did not accept, or did not look at."""
        shown = self._authentication.description
        if isinstance(failure, Unauthorized):
            told = f"it was shown {shown}" if shown else "no credentials were shown to it"
            failure.add_note(told)
        elif (
            isinstance(failure, Forbidden)
            and shown
            and _NOBODY in failure.message
            and not self._authentication.impersonates
        ):
            failure.add_note(f"it was shown {shown}, which it does not recognise")

    async def _renewed(self, proof: Proof, unauthorized: ListWatchError) -> bool:
        try:
            return await self._authentication.renew(proof)
        except Exception as error:
            # What the caller must see is the 401; why nothing better could be had goes with it.
            self._blame(unauthorized)
            unauthorized.add_note(f"and the credentials could not be refreshed: {error}")
            raise unauthorized from error


def _error(
    response: HTTPResponse, body: bytes, wait: float | None, codecs: Sequence[Codec]
) -> APIError:
    """The error that an answer stands for, in whatever encoding it came (B9)."""
    content_type = response.headers.get("Content-Type")
    for codec in codecs:
        if codec is not JSON_CODEC and media_type(content_type) in codec.media_types:
            status = codec.decode_status(body)
            if status.code in (0, response.status):  # else it could not be read
                body, content_type = msgspec.json.encode(status), JSON_CODEC.media_type
            break
    return error_for_response(response.status, content_type, body, retry_after=wait)


async def beginning_of(response: HTTPResponse, limit: int, silence: float | None) -> bytes:
    """The first `limit` bytes of a body that is wanted for a message only.

    The answer is ended: read to its end, or closed where more would come, or it breaks off, or
    nothing comes for `silence` seconds.
    """
    body = bytearray()
    try:
        while len(body) <= limit:
            async with asyncio.timeout(silence):
                piece = await response.receive()
            if not piece:
                return bytes(body)
            body += piece
    except (TransportError, TimeoutError) as error:
        _log.debug("the body of an answer of status %d broke off: %s", response.status, error)
    response.close()
    return bytes(body[:limit])


def _with(request: HTTPRequest, proof: Proof) -> HTTPRequest:
    given = {name.lower() for name in request.headers}  # which win, as in client-go
    return replace(
        request,
        headers={
            **request.headers,
            **{name: it for name, it in proof.headers.items() if name.lower() not in given},
        },
        more_headers=request.more_headers
        + tuple(pair for pair in proof.more_headers if pair[0].lower() not in given),
        certificate=proof.certificate,
    )


def _mention(failure: ListWatchError, previous: ListWatchError | None) -> None:
    if previous is not None and _described(previous) != _described(failure):
        failure.add_note(f"the attempt before this one failed otherwise: {_described(previous)}")


def _described(error: ListWatchError) -> str:
    return str(error) if isinstance(error, APIError) else f"{type(error).__name__}: {error}"
