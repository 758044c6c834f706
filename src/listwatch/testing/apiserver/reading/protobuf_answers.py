"""Answers in protobuf, for those who ask for that first.

Everything is made as JSON; here the last step is another encoding of it. Custom resources have no
messages, so they stay JSON, but what is refused of them does not.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache

from ..messages import Answer, WatchStream
from ..types.messages import encode_event, encode_object, has_message
from .negotiation import clauses

__all__ = ["PROTOBUF", "ProtobufStream", "asks_for_protobuf", "in_protobuf"]

PROTOBUF = "application/vnd.kubernetes.protobuf"
_JSON = frozenset({"application/json", "application/*", "*/*"})
_METADATA = frozenset({"PartialObjectMetadata", "PartialObjectMetadataList"})


@lru_cache(maxsize=1024)
def asks_for_protobuf(accept: str, *, failure: bool = False, custom: bool = False) -> bool:
    """Whether protobuf is the best of what a client takes; `failure`: for a Status, which is no
    metadata; `custom`: for custom resources, of which there is nothing but metadata in protobuf.
    """
    for clause in clauses(accept):
        converted = clause.parameter("as")
        if clause.type == PROTOBUF:
            if custom and not converted:
                continue
            if not converted or (converted in _METADATA and not failure):
                return True
        elif clause.type in _JSON and not (converted and failure):
            return False
    return False


def in_protobuf(answer: Answer, accept: str) -> Answer:
    """`answer` in protobuf, where it is JSON and one of the messages."""
    if answer.content_type != "application/json" or not answer.body.startswith(b"{"):
        return answer
    if not asks_for_protobuf(accept, failure=answer.status >= 400):
        return answer
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
