"""The whole answers of both servers to the requests of `script.py`, compared."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from conformance.behaviour.compared import Compared, compare_fresh, step_id
from conformance.behaviour.known_differences import reasons
from conformance.behaviour.script import SCRIPT
from conformance.binaries import Binaries
from conformance.fidelity import PAGE, page

_STEPS = [step_id(group, step) for group in SCRIPT for step in group.steps]
_KNOWN = reasons()


@pytest.fixture(scope="module")
def compared(binaries: Binaries) -> Mapping[str, Compared]:
    """What both answered to everything: servers of its own, whose state nobody else has touched."""
    return compare_fresh(binaries, SCRIPT)


def test_steps_have_names_of_their_own() -> None:
    """No two steps have the same name, and what is known is known of a step."""
    assert len(set(_STEPS)) == len(_STEPS)
    assert {step for step, _ in _KNOWN} <= set(_STEPS)


@pytest.mark.parametrize("step", _STEPS)
def test_both_answer_alike(compared: Mapping[str, Compared], step: str) -> None:
    """Status, headers, body and chunks are the same but where it is known that they are not."""
    found = {difference.where: difference for difference in compared[step].differences}
    known = {place for known_step, place in _KNOWN if known_step == step}
    new = [found[place] for place in found if place not in known]
    gone = [place for place in known if place not in found]
    assert not new, "a difference that is not listed in known_differences.py"
    assert not gone, "a difference that is listed in known_differences.py and is no more"


def test_the_page_is_of_today(compared: Mapping[str, Compared]) -> None:
    """docs/fidelity.md is what ``python -m conformance.fidelity`` would write now."""
    written = PAGE.read_text(encoding="utf-8").splitlines()
    wanted = page(compared).splitlines()
    new = [line for line in wanted if line not in set(written)]
    assert not new, "write it again: python -m conformance.fidelity"
    assert len(written) == len(wanted), "write it again: python -m conformance.fidelity"
