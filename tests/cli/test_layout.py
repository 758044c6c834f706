"""What a table shows of an object: the server's cells, or ours."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from listwatch.api import EventType, Unstructured
from listwatch.cache import Delta
from listwatch.cli.asked import Output
from listwatch.cli.events import EventPrinter, event_printer, object_printer
from listwatch.cli.layout import Layout, cell_text
from listwatch.wire.table import TableColumn, TableRow, row_of

pytestmark = pytest.mark.clause("B9")

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
NAME = TableColumn(name="Name", type="string", format="name")
STATE = TableColumn(name="Last State", type="string")
MORE = TableColumn(name="More", type="integer", priority=1)
AGE = TableColumn(name="Age", type="date")
COLUMNS = (NAME, STATE, MORE, AGE)


def row(
    name: str,
    *cells: Any,
    columns: tuple[TableColumn, ...] = COLUMNS,
    kind: str = "Widget",
    namespace: str = "shop",
) -> TableRow:
    obj = {
        "kind": kind,
        "apiVersion": "example.com/v1" if kind == "Widget" else "v1",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "creationTimestamp": "2026-11-29T09:00:00Z",
        },
    }
    return row_of(Unstructured.from_dict(obj), (name, *cells), columns)


def change(kind: EventType, obj: Any, **more: Any) -> Delta[Any]:
    return Delta(kind, obj, key=obj.key, **more)


def printer(make: Any, **more: Any) -> EventPrinter:
    made: EventPrinter = make(
        **{"with_namespace": False, "terminal": False, "clock": lambda: NOW} | more
    )
    return made


def objects(**more: Any) -> EventPrinter:
    return printer(object_printer, **{"output": Output.TABLE, "with_managed_fields": False} | more)


def events(**more: Any) -> EventPrinter:
    return printer(event_printer, **{"output": Output.TABLE} | more)


# Cells


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (None, ""),
        ("", ""),
        ("plain", "plain"),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (1 << 62, "4611686018427387904"),
        (1.5, "1.5"),
        (3.0, "3"),
        (100000.0, "100000"),
        (1e6, "1e+06"),
        (123456789.5, "1.234567895e+08"),
        (1e21, "1e+21"),
        (1e100, "1e+100"),
        (-0.0001, "-0.0001"),
        (0.00001, "1e-05"),
        (0.0, "0"),
        ({"b": 1, "a": None}, "map[a:<nil> b:1]"),
        ((1, "x", True), "[1 x true]"),
        ("first\nsecond", "first..."),
        ("first\r\n", "first..."),
        ("first\ffeed", "first..."),
        ("\nsecond", "..."),
        ("red \x1b[31m", "red ^[[31m"),
        ("a\tb\x07", "a\\tb\\x07"),
        ("näme 東\xa0x", "näme 東\xa0x"),
        ("left\u202eright", "left\\u202eright"),
    ],
)
def test_a_cell_is_text_as_kubectl_writes_it(cell: Any, text: str) -> None:
    assert cell_text(cell) == text


# Layouts


def test_headers_are_in_capitals_and_less_important_columns_are_for_wide_tables() -> None:
    found = row("a", "ok", 3, "3h")
    assert Layout().headers(found) == ("NAME", "LAST STATE", "AGE")
    assert Layout().cells(found, NOW) == ["a", "ok", "3h"]
    wide = Layout(wide=True)
    assert wide.headers(found) == ("NAME", "LAST STATE", "MORE", "AGE")
    assert wide.cells(found, NOW) == ["a", "ok", "3", "3h"]


def test_the_namespace_comes_first_and_the_prefix_before_the_name_wherever_that_is() -> None:
    found = row_of(row("a"), ("ok", "a", 3), (STATE, NAME, MORE))
    layout = Layout(with_namespace=True, prefix="widget.example.com/")
    assert layout.headers(found) == ("NAMESPACE", "LAST STATE", "NAME")
    assert layout.cells(found, NOW) == ["shop", "ok", "widget.example.com/a"]
    assert layout.headers(row("a", namespace="")) == ("NAME", "LAST STATE", "AGE")


def test_more_or_fewer_cells_than_columns_do_no_harm() -> None:
    assert Layout().cells(row("a", "ok", 3, "3h", "odd"), NOW) == ["a", "ok", "3h"]
    assert Layout().cells(row("a"), NOW) == ["a"]


def test_without_the_servers_columns_there_are_ours() -> None:
    plain = row_of(row("a", kind="Namespace", namespace=""))
    assert Layout().headers(plain) == ("NAME", "STATUS", "AGE")
    assert Layout(prefix="namespace/").cells(plain, NOW) == ["namespace/a", "", "3h"]


def test_an_age_that_was_sent_a_while_ago_goes_on() -> None:
    assert Layout().cells(row("a", "ok", 3, "5s"), NOW, stale=True) == ["a", "ok", "3h"]


# What is printed of events


def test_what_there_was_lies_in_even_columns_and_of_changes_they_take_notice_as_they_come() -> None:
    found = objects()
    first = [
        change(EventType.ADDED, row(name, "ok", 3, "1s"), initial=True) for name in ("a", "longer")
    ]
    assert found.text(first).decode() == (
        "NAME     LAST STATE   AGE\na        ok           1s\nlonger   ok           1s\n"
    )
    more = [
        change(EventType.MODIFIED, row("a", "bad", 3, "2s")),
        change(EventType.ADDED, row("the-longest", None, 3, "")),
        change(EventType.DELETED, row("a", "bad", 3, "3s")),
    ]
    assert found.text(more).decode() == (
        "a        bad          2s\nthe-longest                \na             bad          3s\n"
    )


def test_columns_that_change_have_a_new_header() -> None:
    found = objects()
    found.text([change(EventType.ADDED, row("a", "ok", 3, "1s"), initial=True)])
    other = row_of(row("a"), ("a", 1), (NAME, TableColumn(name="Size", type="integer")))
    again = [change(EventType.MODIFIED, other), change(EventType.MODIFIED, other)]
    assert found.text(again).decode() == "NAME   SIZE\na      1\na      1\n"


def test_columns_that_are_told_anew_and_are_the_same_have_none() -> None:
    found = objects()
    found.text([change(EventType.ADDED, row("a", "ok", 3, "1s"), initial=True)])
    same = tuple(
        TableColumn(each.name, each.type, each.format, "new", each.priority) for each in COLUMNS
    )
    text = found.text([change(EventType.MODIFIED, row("a", "ok", 3, "2s", columns=same))])
    assert text == b"a      ok           2s\n"


def test_events_have_their_types_before_the_cells() -> None:
    found = events(with_namespace=True, output=Output.WIDE)
    lines = found.text([change(EventType.ADDED, row("a", "ok", 3, "1s"))]).decode().splitlines()
    assert lines[0].split("   ")[0] == "EVENT"
    assert lines[0].split() == [
        "EVENT",
        "TIME",
        "NAMESPACE",
        "NAME",
        "LAST",
        "STATE",
        "MORE",
        "AGE",
    ]
    assert lines[1].split()[:1] + lines[1].split()[2:] == ["ADDED", "shop", "a", "ok", "3", "1s"]


def test_a_deletion_that_was_missed_has_the_age_that_it_has_now() -> None:
    gone = change(EventType.DELETED, row("a", "ok", 3, "1s"), final_state_unknown=True)
    assert objects().text([gone]).decode().splitlines()[1].split() == ["a", "ok", "3h"]
    told = change(EventType.DELETED, row("a", "ok", 3, "1s"))
    assert objects().text([told]).decode().splitlines()[1].split() == ["a", "ok", "1s"]


def test_a_row_that_cannot_be_read_is_among_the_others() -> None:
    bad: Delta[Any] = Delta(EventType.ADDED, b"{}", error=ValueError("no such field"), initial=True)
    good = change(EventType.ADDED, row("a", "ok", 3, "1s"), initial=True)
    lines = objects().text([bad, good]).decode().splitlines()
    assert lines == ["NAME   LAST STATE   AGE", "no such field", "a      ok           1s"]
    assert objects().text([bad]).decode().splitlines() == ["NAME   AGE", "no such field"]


@pytest.mark.parametrize(("kind", "painted"), [("Pod", True), ("Widget", False)])
def test_only_states_that_we_know_have_colours(
    kind: str, painted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    columns = (NAME, TableColumn(name="Status", type="string"))
    found = row("a", "Healthy", columns=columns, kind=kind)
    text = events(terminal=True).text([change(EventType.ADDED, found)]).decode()
    assert ("\x1b[31mHealthy" in text) is painted
