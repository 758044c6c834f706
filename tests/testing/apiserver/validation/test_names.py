"""Names, labels and finalizers: which are valid, and what is said of the others (K28)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.testing.apiserver.types.served import ResourceType
from listwatch.testing.apiserver.types.type_table import builtin_types
from listwatch.testing.apiserver.validation.names import (
    finalizer_warnings,
    key_problems,
    label_map_problems,
    label_name_problems,
    metadata_problems,
    name_problems,
    rfc_1035_problems,
    subdomain_problems,
    value_problems,
)

TYPES = {found.plural: found for found in builtin_types()}
SUBDOMAIN = "a lowercase RFC 1123 subdomain must consist of"
LABEL = "a lowercase RFC 1123 label must consist of"


def first(of: ResourceType, name: str, **options: bool) -> list[str]:
    return [text.split(" lower case")[0] for text in name_problems(of, name, **options)]


@pytest.mark.parametrize(
    ("plural", "name", "said"),
    [
        ("configmaps", "a", []),
        ("configmaps", "a.b-c.0", []),
        ("configmaps", "kube-root-ca.crt", []),
        ("configmaps", "x" * 253, []),
        ("configmaps", "x" * 254, ["must be no more than 253 characters"]),
        ("configmaps", "Not_Valid!", [SUBDOMAIN]),
        ("configmaps", "-a", [SUBDOMAIN]),
        ("configmaps", "a..b", [SUBDOMAIN]),
        ("configmaps", "a\n", [SUBDOMAIN]),
        ("configmaps", "..", [SUBDOMAIN]),
        ("nodes", "1.b", []),
        ("services", "A.b", [LABEL]),
        ("services", "1.b", ["must not contain dots"]),
        ("namespaces", "x" * 64, ["must be no more than 63 characters"]),
        ("statefulsets", "1.b", ["must not contain dots"]),
        ("cronjobs", "x" * 53, ["must be no more than 52 characters"]),
        ("roles", "system:Any Thing", []),
        ("roles", "x:y/z", ["may not contain '/'"]),
        ("roles", "a%b", ["may not contain '%'"]),
        ("roles", "..", ["may not be '..'"]),
        ("events", "A.b", []),
    ],
)
def test_k28_names(plural: str, name: str, said: list[str]) -> None:
    assert first(TYPES[plural], name) == said


def test_k28_the_start_of_a_name_may_end_in_a_dash() -> None:
    assert first(TYPES["configmaps"], "gen-", prefix=True) == []
    assert first(TYPES["configmaps"], "Bad_", prefix=True) == [SUBDOMAIN]
    assert first(TYPES["services"], "gen-", prefix=True) == []


def fields(metadata: dict[str, Any], plural: str = "configmaps") -> list[str]:
    problems = metadata_problems(TYPES[plural], {"name": "a", **metadata})
    return [f"{problem.field}: {problem.message}" for problem in problems]


def test_an_object_needs_a_name() -> None:
    problems = metadata_problems(TYPES["configmaps"], {})
    assert [str(found) for found in problems] == [
        "metadata.name: Required value: name or generateName is required"
    ]


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ({"a": "b", "example.com/a": "", "A_b.c-1": "x_Y.z"}, []),
        ({"a b": "c"}, ["name part must consist of"]),
        ({"UPPER/x": "y"}, [f"prefix part {SUBDOMAIN}"]),
        ({"": "c"}, ["name part must be non-empty", "name part must consist of"]),
        ({"a/": "b"}, ["name part must be non-empty", "name part must consist of"]),
        (
            {"/": "a"},
            [
                "prefix part must be non-empty",
                "name part must be non-empty",
                "name part must consist of",
            ],
        ),
        ({"a/b/c": "d"}, ["a valid label key must consist of"]),
        ({"x" * 64: ""}, ["name part must be no more than 63 bytes"]),
        ({"x": "-x"}, ["a valid label must be an empty string"]),
        ({"x": "z" * 64}, ["must be no more than 63 bytes"]),
    ],
)
def test_labels(labels: dict[str, str], said: list[str]) -> None:
    found = [problem.message for problem in label_map_problems({"labels": labels})]
    assert len(found) == len(said)
    for text, start in zip(found, said, strict=True):
        assert text.split(": ", 2)[2].startswith(start)


def test_annotations_may_say_anything_up_to_256_kib() -> None:
    assert fields({"annotations": {"UPPER/a": "any thing\n" * 10}}) == []
    assert fields({"annotations": {"a": "x" * 262_143}}) == []
    assert fields({"annotations": {"a": "x" * 262_144}}) == [
        "metadata.annotations: Too long: may not be more than 262144 bytes"
    ]
    assert len(fields({"annotations": {"a b": ""}})) == 1


def test_owners_are_whole_and_one_controls() -> None:
    whole = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "a", "uid": "u"}
    assert fields({"ownerReferences": [whole, {**whole, "uid": "v", "controller": True}]}) == []
    names = [text.partition(": ")[0] for text in fields({"ownerReferences": [{}]})]
    assert names == [
        f"metadata.ownerReferences.{name}" for name in ("apiVersion", "kind", "name", "uid")
    ]
    both = [{**whole, "controller": True}, {**whole, "name": "b", "controller": True}]
    (text,) = fields({"ownerReferences": both})
    assert text.endswith("in references for ReplicaSet/a and ReplicaSet/b")
    (text,) = fields({"ownerReferences": [{**whole, "apiVersion": "v1", "kind": "Event"}]})
    assert text.endswith("/v1, Kind=Event is disallowed from being an owner")


def test_k34_finalizers_of_built_in_types_have_a_domain() -> None:
    assert fields({"finalizers": ["example.com/a", "orphan", "kubernetes"]}) == []
    (text,) = fields({"finalizers": ["a.b/c", "nodomain"]})
    assert text == (
        'metadata.finalizers[1]: Invalid value: "nodomain": name is neither a standard finalizer '
        "name nor is it fully qualified"
    )
    of = TYPES["configmaps"]
    custom = ResourceType(resource=of.resource, storage="example.com/widgets", custom=True)
    assert metadata_problems(custom, {"name": "a", "finalizers": ["nodomain"]}) == []
    (plain, dotted) = finalizer_warnings(custom, ["nodomain", "a.b", "a.b/c"])
    assert "finalizer name to avoid" in plain
    assert "finalizer name including a path (/) to avoid" in dotted
    assert list(finalizer_warnings(of, ["nodomain"])) == []


def test_a_generation_is_not_negative() -> None:
    assert fields({"generation": -7}) == [
        "metadata.generation: Invalid value: -7: must be greater than or equal to 0"
    ]


@given(st.from_regex(r"[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?", fullmatch=True))
def test_a_host_name_is_a_name_of_anything(name: str) -> None:
    for of in TYPES.values():
        assert of.kind == "IPAddress" or not list(name_problems(of, name))


@pytest.mark.parametrize(
    ("problems", "most"),
    [
        (label_name_problems, 63),
        (rfc_1035_problems, 63),
        (subdomain_problems, 253),
        (key_problems, 63),
        (value_problems, 63),
    ],
)
def test_lengths_are_those_of_utf_8(problems: Callable[[str], Iterable[str]], most: int) -> None:
    assert len(list(problems("ä" * (most // 2)))) == 1
    too_long, _ = problems("ä" * (most // 2 + 1))
    assert f"must be no more than {most} " in too_long


def test_everything_is_told_of_the_prefix_of_a_key() -> None:
    too_long, wrong = key_problems("A" * 254 + "/a")
    assert too_long == "prefix part must be no more than 253 bytes"
    assert wrong.startswith("prefix part a lowercase RFC 1123 subdomain must consist of")
