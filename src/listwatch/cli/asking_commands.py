"""The arguments of the commands that ask a server: understood here, carried out elsewhere."""

from __future__ import annotations

from .asked import Access, Output, Selection
from .at_hand import at_hand
from .connection import reaching
from .failures import UsageError
from .options import (
    Category,
    Count,
    Duration,
    Everywhere,
    Fields,
    Follow,
    FollowOnly,
    Form,
    Goal,
    Labels,
    Limit,
    ManagedFields,
    Name,
    Namespace,
    Raw,
    Resource,
    ServerPrint,
    Since,
    Targets,
    Verbose,
    WaitAll,
    WaitTime,
    Wanted,
)
from .process import Plan
from .sink import Sink

__all__ = ["api_resources", "get", "wait", "watch"]

_WAIT = 30.0
"""Seconds that `wait` waits if nobody says how long: kubectl's."""


@reaching
def get(
    targets: Wanted,
    namespace: Namespace = None,
    all_namespaces: Everywhere = False,
    selector: Labels = None,
    field_selector: Fields = None,
    output: Form = Output.TABLE,
    server_print: ServerPrint = None,
    show_managed_fields: ManagedFields = False,
    watch: Follow = False,
    watch_only: FollowOnly = False,
    limit: Limit = None,
    verbose: Verbose = False,
    *,
    access: Access,
) -> Plan:
    """Print objects, once.

    With several objects, -o json and -o yaml print one List, with one NAME the object itself. With
    --watch they print one object after the other, and each again when it changes, until Ctrl-C;
    then it is one resource, or one object.

    \b
    Examples:
      listwatch get pods
      listwatch get pods/web-0 -o yaml
      listwatch get pods,services
      listwatch get all -n web
      listwatch get pods -A --field-selector status.phase!=Running
      listwatch get widgets.example.com -o name --limit 10
      listwatch get pods -A --embedded
      listwatch get pods -w
      listwatch get nodes -o wide
    """
    from .get import get as run
    from .get import get_on
    from .targets import one_selection, selections_to_get

    goes_on = watch or watch_only
    if goes_on and limit is not None:
        raise UsageError("--limit is for one page: it does not go with --watch")

    selections = selections_to_get(
        targets,
        namespace=namespace,
        all_namespaces=all_namespaces,
        label_selector=selector,
        field_selector=field_selector,
        limit=limit,
    )
    followed = one_selection(selections, "--watch") if goes_on else None

    async def work(sink: Sink) -> int:
        async with at_hand(access, churning=goes_on) as reached:
            if followed is None:
                return await run(
                    selections,
                    reached,
                    output,
                    sink,
                    with_managed_fields=show_managed_fields,
                    server_print=server_print is not False,
                )
            return await get_on(
                followed,
                reached,
                output,
                sink,
                initial=not watch_only,
                with_managed_fields=show_managed_fields,
                server_print=server_print is not False,
            )

    return Plan(work, verbose)


@reaching
def watch(
    resource: Resource,
    name: Name = None,
    namespace: Namespace = None,
    all_namespaces: Everywhere = False,
    selector: Labels = None,
    field_selector: Fields = None,
    output: Form = Output.TABLE,
    server_print: ServerPrint = None,
    limit: Limit = None,
    raw: Raw = False,
    since: Since = None,
    duration: Duration = None,
    count: Count = None,
    verbose: Verbose = False,
    *,
    access: Access,
) -> Plan:
    """Print changes as they happen, one line per event.

    What exists comes first, as ADDED. Then it goes on whatever happens to the server or on the way
    to it, and says so on standard error. Nothing is printed twice, and what was missed is found by
    a list, deletions too. Only a server that refuses the very first request for good (400, 401,
    403, 404) ends it, with exit code 1.

    With --raw or --since it is one WATCH request. When the server ends it, so does the command; an
    ERROR event is printed and makes the exit code 1.

    \b
    Examples:
      listwatch watch pods -A
      listwatch watch deployments/web -o name
      listwatch watch pods -o json --raw --since 12345 | jq -c .type
      listwatch watch events --duration 10m
      listwatch watch pods -A --embedded
    """
    from .decoding import decoder_for_output
    from .events import event_printer
    from .single import watch_once
    from .stopping import Limits
    from .watch import watch as run

    single = raw or since is not None
    if limit is not None and not single:
        raise UsageError("--limit is for one request: it goes with --raw only")
    selection = Selection.of(
        resource,
        name,
        namespace=namespace,
        all_namespaces=all_namespaces,
        label_selector=selector,
        field_selector=field_selector,
        limit=limit,
    )
    limits = Limits(duration=duration, count=count)

    async def work(sink: Sink) -> int:
        async with at_hand(access, churning=True) as reached:
            if single:
                return await watch_once(
                    selection,
                    reached,
                    output,
                    sink,
                    since=since or "",
                    limits=limits,
                    server_print=server_print is not False,
                )
            printer = event_printer(
                output, with_namespace=selection.all_namespaces, terminal=sink.is_terminal
            )
            decoder = decoder_for_output(output, server_print=server_print is not False)
            printed = await run(selection, reached, printer, sink, decoder=decoder, limits=limits)
            return printed.code

    return Plan(work, verbose)


@reaching
def wait(
    targets: Targets,
    goal: Goal,
    timeout: WaitTime = None,
    namespace: Namespace = None,
    all_namespaces: Everywhere = False,
    selector: Labels = None,
    field_selector: Fields = None,
    every: WaitAll = False,
    verbose: Verbose = False,
    *,
    access: Access,
) -> Plan:
    """Wait until objects are as they are wanted.

    Prints a line for each that is. When the time is over before all are, it says how the others
    are, and the exit code is 1; so it is at once where there is no such object.

    \b
    Examples:
      listwatch wait pod/web-0 --for status.phase=Running
      listwatch wait deploy/web svc/web --for create --timeout 2m
      listwatch wait pods -l app=web --for condition=Ready --timeout 60s
      listwatch wait pod web-0 --for delete
      listwatch wait deployments --all --for condition=Available --embedded
    """
    from .targets import selections_of
    from .wait import wait as run

    selections = selections_of(
        targets,
        namespace=namespace,
        all_namespaces=all_namespaces,
        label_selector=selector,
        field_selector=field_selector,
        every=every,
    )
    seconds = _WAIT if timeout is None else timeout

    async def work(sink: Sink) -> int:
        async with at_hand(access, churning=True) as reached:
            return await run(selections, reached, goal, sink, timeout=seconds)

    return Plan(work, verbose)


@reaching
def api_resources(
    category: Category = None,
    verbose: Verbose = False,
    *,
    access: Access,
) -> Plan:
    """Print the resources that the server has.

    Each is printed once, at the version that the server prefers, without subresources.

    \b
    Examples:
      listwatch api-resources
      listwatch api-resources --category all
      listwatch api-resources --embedded
    """
    from .api_resources import api_resources as run

    async def work(sink: Sink) -> int:
        async with at_hand(access) as reached:
            return await run(reached, sink, category=category or "")

    return Plan(work, verbose)
