"""The fixture that fails tests which leave something behind, tried on tests that do."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent

INI = """
[pytest]
asyncio_mode = auto
asyncio_default_fixture_loop_scope = function
filterwarnings = error
markers =
    clause: as in the project
    virtual_time: as in the project
"""

CONFTEST = """
pytest_plugins = ["tests.support.clauses", "tests.support.leaks", "tests.support.virtual_time"]
"""

TESTS = """
import asyncio
import socket
import subprocess
import sys
import threading

import pytest

kept = []


# Clean ones

def test_clean():
    with socket.socket():
        pass
    thread = threading.Thread(target=lambda: None)
    thread.start()
    thread.join()

async def test_clean_async():
    task = asyncio.create_task(asyncio.sleep(60))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.to_thread(lambda: None)

@pytest.mark.virtual_time
async def test_clean_virtual():
    await asyncio.sleep(3600)

def test_clean_thread_about_to_end():
    threading.Thread(target=lambda: None).start()

@pytest.fixture
async def server():
    async def serve(reader, writer):
        writer.close()
    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        task = asyncio.create_task(server.serve_forever())
        yield server
        task.cancel()

async def test_clean_with_an_async_fixture(server):
    assert server.sockets

@pytest.fixture(scope="module")
def shared_socket():
    with socket.socket() as shared:
        yield shared

def test_clean_with_a_shared_socket(shared_socket):
    assert shared_socket.fileno() > 0


# Leaking ones

async def test_leaks_a_task():
    kept.append(asyncio.create_task(asyncio.sleep(60), name="forgotten"))

@pytest.mark.virtual_time
async def test_leaks_a_task_in_virtual_time():
    kept.append(asyncio.create_task(asyncio.sleep(60), name="forgotten"))

def test_leaks_a_thread():
    threading.Thread(target=threading.Event().wait, daemon=True, name="forgotten").start()

def test_leaks_a_socket():
    kept.append(socket.socket())

def test_leaks_a_pipe():
    kept.append(subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE))
    kept[-1].wait()

async def test_leaks_a_connection():
    async def serve(reader, writer):
        writer.close()
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    kept.append(await asyncio.open_connection(*server.sockets[0].getsockname()))
    server.close()

def test_leaks_a_file_that_nobody_holds():
    open(__file__)

def test_leaks_but_failed_already():
    kept.append(socket.socket())
    raise AssertionError("its own failure")
"""


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What pytest said of these tests, each of them on a line with its outcome."""
    folder = tmp_path_factory.mktemp("leaks")
    (folder / "pytest.ini").write_text(INI)
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "test_it.py").write_text(TESTS)
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-rA", "-q", "-p", "pytest_asyncio.plugin"],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
            "COLUMNS": "300",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1, run.stdout + run.stderr
    return run.stdout


def _names(kind: str) -> list[str]:
    return re.findall(rf"def (test_{kind}\w*)", TESTS)


@pytest.mark.parametrize("name", _names("clean"))
def test_a_test_that_cleans_up_passes(outcomes: str, name: str) -> None:
    assert re.search(rf"^PASSED test_it.py::{name}$", outcomes, re.MULTILINE)
    assert not re.search(rf"^(ERROR|FAILED) test_it.py::{name}\b", outcomes, re.MULTILINE)


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("test_leaks_a_task", "task 'forgotten'"),
        ("test_leaks_a_task_in_virtual_time", "task 'forgotten'"),
        ("test_leaks_a_thread", "thread 'forgotten'"),
        ("test_leaks_a_socket", "descriptor"),
        ("test_leaks_a_pipe", "descriptor"),
        ("test_leaks_a_connection", "descriptor"),
    ],
)
def test_a_test_that_leaves_something_behind_does_not(outcomes: str, name: str, what: str) -> None:
    [line] = re.findall(rf"^ERROR test_it.py::{name} .*$", outcomes, re.MULTILINE)
    assert f"the test left behind: {what}" in line


def test_an_open_file_that_nobody_holds_fails_too(outcomes: str) -> None:
    name = "test_leaks_a_file_that_nobody_holds"
    [line] = re.findall(rf"^(?:FAILED|ERROR) test_it.py::{name} .*$", outcomes, re.MULTILINE)
    assert "ResourceWarning" in line or "unraisable" in line.lower()


def test_a_test_that_failed_by_itself_is_not_blamed_twice(outcomes: str) -> None:
    name = "test_leaks_but_failed_already"
    lines = re.findall(rf"^\w+ test_it.py::{name}\b.*$", outcomes, re.MULTILINE)
    assert len(lines) == 1
    assert "its own failure" in lines[0]


def test_every_leaking_test_is_looked_at(outcomes: str) -> None:
    bad = set(re.findall(r"^(?:FAILED|ERROR) test_it.py::(\w+)", outcomes, re.MULTILINE))
    assert bad == set(_names("leaks"))
