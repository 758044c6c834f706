"""How an object is read, in whatever form it is kept."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch import FrozenDict, MalformedObject, ObjectView, Unstructured, freeze

pytestmark = pytest.mark.clause("A6", "A7")

POD: dict[str, Any] = {
    "kind": "Pod",
    "apiVersion": "v1",
    "metadata": {"name": "web", "namespace": "default", "uid": "u1", "resourceVersion": "7"},
    "spec": {"containers": [{"name": "c"}], "nodeName": None, 'a"b\\': {"": 1}},
    "status": {"phase": "Running"},
}


def view(value: dict[str, Any]) -> Unstructured:
    return Unstructured.from_dict(value)


class TestAPath:
    @pytest.mark.parametrize(
        ("path", "found"),
        [
            (("status", "phase"), "Running"),
            (("kind",), "Pod"),
            (("spec", "containers"), (FrozenDict(name="c"),)),
            (("status",), FrozenDict(phase="Running")),
            (("spec", 'a"b\\', ""), 1),
        ],
    )
    def test_leads_to_a_value_which_is_frozen(self, path: tuple[str, ...], found: Any) -> None:
        assert view(POD).read(*path) == found
        assert type(view(POD).read(*path)) is type(found)

    @pytest.mark.parametrize(
        "path",
        [
            ("nothing",),
            ("status", "nothing"),
            ("spec", "nodeName"),
            ("spec", "nodeName", "deeper"),
            ("status", "phase", "deeper"),
            ("spec", "containers", "name"),
            ("spec", 'b"', "x"),
        ],
    )
    def test_that_leads_nowhere_gives_the_default(self, path: tuple[str, ...]) -> None:
        assert view(POD).read(*path) is None
        assert view(POD).read(*path, default="x") == "x"

    def test_has_at_least_one_name(self) -> None:
        with pytest.raises(TypeError, match="names of the members"):
            view(POD).read()

    def test_through_bytes_that_are_no_json_is_refused(self) -> None:
        broken = Unstructured(b'{"spec"', "v1", "Pod", "default/web", "default", "u1", "7")
        with pytest.raises(MalformedObject, match="default/web"):
            broken.read("spec")


names = st.sampled_from(["a", "b", "metadata", 'q"', "\\", "", "é", "\n"])
values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | names,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=3),
    max_leaves=10,
)


@given(
    st.dictionaries(names.filter(lambda name: name != "metadata"), values, max_size=4), st.data()
)
def test_what_is_read_is_what_a_plain_reading_gives(
    value: dict[str, Any], data: st.DataObject
) -> None:
    obj = view(value)
    assert {key: obj[key] for key in value} == freeze(value)
    absent = data.draw(names)
    assert obj.get(absent, "none") == freeze(value.get(absent, "none"))
    path = data.draw(st.lists(names, min_size=1, max_size=3))
    node: Any = value
    for name in path:
        node = node.get(name) if isinstance(node, dict) else None
    assert obj.read(*path) == freeze(node)


def test_the_identity_is_key_uid_and_rv() -> None:
    assert view(POD).identity == ("default/web", "u1", "7")


def test_the_content_is_compared_apart_from_the_identity() -> None:
    one, other = view(POD), view({**POD, "status": {}})
    assert one == other
    assert one.same_content(view(json.loads(one.raw)))
    assert not one.same_content(other)


def test_a_view_says_nothing_by_itself() -> None:
    bare = ObjectView()
    for name in ("raw", "api_version", "kind", "name", "namespace", "uid", "resource_version"):
        with pytest.raises(NotImplementedError):
            getattr(bare, name)
