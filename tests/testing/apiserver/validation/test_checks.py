"""Whatever the members of an object are, the checks of its type say what is wrong with it."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from listwatch.testing.apiserver.types.served import ResourceType
from listwatch.testing.apiserver.types.type_table import builtin_types
from listwatch.testing.apiserver.validation.checks import Checks, checks_of
from tests.testing.apiserver.validation.go_values import decoded_value, member_of

CHECKED = [of for of in builtin_types() if checks_of(of.storage) != Checks()]
TRIES = 60


def test_every_built_in_type_that_can_be_written_has_checks() -> None:
    stored = {of.storage for of in builtin_types() if of.is_stored}
    elsewhere = {"apiextensions.k8s.io/customresourcedefinitions", "componentstatuses"}
    assert stored - {of.storage for of in CHECKED} == elsewhere


@pytest.mark.parametrize("of", CHECKED, ids=str)
def test_nothing_breaks_them(of: ResourceType) -> None:
    checks, struct, rng = checks_of(of.storage), member_of(of.api_version, of.kind), Random(1)

    def made() -> dict[str, Any]:
        found = decoded_value(struct, rng)
        metadata = {"name": "a", **(found.get("metadata") or {})}
        return {**found, "apiVersion": of.api_version, "kind": of.kind, "metadata": metadata}

    for _ in range(TRIES):
        old, new = made(), made()
        list(checks.create(new))
        list(checks.of_update(new, old))
        for subresource in ("status", *checks.subresources):
            list(checks.of_subresource(subresource, new, old))
        list(checks.warnings(new))
        list(checks.of_update_warnings(new, old))
        list(checks.status_warnings(new))
