"""What CronJobs make, and what they say of it, is the same on both servers."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.controllers.manifests import Stages, both, job
from conformance.controllers.stage import Stage
from conformance.requests import Json

_OFTEN = "@every 2s"
"""Nobody has a minute. The names of the Jobs still count minutes."""


def _cron_job(name: str, **spec: Any) -> Json:
    template = {"metadata": {"labels": {"of": name}, "annotations": {"note": "x"}}}
    template["spec"] = job(name)["spec"]
    return {"metadata": {"name": name}, "spec": {"jobTemplate": template, **spec}}


def _has(stage: Stage, *members: str) -> bool:
    status = stage.get("cronjobs", "tick").get("status", {})
    return all(member in status for member in members)


@pytest.mark.parametrize("more", [{}, {"timeZone": "Asia/Kathmandu"}])
def test_a_cron_job_that_works(stages: Stages, more: Json) -> None:
    """Its Job, what the status says while it works, and the Events."""

    def play(stage: Stage) -> Any:
        stage.create("cronjobs", _cron_job("tick", schedule=_OFTEN, **more))
        stage.until(lambda: _has(stage, "active"), "a Job")
        stage.change("cronjobs", "tick", {"spec": {"suspend": True}})
        stage.until(lambda: len(stage.objects("pods")) == 1, "a pod")
        return stage.told("cronjobs", "jobs", "pods", generations=False), stage.events()

    both(stages, play)


@pytest.mark.parametrize("name", ["tick", "bad"])
def test_a_cron_job_whose_job_is_over(stages: Stages, name: str) -> None:
    """It is active no more, and when it succeeded the status says when."""

    def play(stage: Stage) -> Any:
        made = _cron_job("tick", schedule=_OFTEN)
        made["spec"]["jobTemplate"]["spec"]["backoffLimit"] = 0
        made["spec"]["jobTemplate"]["spec"]["template"]["metadata"] = {"labels": {"end": name}}
        stage.create("cronjobs", made)
        stage.until(lambda: _has(stage, "active"), "a Job")
        stage.change("cronjobs", "tick", {"spec": {"suspend": True}})
        stage.wait(lambda: not _has(stage, "active"), "the end of the Job")
        return stage.told("cronjobs", "jobs", generations=False), stage.events()

    both(stages, play)


def test_a_history_of_nothing(stages: Stages) -> None:
    """A Job that is over is deleted at once."""

    def play(stage: Stage) -> Any:
        stage.create("cronjobs", _cron_job("tick", schedule=_OFTEN, successfulJobsHistoryLimit=0))
        stage.until(lambda: _has(stage, "active"), "a Job")
        stage.change("cronjobs", "tick", {"spec": {"suspend": True}})
        stage.wait(lambda: not stage.objects("jobs"), "the end of the Job")
        # The real one may see that it is gone before it sees what itself has said of it.
        events = [event for event in stage.events() if "MissingJob" not in event]
        return stage.told("cronjobs"), events

    both(stages, play)


def test_a_job_that_somebody_deletes(stages: Stages) -> None:
    """It is missed, and active no more."""

    def play(stage: Stage) -> Any:
        stage.create("cronjobs", _cron_job("tick", schedule=_OFTEN))
        stage.until(lambda: _has(stage, "active"), "a Job")
        stage.change("cronjobs", "tick", {"spec": {"suspend": True}})
        [made] = stage.objects("jobs")
        stage.delete("jobs", made["metadata"]["name"], "Background")
        stage.until(lambda: not _has(stage, "active"), "a status")
        return stage.told("cronjobs", generations=False), stage.events()

    both(stages, play)


def test_a_schedule_that_never_comes(stages: Stages) -> None:
    """It is told in an Event."""

    def play(stage: Stage) -> Any:
        stage.create("cronjobs", _cron_job("tick", schedule="0 0 31 2 *"))
        stage.until(stage.events, "an Event")
        return stage.told("cronjobs"), stage.events()

    both(stages, play)
