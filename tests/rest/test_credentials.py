"""Headers that say who we are, and never show it elsewhere."""

from __future__ import annotations

import base64
import pickle
from collections.abc import Callable

import pytest

from listwatch.rest.credentials import BasicAuth, Credentials, StaticToken
from listwatch.rest.errors import ConfigError

pytestmark = pytest.mark.clause("N2", "N4")

SECRET = "s3cret-of-alice"


async def test_a_token_is_sent_as_bearer() -> None:
    credentials: Credentials = StaticToken(SECRET)
    assert await credentials.headers() == {"Authorization": f"Bearer {SECRET}"}


async def test_name_and_password_are_sent_as_utf8_in_base64() -> None:
    credentials: Credentials = BasicAuth("alice", "pä:ss wörd")
    [(name, value)] = (await credentials.headers()).items()
    assert name == "Authorization"
    assert base64.b64decode(value.removeprefix("Basic ")).decode() == "alice:pä:ss wörd"


@pytest.mark.parametrize("credentials", [StaticToken("a"), BasicAuth("a", "b")])
async def test_what_is_fixed_has_nothing_newer(credentials: Credentials) -> None:
    assert await credentials.refresh() is False


@pytest.mark.parametrize("credentials", [StaticToken(SECRET), BasicAuth("alice", SECRET)])
@pytest.mark.parametrize("show", [repr, str, "{}".format, lambda value: f"{[value]}"])
def test_no_text_form_shows_the_secret(
    credentials: Credentials, show: Callable[[object], str]
) -> None:
    assert SECRET not in show(credentials)


def test_the_user_name_may_be_seen() -> None:
    assert "alice" in repr(BasicAuth("alice", SECRET))


@pytest.mark.parametrize(
    "token",
    ["", f"{SECRET}\n", f"{SECRET} x", f"\r\nX-Evil: {SECRET}", f"{SECRET}é", f"{SECRET}\0"],
)
def test_a_token_no_header_can_carry_is_refused_without_being_shown(token: str) -> None:
    with pytest.raises(ConfigError, match="token") as caught:
        StaticToken(token)
    assert SECRET not in str(caught.value)


def test_a_colon_in_a_user_name_is_refused() -> None:
    with pytest.raises(ConfigError, match="colon"):
        BasicAuth("a:b", "c")


def test_credentials_are_values() -> None:
    assert StaticToken("a") == StaticToken("a") != StaticToken("b")
    assert pickle.loads(pickle.dumps(BasicAuth("a", "b"))) == BasicAuth("a", "b")


@pytest.mark.parametrize("pair", [("alice", f"{SECRET}\udcff"), (f"{SECRET}\udcff", "")])
def test_a_byte_that_is_no_text_is_refused_without_being_shown(pair: tuple[str, str]) -> None:
    """As the bytes of arguments and variables come that are no UTF-8."""
    with pytest.raises(ConfigError, match="a character that cannot be sent") as caught:
        BasicAuth(*pair)
    assert SECRET not in repr(caught.value)
    assert caught.value.__context__ is None
