"""Answers in protobuf, for those who ask for that first.

Everything is made as JSON; here the last step is another encoding of it. Custom resources have no
messages, so they stay JSON, but what is refused of them does not.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from ..messages import Answer, WatchStream
from ..types.messages import encode_event, encode_object, has_message
from .negotiation import PROTOBUF

__all__ = ["ProtobufStream", "in_protobuf"]


def in_protobuf(answer: Answer) -> Answer:
    """`answer`, JSON, in protobuf, where it is one of the messages."""
    value = json.loads(answer.body)
    if not has_message(value.get("apiVersion", ""), value.get("kind", "")):
        return answer
    return Answer(
        status=answer.status,
        body=encode_object(value),
        content_type=PROTOBUF,
        headers=answer.headers,
    )


class ProtobufStream:
    """A watch whose frames are written anew, each behind its length."""

    content_type = f"{PROTOBUF};stream=watch"

    def __init__(self, stream: WatchStream) -> None:
        self._stream = stream
        self.headers = stream.headers

    @property
    def wake(self) -> Callable[[], None] | None:
        return self._stream.wake

    @wake.setter
    def wake(self, wake: Callable[[], None] | None) -> None:
        self._stream.wake = wake

    @property
    def due(self) -> float | None:
        return self._stream.due

    def tick(self) -> None:
        self._stream.tick()

    def take(self) -> list[bytes]:
        return [_frame(data) for data in self._stream.take()]

    @property
    def ended(self) -> bool:
        return self._stream.ended

    def close(self) -> None:
        self._stream.close()


def _frame(data: bytes) -> bytes:
    event = json.loads(data)
    message = encode_event(event["type"], event["object"])
    return len(message).to_bytes(4, "big") + message
