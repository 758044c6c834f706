"""What it costs to import the library. Nothing here imports it, nor does what this imports."""

from __future__ import annotations

import importlib

from bench.guard_data import Data
from bench.guard_path import Halves, path

__all__ = ["PATHS"]


# Where it is installed, and what else is, has a part in these: hence the tolerance.


@path("import", "`import listwatch`, above asyncio and msgspec", times=1, tolerance=0.5)
def _import(data: Data) -> Halves:
    return [], [lambda: importlib.import_module("listwatch")]


@path(
    "import-informer",
    "`from listwatch import RESTClient, SharedInformer`, likewise",
    times=1,
    tolerance=0.25,
)
def _import_informer(data: Data) -> Halves:
    def load() -> object:
        from listwatch import RESTClient, SharedInformer

        return RESTClient, SharedInformer

    return [], [load]


PATHS = (_import, _import_informer)
