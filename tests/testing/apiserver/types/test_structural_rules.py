"""Rules in CEL: which are asked, of what, and what is told of those that are broken.

What evaluates them here is a stand-in, which knows the rules of these tests by heart.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from listwatch.testing.apiserver.types import structural_rules
from listwatch.testing.apiserver.types.structural import Structural
from listwatch.testing.apiserver.types.structural_rules import rule_problems, syntax_problem

Variables = Mapping[str, Any]


class Evaluator:
    """Answers a rule with what `answers` has for it: a value, or an error to raise."""

    def __init__(self, **answers: Any) -> None:
        self._answers = answers
        self.asked: list[tuple[str, Variables]] = []

    def __call__(self, rule: str, variables: Variables) -> Any:
        self.asked.append((rule, variables))
        answer = self._answers.get(rule, True)
        if isinstance(answer, Exception):
            raise answer
        return answer


def node(*rules: dict[str, Any], **schema: Any) -> Structural:
    return Structural({"type": "object", **schema, "x-kubernetes-validations": list(rules)})


def told(schema: Structural, answers: dict[str, Any], value: Any) -> list[str]:
    return [str(one) for one in rule_problems(schema, value, evaluate=Evaluator(**answers))]


@pytest.mark.parametrize(
    ("rule", "answer", "text"),
    [
        ({"rule": "r"}, True, None),
        ({"rule": "r"}, False, "<nil>: Invalid value: failed rule: r"),
        ({"rule": "r", "message": "no"}, False, "<nil>: Invalid value: no"),
        ({"rule": "r", "message": "no", "fieldPath": ".a"}, False, "a: Invalid value: no"),
        (
            {"rule": "r", "message": "no", "reason": "FieldValueForbidden"},
            False,
            "<nil>: Forbidden: no",
        ),
        (
            {"rule": "r", "message": "no", "reason": "FieldValueRequired"},
            False,
            "<nil>: Required value: no",
        ),
        (
            {"rule": "r", "reason": "FieldValueDuplicate"},
            False,
            "<nil>: Duplicate value: {}",
        ),
        (
            {"rule": "r", "message": "no"},
            KeyError("x"),
            '<nil>: Invalid value: "object": no such key: x evaluating rule: no',
        ),
        (
            {"rule": "r"},
            IndexError("index out of bounds: 5"),
            '<nil>: Invalid value: "object": index out of bounds: 5 evaluating rule: r',
        ),
        ({"rule": "r"}, RuntimeError("Undefined variable or function"), None),
    ],
)
def test_what_a_broken_rule_tells(rule: dict[str, Any], answer: Any, text: str | None) -> None:
    assert told(node(rule), {"r": answer}, {}) == ([] if text is None else [text])


def test_a_message_may_be_an_expression() -> None:
    rule = {"rule": "r", "messageExpression": "m", "message": "plain"}
    assert told(node(rule), {"r": False, "m": "made"}, {}) == ["<nil>: Invalid value: made"]
    assert told(node(rule), {"r": False, "m": ""}, {}) == ["<nil>: Invalid value: plain"]
    broken = {"r": False, "m": KeyError("x")}
    assert told(node(rule), broken, {}) == ["<nil>: Invalid value: plain"]


def test_rules_are_asked_where_they_stand() -> None:
    schema = Structural(
        {
            "type": "object",
            "properties": {
                "n": {"type": "integer", "x-kubernetes-validations": [{"rule": "r"}]},
                "l": {
                    "type": "array",
                    "items": {"type": "string", "x-kubernetes-validations": [{"rule": "r"}]},
                },
                "m": {
                    "type": "object",
                    "additionalProperties": {
                        "type": "string",
                        "x-kubernetes-validations": [{"rule": "r"}],
                    },
                },
                "gone": {"type": "string", "x-kubernetes-validations": [{"rule": "r"}]},
            },
        }
    )
    value = {"n": 1, "l": ["a", None], "m": {"k": "b"}}
    assert told(schema, {"r": False}, value) == [
        'l[0]: Invalid value: "a": failed rule: r',
        'm[k]: Invalid value: "b": failed rule: r',
        "n: Invalid value: 1: failed rule: r",
    ]


def test_rules_of_changes_need_what_was_before() -> None:
    evaluator = Evaluator()
    schema = node({"rule": "self == oldSelf"})
    assert rule_problems(schema, {"a": 1}, evaluate=evaluator) == []
    assert evaluator.asked == []
    rule_problems(schema, {"a": 1}, {"a": 2}, evaluate=evaluator)
    assert [variables.keys() for _, variables in evaluator.asked] == [{"self", "oldSelf"}]


def test_what_was_before_may_be_optional() -> None:
    rule = {"rule": "oldSelf.hasValue()", "optionalOldSelf": True}
    answers = {"oldSelf.hasValue()": False, "optional.none()": "none", "optional.of(found)": "some"}
    evaluator = Evaluator(**answers)
    assert len(rule_problems(node(rule), {}, evaluate=evaluator)) == 1
    assert len(rule_problems(node(rule), {}, {"a": 1}, evaluate=evaluator)) == 1
    asked = [variables["oldSelf"] for text, variables in evaluator.asked if text == rule["rule"]]
    assert asked == ["none", "some"]


def test_what_no_library_knows_of_optional_values_is_no_problem() -> None:
    rule = {"rule": "oldSelf.hasValue()", "optionalOldSelf": True}
    answers = {"oldSelf.hasValue()": False, "optional.none()": RuntimeError("Undefined function")}
    assert told(node(rule), answers, {}) == []


def test_what_is_as_it_was_is_not_asked_again() -> None:
    evaluator = Evaluator(r=False)
    assert rule_problems(node({"rule": "r"}), {"a": 1}, {"a": 1}, evaluate=evaluator) == []


def test_items_of_a_map_are_compared_by_their_keys() -> None:
    evaluator = Evaluator()
    schema = Structural(
        {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["id"],
            "items": {
                "type": "object",
                "properties": {"id": {"type": "integer"}, "n": {"type": "integer"}},
                "x-kubernetes-validations": [{"rule": "oldSelf.n < self.n"}],
            },
        }
    )
    old = [{"id": 1, "n": 1}, {"id": 2, "n": 2}]
    rule_problems(schema, [{"id": 2, "n": 3}, {"id": 3, "n": 1}], old, evaluate=evaluator)
    [(_, variables)] = evaluator.asked
    assert variables == {"self": {"id": 2, "n": 3}, "oldSelf": {"id": 2, "n": 2}}


def test_values_have_the_types_of_the_schema() -> None:
    evaluator = Evaluator()
    schema = node(
        {"rule": "r"},
        properties={
            "number": {"type": "number"},
            "integer": {"type": "integer"},
            "a-b.c/d": {"type": "string"},
            "namespace": {"type": "string"},
            "1st": {"type": "string"},
            "data": {"type": "string", "format": "byte"},
            "when": {"type": "string", "format": "date-time"},
            "list": {"type": "array", "items": {"type": "number"}},
        },
    )
    value = {
        "apiVersion": "v1",
        "kind": "K",
        "metadata": {"name": "a", "labels": {}},
        "number": 1,
        "integer": 2.0,
        "a-b.c/d": "x",
        "namespace": "y",
        "1st": "z",
        "data": "YWJj",
        "when": "2020-01-01T00:00:00Z",
        "list": [1],
    }
    rule_problems(schema, value, evaluate=evaluator)
    [(_, variables)] = evaluator.asked
    found = dict(variables["self"])
    assert found.pop("when").year == 2020
    assert found == {
        "apiVersion": "v1",
        "kind": "K",
        "metadata": {"name": "a"},
        "number": 1.0,
        "integer": 2,
        "a__dash__b__dot__c__slash__d": "x",
        "__namespace__": "y",
        "data": b"YWJj",
        "list": [1.0],
    }
    assert isinstance(found["integer"], int)
    assert isinstance(found["list"][0], float)


def test_without_a_library_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(structural_rules, "_library", lambda: None)
    assert rule_problems(node({"rule": "false"}), {}) == []
    assert syntax_problem({"rule": "a >"}, "x") is None


def test_a_rule_that_cannot_be_read_is_a_problem_of_the_definition(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def program(rule: str) -> None:
        if rule == "self.?a":
            raise ValueError(f"Failed to parse expression '{rule}': ERROR: unsupported syntax")
        raise ValueError(f"Failed to parse expression '{rule}': ERROR: Syntax error: no\n| a >")

    monkeypatch.setattr(structural_rules, "_library", object)
    monkeypatch.setattr(structural_rules, "_program", program)
    problem = syntax_problem({"rule": "a >", "message": "m"}, "x[0]")
    assert problem is not None
    assert problem.field == "x[0].rule"
    assert problem.message.endswith("compilation failed: ERROR: Syntax error: no\n | a >")
    assert syntax_problem({"rule": "self.?a"}, "x[0]") is None
