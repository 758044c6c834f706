"""`listwatch wait`: until objects are as they are wanted."""

from __future__ import annotations

import asyncio
import math
import re
import shlex
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest

from listwatch import ClientConfig, RESTClient
from listwatch.api.cells.json_path import JSONPath
from listwatch.cli.app import parse
from listwatch.cli.asked import Access
from listwatch.cli.failures import CommandError, UsageError
from listwatch.cli.goals import Condition, Created, Deleted, Value, parse_goal
from listwatch.cli.process import Plan
from listwatch.cli.session import Session
from listwatch.cli.targets import selections_of
from listwatch.cli.wait import wait
from listwatch.rest import HTTPRequest, Transport
from listwatch.rest.errors import ConnectionRefused
from listwatch.testing import MemoryTransport, Reply
from listwatch.testing.apiserver import APIServer, EmbeddedServer, ServerTransport
from listwatch.testing.reply import HANG, Hang
from tests.cli.clusters import change, cluster, delete, put
from tests.cli.conftest import Ran, Run
from tests.cli.test_help import MANUAL
from tests.cli.test_process import SECONDS, running

pytestmark = pytest.mark.clause("L3")

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "namespace": "default", "labels": {"app": "web"}},
    "spec": {"containers": [{"name": "main", "image": "x", "ports": [{"containerPort": 80}]}]},
    "status": {
        "phase": "Running",
        "conditions": [
            {"type": "Ready", "status": "False", "reason": "NotYet", "message": "wait a bit"}
        ],
    },
}


_BEGUN = re.compile(rb": (waiting for [1-9]|0 there)")


class Waiting:
    """The command as a process that has begun to wait."""

    def __init__(self, process: Any) -> None:
        self._process = process

    def begun(self) -> None:
        """It knows what is there: what happens next it is told."""
        while not _BEGUN.search(line := self._process.stderr.readline()):
            assert line, "it has ended"

    def line(self) -> str:
        """The next line of data."""
        return str(self._process.stdout.readline().decode().rstrip("\n"))

    def end(self) -> Ran:
        """What is left when it ends by itself."""
        data, notes = self._process.communicate(timeout=SECONDS)
        return Ran(self._process.returncode, data, notes.decode())


@contextmanager
def waiting(*arguments: str) -> Iterator[Waiting]:
    with running("wait", *arguments, "-v") as process:
        command = Waiting(process)
        command.begun()
        yield command


class World:
    """A server without sockets, on virtual time, and the command's work on it."""

    def __init__(self, transport: Transport, core: APIServer | None = None) -> None:
        self.transport = transport
        self.core = core
        self.written = b""

    def write(self, data: bytes) -> None:
        self.written += data

    async def wait(self, *targets: str, goal: str, timeout: float, **more: Any) -> int:
        sink: Any = self
        selections = selections_of(targets, **more)
        return await wait(selections, Access(), parse_goal(goal), sink, timeout=timeout)

    def put(self, name: str, value: str = "1") -> None:
        assert self.core is not None
        metadata = {"name": name, "namespace": "default"}
        obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": value}}
        self.core.load([obj])

    def delete(self, name: str) -> None:
        assert self.core is not None
        self.core.state.log.delete("configmaps", ("default", name))


Virtual = Callable[[Transport | None], World]


@pytest.fixture
def virtual(monkeypatch: pytest.MonkeyPatch) -> Virtual:
    """Makes a World: of this transport, or of a server of ours."""

    def make(transport: Transport | None) -> World:
        core = None
        if transport is None:
            clock = asyncio.get_running_loop().time
            start = datetime(2026, 1, 1, tzinfo=UTC)
            core = APIServer(
                clock=clock, wall=lambda: start + timedelta(seconds=clock()), rng=Random(1)
            )
            transport = ServerTransport(core)

        @asynccontextmanager
        async def connect(access: Access, *, max_retries: int) -> AsyncIterator[Session]:
            config = ClientConfig(server="http://memory")
            async with RESTClient(config, transport=transport) as rest:
                yield Session(rest)

        monkeypatch.setattr("listwatch.cli.wait.connect", connect)
        return World(transport, core)

    return make


