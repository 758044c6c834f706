"""A server on a real loopback socket, whose every byte a test decides."""

from __future__ import annotations

import asyncio
import datetime
import ipaddress
import socket
import ssl
import struct
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from listwatch.rest.aiohttp_transport import AiohttpTransport
from listwatch.rest.config import ClientConfig
from listwatch.rest.transport import HTTPRequest

GET = HTTPRequest(method="GET", path="/x", headers={"User-Agent": "test"})


class Peer:
    """One connection, as the server sees it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self.gone = asyncio.Event()
        """Set when the client has closed its side."""

    @property
    def certificate(self) -> object:
        """The certificate that the client has shown; None for none."""
        return self._writer.get_extra_info("peercert")

    async def request(self) -> Received:
        """The next request. Raises `IncompleteReadError` when the client is gone."""
        try:
            head = await self._reader.readuntil(b"\r\n\r\n")
        except (ConnectionError, asyncio.IncompleteReadError):
            self.gone.set()
            raise
        lines = head.decode("latin-1").split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines[1:] if line)
        received = Received(lines[0], headers)
        received.body = await self._reader.readexactly(int(headers.get("Content-Length", "0")))
        return received

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def answer(self, body: bytes, *, status: str = "200 OK", headers: str = "") -> None:
        head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{headers}\r\n"
        await self.send(head.encode() + body)

    async def begin_chunked(self, *pieces: bytes, headers: str = "") -> None:
        head = f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n{headers}\r\n"
        await self.send(head.encode() + b"".join(chunk(piece) for piece in pieces))

    async def wait_gone(self) -> None:
        """Return when the client has closed its side."""
        try:
            while await self._reader.read(65536):
                pass
        except OSError:
            pass  # a reset is a way to go, too
        self.gone.set()

    def stop_reading(self) -> None:
        """Be as one who is dead, or cut off: nothing that the client sends is noticed any more."""
        self._writer.transport.pause_reading()  # type: ignore[attr-defined]

    def cut(self) -> None:
        """Close without another word: no last chunk, no TLS goodbye."""
        self._writer.transport.abort()

    def reset(self) -> None:
        """The same with a TCP reset."""
        raw: socket.socket = self._writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()


def chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


@dataclass
class Received:
    line: str
    headers: dict[str, str]
    body: bytes = b""


Serve = Callable[[Peer], Awaitable[None]]


@dataclass
class Loopback:
    """Serves each connection by `serve`, and closes it when that returns."""

    serve: Serve
    ssl: ssl.SSLContext | None = None
    peers: list[Peer] = field(default_factory=list)

    async def __aenter__(self) -> Self:
        self._tasks: set[asyncio.Task[None]] = set()
        self._failures: list[BaseException] = []
        self._server = await asyncio.start_server(
            self._connected, "127.0.0.1", 0, ssl=self.ssl, limit=1 << 20, backlog=256
        )
        self.port: int = self._server.sockets[0].getsockname()[1]
        self.url = f"{'https' if self.ssl else 'http'}://127.0.0.1:{self.port}"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.close()
        for task in tuple(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self._server.wait_closed()
        if error is None and self._failures:
            raise self._failures[0]

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = Peer(reader, writer)
        self.peers.append(peer)
        task = asyncio.get_running_loop().create_task(self._converse(peer, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _converse(self, peer: Peer, writer: asyncio.StreamWriter) -> None:
        try:
            await self.serve(peer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client went away, which most tests are about
        except Exception as error:
            self._failures.append(error)
        finally:
            writer.transport.abort() if self.ssl else writer.close()


@asynccontextmanager
async def transport_to(url: str, **config: object) -> AsyncIterator[AiohttpTransport]:
    transport = AiohttpTransport(ClientConfig(server=url, **config))  # type: ignore[arg-type]
    try:
        yield transport
    finally:
        await transport.close()


@asynccontextmanager
async def connected(serve: Serve) -> AsyncIterator[tuple[AiohttpTransport, Loopback]]:
    async with Loopback(serve) as server, transport_to(server.url) as transport:
        yield transport, server


async def hello(peer: Peer) -> None:
    """Answers every request of a connection."""
    while True:
        await peer.request()
        await peer.answer(b"hello")


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass(frozen=True)
class Authority:
    """A certificate authority, and a server's and a client's certificate of it."""

    ca_pem: bytes
    server: ssl.SSLContext
    client_pem: bytes
    client_key_pem: bytes


def authority(
    *, host: str = "127.0.0.1", ask_client: bool = False, name: str = "test CA"
) -> Authority:
    ca_key = ec.generate_private_key(ec.SECP256R1())
    ca = _certificate(name, ca_key, name, ca_key, is_ca=True)
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = _certificate(host, key, name, ca_key, host=host)
    client_key = ec.generate_private_key(ec.SECP256R1())
    client = _certificate("somebody", client_key, name, ca_key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:
        cert_file, key_file = Path(folder, "tls.crt"), Path(folder, "tls.key")
        cert_file.write_bytes(_pem(certificate))
        key_file.write_bytes(_key_pem(key))
        context.load_cert_chain(cert_file, key_file)
    if ask_client:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(cadata=_pem(ca).decode())
    return Authority(_pem(ca), context, _pem(client), _key_pem(client_key))


def _certificate(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    issuer: str,
    issuer_key: ec.EllipticCurvePrivateKey,
    *,
    host: str = "",
    is_ca: bool = False,
) -> x509.Certificate:
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC))
        .not_valid_after(datetime.datetime(2120, 1, 1, tzinfo=datetime.UTC))
        .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
    )
    if host:
        names: list[x509.GeneralName] = (
            [x509.IPAddress(ipaddress.ip_address(host))]
            if host[0].isdigit()
            else [x509.DNSName(host)]
        )
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return builder.sign(issuer_key, hashes.SHA256())


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
