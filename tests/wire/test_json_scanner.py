"""Where one JSON value ends."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.wire.json_scanner import BadByte, ValueScanner

from .streams import OBJECTS, VALUES


@pytest.mark.clause("C2")
@given(
    value=OBJECTS | st.lists(VALUES),
    indent=st.sampled_from([None, 2]),
    tail=st.sampled_from([b"", b" ", b"{", b"x"]),
)
def test_the_end_is_found_whatever_follows(value: Any, indent: int | None, tail: bytes) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False).encode()
    assert ValueScanner().scan(text + tail, 0) == len(text)


@pytest.mark.clause("C4")
@given(text=st.text(alphabet='{}[]":,1e-.0truefalsn\\ \n', min_size=1, max_size=12))
def test_it_accepts_what_json_accepts(text: str) -> None:
    text = text.strip(" \n") or "0"
    try:
        _, end = json.JSONDecoder().raw_decode(text)
        whole = end == len(text)
    except ValueError:
        whole = False
    scanner = ValueScanner()
    data = (text + " ").encode()
    try:
        ours = scanner.scan(data, 0) == len(text)
    except BadByte:
        ours = False
    assert ours == whole or "\\" in text  # the insides of escapes are the decoder's to check


@pytest.mark.clause("C7")
def test_deep_nesting_ends_in_an_error_not_in_a_crash() -> None:
    with pytest.raises(BadByte, match="nested"):
        ValueScanner().scan(b"[" * 20_000, 0)


@pytest.mark.clause("C7")
def test_a_long_string_of_escapes_is_scanned() -> None:
    data = b'"' + b"\\\\" * 3_000_000 + b'"'
    assert ValueScanner().scan(data, 0) == len(data)
