"""Media types, and which codec reads an answer."""

from __future__ import annotations

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.wire import JSON_CODEC, MediaType, UnsupportedContentType, accept_header, codec_for


@pytest.mark.clause("B9")
@pytest.mark.parametrize(
    ("text", "kind", "parameters"),
    [
        ("application/json", "application/json", {}),
        ("Application/JSON;charset=UTF-8", "application/json", {"charset": "UTF-8"}),
        ("application/json ; stream=watch", "application/json", {"stream": "watch"}),
        (
            "application/json;as=Table;v=v1;g=meta.k8s.io",
            "application/json",
            {"as": "Table", "v": "v1", "g": "meta.k8s.io"},
        ),
        ('text/plain; a="b;\\"c"', "text/plain", {"a": 'b;"c'}),
        ("application/json;", "application/json", {}),
    ],
)
def test_media_types_are_read(text: str, kind: str, parameters: dict[str, str]) -> None:
    assert MediaType.parse(text) == MediaType(kind, parameters)


@given(
    parameters=st.dictionaries(
        st.text("abc", min_size=1),
        st.text(st.characters(min_codepoint=32, max_codepoint=126)),
        max_size=3,
    )
)
def test_what_is_written_can_be_read_again(parameters: dict[str, str]) -> None:
    media_type = MediaType("application/json", parameters)
    assert MediaType.parse(str(media_type)) == media_type


@pytest.mark.parametrize("text", ["", "json", "application/", "a/b; c", "a/b, c/d", "a/b;=c"])
def test_what_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a media type"):
        MediaType.parse(text)


@pytest.mark.clause("B6")
@pytest.mark.parametrize(
    "content_type",
    ["application/json", "application/json;stream=watch", "application/JSON; charset=utf-8"],
)
def test_parameters_do_not_change_the_codec(content_type: str) -> None:
    assert codec_for(content_type, [JSON_CODEC]) is JSON_CODEC


@pytest.mark.clause("B6")
@pytest.mark.parametrize("content_type", [None, "", "garbage"])
def test_an_absent_or_malformed_type_is_logged_and_read_as_the_first(
    content_type: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        assert codec_for(content_type, [JSON_CODEC]) is JSON_CODEC
    assert "Content-Type" in caplog.text


@pytest.mark.clause("B6")
def test_a_foreign_type_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedContentType, match="text/html") as caught:
        codec_for("text/html; charset=utf-8", [JSON_CODEC])
    assert "application/json" in str(caught.value)


@pytest.mark.clause("B9")
def test_the_accept_header_names_each_encoding_in_the_form_asked_for() -> None:
    assert accept_header([JSON_CODEC]) == "application/json"
    assert (
        accept_header([JSON_CODEC], form="PartialObjectMetadataList")
        == "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
    )
