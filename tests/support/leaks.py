"""A pytest plugin: a test that leaves a task, a thread, a socket or other descriptor behind fails.

Every test is looked at, after all its own fixtures are gone. A test that failed by itself is not:
what it left behind says nothing new.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import threading
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

_LOOP_TURNS = 5
"""How often the loop may turn after a test, so that what was closed can finish closing."""

_THREAD_PATIENCE = 1.0
"""Real seconds in which a thread that is about to end may do so."""

_failed: pytest.StashKey[bool] = pytest.StashKey()
_DESCRIPTORS = next((path for path in ("/proc/self/fd", "/dev/fd") if os.path.isdir(path)), None)
_sockets: weakref.WeakSet[socket.socket] = weakref.WeakSet()

if _DESCRIPTORS is None:

    def _remember(event: str, args: tuple[Any, ...]) -> None:
        if event == "socket.__new__":
            _sockets.add(args[0])

    sys.addaudithook(
        _remember
    )  # where descriptors cannot be listed, sockets can be counted at birth


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    report = yield
    if report.failed:
        item.stash[_failed] = True
    return report


@pytest.fixture(autouse=True)
def _nothing_leaks(request: pytest.FixtureRequest) -> Iterator[None]:
    """Threads and descriptors: looked at when the event loop of the test is closed too."""
    threads = set(threading.enumerate())
    descriptors = _open_descriptors()
    yield
    if _failed in request.node.stash:
        return
    left = [thread for thread in threading.enumerate() if thread not in threads]
    for thread in left:
        thread.join(_THREAD_PATIENCE / len(left))
    left_threads = sorted(thread.name for thread in left if thread.is_alive())
    left_descriptors = [
        what for number, what in _open_descriptors().items() if descriptors.get(number) != what
    ]
    leaks = [f"thread {name!r}" for name in left_threads] + left_descriptors
    if leaks:
        pytest.fail(f"the test left behind: {', '.join(leaks)}", pytrace=False)


@pytest.fixture(autouse=True)
def _no_task_leaks(_nothing_leaks: None, request: pytest.FixtureRequest) -> Iterator[None]:
    """Tasks: looked at when the fixtures of the test are gone, but its event loop is not."""
    if request.node.get_closest_marker("asyncio") is None:
        yield
        return
    runner: asyncio.Runner = request.getfixturevalue("_function_scoped_runner")
    yield
    if _failed in request.node.stash or runner.get_loop().is_closed():
        return
    tasks = runner.run(_tasks_left_over())
    if tasks:
        pytest.fail(f"the test left behind: {', '.join(tasks)}", pytrace=False)


async def _tasks_left_over() -> list[str]:
    for _ in range(_LOOP_TURNS):
        await asyncio.sleep(0)
    others = asyncio.all_tasks() - {asyncio.current_task()}
    return sorted(f"task {task.get_name()!r} ({task.get_coro()!r})" for task in others)


def _open_descriptors() -> Mapping[int, str]:
    """What is open, by number: a socket whose number is taken by another one counts as new."""
    if _DESCRIPTORS is None:
        numbers = {found.fileno(): found for found in list(_sockets)}
        return {number: repr(found) for number, found in numbers.items() if number != -1}
    found = {}
    for name in os.listdir(_DESCRIPTORS):
        number = int(name)
        try:
            status = os.fstat(number)
        except OSError:
            continue  # the listing's own descriptor, gone by now
        try:
            what = os.readlink(f"{_DESCRIPTORS}/{name}")
        except OSError:  # the descriptors of macOS are no links
            what = f"device {status.st_dev}, inode {status.st_ino}"
        found[number] = f"descriptor {number} ({what})"
    return found
