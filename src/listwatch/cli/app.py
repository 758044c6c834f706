"""The arguments of the command: understood here, carried out elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer

from listwatch._version import __version__

from .asked import Access, Output, Selection
from .at_hand import at_hand
from .failures import MISUSED, OK, one_line
from .interrupts import INTERRUPTED
from .notes import note
from .options import (
    CAFile,
    Churn,
    Context,
    Count,
    Duration,
    Embedded,
    Everywhere,
    Fault,
    Fields,
    Form,
    Insecure,
    Kubeconfig,
    Labels,
    Limit,
    Load,
    ManagedFields,
    Name,
    Namespace,
    Play,
    Port,
    Raw,
    RequestTimeout,
    Resource,
    Seed,
    Server,
    Since,
    Token,
    Verbose,
    reading,
)
from .process import Plan
from .rates import parse_rate
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
      listwatch demo                           a cluster to look at, without having one
      listwatch get pods -A                    a table, much like kubectl's
      listwatch get deployments.apps web -o yaml
      listwatch watch pods -n web -l app=shop  one line per event
      listwatch watch nodes -o json --count 3  the API's own lines
      listwatch serve --load pods=200          an API server to try programs on
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
    embedded: Embedded = False,
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
      listwatch get pods -A --embedded
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
        embedded=embedded,
    )

    async def work(sink: Sink) -> int:
        async with at_hand(access) as reached:
            return await run(
                selection, reached, output, sink, with_managed_fields=show_managed_fields
            )

    return Plan(work, verbose)


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
    embedded: Embedded = False,
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
      listwatch watch pods -A --embedded
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
        embedded=embedded,
    )
    limits = Limits(duration=duration, count=count, at_error=not raw)

    async def work(sink: Sink) -> int:
        async with at_hand(access, churning=True) as reached:
            outcome = await run(selection, reached, output, sink, since=since or "", limits=limits)
        return conclude(outcome)

    return Plan(work, verbose)


@app.command(short_help="Play recorded answers over a socket.")
def replay(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE...", help="Recordings, NAME.http; without: eight of ours."),
    ] = None,
    port: Port = 0,
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


@app.command(short_help="Serve an API server of our own.")
def serve(
    load: Load = None,
    manifest: Annotated[
        list[Path] | None,
        typer.Option(
            "--manifest", metavar="FILE", help="Objects in YAML or JSON; - for standard input."
        ),
    ] = None,
    churn: Churn = None,
    seed: Seed = 0,
    fault: Fault = None,
    control: Annotated[
        bool, typer.Option("--control", help="Take orders under /_listwatch/ (see the manual).")
    ] = False,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Where to listen.")
    ] = "127.0.0.1",
    port: Port = 0,
    tls: Annotated[
        bool, typer.Option("--tls", help="TLS, by an authority that is made for it.")
    ] = False,
    token: Annotated[
        str | None,
        typer.Option("--token", metavar="TOKEN", help="Let in only who has this bearer token."),
    ] = None,
    kubeconfig_out: Annotated[
        Path | None,
        typer.Option("--kubeconfig-out", metavar="FILE", help="Write a kubeconfig for it."),
    ] = None,
    verbose: Verbose = False,
) -> Plan:
    """Serve a Kubernetes API that behaves as a real one does, until Ctrl-C.

    It is in this process and in memory. Its address, and commands to try, are printed on standard
    error. It is open to whoever reaches it, unless there is a --token.

    \b
    Examples:
      listwatch serve --load pods=200 --churn 20/s --kubeconfig-out kc.yaml
      listwatch serve --fault 'watch pods: cut after 5000 bytes, 3 times'
      listwatch serve --port 8001 --tls --token made-up
      listwatch serve --manifest objects.yaml
    """
    from .embedded import Cluster, settled_load
    from .serve import serve as run

    cluster = Cluster(
        load=settled_load(load, churn=churn),
        churn=churn,
        seed=seed,
        faults=fault or (),
        host=host,
        port=port,
        tls=tls,
        token=token,
        control=control,
    )
    return Plan(
        lambda sink: run(cluster, manifests=manifest or (), kubeconfig_out=kubeconfig_out), verbose
    )


@app.command(short_help="Look at a made-up cluster: none is needed.")
def demo(
    rate: Annotated[
        float | None,
        typer.Option(
            "--rate",
            metavar="RATE",
            parser=reading(parse_rate),
            help="How much happens in it, such as 5/s. [default: 20/s]",
        ),
    ] = None,
    seed: Seed = 0,
    duration: Duration = None,
    verbose: Verbose = False,
) -> Plan:
    """Watch a made-up cluster in which pods start, crash, end and are replaced, until Ctrl-C.

    A server in this process has the cluster, and all that you see came from it over a real socket.
    On a terminal it is a screen that moves; else it is what listwatch watch pods -A prints.
    """
    from .demo import demo as run

    return Plan(lambda sink: run(sink, rate=rate or 20.0, seed=seed, duration=duration), verbose)
