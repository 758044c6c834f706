"""All the paths that the guard knows."""

from __future__ import annotations

from collections.abc import Sequence

from bench import guard_import_paths, guard_informer_paths, guard_store_paths, guard_watch_paths
from bench.guard_path import Path

__all__ = ["PATHS", "paths_of"]

PATHS: tuple[Path, ...] = (
    *guard_import_paths.PATHS,  # first: whoever measures them must not have measured the others
    *guard_watch_paths.PATHS,
    *guard_store_paths.PATHS,
    *guard_informer_paths.PATHS,
)


def paths_of(names: Sequence[str]) -> list[Path]:
    """The paths of these names, in the order of `PATHS`; all where there are none.

    Raises `ValueError`.
    """
    known = [path.name for path in PATHS]
    if unknown := [name for name in names if name not in known]:
        raise ValueError(f"no path {', '.join(unknown)}; there are: {', '.join(known)}")
    return [path for path in PATHS if not names or path.name in names]
