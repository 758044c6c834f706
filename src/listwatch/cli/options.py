"""The options and arguments of the commands, each defined once."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import typer

from .asked import Output
from .durations import parse_duration
from .rates import parse_rate
from .speed import Speed

__all__ = [
    "Category",
    "Churn",
    "Controllers",
    "Count",
    "Duration",
    "Everywhere",
    "Fault",
    "Fields",
    "Follow",
    "FollowOnly",
    "Form",
    "Goal",
    "Labels",
    "Limit",
    "Load",
    "ManagedFields",
    "Name",
    "Namespace",
    "Play",
    "Port",
    "Raw",
    "Resource",
    "Seed",
    "ServerPrint",
    "Since",
    "Targets",
    "Verbose",
    "WaitAll",
    "WaitTime",
    "Wanted",
    "reading",
]

T = TypeVar("T")


def reading(read: Callable[[str], T]) -> Callable[[str], T]:
    """`read` as a parser of typer's, which then shows what is wrong with the text."""

    def parser(text: str) -> T:
        try:
            return read(text)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from error

    return parser


Resource = Annotated[
    str,
    typer.Argument(
        metavar="RESOURCE",
        help="Such as pods, po, deployments.apps, apps/v1/deployments, pods/web-0.",
    ),
]
Name = Annotated[str | None, typer.Argument(metavar="NAME", help="One object only.")]
Namespace = Annotated[
    str | None,
    typer.Option("-n", "--namespace", metavar="NS", help="The namespace, if not the context's."),
]
Everywhere = Annotated[bool, typer.Option("-A", "--all-namespaces", help="All namespaces.")]
Labels = Annotated[
    str | None,
    typer.Option("-l", "--selector", metavar="SEL", help="Labels, such as app=web,tier!=db."),
]
Fields = Annotated[
    str | None,
    typer.Option("--field-selector", metavar="SEL", help="Fields, such as spec.nodeName=node-1."),
]
Form = Annotated[Output, typer.Option("-o", "--output", help="The form of what is printed.")]
Limit = Annotated[
    int | None, typer.Option("--limit", metavar="N", min=0, help="At most N objects, one page.")
]
ManagedFields = Annotated[
    bool,
    typer.Option("--show-managed-fields", help="Keep metadata.managedFields in JSON and YAML."),
]


def _yes_or_no(text: str) -> bool:
    try:
        return {"true": True, "false": False}[text.lower()]
    except KeyError:
        raise ValueError(f"{text!r} is neither true nor false") from None


ServerPrint = Annotated[
    Any,
    typer.Option(
        "--server-print",
        metavar="BOOL",
        parser=reading(_yes_or_no),
        help="A table in the server's own words; false: in ours. [default: true]",
    ),
]
Verbose = Annotated[
    bool, typer.Option("-v", "--verbose", help="Show requests, and what the library logs.")
]
Duration = Annotated[
    float | None,
    typer.Option(
        "--duration",
        metavar="TIME",
        parser=reading(parse_duration),
        help="Stop after that time, such as 5s, 500ms or 1h30m.",
    ),
]
Play = Annotated[
    Speed | None,
    typer.Option(
        "--speed",
        metavar="X|max",
        parser=reading(Speed.parse),
        help="How many times as fast as recorded; max: without any pause. [default: 1]",
    ),
]
Follow = Annotated[
    bool, typer.Option("-w", "--watch", help="Then print objects again when they change.")
]
FollowOnly = Annotated[
    bool, typer.Option("--watch-only", help="Print objects only when they change.")
]
Raw = Annotated[
    bool, typer.Option("--raw", help="One single WATCH, to its very end, as curl has it.")
]
Since = Annotated[
    str | None,
    typer.Option(
        "--since",
        metavar="RV",
        help="Events after this resourceVersion, as one single WATCH (--raw).",
    ),
]
Count = Annotated[
    int | None, typer.Option("--count", metavar="N", min=1, help="Stop after N events.")
]
Targets = Annotated[
    list[str],
    typer.Argument(
        metavar="RESOURCE[/NAME]",
        help="Such as pod/web-0, several of them, or pods web-0 web-1, or pods with -l or --all.",
    ),
]
Wanted = Annotated[
    list[str],
    typer.Argument(
        metavar="RESOURCE[/NAME]",
        help="Such as pods, po, pods,services, all, apps/v1/deployments, pods web-0, pods/web-0.",
    ),
]
Category = Annotated[
    str | None,
    typer.Option("--category", metavar="NAME", help="Those of a category only, such as all."),
]
WaitAll = Annotated[bool, typer.Option("--all", help="All objects that are there now.")]


def _goal(text: str) -> Any:
    from .goals import parse_goal

    return parse_goal(text)


def _wait_time(text: str) -> float:
    if text.strip().startswith("-"):
        parse_duration(text.strip()[1:])
        return math.inf
    return 0.0 if text.strip().rstrip("smhd") == "0" else parse_duration(text)


Goal = Annotated[
    Any,
    typer.Option(
        "--for",
        metavar="GOAL",
        parser=reading(_goal),
        help="status.phase=Running, condition=Ready, condition=Ready=False, delete, create.",
    ),
]
WaitTime = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        metavar="TIME",
        parser=reading(_wait_time),
        help="How long to wait; 0: look once; -1: for ever. [default: 30s]",
    ),
]
Churn = Annotated[
    float | None,
    typer.Option(
        "--churn",
        metavar="RATE",
        parser=reading(parse_rate),
        help="How often something happens to the pods, such as 20/s or 30/m.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Another one, another cluster.")]
Port = Annotated[int, typer.Option("--port", metavar="N", min=0, max=65535, help="0: a free one.")]


def _load(text: str) -> dict[str, int]:
    from listwatch.testing.churn import parse_load

    return parse_load(text)


def _fault(text: str) -> Any:
    from listwatch.testing.apiserver.faults.language import parse_fault

    return parse_fault(text)


Load = Annotated[
    Any,
    typer.Option(
        "--load",
        metavar="KIND=N,...",
        parser=reading(_load),
        help="What is there at the start: pods=200, also deployments, nodes, configmaps ...",
    ),
]


def _controllers(text: str) -> tuple[str, ...]:
    from listwatch.testing.apiserver.controllers.names import controller_names

    return controller_names(text.split(","))


Controllers = Annotated[
    Any,
    typer.Option(
        "--controllers",
        metavar="all|NAME,...",
        parser=reading(_controllers),
        help="Make manifests come to life: deployment, job, kubelet ... (see the manual).",
    ),
]
Fault = Annotated[
    list[Any] | None,
    typer.Option(
        "--fault",
        metavar="LINE",
        parser=reading(_fault),
        help="What goes wrong, such as 'list: answer 503, once'. More than once.",
    ),
]
