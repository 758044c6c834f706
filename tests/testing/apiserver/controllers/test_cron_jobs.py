"""CronJobs on a clock of the test's own, which starts at midnight."""

from __future__ import annotations

from typing import Any

import pytest

from tests.testing.apiserver.asking import names
from tests.testing.apiserver.controllers.acting import JOBS, Acting, container

CRON_JOBS = "/apis/batch/v1/namespaces/default/cronjobs"
MIDNIGHT = 29453760
"""In minutes since 1970: the start of 2026."""


@pytest.fixture
def server() -> Acting:
    return Acting("garbage-collector", "job", "cronjob", "kubelet")


def cron_job(schedule: str, *command: str, **spec: Any) -> dict[str, Any]:
    main = container(command=list(command)) if command else container()
    template = {"spec": {"restartPolicy": "Never", "containers": [main]}}
    job = {"metadata": {"labels": {"a": "b"}}, "spec": {"template": template, "backoffLimit": 0}}
    return {
        "metadata": {"name": "tick"},
        "spec": {"schedule": schedule, "jobTemplate": job, **spec},
    }


def jobs(server: Acting) -> list[str]:
    return [name.removeprefix("tick-") for name in names(server.items(JOBS))]


def at(*minutes: int) -> list[str]:
    return [str(MIDNIGHT + minute) for minute in minutes]


def test_a_job_is_made_at_each_time(server: Acting) -> None:
    server.made(CRON_JOBS, cron_job("*/10 * * * *"))
    server.wait(599)
    assert jobs(server) == []
    server.wait(1)
    [job] = server.items(JOBS)
    assert job["metadata"]["name"] == f"tick-{MIDNIGHT + 10}"
    assert job["metadata"]["labels"]["a"] == "b"
    when = job["metadata"]["annotations"]["batch.kubernetes.io/cronjob-scheduled-timestamp"]
    assert when == "2026-01-01T00:10:00Z"
    status = server.status(f"{CRON_JOBS}/tick")
    assert status["lastScheduleTime"] == "2026-01-01T00:10:00Z"
    assert names([{"metadata": one} for one in status["active"]]) == names([job])
    server.wait(30)
    status = server.status(f"{CRON_JOBS}/tick")
    assert "active" not in status
    assert (
        status["lastSuccessfulTime"]
        == server.status(f"{JOBS}/tick-{MIDNIGHT + 10}")["completionTime"]
    )
    server.wait(1200)
    assert jobs(server) == at(10, 20, 30)


def test_times_are_those_of_its_zone(server: Acting) -> None:
    server.made(CRON_JOBS, cron_job("30 2 * * *", timeZone="Europe/Berlin"))
    server.wait(2 * 3600)
    [job] = server.items(JOBS)
    when = job["metadata"]["annotations"]["batch.kubernetes.io/cronjob-scheduled-timestamp"]
    assert when == "2026-01-01T02:30:00+01:00"


@pytest.mark.parametrize(
    ("policy", "left"),
    [("Allow", at(1, 2, 3)), ("Forbid", at(1)), ("Replace", at(3))],
)
def test_what_becomes_of_those_that_still_run(server: Acting, policy: str, left: list[str]) -> None:
    server.made(CRON_JOBS, cron_job("* * * * *", "sleep", "600", concurrencyPolicy=policy))
    server.wait(185)
    assert jobs(server) == left
    assert len(server.status(f"{CRON_JOBS}/tick")["active"]) == len(left)


def test_while_suspended_nothing_is_made(server: Acting) -> None:
    server.made(CRON_JOBS, cron_job("* * * * *", suspend=True))
    server.wait(300)
    assert jobs(server) == []
    server.merge(f"{CRON_JOBS}/tick", {"spec": {"suspend": False}})
    server.wait(10)
    assert jobs(server) == at(5)  # the last of those that it has missed
    server.wait(60)
    assert jobs(server) == at(5, 6)


def test_what_is_too_late_is_left_out(server: Acting) -> None:
    spec = {"suspend": True, "startingDeadlineSeconds": 30}
    server.made(CRON_JOBS, cron_job("0 * * * *", **spec))
    server.wait(3700)
    server.merge(f"{CRON_JOBS}/tick", {"spec": {"suspend": False}})
    server.wait(10)
    assert jobs(server) == []
    server.wait(3600)
    assert jobs(server) == at(120)


def test_a_new_schedule_has_no_past(server: Acting) -> None:
    server.made(CRON_JOBS, cron_job("0 * * * *"))
    server.wait(1000)
    server.merge(f"{CRON_JOBS}/tick", {"spec": {"schedule": "*/10 * * * *"}})
    server.wait(100)
    assert jobs(server) == []
    server.wait(200)
    assert jobs(server) == at(20)


def test_history_is_kept_as_long_as_the_limits_say(server: Acting) -> None:
    server.made(CRON_JOBS, cron_job("* * * * *", successfulJobsHistoryLimit=2))
    server.wait(350)
    assert jobs(server) == at(4, 5)
    assert f"SuccessfulDelete: Deleted job tick-{MIDNIGHT + 1}" in server.events()


def test_failed_jobs_have_a_limit_of_their_own(server: Acting) -> None:
    server.made(CRON_JOBS, cron_job("* * * * *", "sh", "-c", "exit 1"))
    server.wait(350)
    assert jobs(server) == at(5)
    assert "lastSuccessfulTime" not in server.status(f"{CRON_JOBS}/tick")


def test_a_job_that_somebody_deletes_is_not_active(server: Acting) -> None:
    server.made(CRON_JOBS, cron_job("0 * * * *", "sleep", "600"))
    server.wait(3605)
    server.delete(f"{JOBS}/tick-{MIDNIGHT + 60}")
    server.wait(5)
    assert "active" not in server.status(f"{CRON_JOBS}/tick")
    assert f"MissingJob: Active job went missing: tick-{MIDNIGHT + 60}" in server.events()
    assert jobs(server) == []


def test_a_schedule_without_times_is_told(server: Acting) -> None:
    server.made(CRON_JOBS, cron_job("0 0 31 2 *"))
    server.wait(10)
    assert any(event.startswith("InvalidSchedule: ") for event in server.events())