# What is so already


@pytest.mark.parametrize(
    "goal",
    [
        "status.phase=Running",
        ".status.phase=Running",
        "jsonpath={.status.phase}=Running",
        "jsonpath=.status.phase=Running",
        "jsonpath={.status.phase}",
        "status.conditions[0].type=Ready",
        'jsonpath={.status.conditions[?(@.type=="Ready")].status}=False',
        "condition=Ready=False",
        "condition=ready=false",
        "spec.containers[0].ports[0].containerPort=80",
        "create",
    ],
)
@pytest.mark.parametrize("more", [(), ("--timeout", "0")])
def test_what_is_so_already_is_not_waited_for(goal: str, more: tuple[str, ...], run: Run) -> None:
    with cluster() as server:
        server.do(lambda server: server.core.load([POD]))
        ran = run("wait", "pod/web", "--for", goal, *more, "-s", server.url)
    assert (ran.code, ran.text, ran.notes) == (0, "pod/web condition met\n", "")


# What becomes so


def test_a_value_is_waited_for() -> None:
    with (
        cluster("a") as server,
        waiting("cm/a", "--for", "data.a=3", "-s", server.url) as command,
    ):
        server.change("a", "2")
        server.change("a", "3")
        ran = command.end()
    assert (ran.code, ran.text) == (0, "configmap/a condition met\n")


def test_a_deletion_is_waited_for() -> None:
    with (
        cluster("a", "b") as server,
        waiting("configmaps/a", "--for", "delete", "-s", server.url) as command,
    ):
        server.delete("b")
        server.change("a", "2")
        server.delete("a")
        ran = command.end()
    assert (ran.code, ran.text) == (0, "configmap/a condition met\n")


@pytest.mark.clause("K6", "H8")
def test_so_is_one_that_was_missed_and_hidden_by_another_of_the_name() -> None:
    def replace(server: EmbeddedServer) -> None:
        server.core.end_watches()
        delete(server, "a")
        put(server, "a")
        server.compact()
        server.restart("kept")

    with (
        cluster("a") as server,
        waiting("configmaps/a", "--for", "delete", "-s", server.url) as command,
    ):
        server.do(replace)
        ran = command.end()
    assert (ran.code, ran.text) == (0, "configmap/a condition met\n")


def test_an_object_that_is_not_there_yet_is_waited_for_if_that_is_the_goal() -> None:
    with (
        cluster("b") as server,
        waiting("configmaps/a", "--for", "CREATE", "-s", server.url) as command,
    ):
        server.put("c", "a")
        ran = command.end()
    assert (ran.code, ran.text) == (0, "configmap/a condition met\n")


def test_an_object_that_is_deleted_meanwhile_may_come_back() -> None:
    with (
        cluster("a") as server,
        waiting("cm/a", "--for", "data.a=2", "-s", server.url) as command,
    ):
        server.delete("a")
        server.put("a")
        server.change("a", "2")
        ran = command.end()
    assert (ran.code, ran.text) == (0, "configmap/a condition met\n")


@pytest.mark.clause("H7", "H8")
def test_it_goes_on_whatever_happens_to_the_server() -> None:
    def lose_history(server: EmbeddedServer) -> None:
        server.core.end_watches()
        change(server, "a", "2")
        server.compact()
        server.restart("kept", down=0.5)

    with (
        cluster("a") as server,
        waiting("cm/a", "--for", "data.a=2", "-s", server.url) as command,
    ):
        server.do(lose_history)
        ran = command.end()
    assert (ran.code, ran.text) == (0, "configmap/a condition met\n")


# Several


