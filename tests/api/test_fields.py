"""Field selectors: the grammar of Kubernetes, and what they match."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.api import (
    FieldOperator,
    FieldRequirement,
    FieldSelector,
    ObjectMeta,
    PartialObjectMetadata,
    SelectorError,
    Unstructured,
)

pytestmark = pytest.mark.clause("A4")

WIDGETS = "/apis/example.com/v1/namespaces/default/widgets?fieldSelector="
PODS = "/api/v1/namespaces/rec/pods?"

# Targets of recorded requests, and whether a real server could read the selector. One that it
# read and then refused, because the type has no such field, counts as read.
RECORDED = [
    (WIDGETS + "metadata.name%3Da%5Cb", False),
    (WIDGETS + "foo", False),
    (WIDGETS + "spec.color%3D%3Dred", True),
    (WIDGETS + "metadata.name%3Dw-003", True),
    (WIDGETS + "spec.color%3Dred%2Cmetadata.name%21%3Dw-000", True),
    (WIDGETS + "spec.n%3D1", True),
    (PODS + "fieldSelector=abc", False),
    (PODS + "limit=1&fieldSelector=metadata.name+in+(web-00)", False),
    (PODS + "limit=1&fieldSelector=metadata.name%3D%3Dweb-00", True),
    (PODS + "limit=1&fieldSelector=status.phase!%3DRunning,spec.nodeName!%3D", True),
    (PODS + "fieldSelector=metadata.name%3Dweb-00,metadata.name%3Dweb-01", True),
    (PODS + "fieldSelector=spec.nodeName%3D", True),
]


@pytest.mark.parametrize(("target", "is_read"), RECORDED)
def test_what_a_real_server_read_is_read_and_what_it_refused_is_refused(
    target: str, is_read: bool
) -> None:
    [text] = parse_qs(urlsplit(target).query)["fieldSelector"]
    if is_read:
        assert FieldSelector.parse(text)
    else:
        with pytest.raises(SelectorError):
            FieldSelector.parse(text)


def requirement(field: str, operator: str, value: str) -> FieldRequirement:
    return FieldRequirement(field, FieldOperator(operator), value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (",", []),
        ("a=b", [requirement("a", "=", "b")]),
        ("a==b", [requirement("a", "=", "b")]),
        ("a!=b", [requirement("a", "!=", "b")]),
        ("a=", [requirement("a", "=", "")]),
        ("a!=", [requirement("a", "!=", "")]),
        ("b=1,a=2", [requirement("a", "=", "2"), requirement("b", "=", "1")]),
        ("a=b,,c=d,", [requirement("a", "=", "b"), requirement("c", "=", "d")]),
        (r"a=b\,c\=d\\e", [requirement("a", "=", r"b,c=d\e")]),
        ("a= b c ", [requirement("a", "=", " b c ")]),
        ("a=(b)", [requirement("a", "=", "(b)")]),
        ("a=b!c", [requirement("a", "=", "b!c")]),
        ("a=b\nc", [requirement("a", "=", "b\nc")]),
    ],
)
def test_the_grammar_is_that_of_kubernetes(text: str, expected: list[FieldRequirement]) -> None:
    assert list(FieldSelector.parse(text).requirements) == expected


@pytest.mark.parametrize(
    ("text", "position", "problem"),
    [
        ("a", 0, "expected '=', '==' or '!=' in 'a'"),
        ("a=b,c", 4, "expected '=', '==' or '!=' in 'c'"),
        ("metadata.name in (a,b)", 0, "field selectors know no sets"),
        ("a notin (b)", 0, "field selectors know no sets"),
        ("!a", 0, "expected '='"),
        ("=b", 0, "expected a field path"),
        ("!=b", 0, "expected a field path"),
        ("a =b", 1, "no spaces"),
        ("x=y, a=b", 4, "no spaces"),
        ("a=b=c", 3, "an '=' inside a value"),
        ("a===b", 3, "an '=' inside a value"),
        ("a=b!=c", 4, "an '=' inside a value"),
        (r"a=b\c", 3, r"after '\\' there must be"),
        ("a=b\\", 3, r"after '\\' there must be"),
        ("x=y,a=\\", 6, r"after '\\' there must be"),
    ],
)
def test_what_does_not_parse_is_refused_with_its_position(
    text: str, position: int, problem: str
) -> None:
    with pytest.raises(SelectorError, match=problem) as caught:
        FieldSelector.parse(text)
    assert (caught.value.text, caught.value.position) == (text, position)
    assert f"at position {position}: " in str(caught.value)


paths = st.from_regex(r"[a-z]{1,4}(\.[a-z]{1,4}){0,2}", fullmatch=True)
texts = st.text(alphabet="ab,=\\! \n", max_size=5)
selectors = st.builds(
    FieldSelector,
    st.lists(st.builds(FieldRequirement, paths, st.sampled_from(FieldOperator), texts)).map(tuple),
)


@given(selectors)
def test_the_canonical_text_parses_back(selector: FieldSelector) -> None:
    assert FieldSelector.parse(str(selector)) == selector
    assert hash(FieldSelector.parse(str(selector))) == hash(selector)


@given(st.text(alphabet="ab.,=\\! ", max_size=12))
def test_any_text_is_parsed_or_refused_inside_of_it(text: str) -> None:
    try:
        selector = FieldSelector.parse(text)
    except SelectorError as error:
        position = error.position
    else:
        position = 0
        assert FieldSelector.parse(str(selector)) == selector
    assert 0 <= position <= len(text)


@given(st.dictionaries(paths, texts))
def test_a_selector_of_fields_selects_what_has_them_all(fields: dict[str, str]) -> None:
    selector = FieldSelector.from_fields(fields)
    assert selector.matches(fields)
    assert FieldSelector.parse(str(selector)) == selector


def test_the_canonical_text_is_sorted_and_escaped() -> None:
    selector = FieldSelector.parse(r"b==x\,y,a!=1")
    assert str(selector) == r"a!=1,b=x\,y"


POD: dict[str, Any] = {
    "kind": "Pod",
    "metadata": {"name": "web-0", "namespace": "default"},
    "spec": {"nodeName": "node-1", "hostNetwork": True, "priority": 5, "volumes": []},
    "status": {"phase": None, "podIP": "10.0.0.1"},
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", True),
        ("metadata.name=web-0", True),
        ("metadata.name!=web-0", False),
        ("metadata.name=web-0,metadata.namespace=other", False),
        ("spec.nodeName=node-1,status.podIP=10.0.0.1", True),
        ("spec.nodeName=", False),
        ("spec.hostNetwork=true", True),
        ("spec.priority=5", True),
        ("status.phase=", True),
        ("status.phase!=Running", True),
        ("status.nominatedNodeName=", True),
        ("no.such.field=", True),
        ("no.such.field=x", False),
        ("spec.nodeName.deeper=", True),
        ("spec=", True),
    ],
)
def test_it_matches_an_object_in_any_form(text: str, expected: bool) -> None:
    selector = FieldSelector.parse(text)
    assert selector.matches(POD) is expected
    assert selector.matches(Unstructured.from_dict(POD)) is expected


def test_it_matches_a_flat_mapping_of_paths() -> None:
    selector = FieldSelector.parse("metadata.name=a,spec.nodeName!=b")
    assert selector.matches({"metadata.name": "a"})
    assert not selector.matches({"metadata.name": "a", "spec.nodeName": "b"})


def test_it_matches_objects_with_attributes() -> None:
    partial = PartialObjectMetadata(metadata=ObjectMeta(name="a", resource_version="5"))
    assert FieldSelector.parse("metadata.name=a,metadata.resourceVersion=5").matches(partial)
    assert not FieldSelector.parse("metadata.name=b").matches(partial)
    model = SimpleNamespace(status=SimpleNamespace(pod_ip="10.0.0.1", phase=None))
    assert FieldSelector.parse("status.podIP=10.0.0.1,status.phase=").matches(model)


def test_an_empty_selector_is_false() -> None:
    assert not FieldSelector()
    assert FieldSelector.parse("a=b")


@pytest.mark.clause("A6")
def test_a_selector_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        FieldSelector().requirements = ()  # type: ignore[misc]


def test_a_parsed_selector_parses_as_itself() -> None:
    selector = FieldSelector.parse("a=b")
    assert FieldSelector.parse(selector) is selector
