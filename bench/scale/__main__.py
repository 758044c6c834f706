"""Does it scale? Figures, and a verdict for each claim.

    python -m bench.scale                  # all of it, some minutes
    python -m bench.scale --short          # 20,000 objects instead of 200,000, under a minute
    python -m bench.scale --only store     # or: readers, relist, handlers, informers; or several
    python -m bench.scale --bytes 6700     # the size of a usual pod

Each part is a process of its own. All figures are CPU time unless they say otherwise.
"""

from __future__ import annotations

import argparse
import importlib
import subprocess
import sys
from collections.abc import Sequence

from .figures import Sizes

PARTS = ("store", "readers", "relist", "handlers", "informers")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--short", action="store_true", help="20,000 objects and fewer rounds")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, metavar="PART")
    parser.add_argument("--objects", type=int, help="how many objects")
    parser.add_argument("--bytes", type=int, default=2_000, help="the size of one")
    parser.add_argument("--here", action="store_true", help="in this process, one part only")
    given = parser.parse_args(arguments)
    if given.here:
        sizes = Sizes.of(short=given.short, objects=given.objects, bytes=given.bytes)
        [part] = given.only
        return int(importlib.import_module(f"bench.scale.{part}").measure(sizes) > 0)
    passed = list(sys.argv[1:] if arguments is None else arguments)
    if "--only" in passed:
        at = passed.index("--only")
        passed[at : at + 1 + len(given.only)] = []
    missed = [
        part
        for part in given.only
        if subprocess.call([sys.executable, "-m", "bench.scale", *passed, "--only", part, "--here"])
    ]
    print(f"\n{'missed in: ' + ', '.join(missed) if missed else 'all that is claimed holds'}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
