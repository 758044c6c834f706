"""What one container of a pod has printed until now."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from ..validation.problems import bad_request
from .log_options import LogOptions
from .printed import printed_by

__all__ = ["ContainerLog", "containers_of", "log_of", "shown"]

_STATUSES = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
_AGES = 10**9
"""Seconds before which nothing has been printed."""
_LISTS = ("initContainers", "containers", "ephemeralContainers")


class ContainerLog(NamedTuple):
    """The lines of one run, each with its time, also those that are still to come."""

    lines: list[tuple[datetime, str]]
    ended: bool

    def until(self, now: datetime) -> list[tuple[datetime, str]]:
        return [line for line in self.lines if line[0] <= now]

    def next_after(self, now: datetime) -> datetime | None:
        """When the next line comes."""
        return next((time for time, _ in self.lines if time > now), None)


def containers_of(spec: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """All containers by their names, in the order in which messages name them."""
    return {str(each.get("name")): each for members in _LISTS for each in spec.get(members) or ()}


def log_of(pod: Mapping[str, Any], name: str, *, previous: bool) -> ContainerLog:
    """Of the run that is asked for. Raises `Refused` (400), in a kubelet's words, where there was
    none.
    """
    status: Mapping[str, Any] = next(
        (
            found
            for member in _STATUSES
            for found in (pod.get("status") or {}).get(member) or ()
            if found.get("name") == name
        ),
        {},
    )
    state, last = status.get("state") or {}, status.get("lastState") or {}
    pod_name = pod["metadata"]["name"]
    if previous:
        run = last.get("terminated")
        if not run:
            raise bad_request(
                f'previous terminated container "{name}" in pod "{pod_name}" not found'
            )
    else:
        run = state.get("running") or state.get("terminated") or last.get("terminated")
    if not run or not run.get("startedAt"):
        why = (state.get("waiting") or {}).get("reason") or "ContainerCreating"
        raise bad_request(f'container "{name}" in pod "{pod_name}" is waiting to start: {why}')
    started = datetime.fromisoformat(run["startedAt"])
    finished = datetime.fromisoformat(run["finishedAt"]) if run.get("finishedAt") else None
    lines = [
        (started + timedelta(seconds=line.after), line.text)
        for line in printed_by(containers_of(pod["spec"])[name])
    ]
    if finished is not None:
        # Times in a status are whole seconds.
        lines = [line for line in lines if line[0] < finished + timedelta(seconds=1)]
    return ContainerLog(lines, finished is not None)


def shown(lines: list[tuple[datetime, str]], options: LogOptions, now: datetime) -> bytes:
    """The lines as they are sent, cut as the options say."""
    since = options.since
    if options.since_seconds is not None:
        since = now - timedelta(seconds=min(options.since_seconds, _AGES))
    if since is not None:
        lines = [line for line in lines if line[0] >= since]
    if options.tail_lines is not None:
        lines = lines[len(lines) - min(options.tail_lines, len(lines)) :]
    texts = [f"{_stamp(time)} {text}" if options.timestamps else text for time, text in lines]
    body = "".join(f"{text}\n" for text in texts).encode()
    return body if options.limit_bytes is None else body[: options.limit_bytes]


def _stamp(time: datetime) -> str:
    utc = time.astimezone(UTC)
    return f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond:06}000Z"
