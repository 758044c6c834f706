"""How a stream of JSON values is cut into frames."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from listwatch.wire import (
    FrameSyntaxError,
    JSONFramer,
    ObjectTooLarge,
    StreamDecoder,
    UnexpectedEOF,
    json_frame,
)

from .streams import OBJECTS, cuts, decode_json, described, layouts, one_by_one, read


@pytest.mark.clause("C1", "C2")
@given(layout=layouts(), places=st.lists(st.integers(0, 10_000), max_size=8))
def test_any_layout_cut_anywhere_gives_the_values_that_are_in_it(
    layout: tuple[list[Any], bytes], places: list[int]
) -> None:
    values, stream = layout
    assert read(cuts(stream, places)) == values
    assert read([stream]) == values


@pytest.mark.clause("C1")
@given(layout=layouts())
def test_one_byte_at_a_time_gives_the_same_as_all_at_once(layout: tuple[list[Any], bytes]) -> None:
    _, stream = layout
    assert read(one_by_one(stream)) == read([stream])


@pytest.mark.clause("C1", "C4")
@given(
    stream=st.binary(max_size=60)
    | st.text(alphabet='{}[]":,1e-tru\\ \n', max_size=60).map(str.encode)
)
def test_garbage_gives_the_same_fault_however_it_is_cut(stream: bytes) -> None:
    assert described(read(one_by_one(stream))) == described(read([stream]))


PRETTY = st.sampled_from([None, 1, 2, "\t"])


@st.composite
def mixed(draw: st.DrawFn) -> list[tuple[Any, bytes]]:
    """Values with their bytes: pretty-printed ones with compact ones among them."""
    found = []
    for _ in range(draw(st.integers(1, 6))):
        value = draw(OBJECTS)
        text = json.dumps(value, indent=draw(PRETTY)).encode()
        found.append((value, draw(st.sampled_from([text, text.replace(b"\n}", b" }")])) + b"\n"))
    return found


@pytest.mark.clause("C2")
@given(values=mixed(), whole=st.integers(0, 3))
def test_each_value_is_there_with_its_last_byte_whatever_the_layout_of_those_before(
    values: list[tuple[Any, bytes]], whole: int
) -> None:
    decoder = StreamDecoder(JSONFramer(), decode_json)
    for value, text in values:
        pieces = [text[: len(text) // 2], text[len(text) // 2 :]] if whole else [text]
        assert [found for piece in pieces for found in decoder.feed(piece)] == [value]


@pytest.mark.clause("C1", "C7")
@given(values=st.lists(OBJECTS, max_size=8), places=st.lists(st.integers(0, 10_000), max_size=8))
def test_a_pretty_printed_stream_cut_anywhere_gives_its_values(
    values: list[Any], places: list[int]
) -> None:
    stream = b"".join(json.dumps(value, indent=2).encode() + b"\n" for value in values)
    assert read(cuts(stream, places)) == values
    assert read(one_by_one(stream)) == values


@pytest.mark.clause("C5")
def test_a_pretty_printed_giant_is_passed_over_and_the_next_value_comes() -> None:
    small, giant = (json.dumps({"a": ["b"] * n}, indent=1).encode() + b"\n" for n in (1, 400))
    for size in (1, 7, 100, 10_000):
        stream = small + small + giant + small + small
        pieces = [stream[at : at + size] for at in range(0, len(stream), size)]
        found = read(pieces, limit=200)
        assert [type(item).__name__ for item in found] == [
            "dict", "dict", "ObjectTooLarge", "dict", "dict",
        ]  # fmt: skip


DAMAGE = st.binary(min_size=1, max_size=2) | st.sampled_from(
    [b"\0", b"{", b"}", b'"', b"\n", b"\\"]
)


@pytest.mark.clause("C1")
@settings(max_examples=400)
@given(
    layout=layouts(),
    damage=st.tuples(st.integers(0, 10_000), DAMAGE),
    places=st.lists(st.integers(0, 10_000), max_size=8),
    limit=st.sampled_from([1, 5, 12, 40, 1 << 20]),
)
@example(layout=([], b'{"\\": null}\n{}\n'), damage=(3, b"\0"), places=[], limit=1)
@example(layout=([], b"{}\r\n{}\n{}\n"), damage=(1, b'"'), places=[], limit=5)
@example(layout=([], b"{} {}\r\n{}\n"), damage=(12, b"\0"), places=[], limit=12)
@example(layout=([], b"null"), damage=(0, b" "), places=[], limit=1)
def test_a_damaged_stream_with_a_small_limit_gives_the_same_however_it_is_cut(
    layout: tuple[list[Any], bytes], damage: tuple[int, bytes], places: list[int], limit: int
) -> None:
    _, stream = layout
    at = damage[0] % (len(stream) + 1)
    stream = stream[:at] + damage[1] + stream[at:]
    whole = described(read([stream], limit))
    assert described(read(cuts(stream, places), limit)) == whole
    assert described(read(one_by_one(stream), limit)) == whole


@pytest.mark.clause("C2")
@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (b'{"a":1}\n{"a":2}\n', [{"a": 1}, {"a": 2}]),
        (b'{"a":1}\r\n\r\n\n{"a":2}\r\n', [{"a": 1}, {"a": 2}]),
        (b'{\n  "a": 1\n}\n{\n  "a": 2\n}\n', [{"a": 1}, {"a": 2}]),
        (b'{"a":1}{"a":2}\n{"a":3}\n', [{"a": 1}, {"a": 2}, {"a": 3}]),
        (b'{"a":1} {"a":2}', [{"a": 1}, {"a": 2}]),
        (b'{"a":{}\n}\n{"a":2}\n', [{"a": {}}, {"a": 2}]),
        (b'{"a":"\xe2\x80\xa8 \xc2\x85"}\n', [{"a": "\u2028 \x85"}]),
        (b'{"a":"}\\n{\\""}\n', [{"a": '}\n{"'}]),
        (b'{"a":1}', [{"a": 1}]),
        (b' \n\t{"a":1}\n', [{"a": 1}]),
        (b'1 true "x" [1,2]null', [1, True, "x", [1, 2], None]),
        (b"", []),
        (b"\n\n", []),
    ],
    ids=lambda value: value.decode("utf-8", "replace") if isinstance(value, bytes) else "",
)
def test_frames_end_where_their_values_end(stream: bytes, expected: list[Any]) -> None:
    assert read([stream]) == expected
    assert read(one_by_one(stream)) == expected


@pytest.mark.clause("C2")
def test_the_general_path_stays_on_once_a_line_was_no_value() -> None:
    framer = JSONFramer()
    assert framer.feed(b'{"a":{}\n') == [b'{"a":{}']  # it looks like one
    assert framer.recut([b'{"a":{}']) == []
    assert framer.feed(b'}\n{"b":1}{"c":2}') == [b'{"a":{}\n}', b'{"b":1}', b'{"c":2}']
    assert (
        framer.recut([b'{"c":2}']) is None
    )  # these cuts were looked for, so there is nothing to mend


@pytest.mark.clause("C4")
@pytest.mark.parametrize(
    ("stream", "size"),
    [(b'{"a":1}\n{"b":', 5), (b'{"b":"\\', 7), (b"[1,", 3), (b'"abc', 4), (b'{"a":1}\n  {', 1)],
)
def test_an_end_inside_a_frame_is_told_from_a_clean_end(stream: bytes, size: int) -> None:
    for pieces in ([stream], one_by_one(stream)):
        *_, last = read(pieces)
        assert isinstance(last, UnexpectedEOF)
        assert last.size == size


@pytest.mark.clause("C4")
@pytest.mark.parametrize(
    ("stream", "offset"),
    [
        (b"<html><body>", 0),
        (b'{"a":1}\nnope\n', 8),
        (b'{"a":1}\n{"b" 1}\n', 13),
        (b'{"a":1}\n\r\n  \n{"b":tru}\n', 18),
        (b'{"a":"x\n{"type":"ADDED"}\n', 7),
        (b'{"a":1,\n{"type":"ADDED"}\n', 8),
        (b'{"a":1}]\n', 7),
        (b"{]\n", 1),
        (b'{"a":1}\n{"a":01}\n', 13),
        (b"k8s\x00\x0a\x10", 0),
    ],
)
def test_what_can_be_no_json_gives_a_syntax_error_with_its_offset(
    stream: bytes, offset: int
) -> None:
    for pieces in ([stream], one_by_one(stream), [stream[:3], stream[3:]]):
        *_, last = read(pieces)
        assert isinstance(last, FrameSyntaxError)
        assert last.offset == offset
        assert f"at byte {offset} of the stream" in str(last)


@pytest.mark.clause("C4")
def test_nothing_comes_after_a_syntax_error() -> None:
    framer = JSONFramer()
    [fault] = framer.feed(b"<html>\n")
    assert isinstance(fault, FrameSyntaxError)
    assert "<html>" in str(fault)
    assert framer.feed(b'{"a":1}\n') == []
    assert framer.end() == []


@pytest.mark.clause("C5")
@pytest.mark.parametrize("giant", [{"b": "x" * 200}, {"b": [{"c": 1}] * 40}, {"b": "{\n" * 40}])
@pytest.mark.parametrize("indent", [None, 1])
def test_a_giant_is_passed_over_to_its_end_and_its_neighbours_come(
    giant: Any, indent: int | None
) -> None:
    text = json.dumps(giant, indent=indent).encode()
    stream = b'{"a":1}\n' + text + b'\n{"c":3}\n{"d":4}\n'
    for pieces in ([stream], one_by_one(stream)):
        first, fault, *rest = read(pieces, limit=50)
        assert first == {"a": 1}
        assert isinstance(fault, ObjectTooLarge)
        assert (fault.limit, fault.size) == (50, len(text))
        assert rest == [{"c": 3}, {"d": 4}]


@pytest.mark.clause("C5")
def test_a_frame_of_exactly_the_limit_is_no_giant() -> None:
    text = b'{"a":"xxxxx"}'
    assert read([text + b"\n"], limit=len(text)) == [{"a": "xxxxx"}]
    [fault] = read([text + b"\n"], limit=len(text) - 1)
    assert isinstance(fault, ObjectTooLarge)


@pytest.mark.clause("C5")
def test_a_giant_is_reported_when_it_passes_the_limit_not_when_it_ends() -> None:
    framer = JSONFramer(limit=100)
    assert framer.feed(b'{"a":"' + b"x" * 90) == []
    [fault] = framer.feed(b"x" * 90)
    assert isinstance(fault, ObjectTooLarge)
    assert fault.size == 186
    assert framer.feed(b"x" * 90) == []
    assert fault.size == 276
    assert [type(item) for item in framer.end()] == [UnexpectedEOF]


@pytest.mark.clause("C5")
def test_many_giants_in_one_read_are_each_reported() -> None:
    stream = b'{"a":"0123456789"}\n' * 30_000
    found = read([stream], limit=10)
    assert len(found) == 30_000
    assert {type(item) for item in found} == {ObjectTooLarge}


@pytest.mark.clause("C5", "C6")
def test_no_more_than_the_limit_is_held_of_any_frame() -> None:
    framer = JSONFramer(limit=1000)
    piece = b"x" * 64
    framer.feed(b'{"a":"')
    held = []
    for _ in range(10_000):
        framer.feed(piece)
        held.append(framer.held)
    assert max(held) <= 1000
    assert framer.feed(b'"}\n{"b":2}\n') == [b'{"b":2}']


@pytest.mark.clause("C6")
def test_the_buffer_is_given_back_after_a_huge_frame() -> None:
    framer = JSONFramer()
    huge = b'{"a":"' + b"x" * 5_000_000 + b'"}\n'
    for start in range(0, len(huge), 65536):
        framer.feed(huge[start : start + 65536])
    assert framer.held == 0
    framer.feed(b'{"b":')
    assert framer._partial.__sizeof__() < 1024


@pytest.mark.clause("C3")
@given(values=st.lists(st.dictionaries(st.text(max_size=3), st.integers()), max_size=5))
def test_what_the_writer_writes_the_framer_reads(values: list[dict[str, int]]) -> None:
    stream = b"".join(json_frame(json.dumps(value).encode()) for value in values)
    assert read([stream]) == values


@pytest.mark.clause("C4")
def test_a_syntax_error_quotes_what_came_before_it_in_earlier_reads() -> None:
    stream = b'{"a":1,"name":"x"?}'
    *_, fault = read(one_by_one(stream))
    assert '"name":"x"?' in str(fault)
