"""Keys of objects."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.api import (
    MalformedObject,
    ObjectMeta,
    PartialObjectMetadata,
    Unstructured,
    join_key,
    key_of,
    split_key,
)

pytestmark = pytest.mark.clause("A3")

names = st.text(st.characters(exclude_characters="/"), min_size=1)


@given(namespace=st.just("") | names, name=names)
def test_a_key_splits_into_what_it_was_joined_from(namespace: str, name: str) -> None:
    assert split_key(join_key(namespace, name)) == (namespace, name)


@pytest.mark.parametrize("key", ["a/b/c", "a//b", "//", "/a/b"])
def test_more_than_one_slash_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match="more than one slash"):
        split_key(key)


@pytest.mark.parametrize(
    "obj",
    [
        Unstructured.from_dict({"metadata": {"name": "a", "namespace": "ns"}}),
        PartialObjectMetadata(metadata=ObjectMeta(name="a", namespace="ns")),
        {"metadata": {"name": "a", "namespace": "ns"}},
        SimpleNamespace(metadata=SimpleNamespace(name="a", namespace="ns")),
        SimpleNamespace(metadata={"name": "a", "namespace": "ns"}),
    ],
    ids=["unstructured", "metadata", "dict", "model", "model with a dict"],
)
def test_the_key_of_any_form_of_an_object_is_the_same(obj: Any) -> None:
    assert key_of(obj) == "ns/a"


@pytest.mark.parametrize(
    "obj",
    [
        {"metadata": {"name": "node-1"}},
        {"metadata": {"name": "node-1", "namespace": None}},
        {"metadata": {"name": "node-1", "namespace": ""}},
        SimpleNamespace(metadata=SimpleNamespace(name="node-1", namespace=None)),
        SimpleNamespace(metadata=SimpleNamespace(name="node-1")),
    ],
)
def test_a_cluster_scoped_object_has_its_name_as_key(obj: Any) -> None:
    assert key_of(obj) == "node-1"


@pytest.mark.parametrize(
    "obj", [{}, {"metadata": None}, {"metadata": {"name": ""}}, {"metadata": {"name": 1}}, None, 5]
)
def test_what_has_no_name_has_no_key(obj: Any) -> None:
    with pytest.raises(MalformedObject, match=r"without metadata\.name"):
        key_of(obj)
