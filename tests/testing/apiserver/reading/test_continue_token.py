"""Continue tokens: what is in them, and what a real server said of texts that are none."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.testing.apiserver.reading.continue_token import BadToken, ContinueToken

_INVALID = "continue key is not valid: "


def _token(value: Any) -> str:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _fields(**changed: Any) -> str:
    return _token({"v": "meta.k8s.io/v1", "rv": 210, "start": "/a\0", **changed})


def test_a_token_of_one_namespace_begins_behind_its_last_name() -> None:
    """K11."""
    token = ContinueToken.behind(("rec", "web-00"), rv=7, namespace="rec", cached=True)
    assert token == ContinueToken(7, "/web-00\0")
    assert token.after("rec", namespaced=True) == ("rec", "web-00\0")


def test_a_token_of_all_namespaces_has_the_namespace_in_it() -> None:
    """K11."""
    token = ContinueToken.behind(("rec", "web-01"), rv=7, namespace="", cached=True)
    assert token == ContinueToken(7, "/rec/web-01\0")
    assert token.after("", namespaced=True) == ("rec", "web-01\0")


def test_a_token_of_a_list_without_watch_cache_has_no_slash() -> None:
    """K11."""
    token = ContinueToken.behind(("", "node-1"), rv=7, namespace="", cached=False)
    assert token == ContinueToken(7, "node-1\0")
    assert token.after("", namespaced=False) == ("", "node-1\0")


def test_an_expired_token_has_one_that_goes_on_with_the_newest_state() -> None:
    """K11."""
    assert ContinueToken(54, "/w-009\0").inconsistent == ContinueToken(-1, "w-009\0")


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        (_fields(rv=0), "incorrect encoded start resourceVersion (version meta.k8s.io/v1)"),
        (_fields(start=""), "encoded start key empty (version meta.k8s.io/v1)"),
        (_fields(v="x"), "server does not recognize this encoded version x"),
        (_fields(start="/../a"), "/../a"),
        (_fields(start="//a"), "//a"),
        (_fields(start="/a/"), "/a/"),
        (
            _fields(rv="x"),
            "json: cannot unmarshal string into Go struct field continueToken.rv of type int64",
        ),
        (
            _fields(start=5),
            "json: cannot unmarshal number into Go struct field continueToken.start of type string",
        ),
        (
            _fields(rv=1.5),
            "json: cannot unmarshal number 1.5 into Go struct field continueToken.rv of type int64",
        ),
        (
            _fields(rv=10**20 - 1),
            "json: cannot unmarshal number 99999999999999999999 into Go struct field "
            "continueToken.rv of type int64",
        ),
        (
            _token(b'{"rv":' + b"9" * 5000 + b"}"),
            f"json: cannot unmarshal number {'9' * 5000} into Go struct field continueToken.rv of "
            "type int64",
        ),
        (
            _token(b'{"a":' + b"[" * 20_000 + b"]" * 20_000 + b"}"),
            "invalid character '[' exceeded max depth",
        ),
        (
            _token([1]),
            "json: cannot unmarshal array into Go value of type storage.continueToken",
        ),
        (
            _token("x"),
            "json: cannot unmarshal string into Go value of type storage.continueToken",
        ),
        (_token(5), "json: cannot unmarshal number into Go value of type storage.continueToken"),
        (_token(None), "server does not recognize this encoded version "),
        (_token({}), "server does not recognize this encoded version "),
        (_token(b'{"v":"meta'), "unexpected end of JSON input"),
        (_token(b"{}x"), "invalid character 'x' after top-level value"),
        (_token(b"{a"), "invalid character 'a' looking for beginning of object key string"),
        (_token(b"\xcf<"), "invalid character 'Ï' looking for beginning of value"),
        (_token(b" "), "unexpected end of JSON input"),
        (" ", "illegal base64 data at input byte 0"),
        ("a", "illegal base64 data at input byte 0"),
        ("abcde", "illegal base64 data at input byte 4"),
        ("ab c", "illegal base64 data at input byte 2"),
        ("ab\nc", "invalid character 'i' looking for beginning of value"),
        (f"{_fields()}=", "illegal base64 data at input byte 74"),
    ],
)
def test_what_is_no_token_is_refused_in_the_words_of_the_real_server(
    text: str, refusal: str
) -> None:
    with pytest.raises(BadToken) as caught:
        ContinueToken.decode(text)
    assert str(caught.value) == _INVALID + refusal


@pytest.mark.parametrize("changed", [{"foo": 1}, {"start": "a\0"}, {"rv": -5}, {"RV": 210}])
def test_other_members_and_forms_are_taken(changed: dict[str, Any]) -> None:
    assert ContinueToken.decode(_fields(**changed)).rv == changed.get("rv", 210)


@given(
    st.integers(min_value=1, max_value=2**63 - 1),
    st.from_regex(r"[a-z0-9][-a-z0-9.]{0,60}", fullmatch=True),
)
def test_a_token_comes_back_as_it_was_made(rv: int, name: str) -> None:
    token = ContinueToken.behind(("", name), rv=rv, namespace="", cached=True)
    assert ContinueToken.decode(token.encode()) == token


@given(st.text(max_size=30))
def test_any_text_is_a_token_or_refused(text: str) -> None:
    refusal = ""
    try:
        ContinueToken.decode(text)
    except BadToken as bad:
        refusal = str(bad)
    assert not refusal or refusal.startswith(_INVALID)
