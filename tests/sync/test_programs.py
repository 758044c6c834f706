"""Whole programs: Ctrl-C, a forgotten close, a fork."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap

import pytest

from .serving import LIMIT, Serving


def start(program: str, serving: Serving) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            *(sys.executable, "-W", "ignore::DeprecationWarning"),  # of forks with threads
            *("-c", textwrap.dedent(program), serving.server.url),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )


def outcome(running: subprocess.Popen[str]) -> tuple[int, str, str]:
    try:
        out, errors = running.communicate(timeout=LIMIT)
    finally:
        running.kill()
    return running.returncode, out, errors


def finished(program: str, serving: Serving) -> tuple[int, str, str]:
    return outcome(start(program, serving))


FOLLOWING = """
    import sys, threading
    from listwatch.sync import Client

    try:
        with Client(server=sys.argv[1]) as client:
            for change in client.watch("configmaps"):
                print(change.key)
    finally:
        print([thread.name for thread in threading.enumerate()])
"""

WAITING = """
    import sys, threading
    from listwatch.sync import Client

    try:
        with Client(server=sys.argv[1]) as client, client.mirror("configmaps") as mirror:
            mirror.synced()
            print("default/a")
            mirror.at_least("999999")
    finally:
        print([thread.name for thread in threading.enumerate()])
"""

SERVING = """
    import sys, threading
    from listwatch.sync import Client

    def added(obj, in_initial_list):
        print(obj.key)

    try:
        with Client(server=sys.argv[1]) as client:
            informer = client.informer("configmaps")
            informer.add_handler(on_add=added)
            informer.run()
    finally:
        print([thread.name for thread in threading.enumerate()])
"""


@pytest.mark.parametrize("program", [FOLLOWING, WAITING, SERVING], ids=["for", "wait", "run"])
def test_ctrl_c_ends_a_program_as_it_ends_any(program: str, serving: Serving) -> None:
    serving.load("a")
    running = start(program, serving)
    assert running.stdout is not None
    assert running.stdout.readline() == "default/a\n"
    running.send_signal(signal.SIGINT)
    code, out, errors = outcome(running)
    assert code == -signal.SIGINT
    assert out == "['MainThread']\n"
    assert errors.startswith("Traceback")
    assert errors.count("Traceback") == 1, errors
    assert errors.endswith("\nKeyboardInterrupt\n")
    serving.until(lambda server: server.watches == 0)


FORGOTTEN = {
    "nothing but the close": """
        client.list("configmaps")
    """,
    "a mirror": """
        mirror = client.mirror("configmaps").__enter__()
        mirror.synced()
    """,
    "an iteration": """
        events = iter(client.watch("configmaps"))
        next(events)
    """,
    "a thread that iterates": """
        began = threading.Event()

        def follow():
            for change in client.watch("configmaps"):
                began.set()

        threading.Thread(target=follow, daemon=True).start()
        began.wait()
    """,
    "a handler": """
        told = threading.Event()
        informer = client.informer("configmaps").__enter__()
        informer.add_handler(on_add=lambda obj, in_initial_list: told.set())
        told.wait()
    """,
    "a callback that holds up the loop": """
        called = threading.Event()

        def hold(deltas):
            called.set()
            threading.Event().wait()

        mirror = client.mirror("configmaps", on_deltas=hold).__enter__()
        called.wait()
    """,
}


@pytest.mark.parametrize("forgotten", FORGOTTEN.values(), ids=FORGOTTEN)
def test_a_forgotten_close_hangs_no_exit(forgotten: str, serving: Serving) -> None:
    serving.load("a")
    program = (
        "import sys, threading\n"
        "from listwatch.sync import Client\n"
        "client = Client(server=sys.argv[1])\n" + textwrap.dedent(forgotten)
    )
    assert finished(program, serving) == (0, "", "")
    serving.until(lambda server: server.watches == 0)


def test_a_fork_needs_a_client_of_its_own(serving: Serving) -> None:
    program = """
        import os, sys
        from listwatch.sync import Client

        used, unused = Client(server=sys.argv[1]), Client(server=sys.argv[1])
        with used.mirror("configmaps") as mirror:
            mirror.synced()
            child = os.fork()
            if child == 0:
                try:
                    used.list("configmaps")
                except RuntimeError as error:
                    print(error)
                used.close()
                with unused, Client(server=sys.argv[1]) as own:
                    print(len(unused.list("configmaps")), len(own.list("configmaps")))
                sys.stdout.flush()
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
            made = used.create({"metadata": {"name": "a"}}, resource="configmaps")
            mirror.at_least(made.resource_version)
            print(len(mirror.store))
        used.close()
        unused.close()
    """
    code, out, errors = finished(program, serving)
    assert (code, errors) == (0, "")
    assert out.splitlines() == [
        "this client was used before the process forked, and its thread is in the parent: "
        "make a client in each process",
        "0 0",
        "1",
    ]
