"""Where bodies are cut, held against the cuts of real servers."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.testing.apiserver.http.chunks import BUFFER, Chunks, written_pieces
from listwatch.testing.recording import Recording
from tests.support.vectors import vectors


def cut(pieces: list[bytes]) -> list[bytes]:
    chunks = Chunks()
    out: list[bytes] = []
    for piece in pieces:
        out += chunks.write(piece)
    return out + chunks.flush()


def recorded_chunks(recording: Recording) -> list[int]:
    """The sizes of the chunks as they travelled."""
    body = recording.wire_body
    sizes, at = [], 0
    if (recording.headers.get("Transfer-Encoding") or "") != "chunked":
        return []
    while found := re.compile(rb"([0-9a-f]+)\r\n").match(body, at):
        size = int(found[1], 16)
        if size:
            sizes.append(size)
        at = found.end() + size + 2
    return sizes


def lists() -> list[Recording]:
    return [
        recording
        for recording in vectors()
        if recording.status == 200
        and not recording.is_watch
        and recording.headers.get("Content-Encoding") is None
        and recording.headers.get("Content-Type", "").startswith("application/json")
        and b"Accept-Encoding: gzip" not in recording.request
        and recorded_chunks(recording)
    ]


def test_there_are_recorded_lists_to_compare_with() -> None:
    assert len(lists()) > 20


@pytest.mark.parametrize("recording", lists(), ids=lambda recording: recording.name)
def test_a_body_is_cut_where_the_real_server_cut_it(recording: Recording) -> None:
    assert [len(chunk) for chunk in cut(list(written_pieces(recording.body)))] == recorded_chunks(
        recording
    )


@given(st.lists(st.binary(max_size=5000), max_size=12))
def test_chunks_carry_all_bytes_in_order(pieces: list[bytes]) -> None:
    chunks = cut(pieces)
    assert b"".join(chunks) == b"".join(pieces)
    assert all(chunks)


@given(st.lists(st.binary(min_size=1, max_size=BUFFER), min_size=1, max_size=30))
def test_short_pieces_fill_chunks_of_2048(pieces: list[bytes]) -> None:
    sizes = [len(chunk) for chunk in cut(pieces)]
    assert sizes[:-1] == [BUFFER] * (len(sizes) - 1)


def test_a_long_piece_that_meets_an_empty_buffer_is_a_chunk_of_its_own() -> None:
    assert [len(chunk) for chunk in cut([b"a" * 2518, b"b" * 2459])] == [2518, 2459]


def test_the_pieces_of_a_list_are_its_items_and_what_is_between_them() -> None:
    body = (
        b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":['
        b'{"metadata":{"name":"a"},"spec":{"template":{"metadata":{}}}},{"metadata":{"name":"b"}}]}\n'
    )
    pieces = list(written_pieces(body))
    assert b"".join(pieces) == body
    assert pieces[1:] == [
        b'{"metadata":{"name":"a"},"spec":{"template":{"metadata":{}}}}',
        b",",
        b'{"metadata":{"name":"b"}}',
        b"]}\n",
    ]


@pytest.mark.parametrize(
    "body",
    [
        b'{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{},"items":[{"metadata":{"name":"a"}}]}',
        b'{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[]}',
        b'{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}',
        b'{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[]}',
        b"",
        b"404 page not found\n",
    ],
)
def test_everything_else_is_one_piece(body: bytes) -> None:
    assert list(written_pieces(body)) == [body]