def test_all_that_are_selected_must_become_so_and_none_that_comes_later() -> None:
    with (
        cluster("a", "b", "c") as server,
        waiting(
            "cm", "--field-selector", "metadata.name!=c", "--for", "data.a=2", "-s", server.url
        ) as command,
    ):
        server.put("d")
        server.change("b", "2")
        assert command.line() == "configmap/b condition met"
        server.change("b", "1")  # it has been
        server.change("a", "2")
        ran = command.end()
    assert (ran.code, ran.text) == (0, "configmap/a condition met\n")


@pytest.mark.parametrize("names", [("cm", "a", "b"), ("cm/a", "configmaps/b")])
def test_or_all_that_are_named(names: tuple[str, ...]) -> None:
    with (
        cluster("a", "b", "c") as server,
        waiting(*names, "--for", "delete", "-s", server.url) as command,
    ):
        command.begun()  # each is watched by itself
        server.delete("b")
        assert command.line() == "configmap/b condition met"
        server.delete("a")
        ran = command.end()
    assert (ran.code, ran.text) == (0, "configmap/a condition met\n")


def test_all_and_everywhere(run: Run) -> None:
    with cluster("a", "b") as server:
        ran = run("wait", "cm", "-A", "--all", "--for", "data.a=1", "-s", server.url)
        first = run("wait", "cm", "--all", "--for", "create", "-s", server.url)
    assert ran.lines == first.lines == ["configmap/a condition met", "configmap/b condition met"]
    assert ran.code == first.code == 0


def test_a_cluster_of_its_own_in_which_things_happen(run: Run) -> None:
    ran = run("wait", "deploy", "--all", "--for", "condition=Available", "--embedded")
    assert ran.code == 0
    assert "deployment.apps/web condition met" in ran.lines
    ran = run("wait", "pods", "-A", "--all", "--for", "a.b=c", "--timeout", "0", "--embedded")
    assert ran.code == 1
    *some, rest = ran.notes.splitlines()
    assert len(some) == 11
    assert some[-1].endswith(": it has no a.b")
    assert re.fullmatch(r"listwatch: and [45][0-9] more", rest)


# What does not become so


STATES = [
    ("status.phase=Failed", "status.phase is Running"),
    ("status.phase.deeper=x", "it has no status.phase.deeper"),
    ("condition=Ready", "condition Ready is False (NotYet: wait a bit)"),
    ("condition=Initialized", "it has no condition Initialized"),
    ("delete", "it is there, and nobody has deleted it"),
]


@pytest.mark.virtual_time
@pytest.mark.parametrize(("goal", "state"), STATES)
async def test_when_time_is_over_it_says_how_it_is_and_fails(
    goal: str, state: str, virtual: Virtual, capsys: pytest.CaptureFixture[str]
) -> None:
    world = virtual(None)
    assert world.core is not None
    world.core.load([POD])
    assert await world.wait("pod", "web", goal=goal, timeout=60) == 1
    assert asyncio.get_running_loop().time() == 60
    assert world.written == b""
    assert capsys.readouterr().err == f"listwatch: not met after 60 s: pod/web: {state}\n"


@pytest.mark.parametrize(("goal", "state"), STATES)
def test_without_time_it_looks_once(goal: str, state: str, run: Run) -> None:
    with cluster() as server:
        server.do(lambda server: server.core.load([POD]))
        ran = run("wait", "pod", "web", "--for", goal, "--timeout", "0", "-s", server.url)
    assert (ran.code, ran.data) == (1, b"")
    assert ran.note == f"listwatch: not met now: pod/web: {state}"


@pytest.mark.virtual_time
@pytest.mark.parametrize(
    ("selected", "gone"),
    [
        ({"every": True}, "it is gone"),
        ({"field_selector": "metadata.namespace=default"}, "it is gone, or selected no more"),
    ],
    ids=["all", "selected"],
)
async def test_the_state_is_the_last_one_that_was_seen(
    virtual: Virtual, capsys: pytest.CaptureFixture[str], selected: dict[str, Any], gone: str
) -> None:
    world = virtual(None)
    for name in "abc":
        world.put(name)
    task = asyncio.create_task(world.wait("cm", goal="data.a=9", timeout=30, **selected))
    await asyncio.sleep(5)
    world.put("a", "2")
    world.delete("b")
    world.put("c", "9")
    assert await task == 1
    assert world.written == b"configmap/c condition met\n"
    assert capsys.readouterr().err.splitlines() == [
        "listwatch: not met after 30 s: configmap/a: data.a is 2",
        f"listwatch: not met after 30 s: configmap/b: {gone}",
    ]


