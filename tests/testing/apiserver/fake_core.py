"""A core for tests of what stands around it: every answer is the test's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from listwatch.testing.apiserver.messages import (
    Answer,
    Reaction,
    ServerRequest,
    WatchStream,
)


class FakeStream:
    """A watch that the test writes to."""

    def __init__(self, *frames: bytes, limit: int = 1_000_000) -> None:
        self.content_type = "application/json"
        self.headers: tuple[tuple[str, str], ...] = ()
        self.wake: Callable[[], None] | None = None
        self.due: float | None = None
        self.ended = False
        self.closed = False
        self.opened = asyncio.Event()
        """Set when somebody has begun to read it."""
        self.ticks: list[float] = []
        self._frames = list(frames)
        self._limit = limit

    def write(self, *frames: bytes) -> None:
        self._frames += frames
        if len(self._frames) > self._limit:
            self.ended = True  # a reader that is too slow
        if self.wake is not None:
            self.wake()

    def end(self) -> None:
        self.ended = True
        if self.wake is not None:
            self.wake()

    def tick(self) -> None:
        self.ticks.append(asyncio.get_running_loop().time())
        self.due = None

    def take(self) -> list[bytes]:
        self.opened.set()
        taken, self._frames = self._frames, []
        return taken

    @property
    def waiting(self) -> int:
        return len(self._frames)

    def close(self) -> None:
        self.closed = True


class FakeLater:
    """An answer that comes at `due`, or when the test says so."""

    def __init__(self, due: float) -> None:
        self.due = due
        self.wake: Callable[[], None] | None = None
        self.answer: Answer | WatchStream | None = None
        self.at_due: Answer = Answer(status=504, body=b"late\n")
        self.closed = False

    def give(self, answer: Answer | WatchStream) -> None:
        self.answer = answer
        if self.wake is not None:
            self.wake()

    def close(self) -> None:
        self.closed = True

    def tick(self) -> Answer | WatchStream | None:
        if self.answer is not None:
            return self.answer
        return self.at_due if asyncio.get_running_loop().time() >= self.due else None


class FakeCore:
    """Answers by path: a reaction, or a function of the request. Else 404."""

    def __init__(self, **answers: Reaction | Callable[[ServerRequest], Reaction]) -> None:
        self.answers: dict[str, Reaction | Callable[[ServerRequest], Reaction]] = {
            f"/{name}": answer for name, answer in answers.items()
        }
        self.requests: list[ServerRequest] = []
        self.next_due: float | None = None
        self.runs: list[float] = []
        self.done: list[str] = []

    def handle(self, request: ServerRequest) -> Reaction:
        self.requests.append(request)
        answer = self.answers.get(request.path, Answer(status=404, body=b"404 page not found\n"))
        if callable(answer):
            return answer(request)
        return answer

    def run_due(self) -> None:
        self.runs.append(asyncio.get_running_loop().time())
        self.next_due = None

    def compact(self) -> None:
        self.done.append("compact")

    def restart(self, history: object = "kept") -> None:
        self.done.append(f"restart {history}")


def event(number: int, size: int = 0, kind: str = "ADDED") -> bytes:
    """A frame of a watch, padded to `size` bytes."""
    head = (
        b'{"type":"%s","object":{"kind":"Pod","metadata":{"name":"p-%d","resourceVersion":"%d"}'
        % (
            kind.encode(),
            number,
            number,
        )
    )
    padding = max(size - len(head) - 3 - 10, 0)
    spec = b',"spec":"%s"' % (b"x" * padding) if size else b""
    return head + spec + b"}}\n"


BOOKMARK = b'{"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"9"}}}\n'
MARKER = (
    b'{"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"9","annotations":'
    b'{"k8s.io/initial-events-end":"true"}}}}\n'
)


LIST = b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[%s]}\n'


def pod_list(count: int, size: int) -> bytes:
    items = (b'{"metadata":{"name":"p-%05d"},"x":"%s"}' % (n, b"x" * size) for n in range(count))
    return LIST % b",".join(items)


def json_answer(body: bytes, status: int = 200) -> Answer:
    return Answer(status=status, body=body)


def face_core() -> FakeCore:
    """A core with an answer of every kind."""
    return FakeCore(
        small=json_answer(b'{"a":1}\n'),
        exact=json_answer(b"x" * 2048),
        object=json_answer(b'{"kind":"Pod","metadata":{"name":"' + b"x" * 3000 + b'"}}\n'),
        list=json_answer(pod_list(40, 200)),
        large=json_answer(pod_list(40, 6000)),
        text=Answer(
            status=404,
            body=b"404 page not found\n",
            content_type="text/plain; charset=utf-8",
            headers=(("X-Content-Type-Options", "nosniff"),),
        ),
        unauthorized=json_answer(b"{}\n", 401),
        cached=Answer(status=304, content_type=None, headers=(("Etag", '"A"'),)),
    )
