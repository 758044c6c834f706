"""DELETE of one object and of many, and what is left to do after it (K33 to K37)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import msgspec

from ..messages import Answer, Later, Reaction, ServerRequest, WatchStream
from ..reading.object_answers import object_answer, warning_headers
from ..reading.object_negotiation import view_of
from ..reading.reads import Reads
from ..statuses import Refused, success
from ..storage.log import StoredObject
from ..storage.state import State, Target
from ..storage.timers import Timers
from ..types.served import ResourceType
from ..validation.problems import not_found
from ..writing.metadata import timestamp
from ..writing.told import told
from . import namespaces
from .delete_options import DeleteOptions
from .dying import check_preconditions, first_step

__all__ = ["Deletions"]

_NAMESPACE_DELAY = 5.0
"""Seconds after which the content of a deleted namespace goes (K37)."""
_JOB_WARNING = (
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background "
    "to remove them or set propagationPolicy=Orphan to suppress this warning"
)
_ANSWERED_WHILE_DYING = frozenset({"batch/jobs"})
"""Types whose DELETE answers the object because, by default, they do not go at once."""
_NOW = DeleteOptions(grace_period=0)
_BACKGROUND = DeleteOptions(propagation="Background")
_LIST_PARAMETERS = frozenset(
    {
        "labelSelector",
        "fieldSelector",
        "limit",
        "continue",
        "resourceVersion",
        "resourceVersionMatch",
        "includeObject",
    }
)


class Deletions:
    """What deletes objects, now or, where they are given time, later."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._reads = Reads(state)
        self._timers = Timers()

    # Requests

    def delete(self, target: Target, request: ServerRequest) -> Answer:
        """Delete one object, or begin to."""
        of = target.type
        view = view_of(request, of, collection=False, wall=self._state.wall)
        options = DeleteOptions.of(request)
        if of.storage == "namespaces":
            namespaces.check_deletable(of, target.name)
        key = (target.namespace if of.namespaced else "", target.name)
        warnings = _warnings(of, options)
        with told(warnings):
            stored = self._state.log.get(of.storage, key)
            if stored is None:
                raise not_found(of, target.name)
            if self._state.consulting is not None:
                check_preconditions(of, stored.metadata, options)
                self._state.consulting.check_deletion(target, of.shown(stored.value))
            left, gone = self._delete(of, stored, options)
        if gone and not (of.delete_returns_object and of.storage not in _ANSWERED_WHILE_DYING):
            answer = _status_of(of, stored)
            return replace(answer, headers=warning_headers(warnings))
        status = 202 if not gone and options.orphan is False else 200
        return object_answer(view, left, status, warnings)

    def delete_collection(self, target: Target, request: ServerRequest) -> Reaction:
        """Delete what a list with the same selectors has, and answer the list."""
        options = DeleteOptions.of(request)
        query = tuple(pair for pair in request.query if pair[0] in _LIST_PARAMETERS)
        listed = self._reads.list(target, replace(request, method="GET", query=query, body=b""))

        def delete(answer: Answer) -> Answer:
            whole = answer
            if answer.body.startswith(b'{"kind":"Table"'):  # which need not tell what is in it
                plain = {**request.headers, "accept": "application/json"}
                again = replace(request, method="GET", query=query, headers=plain, body=b"")
                found = self._reads.list(target, again)
                assert isinstance(found, Answer)  # what was waited for is there
                whole = found
            return self._delete_listed(target, options, answer, whole)

        return delete(listed) if isinstance(listed, Answer) else _DeletedLater(listed, delete)

    def end(self, of: ResourceType, stored: StoredObject, options: DeleteOptions) -> None:
        """Delete an object, or begin to, for a request that was no DELETE."""
        self._delete(of, stored, options)

    # Time

    @property
    def next_due(self) -> float | None:
        """When `run_due` has something to do, on the core's clock, in seconds."""
        return self._timers.next_due

    def run_due(self, now: float) -> None:
        """Finish the graceful deletions whose time is over."""
        self._timers.run_due(now)

    # Deleting

    def _delete_listed(
        self, target: Target, options: DeleteOptions, answer: Answer, whole: Answer
    ) -> Answer:
        """`answer` is what the client is told of the list `whole`."""
        if answer.status != 200:
            return answer
        of = target.type
        items = msgspec.json.decode(whole.body)["items"] or ()
        if self._state.consulting is not None:
            # All at first, since what is deleted would be missing when this is tried again.
            for at, item in enumerate(items):
                found = self._found(of, item)
                if found is None:
                    continue
                try:
                    self._state.consulting.check_deletion(target, of.shown(found.value))
                except Refused:
                    self._delete_items(of, items[:at], options)
                    raise
        self._delete_items(of, items, options)
        warnings = warning_headers(_warnings(of, options))
        return replace(answer, headers=(*answer.headers, *warnings))

    def _delete_items(
        self, of: ResourceType, items: Sequence[Mapping[str, Any]], options: DeleteOptions
    ) -> None:
        for item in items:
            found = self._found(of, item)
            if found is not None:
                self._delete(of, found, options)

    def _found(self, of: ResourceType, item: Mapping[str, Any]) -> StoredObject | None:
        """An object of a list as it is now."""
        metadata = item["metadata"]
        key = (metadata.get("namespace", ""), metadata["name"])
        return self._state.log.get(of.storage, key)

    def _delete(
        self, of: ResourceType, stored: StoredObject, options: DeleteOptions
    ) -> tuple[StoredObject | Mapping[str, Any], bool]:
        """Take the steps that can be taken now. Gives what is left, or was there last, and whether
        it is gone.
        """
        check_preconditions(of, stored.metadata, options)
        if of.storage == "namespaces":
            return self._delete_namespace(of, stored, options)
        log, key = self._state.log, stored.key
        step = first_step(of, stored.value, options, self._state.wall())
        if step.value is None and not step.goes:
            return stored, False
        left: StoredObject | Mapping[str, Any] = stored
        if step.value is not None:
            value = _of_version(self._state, of, stored).ordered(step.value)
            if options.dry_run:
                return value, step.goes
            if value != stored.value:
                left = stored = log.put(of.storage, key, value)
        if step.goes:
            return (left if options.dry_run else log.delete(of.storage, key)), True
        if of.storage == "pods":
            self._plan_end(stored)
        return left, False

    def _delete_namespace(
        self, of: ResourceType, stored: StoredObject, options: DeleteOptions
    ) -> tuple[StoredObject | Mapping[str, Any], bool]:
        log, wall = self._state.log, self._state.wall
        if stored.metadata.get("deletionTimestamp") is None:
            value = of.ordered(namespaces.terminating(stored.value, timestamp(wall())))
            if options.dry_run:
                return value, False
            stored = log.put(of.storage, stored.key, value)
            if self._state.settings.namespace_deletion:
                self._plan_emptying(stored)
        spec = stored.value.get("spec") or {}
        if spec.get("finalizers") or stored.metadata.get("finalizers"):
            return stored, False
        return (stored if options.dry_run else log.delete(of.storage, stored.key)), True

    # Later

    def _plan_end(self, pod: StoredObject) -> None:
        """The pod is told to end: see to it when its time is over."""
        state = self._state
        if not state.settings.pod_termination or not pod.metadata["deletionGracePeriodSeconds"]:
            return
        uid = pod.metadata["uid"]

        def end() -> None:
            found = state.log.get("pods", pod.key)
            of = state.types.find("", "v1", "pods")
            if found is not None and of is not None and found.metadata["uid"] == uid:
                self._delete(of, found, _NOW)

        due = datetime.fromisoformat(pod.metadata["deletionTimestamp"])
        left = (due - state.wall()).total_seconds()
        self._timers.at(state.clock() + max(left, 0.0), end)

    def _plan_emptying(self, namespace: StoredObject) -> None:
        state, name, uid = self._state, namespace.key[1], namespace.metadata["uid"]

        def empty() -> None:
            found = state.log.get("namespaces", namespace.key)
            if found is None or found.metadata["uid"] != uid:
                return
            for storage, content in list(namespaces.contents(state.log, name)):
                versions = state.types.versions_of(storage)
                if versions:
                    self._delete(versions[0], content, _BACKGROUND)
            if any(namespaces.contents(state.log, name)):
                self._timers.at(state.clock() + _NAMESPACE_DELAY, empty)
            else:
                namespaces.finish(state, name)

        self._timers.at(state.clock() + _NAMESPACE_DELAY, empty)


