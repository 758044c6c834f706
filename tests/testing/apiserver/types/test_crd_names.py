"""Which names a definition gets, beside another of its group (K43)."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.testing.apiserver.types.crd_names import accepted_names
from tests.testing.apiserver.asking import Asking
from tests.testing.apiserver.types.test_crds import CRDS, DEFINITION

TAKEN = {
    "plural": "apples",
    "singular": "apple",
    "shortNames": ["ap"],
    "kind": "Apple",
    "listKind": "AppleList",
}
PEAR = {"plural": "pears", "singular": "pear", "kind": "Pear", "listKind": "PearList"}


def test_all_are_accepted_where_none_is_taken() -> None:
    found = accepted_names(PEAR, [TAKEN])
    assert (found.names, found.reason) == (PEAR, "")


@pytest.mark.parametrize(
    ("names", "reason", "taken", "accepted"),
    [
        (
            {"plural": "ap"},
            "PluralConflict",
            "ap",
            {"plural": "", "singular": "pear", "kind": "Pear", "listKind": "PearList"},
        ),
        (
            {"singular": "apple"},
            "SingularConflict",
            "apple",
            {"plural": "pears", "kind": "Pear", "listKind": "PearList"},
        ),
        ({"shortNames": ["p", "ap"]}, "ShortNamesConflict", "ap", PEAR),
        (
            {"listKind": "AppleList"},
            "ListKindConflict",
            "AppleList",
            {"plural": "pears", "singular": "pear", "kind": "Pear"},
        ),
        (
            {"singular": "apple", "kind": "Apple", "listKind": "AppleList"},
            "ListKindConflict",
            "AppleList",
            {"plural": "pears", "kind": ""},
        ),
    ],
)
def test_those_that_are_free_are_accepted(
    names: dict[str, Any], reason: str, taken: str, accepted: dict[str, Any]
) -> None:
    found = accepted_names({**PEAR, **names}, [TAKEN])
    assert (found.reason, found.message) == (reason, f'"{taken}" is already in use')
    assert found.names == accepted
    assert list(found.names) == list(accepted)


def definition(plural: str, kind: str) -> dict[str, Any]:
    spec = DEFINITION["spec"]
    return {
        **DEFINITION,
        "metadata": {"name": f"{plural}.{spec['group']}"},
        "spec": {**spec, "names": {"plural": plural, "kind": kind}},
    }


def test_a_definition_waits_until_its_names_are_free() -> None:
    ask = Asking()
    group = DEFINITION["spec"]["group"]
    ask.answer("POST", CRDS, definition("firsts", "Same"))
    ask.answer("POST", CRDS, definition("seconds", "Same"))
    path = f"/apis/{group}/v1/namespaces/default/seconds"
    assert ask.get(path).status == 404
    ask.answer("DELETE", f"{CRDS}/firsts.{group}")
    assert ask.get(path).status in (200, 429)
