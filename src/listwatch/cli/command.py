"""The command as a program: its arguments in, its exit code out."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from .interrupts import Interrupts

__all__ = ["main"]

_EXTRA = ("typer", "rich")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the `listwatch` command; its exit code.

    Without `arguments` those of the process are taken, and the process is taken for ours: Ctrl-C
    then ends it, and output that nobody reads is thrown away.

        >>> main(["--version"])  # doctest: +SKIP
        listwatch 0.1.0
        0
    """
    with Interrupts(owned=arguments is None) as interrupts:
        # From here on Ctrl-C is quiet, so these imports, which take a while, are not at the top.
        try:
            from .app import parse
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in _EXTRA:
                raise
            sys.stderr.write(
                f"listwatch: the command needs {error.name}, which is not installed:"
                " pip install 'listwatch[cli]'\n"
            )
            return 1
        from .process import carry_out

        given = sys.argv[1:] if arguments is None else arguments
        return carry_out(lambda: parse(given), interrupts)
