"""The last touch to a reaction: its encoding, pretty-printing (K5) and the headers that go with its
type.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TypeGuard, cast

from ..messages import Answer, Later, Reaction, ServerRequest, WatchStream
from .encoding import pretty_json
from .negotiation import JSON, PROTOBUF, YAML, accepts_plain, encoding_of

__all__ = ["Presentation", "warning_header"]

_BROWSERS = ("curl", "Wget", "Mozilla/5.0")
_PRETTY = "pretty=1"  # a parameter of a media type
_TRUE = frozenset({"1", "t", "T", "true", "TRUE", "True"})

Header = tuple[str, str]


def warning_header(text: str) -> Header:
    """A warning as RFC 7234 writes it, quotes and backslashes escaped."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return ("Warning", f'299 - "{escaped}"')


class Presentation:
    """How the reaction to one request is to look."""

    __slots__ = ("accept", "encoded", "headers", "pretty_always", "pretty_failures")

    def __init__(self, request: ServerRequest, headers: tuple[Header, ...]) -> None:
        self.headers = headers
        """What is added to every answer."""
        self.pretty_always = _wants_pretty(request)
        accept = request.headers.get("accept")
        self.accept = accept or ""
        self.encoded = PROTOBUF in self.accept or YAML in self.accept
        """Whether the answer may be anything but JSON."""
        self.pretty_failures = accept is not None and not accepts_plain(accept)

    def of(self, reaction: Reaction) -> Reaction:
        if isinstance(reaction, Answer):
            return self.of_answer(reaction)
        if _is_stream(reaction):
            reaction.headers = (*self.headers, *reaction.headers)
            custom = _is_custom(reaction)
            if self.encoded and encoding_of(self.accept, custom=custom) == PROTOBUF:
                from .protobuf_answers import ProtobufStream

                return ProtobufStream(reaction)
            return reaction
        return _PresentedLater(cast("Later", reaction), self)

    def of_answer(self, answer: Answer) -> Answer:
        if self.encoded:
            answer = self._encoded(answer)
        body = answer.body
        pretty = self.pretty_always or (self.pretty_failures and answer.status >= 400)
        if pretty and answer.content_type == "application/json" and body.startswith(b'{"'):
            body = pretty_json(json.loads(body))
        elif not self.headers:
            return answer
        return Answer(
            status=answer.status,
            body=body,
            content_type=answer.content_type,
            headers=(*self.headers, *answer.headers),
        )

    def _encoded(self, answer: Answer) -> Answer:
        if answer.content_type != JSON or not answer.body.startswith(b"{"):
            return answer
        encoding = encoding_of(self.accept, failure=answer.status >= 400)
        # Neither is loaded before somebody wants it: most never do, and they take time.
        if encoding == PROTOBUF:
            from .protobuf_answers import in_protobuf

            return in_protobuf(answer)
        if encoding == YAML:
            from .yaml_answers import in_yaml

            return in_yaml(answer)
        return answer


class _PresentedLater:
    """A later answer that will look like the others."""

    def __init__(self, later: Later, presentation: Presentation) -> None:
        self._later = later
        self._presentation = presentation

    @property
    def due(self) -> float:
        return self._later.due

    def tick(self) -> Answer | WatchStream | None:
        reaction = self._later.tick()
        if reaction is None:
            return None
        presented = self._presentation.of(reaction)
        assert not isinstance(presented, _PresentedLater)
        return presented  # type: ignore[return-value]  # neither Later nor None can come here

    @property
    def wake(self) -> Callable[[], None] | None:
        return self._later.wake

    @wake.setter
    def wake(self, wake: Callable[[], None] | None) -> None:
        self._later.wake = wake

    def close(self) -> None:
        self._later.close()


def _is_stream(reaction: Later | WatchStream) -> TypeGuard[WatchStream]:
    return hasattr(reaction, "take")


def _is_custom(stream: WatchStream) -> bool:
    target = getattr(stream, "target", None)
    return target is not None and bool(target.type.custom)


def _wants_pretty(request: ServerRequest) -> bool:
    if request.query:
        asked = request.parameter("pretty")
        if asked:
            return asked in _TRUE
    if _PRETTY in request.headers.get("accept", ""):
        return True
    return request.headers.get("user-agent", "").startswith(_BROWSERS)
