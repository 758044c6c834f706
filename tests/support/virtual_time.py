"""A pytest plugin: `@pytest.mark.virtual_time` runs an async test on a `VirtualTimeLoop`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import pytest


def pytest_asyncio_loop_factories(
    item: pytest.Item,
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    if item.get_closest_marker("virtual_time") is not None:
        # Imported here so that a fault in one room fails the tests which need it, and no others.
        from listwatch.testing.virtual_time import VirtualTimeLoop

        return {"virtual_time": VirtualTimeLoop}
    return {"asyncio": asyncio.new_event_loop}
