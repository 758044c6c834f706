"""Where binaries come from, with a stand-in for Go: none of this needs the real one."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from conformance.binaries import (
    ASSETS_VARIABLE,
    CACHE_VARIABLE,
    BinariesUnavailable,
    cache_folder,
    find_binaries,
)

# Called as `go build ... -o TARGET PACKAGE`: notes each call, and builds a file that says so.
_GO = """#!/bin/sh
echo "$CGO_ENABLED $GOWORK $*" >> "$LOG"
while [ "$1" != -o ]; do shift; done
echo built > "$2"
"""

_FAILING_GO = """#!/bin/sh
while [ "$1" != -o ]; do shift; done
echo half > "$2"
echo "go: downloading something"
echo "go: no network" >&2
exit 1
"""


def _program(folder: Path, name: str, text: str = "") -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


def _environment(tmp_path: Path, go: str) -> dict[str, str]:
    """An environment with a stand-in Go, and an empty cache."""
    _program(tmp_path / "bin", "go", go)
    return {
        "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "LOG": str(tmp_path / "log"),
        CACHE_VARIABLE: str(tmp_path / "cache"),
    }


def test_given_binaries_are_taken(tmp_path: Path) -> None:
    for name in ("etcd", "kube-apiserver"):
        _program(tmp_path, name)
    found = find_binaries(environ={ASSETS_VARIABLE: str(tmp_path)})
    assert (found.etcd, found.kube_apiserver) == (tmp_path / "etcd", tmp_path / "kube-apiserver")
    assert found.kube_controller_manager is None
    assert found.version is None


def test_given_binaries_must_be_all_there(tmp_path: Path) -> None:
    _program(tmp_path, "etcd")
    with pytest.raises(BinariesUnavailable, match=r"^KUBEBUILDER_ASSETS is .*no program kube-api"):
        find_binaries(environ={ASSETS_VARIABLE: str(tmp_path)})


def test_without_go_the_reason_is_one_line(tmp_path: Path) -> None:
    environ = {"PATH": str(tmp_path), CACHE_VARIABLE: str(tmp_path)}
    with pytest.raises(BinariesUnavailable, match="there is no Go to build it with") as raised:
        find_binaries(environ=environ)
    assert "\n" not in str(raised.value)


def test_each_is_built_once_and_kept(tmp_path: Path) -> None:
    environ = _environment(tmp_path, _GO)
    with ThreadPoolExecutor(4) as threads:
        runs = [
            threads.submit(find_binaries, controller_manager=True, environ=environ)
            for _ in range(4)
        ]
        found = {run.result() for run in runs}
    calls = (tmp_path / "log").read_text().splitlines()
    assert len(found) == 1
    assert len(calls) == 3
    assert all(call.startswith("0 off build ") for call in calls)
    binaries = found.pop()
    assert binaries.version is not None
    assert f"gitVersion={binaries.version} " in calls[1]
    assert binaries.etcd.read_text() == "built\n"
    assert os.access(binaries.kube_apiserver, os.X_OK)


def test_what_is_kept_needs_no_go(tmp_path: Path) -> None:
    environ = _environment(tmp_path, _GO)
    built = find_binaries(environ=environ)
    assert find_binaries(environ={**environ, "PATH": ""}) == built


def test_a_failed_build_tells_why_and_leaves_nothing(tmp_path: Path) -> None:
    environ = _environment(tmp_path, _FAILING_GO)
    with pytest.raises(BinariesUnavailable, match=r"^go build of etcd failed: go: no network$"):
        find_binaries(environ=environ)
    assert [path.name for path in cache_folder(environ).iterdir()] == [".lock"]


def test_slow_steps_are_announced(tmp_path: Path) -> None:
    said: list[str] = []
    environ = _environment(tmp_path, _GO)
    find_binaries(environ=environ, say=said.append)
    find_binaries(environ=environ, say=said.append)
    assert [line.split()[:2] for line in said] == [
        ["building", "etcd"],
        ["built", "etcd"],
        ["building", "kube-apiserver"],
        ["built", "kube-apiserver"],
    ]


@pytest.mark.parametrize(
    ("environ", "root"),
    [
        ({CACHE_VARIABLE: "/chosen", "XDG_CACHE_HOME": "/xdg"}, Path("/chosen")),
        ({"XDG_CACHE_HOME": "/xdg"}, Path("/xdg/listwatch/conformance")),
        ({}, Path.home() / ".cache/listwatch/conformance"),
    ],
)
def test_the_cache_is_where_the_user_wants_it(environ: dict[str, str], root: Path) -> None:
    folder = cache_folder(environ)
    assert folder.parent == root
    assert "v1." in folder.name
    assert "v3." in folder.name
