from __future__ import annotations

import pytest

from listwatch.cli.style import painter, plain
from listwatch.cli.table import Row, StreamTable, table_text


def _marked(text: str, style: str) -> str:
    return f"<{style}>{text}</>" if style else text


def test_a_column_is_as_wide_as_its_widest_cell() -> None:
    assert table_text(["NAME", "AGE"], [["a", "1s"], ["longer-name", "20d"]]) == (
        "NAME          AGE\na             1s\nlonger-name   20d\n"
    )


def test_the_last_column_is_not_padded_and_those_before_it_always_are() -> None:
    text = table_text(["NAME", "REASON"], [["a", ""], ["b", "x"]])
    assert text == "NAME   REASON\na      \nb      x\n"


def test_no_column_is_narrower_than_three() -> None:
    assert table_text(["A", "UP", "C"], [["", "x", ""]]) == "A     UP    C\n      x     \n"


def test_no_line_of_a_stream_ends_in_spaces() -> None:
    table = StreamTable(["NAME", "REASON"])
    lines = table.lines([Row(["a", ""]), Row(["b", "x"])]).splitlines()
    assert lines[1:] == ["a", f"{'b':24}   x"]


def test_an_exact_stream_is_as_wide_as_what_has_come_and_lines_end_as_they_end() -> None:
    table = StreamTable(["NAME", "X"], exact=True)
    assert table.lines([Row(["a", ""])]) == "NAME   X\na      \n"
    assert table.lines([Row(["longer", "1"]), Row(["b", "2"])]) == "longer   1\nb        2\n"
    assert table.lines([Row(["c", "3" * 9])]) == "c        333333333\n"


def test_other_columns_have_a_header_of_their_own_and_widths_stay() -> None:
    table = StreamTable(["NAME", "X"], exact=True)
    table.lines([Row(["longer", "1"])])
    table.begin(["NAME", "Y", "Z"])
    assert table.lines([Row(["a", "1", "2"])]) == "NAME     Y     Z\na        1     2\n"


def test_a_state_has_a_colour_only_where_it_is_known_what_it_means() -> None:
    table = StreamTable(["EVENT", "STATUS"], _marked)
    rows = [Row(["ADDED", "Odd"]), Row(["ADDED", "Odd"], known=False)]
    assert [line.split()[-1] for line in table.lines(rows).splitlines()[1:]] == [
        "<red>Odd</>",
        "Odd",
    ]


def test_a_stream_has_its_header_once() -> None:
    table = StreamTable(["EVENT", "NAME"])
    assert table.lines([]) == ""
    assert table.lines([Row(["ADDED", "a"])]) == "EVENT      NAME\nADDED      a\n"
    assert table.lines([Row(["DELETED", "a"])]) == "DELETED    a\n"


def test_a_column_of_a_stream_grows_and_stays_as_wide() -> None:
    table = StreamTable(["EVENT", "NAME", "X"], plain)
    name = "n" * 30
    assert table.lines([Row(["ADDED", "a", "1"])]).splitlines()[1] == f"ADDED      {'a':24}   1"
    assert table.lines([Row(["ADDED", name, "1"])]) == f"ADDED      {name}   1\n"
    assert table.lines([Row(["ADDED", "a", "1"])]) == f"ADDED      {'a':30}   1\n"


def test_a_short_row_runs_on_without_moving_the_columns() -> None:
    table = StreamTable(["EVENT", "NAME", "X"])
    words = "too old resource version: 1 (900)"
    assert table.lines([Row(["ERROR", words])]).splitlines()[1] == f"ERROR      {words}"
    assert table.lines([Row(["ADDED", "a", "1"])]) == f"ADDED      {'a':24}   1\n"


def test_colours_change_no_width() -> None:
    table = StreamTable(["EVENT", "STATUS", "X"], _marked)
    header, row = table.lines([Row(["ADDED", "Running", "1"])]).splitlines()
    assert header == "<bold>EVENT      STATUS        X</>"
    assert row == "<bold green>ADDED</>      <green>Running</>       1"


def test_an_object_that_is_gone_is_dim_and_its_event_is_not() -> None:
    table = StreamTable(["EVENT", "STATUS"], _marked)
    row = table.lines([Row(["DELETED", "Running"], gone=True)]).splitlines()[1]
    assert row == "<bold red>DELETED</>    <dim>Running</>"


def test_a_row_of_one_cell_runs_on_too() -> None:
    table = StreamTable(["NAME", "X"])
    words = "cannot decode object a: its status is no text"
    assert table.lines([Row([words]), Row(["a", "1"])]).splitlines()[1:] == [
        words,
        f"{'a':24}   1",
    ]


def test_colours_are_for_terminals_that_have_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert painter(terminal=False) is plain
    assert painter(terminal=True)("ADDED", "bold green") == "\x1b[1;32mADDED\x1b[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert painter(terminal=True) is plain
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert painter(terminal=True) is plain
