from __future__ import annotations

import socket

import aiohttp
import pytest

from listwatch.rest import _aiohttp
from tests.rest.loopback import (
    Authority,
    authority,
)


@pytest.fixture(scope="module")
def pki() -> Authority:
    return authority()


@pytest.fixture
def sockets(monkeypatch: pytest.MonkeyPatch) -> list[socket.socket]:
    """Every socket that a transport opens."""
    opened: list[socket.socket] = []
    real = _aiohttp._open_socket

    def remembering(address: object) -> socket.socket:
        opened.append(real(address))
        return opened[-1]

    monkeypatch.setattr(_aiohttp, "_open_socket", remembering)
    return opened


def _leave_to_aiohttp(connector: aiohttp.BaseConnector) -> None:
    """Instead of taking the bodies from it."""


@pytest.fixture(params=["read by us", "read by aiohttp"])
def both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunked bodies read by us, as they are, and by aiohttp, as they would be if it had changed
    too much.
    """
    if request.param == "read by aiohttp":
        monkeypatch.setattr(_aiohttp, "_take_bodies", _leave_to_aiohttp)
