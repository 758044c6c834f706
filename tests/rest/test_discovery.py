"""Names into resources, with as few requests as it takes."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from listwatch.api import (
    APIError,
    APIResource,
    Forbidden,
    ServiceUnavailable,
    Unauthorized,
    error_for_response,
)
from listwatch.api.builtin import BUILTIN_RESOURCES
from listwatch.rest.discovery import Discovery, UnknownResource
from listwatch.rest.discovery_answers import Aggregated, parse_discovery
from listwatch.rest.errors import ConnectionRefused

DATA = Path(__file__).parent / "data" / "discovery"
API = (DATA / "api-aggregated.json").read_bytes()
APIS = (DATA / "apis-aggregated.json").read_bytes()
FORBIDDEN = error_for_response(403, "application/json", (DATA / "forbidden.json").read_bytes())
NOT_FOUND = error_for_response(404, "text/plain", (DATA / "not-found.txt").read_bytes())
UNAVAILABLE = error_for_response(503, "text/plain", b"service unavailable")

AGGREGATED = {"/api": API, "/apis": APIS}


class Server:
    """Answers by path, and remembers what it was asked."""

    def __init__(self, answers: Mapping[str, bytes | Exception]) -> None:
        self.answers = dict(answers)
        self.asked: list[str] = []
        self.accepts: list[str] = []
        self.began = asyncio.Event()
        self.gate: asyncio.Event | None = None

    async def read(
        self, path: str, *, query: Sequence[tuple[str, str]] = (), accept: str = "application/json"
    ) -> bytes:
        self.asked.append(path)
        self.began.set()
        self.accepts.append(accept)
        if self.gate is not None:
            await self.gate.wait()
        answer = self.answers.get(path, NOT_FOUND)
        if isinstance(answer, Exception):
            raise answer
        return answer


def known(body: bytes) -> tuple[APIResource, ...]:
    answer = parse_discovery(body)
    assert isinstance(answer, Aggregated)
    return answer.resources


REAL = known(API) + known(APIS)
"""What a real kube-apiserver v1.36.3 with one CRD serves, in its order."""
WIDGETS = next(item for item in REAL if item.name == "widgets")


def aggregated(*resources: APIResource, freshness: str = "Current") -> bytes:
    return json.dumps(
        {
            "kind": "APIGroupDiscoveryList",
            "items": [
                {
                    "metadata": {"name": item.group},
                    "versions": [
                        {
                            "version": item.version,
                            "freshness": freshness,
                            "resources": [
                                {
                                    "resource": item.name,
                                    "responseKind": {"kind": item.kind},
                                    "scope": "Namespaced" if item.namespaced else "Cluster",
                                    "shortNames": list(item.short_names),
                                }
                            ],
                        }
                    ],
                }
                for item in resources
            ],
        }
    ).encode()


def made_up(text: str, kind: str = "Thing", *short_names: str) -> APIResource:
    group, version, name = text.split("/")
    return APIResource(
        group=group,
        version=version,
        name=name,
        kind=kind,
        namespaced=True,
        singular=kind.lower(),
        short_names=short_names,
    )


# --- built-in types ----------------------------------------------------------------------------


@pytest.mark.clause("B1")
@pytest.mark.parametrize(
    ("text", "gvr"),
    [
        ("po", "v1/pods"),
        ("pod", "v1/pods"),
        ("pods", "v1/pods"),
        ("Pod", "v1/pods"),
        ("v1/pods", "v1/pods"),
        ("pods.v1.", "v1/pods"),
        ("deploy", "apps/v1/deployments"),
        ("deployments.apps", "apps/v1/deployments"),
        ("deployments.v1.apps", "apps/v1/deployments"),
        ("apps/v1/deployments", "apps/v1/deployments"),
        ("events", "v1/events"),
        ("ev", "v1/events"),
        ("events.events.k8s.io", "events.k8s.io/v1/events"),
        ("hpa", "autoscaling/v2/horizontalpodautoscalers"),
        ("autoscaling/v1/hpa", "autoscaling/v1/horizontalpodautoscalers"),
        ("crd", "apiextensions.k8s.io/v1/customresourcedefinitions"),
    ],
)
async def test_built_in_types_cost_no_request(text: str, gvr: str) -> None:
    server = Server({})
    assert str(await Discovery(server).resolve(text)) == gvr
    assert server.asked == []


@pytest.mark.clause("B1")
@pytest.mark.parametrize("builtin", BUILTIN_RESOURCES, ids=str)
async def test_every_built_in_name_means_what_a_real_server_says(builtin: APIResource) -> None:
    assert builtin in REAL
    asking = Discovery(Server(AGGREGATED), builtin=())
    knowing = Discovery(Server({}))
    group = f".{builtin.group}" if builtin.group else ""
    for text in (
        builtin.name,
        builtin.singular,
        builtin.kind,
        *builtin.short_names,
        f"{builtin.name}{group}",
        f"{builtin.name}.{builtin.version}.{builtin.group}",
        f"{builtin.group_version}/{builtin.name}",
    ):
        assert await knowing.resolve(text) == await asking.resolve(text), text


@pytest.mark.clause("B1")
async def test_every_short_name_of_a_real_server_is_found_in_one_way() -> None:
    discovery = Discovery(Server(AGGREGATED))
    for resource in REAL:
        for short in resource.short_names:
            first = next(item for item in REAL if short in item.short_names)
            assert await discovery.resolve(short) == first


# --- what has to be asked for ------------------------------------------------------------------


@pytest.mark.clause("B1", "B9")
@pytest.mark.parametrize(
    "text",
    [
        "wd",
        "widgets",
        "widget",
        "Widget",
        "widgets.example.com",
        "wd.example.com",
        "widgets.example",
        "widgets.v1.example.com",
        "Widget.v1.example.com",
        "example.com/v1/widgets",
    ],
)
async def test_a_custom_resource_is_found_in_two_requests_once(text: str) -> None:
    server = Server(AGGREGATED)
    discovery = Discovery(server)
    assert await discovery.resolve(text) == WIDGETS
    assert await discovery.resolve(text) == WIDGETS
    assert server.asked == ["/api", "/apis"]
    for accept in server.accepts:
        assert [part.rpartition("v=")[2] for part in accept.split(",")] == [
            "v2;as=APIGroupDiscoveryList",
            "v2beta1;as=APIGroupDiscoveryList",
            "application/json",
        ]


async def test_all_resources_come_in_the_servers_order() -> None:
    server = Server(AGGREGATED)
    discovery = Discovery(server)
    assert await discovery.resources() == REAL == await discovery.resources()
    assert server.asked == ["/api", "/apis"]
    assert discovery.failures == {}


@pytest.mark.clause("B1")
async def test_of_several_groups_the_servers_first_is_meant_and_of_a_group_its_first_version() -> (
    None
):
    first = made_up("b.example/v2/things", "Thing", "th")
    older = made_up("b.example/v1/things", "Thing", "th")
    second = made_up("a.example/v1/things", "Thing", "th")
    discovery = Discovery(Server({"/api": API, "/apis": aggregated(first, older, second)}))
    for text in ("things", "thing", "Thing", "th"):
        assert (await discovery.resolve(text)).gvr == first.gvr
    assert (await discovery.resolve("things.a.example")).gvr == second.gvr
    assert (await discovery.resolve("b.example/v1/th")).gvr == older.gvr


@pytest.mark.clause("B1")
async def test_a_built_in_name_is_not_taken_over_by_a_custom_resource() -> None:
    impostor = made_up("evil.example/v1/pods", "Pod", "po", "deploy")
    discovery = Discovery(Server({"/api": API, "/apis": aggregated(impostor)}))
    assert (await discovery.resolve("deploy")).group == "apps"
    await discovery.refresh()
    assert (await discovery.resolve("po")).group == ""
    assert (await discovery.resolve("po.evil.example")).group == "evil.example"


@pytest.mark.clause("B1")
async def test_a_whole_group_goes_before_the_beginning_of_one() -> None:
    longer, whole = made_up("ex.io.more/v1/things"), made_up("ex.io/v1/things")
    discovery = Discovery(Server({"/api": API, "/apis": aggregated(longer, whole)}))
    assert (await discovery.resolve("things.ex.io")).group == "ex.io"
    assert (await discovery.resolve("things.ex.io.m")).group == "ex.io.more"


# --- servers that know only the legacy form ----------------------------------------------------

LEGACY: dict[str, bytes | Exception] = {
    "/api": (DATA / "api.json").read_bytes(),
    "/apis": (DATA / "apis.json").read_bytes(),
    "/api/v1": (DATA / "api-v1.json").read_bytes(),
    "/apis/apps/v1": (DATA / "apis-apps-v1.json").read_bytes(),
    "/apis/example.com/v1": json.dumps(
        {
            "kind": "APIResourceList",
            "resources": [
                {"name": "widgets", "kind": "Widget", "namespaced": True, "shortNames": ["wd"]},
                {"name": "widgets/status", "kind": "Widget", "namespaced": True},
            ],
        }
    ).encode(),
}


async def test_a_legacy_server_is_asked_for_each_group_version() -> None:
    server = Server(LEGACY)
    discovery = Discovery(server, builtin=())
    assert (await discovery.resolve("wd")).gvr == WIDGETS.gvr
    assert (await discovery.resolve("deploy")).group == "apps"
    assert (await discovery.resolve("po")).group == ""
    assert len(server.asked) == len(set(server.asked)) == 2 + 1 + 22
    order = list(dict.fromkeys(item.group for item in await discovery.resources()))
    assert order == ["", "apps", "example.com"]


async def test_a_legacy_group_that_fails_hides_no_other_and_is_named() -> None:
    discovery = Discovery(Server(LEGACY | {"/apis/batch/v1": UNAVAILABLE}), builtin=())
    assert (await discovery.resolve("wd")).gvr == WIDGETS.gvr
    with pytest.raises(UnknownResource, match=r"batch/v1 \(.*503") as caught:
        await discovery.resolve("cronjobs")
    assert "discovery failed" in str(caught.value)
    assert discovery.failures["batch/v1"] is UNAVAILABLE


async def test_a_legacy_group_that_answers_rubbish_fails_alone() -> None:
    discovery = Discovery(Server(LEGACY | {"/apis/batch/v1": b"<html>"}), builtin=())
    assert (await discovery.resolve("wd")).gvr == WIDGETS.gvr
    assert "batch/v1" in discovery.failures


async def test_a_lost_connection_is_not_taken_for_a_group_that_fails() -> None:
    lost = ConnectionRefused("refused")
    server = Server(LEGACY | {"/apis/batch/v1": lost})
    discovery = Discovery(server)
    with pytest.raises(ConnectionRefused):
        await discovery.resolve("wd")
    assert discovery.failures == {}, "nothing is kept of a failed look"


async def test_one_form_for_core_and_the_other_for_groups_will_do() -> None:
    answers = LEGACY | {"/apis": APIS}
    discovery = Discovery(Server(answers), builtin=())
    assert await discovery.resolve("wd") == WIDGETS
    assert (await discovery.resolve("po")).name == "pods"


# --- what cannot be found ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "suggestion"),
    [
        ("widgts", "widgets.example.com"),
        ("deploymnets", "deployments.apps"),
        ("pdos", "pods"),
        ("deployments.extensions", "deployments.apps"),
        ("v2/pods", "pods"),
    ],
)
async def test_an_unknown_name_comes_with_near_ones_and_what_to_run(
    text: str, suggestion: str
) -> None:
    with pytest.raises(UnknownResource, match="Did you mean") as caught:
        await Discovery(Server(AGGREGATED)).resolve(text)
    assert suggestion in caught.value.suggestions
    assert suggestion in str(caught.value)
    assert repr(text) in str(caught.value)
    assert "listwatch api-resources" in str(caught.value)
    assert caught.value.text == text


async def test_a_name_like_no_other_comes_without_suggestions() -> None:
    with pytest.raises(UnknownResource) as caught:
        await Discovery(Server(AGGREGATED)).resolve("zzzzzzzzz")
    assert caught.value.suggestions == ()
    assert "Did you mean" not in str(caught.value)


@pytest.mark.clause("B1")
@pytest.mark.parametrize("text", ["pods/log", "v1/pods/log", "pod/web-0", "", "a b", "apps/v1"])
async def test_what_is_no_resource_is_refused_without_a_request(text: str) -> None:
    server = Server(AGGREGATED)
    with pytest.raises(UnknownResource, match="apps/v1/deployments"):
        await Discovery(server).resolve(text)
    assert server.asked == []


async def test_a_stale_group_is_used_as_far_as_known_and_named_where_not() -> None:
    node_metrics = made_up("metrics.k8s.io/v1beta1/nodemetrics")
    stale = aggregated(node_metrics, freshness="Stale")
    discovery = Discovery(Server({"/api": API, "/apis": stale}))
    assert (await discovery.resolve("nodemetrics")).gvr == node_metrics.gvr
    with pytest.raises(UnknownResource, match=r"metrics.k8s.io/v1beta1 \(stale\)"):
        await discovery.resolve("podmetrics")
    assert discovery.failures == {"metrics.k8s.io/v1beta1": None}


@pytest.mark.clause("N2")
async def test_who_may_not_read_discovery_can_still_use_built_in_types() -> None:
    server = Server({"/api": FORBIDDEN, "/apis": FORBIDDEN})
    discovery = Discovery(server)
    assert (await discovery.resolve("po")).name == "pods"
    with pytest.raises(UnknownResource, match="system:discovery") as caught:
        await discovery.resolve("widgets.example.com")
    assert 'cannot get path "/api"' in str(caught.value)
    with pytest.raises(Forbidden):
        await discovery.resources()


async def test_who_may_not_read_discovery_gets_group_prefixes_of_built_in_types() -> None:
    discovery = Discovery(Server({"/api": FORBIDDEN, "/apis": FORBIDDEN}))
    assert (await discovery.resolve("ingresses.networking")).group == "networking.k8s.io"


async def test_a_server_without_core_types_or_without_groups_is_still_read() -> None:
    only_groups = Discovery(Server({"/apis": APIS}), builtin=())
    assert await only_groups.resolve("wd") == WIDGETS
    only_core = Discovery(Server({"/api": API}), builtin=())
    assert (await only_core.resolve("po")).name == "pods"


async def test_a_login_page_in_place_of_discovery_is_told() -> None:
    page = b"<html><title>Sign in</title>"
    with pytest.raises(UnknownResource, match="Sign in"):
        await Discovery(Server({"/api": page, "/apis": page})).resolve("widgets")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (UNAVAILABLE, ServiceUnavailable),
        (error_for_response(401, "text/plain", b""), Unauthorized),
        (ConnectionRefused("refused"), ConnectionRefused),
    ],
)
async def test_a_server_that_cannot_answer_is_an_error_of_its_own_and_asked_again_next_time(
    error: APIError | ConnectionRefused, kind: type[Exception]
) -> None:
    server = Server({"/api": API, "/apis": error})
    discovery = Discovery(server)
    with pytest.raises(kind):
        await discovery.resolve("widgets")
    with pytest.raises(kind):
        await discovery.resources()
    server.answers = dict(AGGREGATED)
    assert await discovery.resolve("widgets") == WIDGETS


# --- how often ---------------------------------------------------------------------------------


async def test_a_crd_that_has_just_appeared_is_found() -> None:
    server = Server(AGGREGATED)
    discovery = Discovery(server, refresh_interval=0.0)
    with pytest.raises(UnknownResource):
        await discovery.resolve("things")
    new = made_up("new.example/v1/things")
    server.answers["/apis"] = aggregated(new)
    assert (await discovery.resolve("things")).gvr == new.gvr
    assert server.asked == ["/api", "/apis"] * 2


async def test_one_call_asks_at_most_once() -> None:
    server = Server(AGGREGATED)
    discovery = Discovery(server, refresh_interval=0.0)
    for calls in (1, 2, 3):
        with pytest.raises(UnknownResource):
            await discovery.resolve("nothing-like-it")
        assert len(server.asked) == 2 * calls


@pytest.mark.virtual_time
async def test_a_loop_over_unknown_names_does_not_flood_the_server() -> None:
    server = Server(AGGREGATED)
    discovery = Discovery(server)
    for _ in range(300):
        with pytest.raises(UnknownResource):
            await discovery.resolve("nothing-like-it")
        await asyncio.sleep(0.1)
    assert len(server.asked) <= 2 * (1 + 30 / 5)


async def test_refresh_asks_at_once_and_replaces_what_was_known() -> None:
    server = Server(AGGREGATED)
    discovery = Discovery(server)
    assert await discovery.resolve("widgets") == WIDGETS
    server.answers["/apis"] = aggregated()
    await discovery.refresh()
    with pytest.raises(UnknownResource):
        await discovery.resolve("widgets")


async def test_calls_that_wait_at_the_same_time_share_one_answer() -> None:
    server = Server(AGGREGATED)
    server.gate = asyncio.Event()
    discovery = Discovery(server)
    async with asyncio.TaskGroup() as tasks:
        calls = [tasks.create_task(discovery.resolve("wd")) for _ in range(20)]
        await server.began.wait()
        server.gate.set()
    assert {call.result() for call in calls} == {WIDGETS}
    assert server.asked == ["/api", "/apis"]


@pytest.mark.parametrize(
    "call",
    [lambda discovery: discovery.resolve("wd"), Discovery.recheck],
    ids=["resolve", "recheck"],
)
async def test_so_they_do_a_failure_and_the_next_asks_again(
    call: Callable[[Discovery], Coroutine[Any, Any, object]],
) -> None:
    server = Server({"/api": API, "/apis": UNAVAILABLE})
    server.gate = asyncio.Event()
    discovery = Discovery(server)
    calls = [asyncio.create_task(call(discovery)) for _ in range(20)]
    await server.began.wait()
    server.gate.set()
    failed = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(each) for each in failed] == [ServiceUnavailable] * 20
    assert len(set(map(id, failed))) == 20, "each has a traceback of its own"
    assert server.asked == ["/api", "/apis"]
    server.answers = dict(AGGREGATED)
    await call(discovery)
    assert await discovery.resolve("wd") == WIDGETS


@pytest.mark.clause("B8")
async def test_a_call_that_is_cancelled_leaves_the_asking_to_the_next() -> None:
    server = Server(AGGREGATED)
    server.gate = asyncio.Event()
    discovery = Discovery(server)
    first = asyncio.create_task(discovery.resolve("wd"))
    second = asyncio.create_task(discovery.resolve("wd"))
    await server.began.wait()
    first.cancel()
    server.gate.set()
    assert await second == WIDGETS
    assert first.cancelled()


async def test_a_legacy_servers_groups_are_not_all_asked_at_once() -> None:
    server = Server(LEGACY)
    discovery = Discovery(server, builtin=())
    gate = asyncio.Event()
    read, at_once, most = server.read, 0, 0

    async def counted(
        path: str, *, query: Sequence[tuple[str, str]] = (), accept: str = "application/json"
    ) -> bytes:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        if path.count("/") == 3:
            if at_once == 8:
                gate.set()
            await gate.wait()
        await asyncio.sleep(0)
        at_once -= 1
        return await read(path, query=query, accept=accept)

    server.read = counted  # type: ignore[method-assign]
    await discovery.resources()
    assert most == 8


# --- each once, and categories -----------------------------------------------------------------


async def test_each_resource_is_preferred_at_one_version() -> None:
    new, old = made_up("example.com/v2/things"), made_up("example.com/v1/things")
    only_old = made_up("example.com/v1/relics", "Relic")
    elsewhere = made_up("other.example/v1/things")
    server = Server({**AGGREGATED, "/apis": aggregated(new, old, only_old, elsewhere)})
    preferred = await Discovery(server).preferred()
    assert [str(each) for each in preferred if each.group] == [
        str(new),
        str(only_old),
        str(elsewhere),
    ]


REAL_ALL = (
    "v1/pods",
    "v1/replicationcontrollers",
    "v1/services",
    "apps/v1/daemonsets",
    "apps/v1/deployments",
    "apps/v1/replicasets",
    "apps/v1/statefulsets",
    "autoscaling/v2/horizontalpodautoscalers",
    "batch/v1/cronjobs",
    "batch/v1/jobs",
)
"""What `kubectl get all` lists on that server, in its order (K47)."""


async def test_a_category_is_what_kubectl_takes_it_for() -> None:
    server = Server(AGGREGATED)
    discovery = Discovery(server)
    members = await discovery.in_category("all")
    assert [str(each) for each in members if each.group != "example.com"] == list(REAL_ALL)
    assert server.asked == ["/api", "/apis"]
    assert await discovery.in_category("all") == members
    assert server.asked == ["/api", "/apis"]


async def test_a_category_may_have_custom_types_and_only_what_can_be_listed() -> None:
    def item(name: str, *verbs: str) -> dict[str, object]:
        return {
            "resource": name,
            "responseKind": {"kind": name},
            "scope": "Namespaced",
            "categories": ["all", "house"],
            "verbs": verbs,
        }

    def group(*versions: dict[str, object]) -> bytes:
        found = {"metadata": {"name": "example.com"}, "versions": versions}
        return json.dumps({"kind": "APIGroupDiscoveryList", "items": [found]}).encode()

    apis = group(
        {"version": "v2", "resources": [item("chairs", "get", "list"), item("reviews", "create")]},
        {"version": "v1", "resources": [item("chairs", "list"), item("stools")]},
    )
    server = Server({**AGGREGATED, "/apis": apis})
    members = await Discovery(server).in_category("house")
    assert [str(each) for each in members] == ["example.com/v2/chairs", "example.com/v1/stools"]


async def test_an_unknown_category_is_empty_and_asked_for_again() -> None:
    server = Server(AGGREGATED)
    discovery = Discovery(server, refresh_interval=0.0)
    assert await discovery.in_category("nothing") == ()
    assert server.asked == ["/api", "/apis"]
    assert await discovery.in_category("nothing") == ()
    assert server.asked == ["/api", "/apis"] * 2


async def test_where_nothing_is_told_a_category_has_the_built_in_types() -> None:
    server = Server({"/api": FORBIDDEN, "/apis": FORBIDDEN})
    discovery = Discovery(server)
    members = await discovery.in_category("all")
    assert sorted(str(each) for each in members) == sorted(REAL_ALL)
    assert set(discovery.failures) == {"/api", "/apis"}


# --- what is known turns out to be wrong --------------------------------------------------------


@pytest.mark.virtual_time
@pytest.mark.parametrize("core", [API, FORBIDDEN], ids=["", "partly refused"])
async def test_a_denied_resource_is_asked_for_once_in_a_while_only(core: bytes | Exception) -> None:
    server = Server({**AGGREGATED, "/api": core})
    discovery = Discovery(server)
    assert await discovery.resolve("widgets") == WIDGETS
    server.asked.clear()
    for _ in range(10):
        await discovery.recheck()
        await asyncio.sleep(1)
    assert server.asked == ["/api", "/apis"] * 2


@pytest.mark.virtual_time
async def test_what_was_denied_with_good_reason_may_be_denied_again_soon() -> None:
    server = Server(AGGREGATED)
    discovery = Discovery(server)
    assert await discovery.resolve("widgets") == WIDGETS
    for version in ("v2", "v3", "v4"):
        moved = made_up(f"example.com/{version}/widgets", "Widget")
        server.answers["/apis"] = aggregated(moved)
        await discovery.recheck()
        assert (await discovery.resolve("widgets")).version == version


async def test_who_is_denied_at_the_same_time_shares_one_answer() -> None:
    server = Server(AGGREGATED)
    discovery = Discovery(server)
    await discovery.resolve("widgets")
    server.asked.clear()
    async with asyncio.TaskGroup() as tasks:
        for _ in range(20):
            tasks.create_task(discovery.recheck())
    assert server.asked == ["/api", "/apis"]


async def test_a_recheck_that_fails_is_no_recheck() -> None:
    server = Server(AGGREGATED)
    discovery = Discovery(server)
    assert await discovery.resolve("widgets") == WIDGETS
    server.answers["/apis"] = UNAVAILABLE
    with pytest.raises(ServiceUnavailable):
        await discovery.recheck()
    assert await discovery.resolve("widgets") == WIDGETS
    server.answers["/apis"] = aggregated()
    await discovery.recheck()
    with pytest.raises(UnknownResource):
        await discovery.resolve("widgets")


# --- several event loops -----------------------------------------------------------------------


def test_it_may_be_used_from_several_event_loops_at_once() -> None:
    class Slow(Server):
        """Lets two loops wait at the same time, each with two tasks."""

        def __init__(self) -> None:
            super().__init__(AGGREGATED)
            self.both = threading.Barrier(2, timeout=30)

        async def read(
            self,
            path: str,
            *,
            query: Sequence[tuple[str, str]] = (),
            accept: str = "application/json",
        ) -> bytes:
            if path == "/api":
                await asyncio.to_thread(self.both.wait)
            return await super().read(path, query=query, accept=accept)

    discovery = Discovery(Slow())

    async def resolve_twice() -> set[APIResource]:
        return set(await asyncio.gather(discovery.resolve("wd"), discovery.resolve("widgets")))

    with ThreadPoolExecutor(2) as threads:
        runs = [threads.submit(asyncio.run, resolve_twice()) for _ in range(2)]
        assert [run.result() for run in runs] == [{WIDGETS}] * 2