class _DeletedLater:
    """A list that has to wait, and is deleted when it is there."""

    def __init__(self, listed: Later | WatchStream, delete: Callable[[Answer], Answer]) -> None:
        assert not hasattr(listed, "take")
        self._listed: Later = listed
        self._delete = delete

    @property
    def due(self) -> float:
        return self._listed.due

    def tick(self) -> Answer | WatchStream | None:
        found = self._listed.tick()
        if not isinstance(found, Answer):
            return found
        try:
            return self._delete(found)
        except Refused as refused:
            return refused.answer

    @property
    def wake(self) -> Callable[[], None] | None:
        return self._listed.wake

    @wake.setter
    def wake(self, wake: Callable[[], None] | None) -> None:
        self._listed.wake = wake

    def close(self) -> None:
        self._listed.close()


def _of_version(state: State, of: ResourceType, stored: StoredObject) -> ResourceType:
    """The type in the version that an object was stored in: a DELETE does not convert it."""
    api_version = stored.value["apiVersion"]
    if api_version == of.api_version:
        return of
    versions = state.types.versions_of(of.storage)
    return next((found for found in versions if found.api_version == api_version), of)


def _warnings(of: ResourceType, options: DeleteOptions) -> list[str]:
    return [_JOB_WARNING] if of.storage == "batch/jobs" and options.is_default else []


def _status_of(of: ResourceType, stored: StoredObject) -> Answer:
    details = {"name": stored.key[1]}
    if of.group:
        details["group"] = of.group
    details["kind"] = of.plural
    details["uid"] = stored.metadata["uid"]
    return success(details)
