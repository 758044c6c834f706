"""The script's answers from both servers, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from conformance.behaviour.differences import Difference, differences
from conformance.behaviour.normal import Normal, normalised
from conformance.behaviour.scripted import Group, GroupRun, Step, run
from conformance.binaries import Binaries
from conformance.two_servers import EmbeddedCluster, RealServer


@dataclass(frozen=True)
class Compared:
    """One step, what both answered, and how that differs."""

    group: Group
    step: Step
    embedded: Normal
    real: Normal
    differences: Sequence[Difference]

    @property
    def id(self) -> str:
        return step_id(self.group, self.step)


_LIST_VERSION = "body .metadata.resourceVersion"


def step_id(group: Group, step: Step) -> str:
    """How a step is called everywhere."""
    return f"{group.name}.{step.name}"


def compare_fresh(binaries: Binaries, script: Sequence[Group]) -> dict[str, Compared]:
    """Run a script against both servers at once, new ones; the result is by `step_id`."""
    real = RealServer(binaries)
    try:
        embedded = EmbeddedCluster()
        try:
            with ThreadPoolExecutor(2) as pool:
                one, other = pool.map(lambda server: run(server, script), (embedded, real))
        finally:
            embedded.stop()
    finally:
        real.stop()
    return compare(one, other, script)


def compare(
    one: Mapping[str, GroupRun], other: Mapping[str, GroupRun], script: Sequence[Group]
) -> dict[str, Compared]:
    """Lay the answers of the embedded server beside those of the real one."""
    found: dict[str, Compared] = {}
    for group in script:
        ours, theirs = normalised(one[group.name]), normalised(other[group.name])
        for step in group.steps:
            left, right = ours[step.name], theirs[step.name]
            found_here = differences(left, right)
            if step.until_code is not None:
                # It was answered when the server was ready: at the state of that moment.
                found_here = [each for each in found_here if each.where != _LIST_VERSION]
            compared = Compared(group, step, left, right, found_here)
            found[compared.id] = compared
    return found
