from __future__ import annotations

import socket

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