@pytest.mark.virtual_time
async def test_what_is_not_created_in_time_is_told(
    virtual: Virtual, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await virtual(None).wait("cm/x", goal="create", timeout=7.5) == 1
    assert capsys.readouterr().err == "listwatch: not met after 7.5 s: cm/x is not there\n"


@pytest.mark.virtual_time
@pytest.mark.clause("H7")
async def test_a_server_that_is_not_there_is_waited_for_as_long_as_there_is_time(
    virtual: Virtual, capsys: pytest.CaptureFixture[str]
) -> None:
    refused: Any = ConnectionRefused("cannot connect: connection refused")
    world = virtual(MemoryTransport(lambda request: refused))
    assert await world.wait("pod/a", goal="delete", timeout=20) == 1
    *setbacks, last = capsys.readouterr().err.splitlines()
    assert 2 <= len(setbacks) <= 6
    assert all("; list again in " in line for line in setbacks)
    assert last == "listwatch: not met after 20 s: pod/a could not be looked at"


@pytest.mark.virtual_time
async def test_it_waits_for_ever_if_it_is_told_to(virtual: Virtual) -> None:
    world = virtual(None)
    world.put("a")
    task = asyncio.create_task(world.wait("cm/a", goal="data.a=2", timeout=math.inf))
    await asyncio.sleep(100_000)
    world.put("a", "2")
    assert await task == 0


@pytest.mark.parametrize("more", [(), ("--timeout", "0")])
def test_an_object_that_is_not_there_is_an_error_at_once(more: tuple[str, ...], run: Run) -> None:
    with cluster("a") as server:
        ran = run("wait", "cm/a", "cm/x", "--for", "data.b=1", *more, "-s", server.url)
        selected = run("wait", "cm", "-l", "a=b", "--for", "data.a=1", *more, "-s", server.url)
    assert (ran.code, ran.data) == (1, b"")
    assert ran.note == 'listwatch: the server answered 404 NotFound: configmaps "x" not found'
    assert (selected.code, selected.data) == (1, b"")
    assert selected.note == "listwatch: there are no such configmaps in namespace default"


@pytest.mark.parametrize("more", [(), ("--timeout", "0")])
def test_but_for_its_deletion_and_its_creation(more: tuple[str, ...], run: Run) -> None:
    with cluster() as server:
        gone = run("wait", "cm/x", "--for", "delete", *more, "-s", server.url)
        selected = run("wait", "cm", "--all", "--for", "delete", *more, "-s", server.url)
        new = run("wait", "cm/x", "--for", "create", "--timeout", "0", "-s", server.url)
    assert (gone.code, gone.data, selected.code, selected.data) == (0, b"", 0, b"")
    assert gone.note == 'listwatch: configmaps "x" not found: nothing is waited for'
    assert selected.note == (
        "listwatch: there are no such configmaps in namespace default: nothing is waited for"
    )
    assert new.code == 1
    assert new.note == "listwatch: not met now: cm/x is not there"


@pytest.mark.virtual_time
@pytest.mark.clause("H1")
@pytest.mark.parametrize(("goal", "met"), [("metadata.name=a", True), ("metadata.name=b", False)])
async def test_a_set_from_a_cache_that_is_behind_is_not_believed(
    goal: str, met: bool, virtual: Virtual, capsys: pytest.CaptureFixture[str]
) -> None:
    obj = {"kind": "ConfigMap", "metadata": {"name": "a", "resourceVersion": "3"}}
    sets = iter([("1", []), ("3", [obj])])  # a first LIST may come from a cache

    def answer(request: HTTPRequest) -> Reply | Hang:
        asked = dict(request.query)
        if "sendInitialEvents" in asked:
            return Reply.json({"kind": "Status", "code": 400}, status=400)
        if "watch" in asked:
            return HANG
        if request.path.endswith("/a"):
            return Reply.json(obj)
        rv, items = next(sets)
        metadata = {"resourceVersion": rv}
        return Reply.json({"kind": "ConfigMapList", "metadata": metadata, "items": items})

    world = virtual(MemoryTransport(answer))
    assert await world.wait("cm/a", goal=goal, timeout=3) == (not met)
    assert world.written == (b"configmap/a condition met\n" if met else b"")
    told = "" if met else "listwatch: not met after 3 s: configmap/a: metadata.name is a\n"
    assert capsys.readouterr().err == told


@pytest.mark.parametrize(
    ("code", "reason"), [(400, "BadRequest"), (401, "Unauthorized"), (403, "Forbidden")]
)
def test_a_refusal_for_good_is_a_failure_in_one_line(code: int, reason: str, run: Run) -> None:
    with cluster("a", faults=[f"any: answer {code}"]) as server:
        ran = run("wait", "cm/a", "--for", "data.a=1", "-s", server.url)
    assert (ran.code, ran.data) == (1, b"")
    assert ran.note.startswith(f"listwatch: the server answered {code} {reason}")


def test_a_value_that_can_never_be_compared_is_an_error_at_once(run: Run) -> None:
    with cluster() as server:
        server.do(lambda server: server.core.load([POD]))
        ran = run("wait", "pod/web", "--for", "spec.containers=x", "-s", server.url)
    assert (ran.code, ran.data) == (1, b"")
    assert ran.note == "listwatch: spec.containers is no single value that could be x"


# Goals

ITEMS = {"a": [{"k": "x", "v": 1}, {"k": "y", "v": None}, {"k": "x", "v": False}], "b": {}, "c": []}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a[0].v", [1]),
        ("a[-1].v", [False]),
        ("a[7].v", []),
        ("a[1].v", []),
        ("a.k", []),
        ("b[0]", []),
        ("{.a[?(@.k=='y')].k}", ["y"]),
        ('$.a[?(@.k=="x")].v', [1, False]),
        ("a[?(@.k != 'x')].k", ["y"]),
        ("a[?(@.v==1)].k", ["x"]),
        ("['b']", [{}]),
        ("c", [[]]),
        (r"metadata.annotations.example\.com/x", ["yes"]),
        ("metadata.annotations['example.com/x']", ["yes"]),
        ('metadata.annotations["example.com/x"]', ["yes"]),
    ],
)
def test_a_path_leads_to_values(text: str, values: list[Any]) -> None:
    obj = {**ITEMS, "metadata": {"annotations": {"example.com/x": "yes"}}}
    path, rest = JSONPath.parse(text)
    assert (path.values(obj), rest) == (values, "")


