"""`python -m listwatch` is the `listwatch` command."""

from __future__ import annotations

import sys

from listwatch.cli import main

if __name__ == "__main__":
    sys.exit(main())
