"""The checks of Jobs and CronJobs."""

from __future__ import annotations

from ..checks import Checks
from .cron_jobs import CRON_JOBS
from .jobs import JOBS

__all__ = ["CHECKS"]

CHECKS: dict[str, Checks] = {"batch/cronjobs": CRON_JOBS, "batch/jobs": JOBS}
