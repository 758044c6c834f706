"""Client certificates and authorities in files that are renewed under an open client."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from pathlib import Path

import pytest

from listwatch.rest import tls
from listwatch.rest.aiohttp_transport import AiohttpTransport
from listwatch.rest.certificate_files import CertificateFiles
from listwatch.rest.client import RESTClient
from listwatch.rest.config import ClientConfig
from listwatch.rest.credentials import ClientCertificate
from listwatch.rest.errors import ConfigError, CredentialsFailed, TLSFailed
from listwatch.rest.tls import TLSContexts
from tests.rest.loopback import GET, Authority, Loopback, Peer, authority, hello

pytestmark = pytest.mark.clause("N2")

ONE, TWO = authority(), authority()


def put(folder: Path, pki: Authority) -> None:
    (folder / "tls.crt").write_bytes(pki.client_pem)
    (folder / "tls.key").write_bytes(pki.client_key_pem)
    (folder / "ca.crt").write_bytes(pki.ca_pem)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    put(tmp_path, ONE)
    return tmp_path


def config(folder: Path, server: str = "https://server") -> ClientConfig:
    return ClientConfig(
        server=server,
        ca_file=folder / "ca.crt",
        client_cert_file=folder / "tls.crt",
        client_key_file=folder / "tls.key",
        source="context 'dev'",
    )


def pair(certificate: Authority, key: Authority | None = None) -> ClientCertificate:
    return ClientCertificate(certificate.client_pem, (key or certificate).client_key_pem)


def files_of(folder: Path) -> CertificateFiles:
    files = CertificateFiles.of(config(folder))
    assert files is not None
    return files


@pytest.mark.virtual_time
class TestThePair:
    async def test_it_is_read_again_every_ten_seconds(self, folder: Path) -> None:
        files = files_of(folder)
        assert await files.certificate() == pair(ONE)
        put(folder, TWO)
        assert await files.certificate() == pair(ONE)
        await asyncio.sleep(10)
        assert await files.certificate() == pair(TWO)

    async def test_it_is_read_again_where_the_server_refused_it(self, folder: Path) -> None:
        files = files_of(folder)
        await files.certificate()
        assert not await files.refresh()
        put(folder, TWO)
        assert await files.refresh()
        assert await files.certificate() == pair(TWO)

    async def test_half_a_renewal_is_passed_over(
        self, folder: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        files = files_of(folder)
        await files.certificate()
        (folder / "tls.crt").write_bytes(TWO.client_pem)
        with caplog.at_level(logging.WARNING, "listwatch.rest"):
            assert not await files.refresh()
            assert await files.certificate() == pair(ONE)
        assert len(caplog.records) == 1
        assert "does not belong to the client certificate" in caplog.text
        put(folder, TWO)
        assert await files.refresh()

    @pytest.mark.parametrize("fault", ["half of a renewal", "gone"])
    async def test_until_it_can_be_read_the_one_of_when_the_configuration_was_read_will_do(
        self, folder: Path, fault: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        read = replace(
            config(folder), client_cert_data=ONE.client_pem, client_key_data=ONE.client_key_pem
        )
        if fault == "gone":
            (folder / "tls.key").unlink()
        else:
            (folder / "tls.crt").write_bytes(TWO.client_pem)
        files = CertificateFiles.of(read)
        assert files is not None
        with caplog.at_level(logging.WARNING, "listwatch.rest"):
            assert await files.certificate() == pair(ONE)
        assert "going on with the certificate before it" in caplog.text
        put(folder, TWO)
        assert await files.refresh()
        assert await files.certificate() == pair(TWO)

    async def test_one_half_may_stand_in_the_configuration(self, folder: Path) -> None:
        files = CertificateFiles(ONE.client_pem, folder / "tls.key", source="context 'dev'")
        assert await files.certificate() == pair(ONE)

    @pytest.mark.parametrize("fault", ["gone", "no pair"])
    async def test_where_there_never_was_one_it_is_told_with_its_file_or_context(
        self, folder: Path, fault: str
    ) -> None:
        if fault == "gone":
            (folder / "tls.key").unlink()
            expected = rf"context 'dev': {folder}/tls.key cannot be read: No such file"
        else:
            (folder / "tls.key").write_bytes(TWO.client_key_pem)
            expected = "context 'dev': the client key does not belong to the client certificate"
        with pytest.raises(CredentialsFailed, match=expected):
            await files_of(folder).certificate()

    async def test_what_is_said_of_it_names_the_file_and_shows_nothing(self, folder: Path) -> None:
        files = files_of(folder)
        found = await files.certificate()
        assert files.description == f"the client certificate of {folder / 'tls.crt'}"
        for shown in (repr(files), repr(found), str(found)):
            assert "BEGIN" not in shown

    def test_a_configuration_without_files_needs_none(self) -> None:
        given = ClientConfig(
            server="https://server",
            client_cert_data=ONE.client_pem,
            client_key_data=ONE.client_key_pem,
        )
        assert CertificateFiles.of(given) is CertificateFiles.of(ClientConfig(server="h")) is None


@pytest.mark.virtual_time
class TestContexts:
    async def test_there_is_one_for_as_long_as_nothing_changes(self, folder: Path) -> None:
        contexts = TLSContexts(config(folder))
        first = await contexts.context(pair(ONE))
        assert first is not None
        assert await contexts.context(pair(ONE)) is first
        assert await contexts.context(pair(TWO)) is not first
        (folder / "ca.crt").write_bytes(TWO.ca_pem)
        await asyncio.sleep(10)
        assert await contexts.context(pair(ONE)) is not first

    async def test_after_a_failure_of_tls_the_authorities_are_looked_at_at_once(
        self, folder: Path
    ) -> None:
        contexts = TLSContexts(config(folder))
        first = await contexts.context(None)
        (folder / "ca.crt").write_bytes(TWO.ca_pem)
        assert await contexts.context(None) is first
        contexts.doubt()
        assert await contexts.context(None) is not first

    async def test_half_a_file_is_passed_over(
        self, folder: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        contexts = TLSContexts(config(folder))
        first = await contexts.context(None)
        (folder / "ca.crt").write_bytes(TWO.ca_pem[:100])
        contexts.doubt()
        with caplog.at_level(logging.WARNING, "listwatch.rest"):
            assert await contexts.context(None) is first
        assert "holds no PEM certificate: going on with the authorities before it" in caplog.text

    async def test_what_cannot_be_used_is_tried_and_told_of_once(
        self,
        folder: Path,
        caplog: pytest.LogCaptureFixture,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        contexts = TLSContexts(config(folder))
        first = await contexts.context(None)
        (folder / "ca.crt").write_bytes(
            b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
        )
        contexts.doubt()
        with caplog.at_level(logging.WARNING, "listwatch.rest"):
            assert await contexts.context(None) is first
            monkeypatch.setattr(tls, "_make_context", None)
            for _ in range(3):
                contexts.doubt()
                assert await contexts.context(None) is first
        assert len(caplog.records) == 1

    async def test_where_there_never_were_any_it_is_told(self, folder: Path) -> None:
        (folder / "ca.crt").write_bytes(b"nothing")
        with pytest.raises(ConfigError, match="holds no PEM certificate"):
            await TLSContexts(config(folder)).context(None)
        (folder / "ca.crt").unlink()
        with pytest.raises(ConfigError, match=r"context 'dev': .*ca\.crt cannot be read: No such"):
            await TLSContexts(config(folder)).context(None)


@pytest.mark.usefixtures("both_ways")
class TestOverSockets:
    async def test_a_new_certificate_is_shown_by_the_next_connection_and_the_open_one_stays(
        self,
    ) -> None:
        mutual = authority(ask_client=True)
        shown: list[object] = []

        async def serve(peer: Peer) -> None:
            shown.append(peer.certificate)
            await hello(peer)

        given = ClientCertificate(mutual.client_pem, mutual.client_key_pem)
        async with Loopback(serve, ssl=mutual.server) as server:
            transport = AiohttpTransport(ClientConfig(server=server.url, ca_data=mutual.ca_pem))
            try:
                first = await transport.send(replace(GET, certificate=given))
                again = ClientCertificate(mutual.client_pem + b"\n", mutual.client_key_pem)
                second = await transport.send(replace(GET, certificate=again))
                assert await first.read() == await second.read() == b"hello"
                assert len(server.peers) == 2
                third = await transport.send(replace(GET, certificate=again))
                assert await third.read() == b"hello"
                assert len(server.peers) == 2
            finally:
                await transport.close()
        assert all(shown)

    async def test_a_renewed_authority_is_trusted_by_the_next_request(self, tmp_path: Path) -> None:
        put(tmp_path, ONE)
        async with Loopback(hello, ssl=TWO.server) as server:
            config = ClientConfig(server=server.url, ca_file=tmp_path / "ca.crt")
            async with RESTClient(config) as client:
                with pytest.raises(TLSFailed):
                    await client.read("/")
                (tmp_path / "ca.crt").write_bytes(TWO.ca_pem)
                assert await client.read("/") == b"hello"
