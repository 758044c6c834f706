"""What is said of text that is no JSON. The messages are those that a kube-apiserver v1.36 gave."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.testing.apiserver.writing.go_syntax import syntax_error


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "unexpected end of JSON input"),
        (b"{", "unexpected end of JSON input"),
        (b'{"a":"b', "unexpected end of JSON input"),
        (b"{not json", "invalid character 'n' looking for beginning of object key string"),
        (b'{"a":1,}', "invalid character '}' looking for beginning of object key string"),
        (b'{"a" 1}', "invalid character '1' after object key"),
        (b'{"a":1 2}', "invalid character '2' after object key:value pair"),
        (b'{"a":01}', "invalid character '1' after object key:value pair"),
        (b"[1 2]", "invalid character '2' after array element"),
        (b'{"metadata":{}} x', "invalid character 'x' after top-level value"),
        (b'{"a":tru}', "invalid character '}' in literal true (expecting 'e')"),
        (b"nul!", "invalid character '!' in literal null (expecting 'l')"),
        (b'{"a":-}', "invalid character '}' in numeric literal"),
        (b"1.x", "invalid character 'x' after decimal point in numeric literal"),
        (b"1ex", "invalid character 'x' in exponent of numeric literal"),
        (b"1e+]", "invalid character ']' in exponent of numeric literal"),
        (b'{"a":"\x01"}', r"invalid character '\x01' in string literal"),
        (b'"\n"', r"invalid character '\n' in string literal"),
        (b'{"a":"\\x"}', "invalid character 'x' in string escape code"),
        (b'"\\u12g4"', r"invalid character 'g' in \u hexadecimal character escape"),
        (b"\xff\xfe", "invalid character 'ÿ' looking for beginning of value"),
        (b"'a'", r"invalid character '\'' looking for beginning of value"),
        (b"[" * 10_001, "invalid character '[' exceeded max depth"),
    ],
)
def test_go_says(data: bytes, message: str) -> None:
    assert syntax_error(data) == message


@pytest.mark.parametrize(
    "data", [b"[]", b" {} ", b'{"a":[1,{"b":null}]}', b"[" * 9999 + b"]" * 9999]
)
def test_nothing_is_said_of_json(data: bytes) -> None:
    assert syntax_error(data) == ""


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    )
)
def test_whatever_json_writes_is_right(value: object) -> None:
    assert syntax_error(json.dumps(value).encode()) == ""


@given(
    st.binary(max_size=30) | st.text(alphabet='{}[]":,0-1e.+tfn\\u ', max_size=30).map(str.encode)
)
def test_what_it_finds_nothing_wrong_with_can_be_read(data: bytes) -> None:
    try:
        json.loads(data.decode("latin-1"), parse_constant=lambda name: pytest.fail(name))
    except ValueError:
        assert syntax_error(data)
    except BaseException:  # NaN and Infinity, which Python takes for numbers
        assert syntax_error(data)
    else:
        assert syntax_error(data) == ""
