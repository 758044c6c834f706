"""What a refusal of a senseless patch shows."""

from __future__ import annotations

import json
import re

import pytest

from conformance.behaviour.space import Space
from conformance.objects import pod
from conformance.requests import Json

_MERGE = "application/merge-patch+json"
_OPERATE = "application/json-patch+json"


def _shown(space: Space, content_type: str, patch: object) -> Json:
    answer = space.ask("PATCH", space.path("pods", "a"), patch, Content_Type=content_type)
    assert answer.status == 422
    found = re.search(r'Invalid value: ("(?:[^"\\]|\\.)*"): json: ', answer.json()["message"])
    assert found is not None
    shown = json.loads(json.loads(found[1]))
    assert isinstance(shown, dict)
    return shown


@pytest.mark.parametrize(
    ("content_type", "patch"),
    [
        (_MERGE, {"spec": {"hostname": 5}}),
        (_OPERATE, [{"op": "add", "path": "/spec/hostname", "value": 5}]),
    ],
)
def test_what_a_patch_leads_to_is_shown_sorted(
    space: Space, content_type: str, patch: object
) -> None:
    """The object that a patch would make is shown with the members sorted that the patch has led
    to, all others in their order.
    """
    space.put(pod("a"), "pods")
    shown = _shown(space, content_type, patch)
    assert list(shown) == sorted(shown)
    assert list(shown["spec"]) == sorted(shown["spec"])
    (container,) = shown["spec"]["containers"]
    assert list(container)[:2] == ["name", "image"]
    assert list(shown["metadata"])[:2] == ["name", "namespace"]


def test_operations_lead_into_lists(space: Space) -> None:
    """The item of a list that an operation changes is shown sorted, what it puts there as it was
    sent.
    """
    space.put(pod("a"), "pods")
    value = {"z": 1, "a": 2}
    operation = {"op": "add", "path": "/spec/containers/0/image", "value": value}
    (container,) = _shown(space, _OPERATE, [operation])["spec"]["containers"]
    assert list(container) == sorted(container)
    assert list(container["image"]) == ["z", "a"]


def test_what_a_merge_patch_brings_is_shown_sorted(space: Space) -> None:
    """Objects that a merge patch puts where there was none are sorted throughout."""
    space.put(pod("a"), "pods")
    patch = {"spec": {"hostname": 5, "nodeSelector": {"z": "1", "a": "2"}}}
    shown = _shown(space, _MERGE, patch)
    assert list(shown["spec"]["nodeSelector"]) == ["a", "z"]
