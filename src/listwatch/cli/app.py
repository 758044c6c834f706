"""The arguments of the command: understood here, carried out elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any

import typer

from listwatch._version import __version__

from . import asking_commands, serving_commands
from .failures import MISUSED, OK, one_line
from .help import SectionedCommand
from .interrupts import INTERRUPTED
from .notes import note
from .process import Plan

__all__ = ["app", "parse"]

app = typer.Typer(
    name="listwatch",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

# Both the real click and the copy of it in newer typers: whichever typer.BadParameter is made of.
_ClickException: Any = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)


def parse(arguments: Sequence[str]) -> Plan | int:
    """What is to be done, or the exit code where nothing is: after --help, or a mistake."""
    try:
        result = _program().main(list(arguments), prog_name="listwatch", standalone_mode=False)
    except _ClickException as error:
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "listwatch"
        problem = one_line(error.format_message()).rstrip(".").replace("Value error, ", "")
        note(f"{problem} (see {command} --help)")
        return MISUSED
    except typer.Abort:
        return INTERRUPTED
    except SystemExit as error:  # typer's way with a closed pipe, and with nothing else
        raise BrokenPipeError from error
    return result if isinstance(result, Plan) else int(result or OK)


@cache
def _program() -> Any:
    # Not `app` itself: calling that would set an excepthook of typer's own.
    return typer.main.get_command(app)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"listwatch {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def listwatch(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_print_version, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """List and watch Kubernetes objects.

    Data goes to standard output, everything else to standard error. The exit code is 0, or 1 after
    a failure, 2 for bad usage, 130 after Ctrl-C.

    \b
    Examples:
      listwatch demo                           a cluster to look at, without having one
      listwatch get pods -A                    a table, much like kubectl's
      listwatch get deployments.apps web -o yaml
      listwatch watch pods -n web -l app=shop  one line per event
      listwatch watch nodes -o json --count 3  the API's own lines
      listwatch wait pod/web-0 --for delete    until that is so
      listwatch serve --load pods=200          an API server to try programs on
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(MISUSED)


app.command(cls=SectionedCommand)(asking_commands.get)
app.command(cls=SectionedCommand)(asking_commands.watch)
app.command(cls=SectionedCommand)(asking_commands.wait)
app.command(cls=SectionedCommand)(asking_commands.api_resources)
app.command(short_help="Play recorded answers over a socket.")(serving_commands.replay)
app.command(short_help="Serve an API server of our own.")(serving_commands.serve)
app.command(short_help="Look at a made-up cluster: none is needed.")(serving_commands.demo)