@pytest.mark.parametrize(
    "text", ["", "{}", "{.a", "a..b", "a[*]", "a.*", "a[0", "a[1:2]", "a[?(@.k>1)]", "a.", "..a"]
)
def test_what_is_no_path_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected|names no member"):
        JSONPath.parse(text)


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("delete", Deleted()),
        ("Delete", Deleted()),
        ("create", Created()),
        ("condition=Ready", Condition("Ready", "True")),
        ("condition=Ready=Unknown", Condition("Ready", "Unknown")),
        ("jsonpath={.a.b}=c=d", Value(JSONPath("a.b", ("a", "b")), "c=d")),
        ("jsonpath='.a.b", None),
        ("jsonpath={.a}='x y'", Value(JSONPath("a", ("a",)), "x y")),
        ("a.b", Value(JSONPath("a.b", ("a", "b")), None)),
    ],
)
def test_a_goal_is_read(text: str, goal: Any) -> None:
    if goal is None:
        assert isinstance(parse_goal(text), Value)
    else:
        assert parse_goal(text) == goal


@pytest.mark.parametrize(
    "text",
    ["", "Ready", "phase=Running", "condition=", "condition=Ready=", "a.b=", "jsonpath=", "{.a}x"],
)
def test_what_is_no_goal_is_bad_usage(text: str, run: Run) -> None:
    ran = run("wait", "pod/a", "--for", text, "-s", "http://127.0.0.1:1")
    assert (ran.code, ran.data) == (2, b"")
    assert "Invalid value for '--for'" in ran.note


