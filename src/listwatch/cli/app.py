"""The arguments of the command: understood here, carried out elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer

from listwatch._version import __version__

from .asked import Access, Output, Selection
from .failures import MISUSED, OK, one_line
from .interrupts import INTERRUPTED
from .notes import note
from .options import (
    CAFile,
    Context,
    Count,
    Duration,
    Everywhere,
    Fields,
    Form,
    Insecure,
    Kubeconfig,
    Labels,
    Limit,
    ManagedFields,
    Name,
    Namespace,
    Play,
    Raw,
    RequestTimeout,
    Resource,
    Server,
    Since,
    Token,
    Verbose,
)
from .process import Plan
from .sink import Sink
from .speed import Speed

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
      listwatch demo                           a recorded server, without any cluster
      listwatch get pods -A                    a table, as kubectl prints it
      listwatch get deployments.apps web -o yaml
      listwatch watch pods -n web -l app=shop  one line per event
      listwatch watch nodes -o json --count 3  the API's own lines
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(MISUSED)


@app.command()
def get(
    resource: Resource,
    name: Name = None,
    namespace: Namespace = None,
    all_namespaces: Everywhere = False,
    selector: Labels = None,
    field_selector: Fields = None,
    output: Form = Output.TABLE,
    show_managed_fields: ManagedFields = False,
    limit: Limit = None,
    server: Server = None,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    token: Token = None,
    ca_file: CAFile = None,
    insecure_skip_tls_verify: Insecure = False,
    request_timeout: RequestTimeout = None,
    verbose: Verbose = False,
) -> Plan:
    """Print objects, once.

    With several objects, -o json and -o yaml print one List, with one NAME the object itself.

    \b
    Examples:
      listwatch get pods
      listwatch get pods/web-0 -o yaml
      listwatch get pods -A --field-selector status.phase!=Running
      listwatch get widgets.example.com -o name --limit 10
    """
    from .get import get as run

    selection = Selection.of(
        resource,
        name,
        namespace=namespace,
        all_namespaces=all_namespaces,
        label_selector=selector,
        field_selector=field_selector,
        limit=limit,
    )
    access = Access(
        server=server,
        kubeconfig=kubeconfig,
        context=context,
        token=token,
        ca_file=ca_file,
        insecure_skip_tls_verify=insecure_skip_tls_verify,
        request_timeout=request_timeout,
    )
    return Plan(
        lambda sink: run(selection, access, output, sink, with_managed_fields=show_managed_fields),
        verbose,
    )


@app.command()
def watch(
    resource: Resource,
    name: Name = None,
    namespace: Namespace = None,
    all_namespaces: Everywhere = False,
    selector: Labels = None,
    field_selector: Fields = None,
    output: Form = Output.TABLE,
    limit: Limit = None,
    raw: Raw = False,
    since: Since = None,
    duration: Duration = None,
    count: Count = None,
    server: Server = None,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    token: Token = None,
    ca_file: CAFile = None,
    insecure_skip_tls_verify: Insecure = False,
    request_timeout: RequestTimeout = None,
    verbose: Verbose = False,
) -> Plan:
    """Print changes as they happen, one line per event.

    It is one WATCH request. When the server ends it, so does the command; an ERROR event is printed
    and makes the exit code 1.

    \b
    Examples:
      listwatch watch pods -A
      listwatch watch deployments/web -o name
      listwatch watch pods -o json --raw --since 12345 | jq -c .type
      listwatch watch events --duration 10m
    """
    from .watch import Limits, conclude
    from .watch import watch as run

    selection = Selection.of(
        resource,
        name,
        namespace=namespace,
        all_namespaces=all_namespaces,
        label_selector=selector,
        field_selector=field_selector,
        limit=limit,
    )
    access = Access(
        server=server,
        kubeconfig=kubeconfig,
        context=context,
        token=token,
        ca_file=ca_file,
        insecure_skip_tls_verify=insecure_skip_tls_verify,
        request_timeout=request_timeout,
    )
    limits = Limits(duration=duration, count=count, at_error=not raw)

    async def work(sink: Sink) -> int:
        return conclude(
            await run(selection, access, output, sink, since=since or "", limits=limits)
        )

    return Plan(work, verbose)


@app.command(short_help="Play recorded answers over a socket.")
def replay(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE...", help="Recordings, NAME.http; without any, the demo's."),
    ] = None,
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65535, help="0: a free one.")
    ] = 0,
    speed: Play = None,
    loop: Annotated[
        bool, typer.Option("--loop", help="Play a request's recordings again and again.")
    ] = False,
    verbose: Verbose = False,
) -> Plan:
    """Play recorded answers of API servers to whoever asks, until Ctrl-C.

    The address, and commands to try, are printed on standard error.
    """
    from .replay import replay as run

    return Plan(
        lambda sink: run(files or [], port=port, speed=speed or Speed(), loop=loop), verbose
    )


@app.command(short_help="Watch a recorded cluster: no cluster is needed.")
def demo(
    speed: Play = None,
    duration: Duration = None,
    verbose: Verbose = False,
) -> Plan:
    """Watch a recorded cluster: a Deployment's pods are created, scaled and deleted.

    A server in this process plays the recording over a real socket; no cluster is needed.
    """
    from .demo import demo as run

    return Plan(lambda sink: run(sink, speed=speed or Speed(), duration=duration), verbose)
