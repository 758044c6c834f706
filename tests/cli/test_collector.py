from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from listwatch.cli.collector import collecting_seldom
from listwatch.cli.embedded import Cluster, embedded


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    assert (gc.get_threshold(), gc.get_freeze_count()) == (before, 0)


def test_what_a_command_has_loaded_is_looked_through_no_more() -> None:
    with collecting_seldom():
        assert gc.get_freeze_count() > 1_000
        assert gc.get_threshold()[0] > 700


def test_cycles_still_go() -> None:
    with collecting_seldom():
        cycle: list[object] = []
        cycle.append(cycle)
        del cycle
        assert gc.collect(0) >= 1


def test_it_is_as_before_when_the_command_fails() -> None:
    with pytest.raises(ZeroDivisionError), collecting_seldom():
        raise ZeroDivisionError


async def test_so_it_is_while_a_server_of_a_command_runs() -> None:
    async with embedded(Cluster()):
        assert gc.get_freeze_count() > 1_000
