"""What an ID token says of its own end."""

from __future__ import annotations

import base64
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.rest.oidc.tokens import OIDCTokens, expiry_of
from tests.rest.oidc.fake_idp import jwt

pytestmark = pytest.mark.clause("N2")


@pytest.mark.parametrize("exp", [1893456000, 1893456000.9])
def test_the_claim_may_be_a_whole_number_or_not(exp: float) -> None:
    assert expiry_of(jwt(exp)) == datetime(2030, 1, 1, tzinfo=UTC)


def test_other_claims_do_not_matter() -> None:
    token = jwt(1893456000, sub="älice", groups=["a", {"b": None}], iat=1.5)
    assert expiry_of(token) == datetime(2030, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "token",
    [
        "",
        "opaque",
        "a.b",
        "a.b.c.d",
        "a.%%%.c",
        "a.bm8ganNvbg.c",
        f"a.{base64.urlsafe_b64encode(b'[1]').decode()}.c",
        f"a.{base64.urlsafe_b64encode(bytes([0xFF])).decode()}.c",
        jwt(None),
        jwt(None, exp="tomorrow"),
        jwt(None, exp=None),
        jwt(1e300),
        jwt(-1e300),
        jwt(10**14),
    ],
)
def test_what_cannot_be_read_is_not_known(token: str) -> None:
    assert expiry_of(token) is None


@given(st.text())
def test_no_text_makes_it_fail(text: str) -> None:
    expiry_of(text)
    expiry_of(f"a.{base64.urlsafe_b64encode(text.encode('utf-8', 'ignore')).decode()}.b")


@pytest.mark.clause("N4")
def test_the_tokens_are_not_shown() -> None:
    assert repr(OIDCTokens("s3cret", "other")) == "OIDCTokens(<hidden>)"
