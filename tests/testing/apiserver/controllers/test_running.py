"""Which controllers there are, how they are switched on, and whose time they live on."""

from __future__ import annotations

import logging
from random import Random
from typing import Any

import pytest

from listwatch.testing.apiserver import APIServer, EmbeddedServer, ServerTransport
from listwatch.testing.apiserver.auth import Auth, User
from listwatch.testing.apiserver.controllers.names import (
    CONTROLLERS,
    UnknownController,
    controller_names,
)
from listwatch.testing.apiserver.controllers.queue import WorkQueue
from tests.testing.apiserver.asking import START, Asking
from tests.testing.apiserver.controllers.acting import CORE, DEPLOYMENTS, PODS, Acting, workload


def test_names_are_those_of_the_controller_manager() -> None:
    assert controller_names(["job-controller", "deployment", "garbagecollector", " job"]) == (
        "garbage-collector",
        "deployment",
        "job",
    )
    assert controller_names(["all"]) == controller_names(["*"]) == CONTROLLERS
    assert controller_names([]) == ()


def test_an_unknown_name_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UnknownController, match=r"no controller 'magic'; there are .*kubelet"):
        APIServer(clock=lambda: 0.0, wall=lambda: START, controllers=["magic"])


def test_without_names_nothing_acts() -> None:
    server = Asking()
    before = server.server.state.log.revision
    server.answer("POST", DEPLOYMENTS, workload("web", 3))
    server.wait(60)
    assert server.server.state.log.revision == before + 1


def test_they_can_be_switched_off_again() -> None:
    server = Acting("deployment", "replicaset")
    server.server.run_controllers(())
    server.made(DEPLOYMENTS, workload("web", 2))
    server.wait(5)
    assert server.items(PODS) == []


def test_a_name_alone_is_one() -> None:
    server = Acting()
    server.server.run_controllers("serviceaccount")
    server.wait(1)
    assert server.is_there(f"{CORE}/serviceaccounts/default")
    assert not server.is_there(f"{CORE}/configmaps/kube-root-ca.crt")


def test_what_was_there_before_them_is_looked_at() -> None:
    server = Acting()
    server.made(DEPLOYMENTS, workload("web", 2))
    server.server.run_controllers(["deployment", "replicaset"])
    server.wait(1)
    assert len(server.items(PODS)) == 2


def test_they_go_on_after_a_restart() -> None:
    server = Acting("all")
    server.made(DEPLOYMENTS, workload("web", 2))
    server.server.restart()
    server.wait(5)
    assert server.status(f"{DEPLOYMENTS}/web")["availableReplicas"] == 2
    server.server.restart("lost")
    server.wait(5)
    assert server.items(PODS) == []
    assert server.is_there(f"{CORE}/serviceaccounts/default")


def test_the_same_seed_gives_the_same_history() -> None:
    def history() -> list[Any]:
        server = Asking()
        server.server.run_controllers(["all"])
        server.answer("POST", DEPLOYMENTS, workload("web", 3))
        server.wait(10)
        return [write.new.value for write in server.server.state.log.writes_after(0)]

    assert history() == history()


def test_nobody_s_rules_are_about_them() -> None:
    server = Acting("all", auth=Auth([User(name="nobody", token="made-up")]))
    assert server.get(PODS).status == 403
    assert server.server.state.log.get("serviceaccounts", ("default", "default")) is not None


def test_an_object_that_makes_no_sense_stops_nobody(caplog: pytest.LogCaptureFixture) -> None:
    server = Acting("deployment", "replicaset")
    with caplog.at_level(logging.ERROR):
        bad = workload("bad", 1, strategy={"rollingUpdate": {"maxSurge": "much"}})
        bad["metadata"]["namespace"] = "default"
        server.server.load([{"apiVersion": "apps/v1", "kind": "Deployment", **bad}])
        server.wait(0.5)
    assert "the deployment controller failed on ('default', 'bad')" in caplog.text
    server.made(DEPLOYMENTS, workload("web", 1))
    server.wait(1)
    assert len(server.items(PODS)) == 1


def test_what_is_refused_is_tried_again_later_each_time() -> None:
    now = [0.0]
    queue = WorkQueue(lambda: now[0])
    for after in (1.0, 2.0, 4.0):
        queue.retry("job", "a")
        assert queue.next_due == now[0] + after
        now[0] += after
        assert queue.pop(now[0]) == ("job", "a")
    queue.forget("job", "a")
    queue.retry("job", "a")
    assert queue.next_due == now[0] + 1.0


def test_an_item_is_planned_once_and_never_put_off() -> None:
    queue = WorkQueue(lambda: 0.0)
    queue.add("job", "a", 5.0)
    queue.add("job", "a", 9.0)
    assert queue.next_due == 5.0
    queue.add("job", "a", 1.0)
    assert queue.next_due == 1.0
    assert queue.pop(0.5) is None
    assert queue.pop(1.0) == ("job", "a")
    assert queue.pop(100.0) is None


@pytest.mark.virtual_time
async def test_they_live_on_virtual_time() -> None:
    import asyncio

    from listwatch import ClientConfig, GroupVersionResource, RESTClient

    loop = asyncio.get_running_loop()
    start = loop.time()
    core = APIServer(clock=loop.time, wall=lambda: START, rng=Random(1), controllers=["all"])
    transport = ServerTransport(core)
    config = ClientConfig(server="http://memory")
    async with RESTClient(config, transport=transport) as client:
        resource = GroupVersionResource.parse("apps/v1/deployments")
        await client.create(resource, workload("web", 2), namespace="default")
        await asyncio.sleep(5)
        found = await client.get(resource, "web", namespace="default")
    assert found["status"]["availableReplicas"] == 2
    assert loop.time() - start == 5.0


async def test_they_can_be_switched_on_while_the_server_runs() -> None:
    from listwatch import GroupVersionResource, RESTClient

    accounts = GroupVersionResource.parse("v1/serviceaccounts")
    async with (
        EmbeddedServer() as server,
        RESTClient(server.client_config()) as client,
        await client.watch(accounts) as watch,
    ):
        server.run_controllers(["serviceaccount"])
        async for event in watch:
            assert event.object.name == "default"
            break


async def test_they_act_over_http() -> None:
    from listwatch import GroupVersionResource, ListOptions, RESTClient

    pods = GroupVersionResource.parse("v1/pods")
    deployments = GroupVersionResource.parse("apps/v1/deployments")
    async with (
        EmbeddedServer(controllers=["deployment", "replicaset", "kubelet"]) as server,
        RESTClient(server.client_config()) as client,
    ):
        await client.create(deployments, workload("web", 1), namespace="default")
        options = ListOptions(resource_version="0")
        async with await client.watch(pods, namespace="default", options=options) as watch:
            async for event in watch:
                status = event.object.get("status") if event.type == "MODIFIED" else None
                if status and status["phase"] == "Running":
                    break
