"""A pytest plugin: `--clauses` prints which clauses of the behaviour contract have a test.

A test names its clauses by `@pytest.mark.clause("A4", "C1")`; an id that the contract does not
have is an error.
"""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

CLAUSES = tuple((Path(__file__).parent.parent / "clauses.txt").read_text("ascii").split())
_KEY = "clauses"  # in what a pytest-xdist worker reports


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--clauses",
        action="store_true",
        help="print how many tests each clause of the behaviour contract has, and which have none",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(_ClauseReport(), "clause-report")


class _ClauseReport:
    def __init__(self) -> None:
        self._tests: Counter[str] = Counter()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self._tests = Counter()
        for item in items:
            named = {name for mark in item.iter_markers("clause") for name in mark.args}
            unknown = sorted(named.difference(CLAUSES))
            if unknown:
                raise pytest.UsageError(
                    f"{item.nodeid}: no such clause in tests/clauses.txt: {', '.join(unknown)}"
                )
            self._tests.update(named)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[_KEY] = dict(self._tests)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        # Every worker collects every test, so one report is as good as all.
        self._tests = Counter(getattr(node, "workeroutput", {}).get(_KEY, self._tests))

    def pytest_terminal_summary(self, terminalreporter: Any, config: pytest.Config) -> None:
        if not config.getoption("--clauses"):
            return
        terminalreporter.section("clauses of the behaviour contract")
        for room, ids in itertools.groupby(CLAUSES, key=lambda name: name[0]):
            names = list(ids)
            tested = [f"{name} ({self._tests[name]})" for name in names if self._tests[name]]
            untested = [name for name in names if not self._tests[name]]
            terminalreporter.line(f"{room}  tested: {' '.join(tested) or '-'}")
            terminalreporter.line(f"   untested: {' '.join(untested) or '-'}")
        covered = sum(1 for name in CLAUSES if self._tests[name])
        terminalreporter.line(f"{covered} of {len(CLAUSES)} clauses have a test")
