"""A bearer token in a file that somebody renews."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from listwatch.rest.credentials import Credentials
from listwatch.rest.errors import ConfigError, CredentialsFailed
from listwatch.rest.token_file import TokenFile
from tests.rest.scripted import Asked, only

pytestmark = [pytest.mark.virtual_time, pytest.mark.clause("N2", "N3")]

SECRET = "s3cret-of-alice"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "token"
    put(path, "first\n")
    return path


def put(path: Path, content: str | None) -> None:
    """Let the file have that content, or not be there."""
    if content is None:
        path.unlink()
    else:
        path.write_text(content)


async def token_of(credentials: Credentials) -> str:
    headers = await credentials.headers()
    return headers["Authorization"].removeprefix("Bearer ")


async def test_the_token_is_sent_without_the_space_around_it(path: Path) -> None:
    put(path, " \n first\r\n")
    assert await TokenFile(path).headers() == {"Authorization": "Bearer first"}


async def test_it_is_read_again_every_minute(path: Path) -> None:
    credentials = TokenFile(path)
    assert await token_of(credentials) == "first"
    put(path, "second")
    await asyncio.sleep(59)
    assert await token_of(credentials) == "first"
    await asyncio.sleep(1)
    assert await token_of(credentials) == "second"


async def test_how_often_can_be_said(path: Path) -> None:
    credentials = TokenFile(path, every=1)
    assert await token_of(credentials) == "first"
    put(path, "second")
    await asyncio.sleep(1)
    assert await token_of(credentials) == "second"


async def test_a_refresh_reads_it_now_and_says_whether_it_is_another_one(path: Path) -> None:
    credentials = TokenFile(path)
    assert await token_of(credentials) == "first"
    assert not await credentials.refresh()
    put(path, "first\n\n")
    assert not await credentials.refresh()
    put(path, "second")
    assert await credentials.refresh()
    assert await token_of(credentials) == "second"


@pytest.mark.clause("H15")
async def test_a_401_finds_the_token_that_was_put_there_since(path: Path) -> None:
    asked = Asked(only("second"), credentials=TokenFile(path))
    put(path, "first")
    await asked.fails()
    put(path, "second")
    assert await asked.ends()
    assert [request.headers["Authorization"] for request in asked.transport.requests] == [
        "Bearer first",
        "Bearer first",
        "Bearer second",
    ]


async def test_a_file_that_is_gone_later_leaves_the_token_as_it_was_and_is_logged(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    credentials = TokenFile(path)
    await credentials.headers()
    put(path, None)
    await asyncio.sleep(60)
    with caplog.at_level(logging.WARNING):
        assert await token_of(credentials) == "first"
    assert str(path) in caplog.text
    assert "first" not in caplog.text
    assert not await credentials.refresh()


@pytest.mark.parametrize("content", ["", "\n", f"two {SECRET}", f"{SECRET}\0", f"{SECRET}é"])
async def test_what_is_no_token_leaves_the_one_before_and_is_logged_once(
    path: Path, content: str, caplog: pytest.LogCaptureFixture
) -> None:
    credentials = TokenFile(path)
    await credentials.headers()
    put(path, content)
    await asyncio.sleep(60)
    for _ in range(3):
        assert await token_of(credentials) == "first"
    [record] = caplog.records
    assert record.levelno == logging.WARNING
    assert str(path) in record.getMessage()
    assert SECRET not in record.getMessage()
    put(path, "second")
    await asyncio.sleep(60)
    assert await token_of(credentials) == "second"


@pytest.mark.parametrize(
    ("content", "problem"),
    [("", "empty"), ("two words", "position 3"), (None, "No such file or directory")],
)
async def test_without_a_first_token_the_error_names_the_file(
    path: Path, content: str | None, problem: str
) -> None:
    put(path, content)
    credentials = TokenFile(path)
    for ask in (credentials.headers, credentials.refresh):
        with pytest.raises(CredentialsFailed, match=problem) as caught:
            await ask()
        assert str(path) in str(caught.value)
    assert isinstance(caught.value, ConfigError)


@pytest.mark.parametrize("content", ["", None])
async def test_a_file_that_comes_late_is_not_waited_for_a_minute(
    path: Path, content: str | None
) -> None:
    put(path, content)
    credentials = TokenFile(path)
    with pytest.raises(CredentialsFailed):
        await credentials.headers()
    put(path, "there")
    assert await token_of(credentials) == "there"


async def test_the_token_beside_the_file_is_used_while_there_is_no_file(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    put(path, None)
    credentials = TokenFile(path, fallback="beside")
    assert await token_of(credentials) == "beside"
    assert not await credentials.refresh()
    put(path, "there")
    assert await token_of(credentials) == "beside"  # it was looked for less than a minute ago
    await asyncio.sleep(60)
    assert await token_of(credentials) == "there"
    put(path, None)
    await asyncio.sleep(60)
    assert await token_of(credentials) == "there"
    assert [record.levelno for record in caplog.records] == [logging.WARNING]


async def test_a_401_looks_for_the_file_at_once(path: Path) -> None:
    put(path, None)
    credentials = TokenFile(path, fallback="beside")
    assert await token_of(credentials) == "beside"
    put(path, "there")
    assert await credentials.refresh()
    assert await token_of(credentials) == "there"


async def test_the_token_beside_a_file_that_holds_none_is_used_and_that_is_logged(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    put(path, "")
    credentials = TokenFile(path, fallback="beside")
    for _ in range(3):
        assert await token_of(credentials) == "beside"
    [record] = caplog.records
    assert str(path) in record.getMessage()


async def test_the_file_wins_over_the_token_beside_it(path: Path) -> None:
    assert await token_of(TokenFile(path, fallback="beside")) == "first"


def test_a_token_beside_the_file_has_to_be_one() -> None:
    with pytest.raises(ConfigError, match="position 3"):
        TokenFile(Path("token"), fallback="two words")


@pytest.mark.clause("N4")
async def test_what_is_said_of_it_names_the_file_and_not_the_token(path: Path) -> None:
    put(path, SECRET)
    credentials = TokenFile(path, fallback=SECRET)
    await credentials.headers()
    assert repr(credentials) == f"TokenFile({str(path)!r})"
    assert credentials.description == f"the token in {path}"
    assert TokenFile(path, description="the token of a").description == "the token of a"


def test_it_can_be_used_from_one_event_loop_after_another(path: Path) -> None:
    credentials = TokenFile(path)
    assert asyncio.run(token_of(credentials)) == "first"
    put(path, "second")
    assert asyncio.run(credentials.refresh())
    assert asyncio.run(token_of(credentials)) == "second"
