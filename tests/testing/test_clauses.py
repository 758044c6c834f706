"""The option that prints which clauses of the behaviour contract have a test."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.clauses import CLAUSES

ROOT = Path(__file__).parent.parent.parent

INI = "[pytest]\nmarkers =\n    clause: as in the project\n"
CONFTEST = 'pytest_plugins = ["tests.support.clauses"]\n'
TESTS = """
import pytest

pytestmark = pytest.mark.clause("C1")

@pytest.mark.clause("A4", "C2")
@pytest.mark.parametrize("number", [1, 2])
def test_one(number):
    pass

def test_two():
    pass
"""


def _run(folder: Path, tests: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "pytest.ini").write_text(INI)
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "test_it.py").write_text(tests)
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "arguments",
    [(), ("--collect-only",), ("-p", "xdist", "-n", "2")],
    ids=["run", "collect", "workers"],
)
def test_clauses_with_and_without_a_test_are_told(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    told = _run(tmp_path, TESTS, "--clauses", *arguments).stdout
    assert "C  tested: C1 (3) C2 (2)\n   untested: C3 " in told
    assert "A  tested: A4 (2)\n   untested: A1 A2 A3 A5 " in told
    assert f"3 of {len(CLAUSES)} clauses have a test" in told


def test_nothing_is_told_unless_asked(tmp_path: Path) -> None:
    assert "untested" not in _run(tmp_path, TESTS).stdout


def test_a_clause_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    run = _run(tmp_path, TESTS.replace("A4", "Z9"))
    assert run.returncode != 0
    assert "no such clause in tests/clauses.txt: Z9" in run.stdout + run.stderr


def test_the_contract_has_each_clause_once() -> None:
    assert len(CLAUSES) == len(set(CLAUSES)) > 100
