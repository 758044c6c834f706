from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from listwatch._version import __version__
from listwatch.cli.app import parse
from listwatch.cli.process import Plan
from tests.cli.conftest import Run


@pytest.mark.parametrize("arguments", [["--help"], ["-h"]])
def test_help_lists_the_commands_and_shows_examples(arguments: list[str], run: Run) -> None:
    ran = run(*arguments)
    assert ran.code == 0
    for word in ("get", "watch", "wait", "api-resources", "serve", "replay", "demo", "Examples:"):
        assert word in ran.text


def test_without_a_command_help_is_shown_and_it_is_bad_usage(run: Run) -> None:
    ran = run()
    assert ran.code == 2
    assert "Usage: listwatch" in ran.text


@pytest.mark.parametrize(
    "command", ["get", "watch", "wait", "api-resources", "serve", "replay", "demo"]
)
def test_no_line_of_help_is_longer_than_a_terminal(command: str, run: Run) -> None:
    ran = run(command, "--help")
    assert ran.code == 0
    assert max(len(line) for line in ran.lines) <= 80


@pytest.mark.parametrize("command", ["get", "watch", "wait", "serve", "replay", "demo"])
def test_no_default_is_said_twice(command: str, run: Run) -> None:
    text = " ".join(run(command, "--help").text.split())
    assert not re.search(r"(\[default: [^]]*\]) ?\1", text)


@pytest.mark.parametrize("command", [[], ["get"], ["watch"], ["api-resources"], ["serve"]])
def test_every_example_is_a_command_that_is_understood(command: list[str], run: Run) -> None:
    lines = run(*command, "--help").lines
    examples = lines[lines.index("  Examples:") + 1 :]
    examples = examples[: examples.index("")]
    assert examples
    for line in examples:
        words = shlex.split(line.strip().partition("  ")[0].partition("|")[0])
        assert words[0] == "listwatch"
        assert isinstance(parse(words[1:]), Plan)


def test_the_version_is_the_packages(run: Run) -> None:
    ran = run("--version")
    assert (ran.code, ran.text) == (0, f"listwatch {__version__}\n")


MANUAL = (Path(__file__).parents[2] / "docs" / "command.md").read_text("utf-8")


@pytest.mark.parametrize(
    "command", ["get", "watch", "wait", "api-resources", "serve", "replay", "demo"]
)
def test_the_manual_has_every_option(command: str, run: Run) -> None:
    lines = [line for line in run(command, "--help").lines if line.startswith("  -")]
    options = set(re.findall(r"(?<![\w-])--?[a-zA-Z][a-z-]*", " ".join(lines)))
    assert options - {"-h", "--help"} - set(re.findall(r"--?[a-zA-Z][a-z-]*", MANUAL)) == set()


def test_every_command_in_the_manual_is_understood() -> None:
    lines = [line.strip() for line in MANUAL.splitlines() if line.startswith("    listwatch ")]
    assert lines
    for line in lines:
        words = shlex.split(line, comments=True)
        assert isinstance(parse(words[1:]), Plan), line
