"""Sends questions to webhooks, on the loop that the server lives on."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from urllib.parse import urlsplit

from listwatch.rest.aiohttp_transport import AiohttpTransport
from listwatch.rest.config import ClientConfig
from listwatch.rest.errors import ConfigError, ConnectionLost, ConnectionRefused, TransportError
from listwatch.rest.transport import HTTPRequest

from .answers import Failed
from .consulting import Outcome
from .questions import Question
from .refusals import unexpected

__all__ = ["WebhookCaller"]

_MAX_BODY = 64 * 1024 * 1024
"""Bytes of an answer. A real server has no limit."""
_HEADERS = {"Content-Type": "application/json", "Accept": "application/json, */*"}


class WebhookCaller:
    """Is an `Ask`. `close` it in the end, or its requests are left."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def __call__(self, question: Question, done: Callable[[Outcome], None]) -> Callable[[], None]:
        task = asyncio.get_running_loop().create_task(_ask(question, done), name="webhook")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

        def cancel() -> None:
            task.cancel()

        return cancel

    async def close(self) -> None:
        """Nobody waits for the answers any more. Idempotent."""
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _ask(question: Question, done: Callable[[Outcome], None]) -> None:
    seconds = f"{math.ceil(question.timeout)}s"
    outcome: Outcome
    try:
        async with asyncio.timeout(question.timeout):
            outcome = await _answer(question, seconds)
    except TimeoutError:
        outcome = _failed(question, seconds, "context deadline exceeded")
    except ConnectionRefused:
        host, port = question.place.address
        text = f"dial tcp {host}:{port}: connect: connection refused"
        outcome = _failed(question, seconds, text)
    except ConnectionLost:
        outcome = _failed(question, seconds, "EOF")
    except (TransportError, ConfigError) as error:
        outcome = _failed(question, seconds, str(error))
    except Failed as failed:
        outcome = failed
    done(outcome)


async def _answer(question: Question, seconds: str) -> bytes:
    place = question.place
    host, port = place.address
    config = ClientConfig(
        server=f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}",
        ca_data=place.authority or None,
        tls_server_name=place.host,
    )
    request = HTTPRequest(
        method="POST",
        path=urlsplit(place.url).path or "/",
        query=(("timeout", seconds),),
        headers=_HEADERS,
        body=question.body,
    )
    transport = AiohttpTransport(config)
    try:
        answer = await transport.send(request)
        body = await answer.read(_MAX_BODY)
    finally:
        await transport.close()
    why = unexpected(answer.status, body)
    if not why and not body:
        kind = answer.headers.get("Content-Type") or "application/json"
        why = f"0-length response with status code: {answer.status} and content type: {kind}"
    if why:
        raise Failed(f"failed to call webhook: {why}")
    return body


def _failed(question: Question, seconds: str, why: str) -> Failed:
    url = f"{question.place.url}?timeout={seconds}"
    return Failed(f'failed to call webhook: Post "{url}": {why}')
