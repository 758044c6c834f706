"""A core with a made-up cluster in it, whose time goes on by a step's worth with each step."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from listwatch.testing.apiserver import APIServer
from listwatch.testing.churn import Churn, Step, carry_out

START = datetime(2026, 1, 1, tzinfo=UTC)
STEP = 0.05


class World:
    def __init__(self, seed: int = 0, **load: int) -> None:
        self.now = 0.0
        self.core = APIServer(clock=lambda: self.now, wall=self.wall, rng=Random(seed))
        self.churn = Churn(seed, wall=self.wall, load=load)
        self.loaded = self.core.load(self.churn.objects())

    def wall(self) -> datetime:
        return START + timedelta(seconds=self.now)

    def steps(self, count: int) -> Iterator[Step]:
        for _ in range(count):
            self.now += STEP
            step = next(self.churn)
            carry_out(self.core, step)
            yield step

    def run(self, count: int) -> list[Step]:
        return list(self.steps(count))

    def values(self, storage: str) -> list[dict[str, Any]]:
        return [dict(found.value) for found in self.core.state.log.objects(storage)]

    def count(self, storage: str) -> int:
        return self.core.state.log.count(storage)
