from __future__ import annotations

import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

import pytest

from listwatch.api.cells.pods import pod_ready, pod_status
from listwatch.testing.apiserver.messages import Answer, ServerRequest
from listwatch.testing.apiserver.storage.log import Write, WriteKind
from listwatch.testing.churn import Churn, Step, Verb
from tests.testing.churn.worlds import START, World

SUFFIX = "[bcdfghjklmnpqrstvwxz2456789]{5}"


@pytest.fixture(scope="module")
def long_run() -> tuple[World, list[Step], list[Write]]:
    world = World(3, pods=60)
    writes: list[Write] = []
    world.core.state.log.listeners.append(writes.append)
    return world, world.run(6000), writes


def test_the_same_seed_makes_the_same_cluster_and_the_same_things_happen_in_it() -> None:
    def told(seed: int) -> list[Any]:
        world = World(seed, pods=30)
        steps = [(s.verb, s.resource, s.namespace, s.name, s.body) for s in world.run(500)]
        return [*steps, *world.values("pods"), *world.values("apps/deployments")]

    assert told(5) == told(5)
    assert told(5) != told(6)


def test_no_step_is_refused_where_nobody_else_does_anything(
    long_run: tuple[World, list[Step], list[Write]],
) -> None:
    assert [step for step in long_run[1] if step.refused] == []


def test_the_population_stays_about_what_it_was() -> None:
    world = World(4, pods=60)
    sizes = []
    for _ in range(30):
        world.run(100)
        sizes.append(world.count("pods"))
    assert min(sizes) > 50
    assert max(sizes) < 85
    assert world.count("apps/replicasets") <= 5 * world.count("apps/deployments")
    assert world.count("batch/jobs") <= 3


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_pods_are_of_six_to_seven_kilobytes_with_managed_fields(seed: int) -> None:
    world = World(seed, pods=60)
    world.run(1000)
    sizes = [len(found.raw) for found in world.core.state.log.objects("pods")]
    assert 6000 <= statistics.median(sizes) <= 7200
    managers = Counter(
        (entry["manager"], entry.get("subresource", ""))
        for pod in world.values("pods")
        for entry in pod["metadata"]["managedFields"]
    )
    assert managers["kube-controller-manager", ""] == world.count("pods")
    assert managers["kubelet", "status"] > 50


def test_the_scheduler_owns_the_condition_of_a_pod_that_it_finds_no_node_for(
    long_run: tuple[World, list[Step], list[Write]],
) -> None:
    refused = [s for s in long_run[1] if s.manager == "kube-scheduler" and s.verb is Verb.STATUS]
    assert refused
    owners = {
        entry["manager"]
        for write in long_run[2]
        if write.storage == "pods" and write.new.key[1] == refused[0].name
        for entry in write.new.metadata["managedFields"]
    }
    assert "kube-scheduler" in owners


def test_names_are_like_those_of_a_real_cluster() -> None:
    world = World(1, pods=60)
    names = {pod["metadata"]["name"]: pod for pod in world.values("pods")}
    for name, pod in names.items():
        [owner] = pod["metadata"]["ownerReferences"]
        pattern = r"\d+" if owner["kind"] == "StatefulSet" else SUFFIX
        assert re.fullmatch(rf"{owner['name']}-{pattern}", name)
        assert pod["metadata"]["labels"]["app"] in name
    addresses = [pod["status"]["podIP"] for pod in names.values()]
    assert len(set(addresses)) == len(addresses)
    assert len({pod["metadata"]["uid"] for pod in names.values()}) == len(names)


def test_owners_exist_and_are_those_that_are_named() -> None:
    world = World(1, pods=60)
    world.run(700)
    uids = {
        found["metadata"]["uid"]: found["metadata"]["name"]
        for storage in ("apps/replicasets", "apps/statefulsets", "apps/deployments")
        for found in world.values(storage)
    }
    for storage in ("pods", "apps/replicasets"):
        for found in world.values(storage):
            [owner] = found["metadata"]["ownerReferences"]
            if owner["kind"] != "Job" and "deletionTimestamp" not in found["metadata"]:
                assert uids[owner["uid"]] == owner["name"]


