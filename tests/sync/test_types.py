"""What a type checker knows of the blocking face is what it knows of the async one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = """
from typing import Any, assert_type

from listwatch import Delta, ObjectList, Store, Unstructured, decode_dict
from listwatch.sync import Changes, Client, InformerFactory, Mirror, Registration, SharedInformer

Dict = dict[str, Any]


def by_name(obj: Unstructured) -> list[str]:
    return [obj.name]


def typed(client: Client) -> None:
    assert_type(client.get("pods", "a"), Unstructured)
    assert_type(client.get("pods", "a", decoder=decode_dict), Dict)
    assert_type(client.list("pods", decoder=decode_dict), ObjectList[Dict])
    assert_type(client.create({}), Unstructured)
    assert_type(client.run(lambda inner: inner.rest.read("/version")), bytes)
    with client.watch("pods", decoder=decode_dict) as changes:
        assert_type(changes, Changes[Dict])
        for change in changes:
            assert_type(change, Delta[Dict])
    with client.mirror("pods", indexes={"name": by_name}) as mirror:
        assert_type(mirror, Mirror[Unstructured])
        assert_type(mirror.store, Store[Unstructured])
        mirror.synced(timeout=5)
    with client.informer("pods", namespaces=["a"]) as informer:
        assert_type(informer, SharedInformer[Unstructured])
        assert_type(informer.add_handler(on_add=print), Registration[Unstructured])
    shared = InformerFactory(client).informer("pods", decoder=decode_dict)
    assert_type(shared, SharedInformer[Dict])
"""

WRONG = """
from listwatch.sync import Client


def wrong(client: Client) -> None:
    client.get("pods")
    client.watch("pods", selector="app=web")
    client.mirror("pods").synced(5, 6)
"""


def checked(program: str, where: Path) -> list[str]:
    file = where / "program.py"
    file.write_text(program, "utf-8")
    mypy = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--hide-error-context"]
    found = subprocess.run(
        [*mypy, "--cache-dir", str(where / "cache"), str(file)],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
        cwd=where,
    )
    assert found.stderr == ""
    return [line for line in found.stdout.splitlines() if ": error: " in line]


def test_types_come_through_and_mistakes_are_found(tmp_path: Path) -> None:
    assert checked(PROGRAM, tmp_path) == []
    lines = {line.split(":")[1] for line in checked(WRONG, tmp_path)}
    assert lines == {"6", "7", "8"}
