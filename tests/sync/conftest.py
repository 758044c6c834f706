"""A server, and a client of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from listwatch.sync import Client

from .serving import Serving, loop_threads, served


@pytest.fixture
def serving() -> Iterator[Serving]:
    with served() as serving:
        yield serving


@pytest.fixture
def client(serving: Serving) -> Iterator[Client]:
    with serving.client() as client:
        yield client
    assert loop_threads() == []