def test_every_pod_is_on_a_node_that_exists_and_nodes_are_used_evenly() -> None:
    world = World(1, pods=300)
    nodes = Counter(pod["spec"]["nodeName"] for pod in world.values("pods"))
    assert nodes.keys() == {node["metadata"]["name"] for node in world.values("nodes")}
    assert max(nodes.values()) < 1.5 * min(nodes.values())


def _lives(writes: list[Write]) -> Iterator[list[str]]:
    """What each pod that was created was called, one after the other."""
    lives: dict[str, list[str]] = defaultdict(list)
    for write in writes:
        if write.storage != "pods":
            continue
        life = lives[write.new.metadata["uid"]]
        pod = write.new.value
        status = pod_status(pod, START)
        if status == "Running" and pod_ready(pod, START) == "1/1":
            status = "Ready"
        if status == "Pending" and pod["spec"].get("nodeName"):
            status = "Bound"
        if write.kind is WriteKind.DELETED:
            status = "Gone"
        if write.kind is WriteKind.CREATED or life:
            life += [status] if not life or life[-1] != status else []
    return (life for life in lives.values() if life)


def test_a_pod_is_created_bound_started_and_ready_before_anything_else(
    long_run: tuple[World, list[Step], list[Write]],
) -> None:
    usual = ["Pending", "Bound", "ContainerCreating", "Running", "Ready"]
    troubled = {"ErrImagePull", "ImagePullBackOff"}
    lives = [life for life in _lives(long_run[2]) if len(life) > 5]
    assert len(lives) > 200
    for life in lives:
        calm = [state for state in life if state not in troubled]
        if "Terminating" not in calm[:5] and calm[4] != "Completed":
            assert calm[:5] == usual or calm[:4] == [*usual[:3], "Ready"]


def test_a_pod_that_is_gone_was_terminating_or_over(
    long_run: tuple[World, list[Step], list[Write]],
) -> None:
    over = {"Terminating", "Completed", "Error", "Evicted", "Pending"}
    ends = Counter(life[-2] for life in _lives(long_run[2]) if life[-1] == "Gone")
    assert ends.keys() <= over
    assert ends["Terminating"] > 100


def test_all_sorts_of_things_happen(long_run: tuple[World, list[Step], list[Write]]) -> None:
    seen = Counter(
        pod_status(write.new.value, START) for write in long_run[2] if write.storage == "pods"
    )
    for status in (
        *("Pending", "ContainerCreating", "Running", "Terminating", "CrashLoopBackOff"),
        *("OOMKilled", "Error", "Completed", "Evicted", "ErrImagePull", "ImagePullBackOff"),
    ):
        assert seen[status], status
    done = Counter((step.verb, step.resource) for step in long_run[1])
    for what in (
        (Verb.CREATE, "apps/v1/replicasets"),
        (Verb.DELETE, "apps/v1/replicasets"),
        (Verb.PATCH, "apps/v1/deployments"),
        (Verb.STATUS, "apps/v1/statefulsets"),
        (Verb.CREATE, "batch/v1/jobs"),
        (Verb.DELETE, "batch/v1/jobs"),
    ):
        assert done[what], what
    pods = sum(count for (_, resource), count in done.items() if resource == "v1/pods")
    assert pods > 0.65 * len(long_run[1])


def test_restarts_are_counted_and_the_last_state_is_kept(
    long_run: tuple[World, list[Step], list[Write]],
) -> None:
    for write in long_run[2]:
        if write.storage != "pods" or write.kind is WriteKind.DELETED:
            continue
        for state in write.new.value.get("status", {}).get("containerStatuses", ()):
            assert state["restartCount"] == 0 or "terminated" in state["lastState"]


