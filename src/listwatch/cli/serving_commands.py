"""The arguments of the commands that are a server, or bring one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import (
    Churn,
    Controllers,
    Duration,
    Fault,
    Load,
    Play,
    Port,
    Seed,
    Verbose,
    reading,
)
from .process import Plan
from .rates import parse_rate
from .speed import Speed

__all__ = ["demo", "replay", "serve"]


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
    controllers: Controllers = None,
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
      listwatch serve --manifest objects.yaml --controllers all
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
        controllers=controllers or (),
        bootstrap=True,
    )
    return Plan(
        lambda sink: run(cluster, manifests=manifest or (), kubeconfig_out=kubeconfig_out), verbose
    )


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
