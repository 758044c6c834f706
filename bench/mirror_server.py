"""The server of `bench.mirror`, in a process of its own: many objects, and changes at a steady rate
when it is told to make some.
"""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime
from random import Random
from typing import Any

from bench.server import kilobyte, name_of
from listwatch.testing.apiserver import APIServer, EmbeddedServer
from listwatch.testing.apiserver.messages import Answer, ServerRequest
from listwatch.testing.churn import Churn
from listwatch.testing.churn.driver import Pace

_SLICE = 0.02  # seconds of writing, before the server may answer others


async def serve(objects: int, kind: str) -> None:
    """Serve until standard input ends; each line of it is a rate and a time to write at it."""
    async with EmbeddedServer(control=True) as server:
        server.core.load(_objects(objects, kind))
        for found in server.core.state.log.objects(kind):
            found.raw  # noqa: B018  encoded now, or the first to ask would wait for that
        print(server.url, flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            rate, seconds = map(float, line.split())
            before = server.core.state.log.revision
            await Writer(server.core, kind).write(rate, seconds)
            now = server.core.state.log.revision
            print(now - before, now, flush=True)


def _objects(count: int, kind: str) -> Any:
    if kind == "configmaps":
        return (kilobyte(name_of(number), number, whole=True) for number in range(count))
    return Churn(1, wall=lambda: datetime.now(UTC), load={"pods": count}).objects()


class Writer:
    """Changes objects of one kind: of ten requests eight update, one deletes, one creates. (The
    deletion of a pod is two changes: the second one ends it.)
    """

    def __init__(self, core: APIServer, kind: str) -> None:
        self._core = core
        self._kind = kind
        self._rng = Random(3)
        self._keys = [found.key for found in core.state.log.objects(kind)]
        self.writes = 0

    async def write(self, rate: float, seconds: float) -> None:
        clock = asyncio.get_running_loop().time
        begin = clock()
        pace = Pace(rate, begin)
        total = int(rate * seconds)
        while self.writes < total:
            until = clock() + _SLICE
            for _ in range(min(pace.due(clock()), total - self.writes)):
                self._change()
                pace.done += 1
                if clock() >= until:
                    break
            await asyncio.sleep(pace.wait(clock()))

    def _change(self) -> None:
        self.writes += 1
        at = self._rng.randrange(len(self._keys))
        namespace, name = self._keys[at]
        path = f"/api/v1/namespaces/{namespace}/{self._kind}"
        turn = self.writes % 10
        if turn == 8:
            self._keys[at] = self._keys[-1]
            self._keys.pop()
            self._ask("DELETE", f"{path}/{name}", b'{"gracePeriodSeconds":0}')
        elif turn == 9:
            found = self._core.state.log.get(self._kind, (namespace, name))
            assert found is not None
            new = f"new-{self.writes:07}"
            metadata = {"name": new, "namespace": namespace, "labels": found.metadata["labels"]}
            self._core.load([{**found.value, "metadata": metadata}])
            self._keys.append((namespace, new))
        else:
            patch = b'{"metadata":{"labels":{"turn":"%d"}}}' % self.writes
            self._ask("PATCH", f"{path}/{name}", patch)

    def _ask(self, method: str, path: str, body: bytes) -> None:
        kind = "merge-patch+json" if method == "PATCH" else "json"
        answer = self._core.handle(
            ServerRequest(
                method=method,
                path=path,
                query=(),
                headers={"accept": "application/json", "content-type": f"application/{kind}"},
                body=body,
            )
        )
        if not isinstance(answer, Answer) or answer.status >= 300:
            raise AssertionError(f"{method} {path}: {answer}")


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), sys.argv[2]))
