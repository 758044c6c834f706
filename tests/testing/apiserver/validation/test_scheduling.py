"""PriorityClasses: the system's own are there, and nobody else's look like them (K28)."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.testing.apiserver.validation.checks import checks_of
from listwatch.testing.apiserver.validation.configuration.scheduling import SYSTEM_CLASSES

CLASSES = checks_of("scheduling.k8s.io/priorityclasses")


def class_of(name: str, value: int, **more: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "value": value, **more}


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, (v, _) in SYSTEM_CLASSES.items()])
def test_the_systems_own_can_be_made_as_they_are(name: str, value: int) -> None:
    assert not list(CLASSES.create(class_of(name, value)))
    (problem,) = CLASSES.create(class_of(name, value - 1))
    assert problem.message.endswith(f"value of {name} PriorityClass must be {value}")
    (problem,) = CLASSES.create(class_of(name, value, globalDefault=True))
    assert problem.message.endswith(f"globalDefault of {name} PriorityClass must be false")


def test_nobody_elses_have_their_names_or_their_values() -> None:
    assert not list(CLASSES.create(class_of("mine", 1000000000)))
    assert [problem.field for problem in CLASSES.create(class_of("mine", 1000000001))] == ["value"]
    assert [problem.field for problem in CLASSES.create(class_of("system-mine", 1))] == [
        "metadata.name"
    ]


def test_what_pods_have_got_of_it_does_not_change() -> None:
    old = class_of("mine", 1, preemptionPolicy="Never")
    new = class_of("mine", 2, preemptionPolicy="PreemptLowerPriority", description="More.")
    found = CLASSES.of_update(new, old)
    assert [problem.field for problem in found] == ["value", "preemptionPolicy"]
    assert not list(CLASSES.of_update({**old, "description": "More."}, old))
