"""Jobs: completions, failures and what is waited for between them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.testing.apiserver.controllers.acting import JOBS, PODS, Acting, container


@pytest.fixture
def server() -> Acting:
    return Acting("garbage-collector", "job", "kubelet")


def job(name: str, *command: str, restart: str = "Never", **spec: Any) -> dict[str, Any]:
    main = container(command=list(command)) if command else container()
    template = {"spec": {"restartPolicy": restart, "containers": [main]}}
    return {"metadata": {"name": name}, "spec": {"template": template, **spec}}


def test_a_job_is_done_when_enough_have_succeeded(server: Acting) -> None:
    server.made(JOBS, job("a", completions=3, parallelism=2))
    server.wait(1)
    assert server.status(f"{JOBS}/a")["active"] == 2
    server.wait(5)
    status = server.status(f"{JOBS}/a")
    assert status["succeeded"] == 3
    assert status["completionTime"]
    assert [one["type"] for one in status["conditions"]] == ["SuccessCriteriaMet", "Complete"]
    assert all("finalizers" not in one["metadata"] for one in server.items(PODS))


def test_a_failure_is_tried_again_after_a_while(server: Acting) -> None:
    server.made(JOBS, job("a", "sh", "-c", "exit 3", backoffLimit=2))
    server.wait(8)
    assert server.status(f"{JOBS}/a")["failed"] == 1
    server.wait(8)
    assert server.status(f"{JOBS}/a")["failed"] == 2
    server.wait(10)
    assert server.status(f"{JOBS}/a")["failed"] == 2
    server.wait(15)
    failed = server.condition(f"{JOBS}/a", "Failed")
    assert (failed["status"], failed["reason"]) == ("True", "BackoffLimitExceeded")
    server.wait(1000)
    assert len(server.items(PODS)) == 3


def test_a_container_may_be_started_again_in_its_pod(server: Acting) -> None:
    server.made(JOBS, job("a", "false", restart="OnFailure", backoffLimit=2))
    server.wait(100)
    assert server.condition(f"{JOBS}/a", "Failed")["reason"] == "BackoffLimitExceeded"


def test_a_job_has_so_much_time(server: Acting) -> None:
    server.made(JOBS, job("a", "sleep", "1000", activeDeadlineSeconds=20))
    server.wait(18)
    assert server.status(f"{JOBS}/a")["active"] == 1
    server.wait(5)
    assert server.condition(f"{JOBS}/a", "Failed")["reason"] == "DeadlineExceeded"
    assert "active" not in server.status(f"{JOBS}/a")


def test_a_suspended_job_has_no_pods(server: Acting) -> None:
    server.made(JOBS, job("a", "sleep", "5", suspend=True))
    server.wait(2)
    assert server.items(PODS) == []
    assert server.condition(f"{JOBS}/a", "Suspended")["status"] == "True"
    server.merge(f"{JOBS}/a", {"spec": {"suspend": False}})
    server.wait(2)
    assert len(server.items(PODS)) == 1
    assert server.condition(f"{JOBS}/a", "Suspended")["status"] == "False"


def test_pods_with_indexes_have_one_each(server: Acting) -> None:
    server.made(JOBS, job("a", completions=4, parallelism=4, completionMode="Indexed"))
    server.wait(5)
    assert server.status(f"{JOBS}/a")["completedIndexes"] == "0-3"
    pods = server.items(PODS)
    assert sorted(one["spec"]["hostname"] for one in pods) == ["a-0", "a-1", "a-2", "a-3"]


def test_a_job_that_is_over_goes_when_its_time_has_come() -> None:
    server = Acting("garbage-collector", "job", "ttl-after-finished", "kubelet")
    server.made(JOBS, job("a", ttlSecondsAfterFinished=60))
    server.wait(50)
    assert server.status(f"{JOBS}/a")["succeeded"] == 1
    server.wait(20)
    assert not server.is_there(f"{JOBS}/a")
    assert server.items(PODS) == []


def test_the_pods_of_a_deleted_job_are_orphans_by_default(server: Acting) -> None:
    server.made(JOBS, job("a"))
    server.wait(5)
    server.write("DELETE", f"{JOBS}/a")
    server.wait(1)
    [pod] = server.items(PODS)
    assert "ownerReferences" not in pod["metadata"]


def test_in_the_background_they_go_with_it_even_while_they_work(server: Acting) -> None:
    server.made(JOBS, job("a", "sleep", "1000"))
    server.wait(2)
    server.delete(f"{JOBS}/a", "Background")
    server.wait(2)
    assert server.items(PODS) == []
