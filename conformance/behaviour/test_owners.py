"""What clients may write into managedFields."""

from __future__ import annotations

import pytest

from conformance.behaviour.space import Space, refusal
from conformance.requests import Json

_TYPES = ("application/merge-patch+json", "application/strategic-merge-patch+json")


def _entry(manager: str) -> Json:
    return {
        "manager": manager,
        "operation": "Update",
        "apiVersion": "v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:data": {"f:x": {}}},
    }


@pytest.mark.parametrize(
    ("manager", "text"),
    [
        ("m" * 129, "Too long: may not be more than 128 bytes"),
        ("a\x01b", 'Invalid value: "a\\x01b": invalid character U+0001 (at position 1)'),
    ],
)
@pytest.mark.parametrize("content_type", _TYPES)
def test_the_name_of_an_owner_is_checked(
    space: Space, manager: str, text: str, content_type: str
) -> None:
    """A PATCH that puts an owner of more than 128 bytes, or with control characters, into
    managedFields is 422.
    """
    space.add("a", x="1")
    patch = {"metadata": {"managedFields": [_entry(manager)]}}
    answer = space.ask("PATCH", space.path(name="a"), patch, Content_Type=content_type)
    field = "metadata.managedFields[0].manager"
    message = f'ConfigMap "a" is invalid: {field}: {text}'
    assert refusal(answer) == (422, "Invalid", message)


def test_a_long_name_of_an_owner_is_kept(space: Space) -> None:
    """One of 128 bytes is taken."""
    space.add("a", x="1")
    patch = {"metadata": {"managedFields": [_entry("m" * 128)]}}
    changed = space.server.patch(space.path(name="a"), patch)
    assert [entry["manager"] for entry in changed["metadata"]["managedFields"]] == ["m" * 128]
