from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from listwatch.rest import _aiohttp
from tests.rest.loopback import (
    Authority,
    authority,
)
from tests.rest.proxies import KINDS, LoopbackProxy, MakeProxy


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


@pytest.fixture(scope="module")
def proxy_pki() -> Authority:
    return authority(name="CA of proxies")


@pytest.fixture
def trusted_by_the_system(
    proxy_pki: Authority, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "system.pem"
    file.write_bytes(proxy_pki.ca_pem)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))


@pytest.fixture
def make_proxy(proxy_pki: Authority, trusted_by_the_system: None) -> MakeProxy:
    """Makes proxies; those of the kind https have a certificate that the system trusts."""

    def make(kind: str, **settings: Any) -> LoopbackProxy:
        context = proxy_pki.server if kind == "https" else None
        return LoopbackProxy(kind, **{"ssl": context, **settings})

    return make


@pytest.fixture(params=KINDS)
def proxy(request: pytest.FixtureRequest, make_proxy: MakeProxy) -> LoopbackProxy:
    return make_proxy(request.param)


@pytest.fixture(params=KINDS)
def locked_proxy(request: pytest.FixtureRequest, make_proxy: MakeProxy) -> LoopbackProxy:
    """One that wants a user and a password."""
    return make_proxy(request.param, user="alice", password="hunter2")
