"""Paths of files in volumes and on nodes."""

from __future__ import annotations

from collections.abc import Iterator

from ..problems import Problem, invalid_field

__all__ = [
    "descending_path_problems",
    "local_path_problems",
    "mode_problems",
    "no_way_back",
]

_FILE_MODE_TEXT = "must be a number between 0 and 0777 (octal), both inclusive"


def no_way_back(field: str, path: str) -> Iterator[Problem]:
    """A path without `..` in it."""
    if ".." in path and ".." in path.split("/"):
        yield invalid_field(field, path, "must not contain '..'")


def descending_path_problems(field: str, path: str) -> Iterator[Problem]:
    """A path that stays below the place where it starts."""
    if path.startswith("/"):
        yield invalid_field(field, path, "must be a relative path")
    yield from no_way_back(field, path)


def local_path_problems(field: str, path: str) -> Iterator[Problem]:
    """One that moreover is none of those that a kubelet makes for itself."""
    yield from descending_path_problems(field, path)
    if path.startswith("..") and not path.startswith("../"):
        yield invalid_field(field, path, "must not start with '..'")


def mode_problems(field: str, mode: int | None) -> Iterator[Problem]:
    """The mode of a file."""
    if mode is not None and not 0 <= mode <= 0o777:
        yield invalid_field(field, mode, _FILE_MODE_TEXT)
