"""What is wrong with a value by its schema, and in which words."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.testing.apiserver.types.structural import Structural
from listwatch.testing.apiserver.types.structural_checks import schema_problems
from listwatch.testing.apiserver.types.structural_formats import FORMATS
from listwatch.testing.apiserver.types.structural_lists import embedded_problems, list_problems
from listwatch.testing.apiserver.types.structural_values import go_float


def told(schema: dict[str, Any], value: Any, **more: Any) -> list[str]:
    root = {"type": "object", "properties": {"x": schema}}
    return [str(problem) for problem in schema_problems(root, {"x": value}, **more)]


@pytest.mark.parametrize(
    ("schema", "value", "texts"),
    [
        ({"type": "string"}, "a", []),
        (
            {"type": "string"},
            None,
            ['x: Invalid value: "null": x in body must be of type string: "null"'],
        ),
        ({"type": "string", "nullable": True}, None, []),
        ({"type": "integer"}, 2.0, []),
        (
            {"type": "integer"},
            True,
            ['x: Invalid value: "boolean": x in body must be of type integer: "boolean"'],
        ),
        ({"type": "number"}, 2, []),
        (
            {"type": "integer", "format": "int32"},
            3_000_000_000,
            [
                '<nil>: Invalid value: "": Checked value must be of type integer with format int32 '
                "in x"
            ],
        ),
        (
            {"type": "number", "maximum": 1000000},
            1e7,
            ["x: Invalid value: 1e+07: x in body should be less than or equal to 1e+06"],
        ),
        (
            {"type": "number", "minimum": 2, "exclusiveMinimum": True},
            2,
            ["x: Invalid value: 2: x in body should be greater than 2"],
        ),
        ({"type": "number", "multipleOf": 0.1}, 0.3, []),
        (
            {"type": "number", "multipleOf": 0.5},
            0.7,
            ["x: Invalid value: 0.7: x in body should be a multiple of 0.5"],
        ),
        ({"enum": [1, "a"]}, 1.0, []),
        (
            {"enum": [1, "a", {"b": 2}]},
            "b",
            [
                'x: Unsupported value: "b": supported values: "1", "a", "{\\"b\\":2}"',
            ],
        ),
        ({"type": "string", "maxLength": 1}, "ab", ["x: Too long: may not be more than 1 byte"]),
        ({"type": "array", "items": {"type": "string"}, "format": "date"}, [], []),
        ({"type": "string", "format": "bogus"}, "x", []),
        (
            {"type": "string", "format": "ipv4"},
            1,
            ['x: Invalid value: "int64": x in body must be of type ipv4: "int64"'],
        ),
        (
            {"type": "array", "minItems": 2, "items": {"type": "integer"}},
            [1],
            ["x: Invalid value: 1: x in body should have at least 2 items"],
        ),
        (
            {"type": "object", "minProperties": 1},
            {},
            ["x: Invalid value: 0: x in body should have at least 1 properties"],
        ),
        (
            {"type": "object", "maxProperties": 1},
            {"a": 1, "b": 1},
            ["x: Too many: 2: must have at most 1 item"],
        ),
        (
            {"type": "object", "additionalProperties": False},
            {"a": 1},
            ['x: Invalid value: "a": x.a in body is a forbidden property'],
        ),
        ({"type": "object", "required": ["a"]}, {}, ["x.a: Required value"]),
        ({"anyOf": [{"minimum": 5}, {"maximum": 1}]}, 1, []),
        (
            # Of two that fail, the one that passed more checks is told.
            {
                "type": "object",
                "anyOf": [
                    {"required": ["a"]},
                    {"properties": {"b": {"minimum": 1}, "c": {"minimum": 1}}, "required": ["d"]},
                ],
            },
            {"b": 1, "c": 1},
            [
                '<nil>: Invalid value: "": "x" must validate at least one schema (anyOf)',
                "x.d: Required value",
            ],
        ),
        (
            {"type": "integer", "oneOf": [{"minimum": 1}, {"maximum": 5}]},
            3,
            [
                '<nil>: Invalid value: "": "x" must validate one and only one schema (oneOf). '
                "Found 2 valid alternatives"
            ],
        ),
        (
            {"type": "integer", "allOf": [{"minimum": 5}, {"minimum": 6}]},
            3,
            [
                "x: Invalid value: 3: x in body should be greater than or equal to 5",
                "x: Invalid value: 3: x in body should be greater than or equal to 6",
                '<nil>: Invalid value: "": "x" must validate all the schemas (allOf). None '
                "validated",
            ],
        ),
    ],
)
def test_what_is_told(schema: dict[str, Any], value: Any, texts: list[str]) -> None:
    assert told(schema, value) == texts


def test_what_was_so_before_is_not_told() -> None:
    schema = {"type": "object", "properties": {"x": {"minimum": 5}, "y": {"minimum": 5}}}
    found = schema_problems(schema, {"x": 1, "y": 2}, {"x": 1, "y": 3})
    assert [problem.field for problem in found] == ["y"]


def test_items_of_a_map_are_known_by_their_keys() -> None:
    schema = {
        "type": "object",
        "properties": {
            "l": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["id"],
                "items": {"type": "object", "properties": {"n": {"minimum": 5}}},
            }
        },
    }
    old = {"l": [{"id": 1, "n": 1}, {"id": 2, "n": 9}]}
    new = {"l": [{"id": 2, "n": 2}, {"id": 1, "n": 1}]}
    assert [problem.field for problem in schema_problems(schema, new, old)] == ["l[0].n"]


def test_problems_of_a_status_are_moved_below_it() -> None:
    schema = {"type": "object", "required": ["a"], "not": {"required": ["b"]}}
    found = schema_problems(schema, {"b": 1}, below="status")
    assert [problem.field for problem in found] == ["status", "status.a"]


def test_lists_that_are_sets() -> None:
    node = Structural({"type": "array", "x-kubernetes-list-type": "set"})
    value = ["a", {"b": 1}, "a", {"b": 1}, "a", 1, 1.5]
    assert [str(problem) for problem in list_problems(value, node, "x")] == [
        'x[2]: Duplicate value: "a"',
        'x[3]: Duplicate value: {"b":1}',
    ]


def test_lists_that_are_maps() -> None:
    node = Structural(
        {
            "type": "object",
            "additionalProperties": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["a", "b"],
                "items": {"type": "object"},
            },
        }
    )
    value = {"k": [{"a": 1}, {"a": 1, "b": 2}, {"a": 1}], "m": [1]}
    assert [str(problem) for problem in list_problems(value, node)] == [
        '[k][2]: Duplicate value: {"a":1}',
        "[m][0]: Invalid value: 1: must be an object for an array of list-type map",
    ]


def test_objects_inside_of_objects_need_names() -> None:
    node = Structural({"type": "object", "x-kubernetes-embedded-resource": True})
    value = {"apiVersion": "a/b/c", "kind": "Not_One", "metadata": {"labels": {"-": "x"}}}
    fields = [problem.field for problem in embedded_problems(value, node, "x")]
    assert fields == ["x.apiVersion", "x.kind", "x.metadata.labels"]
    missing = [str(problem) for problem in embedded_problems({}, node, "x")]
    assert missing == ["x.apiVersion: Required value", "x.kind: Required value"]


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("date", ["2020-02-29"], ["2021-02-29", "2020-1-1", "20200101", ""]),
        ("datetime", ["2020-01-01T00:00:00Z", "2020-01-01t23:59:59.5+01:00"], ["2020-01-01", "x"]),
        ("duration", ["5m", "1h2m", "3 days", "2 weeks", "0"], ["", "five", "m", "2 wks"]),
        ("ipv4", ["10.0.0.1", "010.0.0.1"], ["::1", "10.0.0", "10.0.0.256", ""]),
        ("ipv6", ["::1", "fe80::1"], ["10.0.0.1", ":::"]),
        ("cidr", ["10.0.0.0/8", "::/0"], ["10.0.0.0", "10.0.0.0/33", "x/8"]),
        ("uri", ["http://a/b", "/x", "urn:x"], ["", "x y", "relative"]),
        ("email", ["a@b.c", "A <a@b>", '"a b"@c'], ["a", "@b", "a@", "a b@c"]),
        ("hostname", ["example.com", "a", "a-b.example"], ["-a", "a_b", "", "a" * 256]),
        ("uuid", ["123E4567-e89b-12d3-a456-426614174000"], ["123e4567"]),
        (
            "uuid4",
            ["123e4567-e89b-42d3-a456-426614174000"],
            ["123e4567-e89b-12d3-a456-426614174000"],
        ),
        ("mac", ["00:11:22:33:44:55", "0011.2233.4455"], ["00:11", "00-11-22-33-44:55"]),
        ("byte", ["YWJj"], ["", "abc", "YW=="[:3]]),
        ("hexcolor", ["#fff", "00ff00"], ["#ff", "red"]),
        ("rgbcolor", ["rgb(1, 2,3)", "rgb(1%,2%,3%)"], ["rgb(256,0,0)", "rgb(1,2)"]),
        ("isbn10", ["0321751043"], ["0321751044", "x"]),
        ("isbn13", ["978-0321751041"], ["978-0321751042"]),
        ("isbn", ["0321751043", "978-0321751041"], ["1"]),
        ("creditcard", ["4111 1111 1111 1111"], ["4111 1111 1111 1112", "1"]),
        ("ssn", ["123-45-6789"], ["12-345-6789"]),
        ("bsonobjectid", ["507f1f77bcf86cd799439011"], ["507f"]),
        ("password", ["", "x"], []),
        ("k8sshortname", ["a-b"], ["A", "a.b", "a" * 64]),
        ("k8slongname", ["a-b.c"], ["A", "a..b"]),
    ],
)
def test_formats(name: str, good: list[str], bad: list[str]) -> None:
    fits = FORMATS[name]
    assert [text for text in good if not fits(text)] == []
    assert [text for text in bad if fits(text)] == []


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1.0, "1"),
        (-2.5, "-2.5"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (123456.0, "123456"),
        (1000000.0, "1e+06"),
        (1234567.5, "1.2345675e+06"),
        (1e21, "1e+21"),
    ],
)
def test_floats_are_shown_as_go_shows_them(value: float, text: str) -> None:
    assert go_float(value) == text