@pytest.mark.parametrize(("observed", "met"), [({}, True), ({"observedGeneration": 3}, False)])
@pytest.mark.parametrize("place", ["condition", "status"])
def test_a_condition_of_an_older_generation_is_not_met(
    observed: dict[str, int], met: bool, place: str
) -> None:
    found = {"type": "Available", "status": "True", **(observed if place == "condition" else {})}
    status = {"conditions": [found], **(observed if place == "status" else {})}
    obj = {"metadata": {"generation": 4}, "status": status}
    goal = Condition("Available", "True")
    assert goal.met_by(obj) is met
    assert ("older generation" in goal.state_of(obj)) is not met


def test_several_values_are_an_error() -> None:
    path, _ = JSONPath.parse("a[?(@.k=='x')].v")
    with pytest.raises(CommandError, match="2 values"):
        Value(path, "1").met_by(ITEMS)


def test_numbers_and_booleans_are_compared_as_json_writes_them() -> None:
    obj = {"spec": {"replicas": 3, "paused": True, "weight": 1.5}}
    for text in ("spec.replicas=3", "spec.paused=true", "spec.weight=1.5"):
        assert parse_goal(text).met_by(obj)


def test_what_holds_an_object_that_is_being_deleted_is_said() -> None:
    metadata = {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["a/b", "c/d"]}
    assert Deleted().state_of({"metadata": metadata}) == (
        "it is being deleted since 2026-01-01T00:00:00Z, held by its finalizers: a/b, c/d"
    )


# Usage


@pytest.mark.parametrize(
    "arguments",
    [
        ["pods"],
        ["pods", "-A"],
        ["pods", "web", "--all"],
        ["pods", "--all", "-l", "a=b"],
        ["pod/a", "b"],
        ["pod/a", "-A"],
        ["pod/a", "-l", "a=b"],
        ["pods,services", "--all"],
        ["pods", "--all", "--timeout", "soon"],
    ],
)
def test_what_makes_no_sense_is_bad_usage(arguments: list[str], run: Run) -> None:
    ran = run("wait", *arguments, "--for", "delete", "-s", "http://127.0.0.1:1")
    assert (ran.code, ran.data) == (2, b"")
    assert ran.note


def test_without_a_goal_it_says_so(run: Run) -> None:
    ran = run("wait", "pod/a")
    assert ran.code == 2
    assert "--for" in ran.note


def test_a_path_as_resource_is_one(run: Run) -> None:
    [found] = selections_of(["apps/v1/deployments/web"])
    assert (found.resource, found.name) == ("apps/v1/deployments", "web")
    with pytest.raises(UsageError, match="which apps/v1/deployments"):
        selections_of(["apps/v1/deployments"])


@pytest.mark.parametrize("time", ["0", "0s", "-1", "-1s", "5", "1m30s"])
def test_times_are_those_of_kubectl(time: str) -> None:
    assert isinstance(parse(["wait", "pod/a", "--for", "delete", f"--timeout={time}"]), Plan)


def test_its_help_fits_a_terminal_its_examples_are_understood_and_the_manual_has_it(
    run: Run,
) -> None:
    lines = run("wait", "--help").lines
    assert max(len(line) for line in lines) <= 80
    examples = [line for line in lines if line.startswith("    listwatch wait ")]
    assert examples
    for line in examples:
        assert isinstance(parse(shlex.split(line)[1:]), Plan)
    options = set(re.findall(r"(?<![\w-])--[a-z-]+", "\n".join(lines)))
    assert options - {"--help"} - set(re.findall(r"--[a-z-]+", MANUAL)) == set()
