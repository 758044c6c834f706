"""The bugs that are put in on purpose: their places are there, and the simulation finds them."""

from __future__ import annotations

import ast

import pytest

from simulation.mutants import mutated
from simulation.mutations import MUTATIONS, Mutation
from simulation.properties import PROPERTIES

_NAMES = [mutation.name for mutation in MUTATIONS]


@pytest.mark.parametrize("mutation", MUTATIONS, ids=_NAMES)
def test_the_place_of_a_bug_is_there_once_and_the_bug_is_python(mutation: Mutation) -> None:
    ast.parse(mutated(mutation))


@pytest.mark.parametrize("mutation", MUTATIONS, ids=_NAMES)
def test_a_bug_names_the_properties_that_should_object(mutation: Mutation) -> None:
    assert mutation.objects
    assert set(mutation.objects) <= set(PROPERTIES)


def test_names_are_unique() -> None:
    assert len(set(_NAMES)) == len(_NAMES) >= 20