def test_what_is_loaded_looks_like_what_was_created() -> None:
    def paths(value: Any, path: str = "") -> Iterator[str]:
        if isinstance(value, dict):
            for name, member in value.items():
                yield from paths(member, f"{path}.{re.sub(r'[{].*', '*', name)}")
        elif isinstance(value, list):
            for member in value:
                yield from paths(member, f"{path}[]")
        else:
            yield path

    world = World(2, pods=60)
    loaded = {pod["metadata"]["uid"]: pod for pod in world.values("pods")}
    world.run(2000)
    compared = 0
    by_app = {(pod["metadata"]["labels"]["app"]): pod for pod in loaded.values()}
    for pod in world.values("pods"):
        like = by_app.get(pod["metadata"]["labels"]["app"])
        states = pod["status"].get("containerStatuses") or [{"restartCount": 1}]
        if (
            like is None
            or pod["metadata"]["uid"] in loaded
            or pod_status(pod, START) != "Running"
            or pod_ready(pod, START) != "1/1"
            or states[0]["restartCount"]
            or len(pod["metadata"]["managedFields"]) > 2
        ):
            continue
        compared += 1
        assert set(paths(pod)) == set(paths(like))
        assert list(pod) == list(like)
        assert list(pod["status"]) == list(like["status"])
    assert compared > 10


def _delete(world: World, path: str, *query: tuple[str, str]) -> Answer:
    answer = world.core.handle(ServerRequest(method="DELETE", path=path, query=query))
    assert isinstance(answer, Answer)
    assert answer.status == 200
    return answer


def _live(world: World, app: str) -> set[str]:
    return {
        pod["metadata"]["name"]
        for pod in world.values("pods")
        if pod["metadata"]["labels"]["app"] == app and "deletionTimestamp" not in pod["metadata"]
    }


def test_a_pod_that_somebody_else_deletes_ends_and_is_replaced() -> None:
    world = World(1, pods=4)
    victim = sorted(_live(world, "web"))[0]
    [uid] = [p["metadata"]["uid"] for p in world.values("pods") if p["metadata"]["name"] == victim]
    _delete(world, f"/api/v1/namespaces/shop/pods/{victim}")
    world.churn.deleted("shop", victim, "another uid")
    world.churn.deleted("shop", victim, uid)
    steps = world.run(20)
    created = [step.name for step in steps if step.verb is Verb.CREATE and "web" in step.name]
    assert created
    gone = [step for step in steps if step.name == victim and step.verb is Verb.DELETE]
    assert [step.body for step in gone] == [{"gracePeriodSeconds": 0}]
    assert victim not in {pod["metadata"]["name"] for pod in world.values("pods")}


def test_a_pod_that_nobody_told_about_is_given_up_and_replaced() -> None:
    world = World(1, pods=4)
    for name in _live(world, "web"):
        _delete(world, f"/api/v1/namespaces/shop/pods/{name}", ("gracePeriodSeconds", "0"))
    assert _live(world, "web") == set()
    world.run(3000)
    assert len(_live(world, "web")) >= 3


@pytest.mark.parametrize("disaster", ["restart", "namespace"])
def test_after_a_disaster_everything_comes_back(disaster: str) -> None:
    world = World(1, pods=40)
    world.run(300)
    deployments = world.count("apps/deployments")
    if disaster == "restart":
        world.core.restart("lost")
    else:
        _delete(world, "/api/v1/namespaces/shop")
    refused = [sum(step.refused for step in world.run(500)) for _ in range(8)]
    assert refused[0] > 20
    assert refused[-1] < 20
    assert world.count("apps/deployments") == deployments
    assert world.count("pods") > 30


def test_a_cluster_without_pods_has_nothing_that_could_happen() -> None:
    churn = Churn(0, wall=lambda: START, load={"configmaps": 3})
    assert not churn.busy
    assert [found["kind"] for found in churn.objects()] == ["ConfigMap"] * 3
    assert next(churn, None) is None


def test_pods_need_a_node() -> None:
    with pytest.raises(ValueError, match="node"):
        Churn(0, wall=lambda: START, load={"pods": 3, "nodes": 0})
