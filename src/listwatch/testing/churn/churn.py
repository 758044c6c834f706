"""A made-up cluster: what is in it at the start, and what happens then, all from a seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from random import Random
from typing import Any, Self

from listwatch.testing.apiserver.controllers.nodes import node_object
from listwatch.testing.apiserver.controllers.pod_reports import hex_digits
from listwatch.testing.apiserver.writing.metadata import new_uid, timestamp

from .blueprints import BATCH
from .controllers import Controllers
from .exemplars import exemplar_of
from .load import fillers, new_apps, new_nodes, service_addresses
from .model import App, Group, Pod
from .names import template_hash
from .steps import Step
from .timeline import Timeline

__all__ = ["Churn"]

_OLDEST = 9 * 86400.0
"""Seconds: how long ago the cluster was made."""


class Churn:
    """The writes of a cluster that is in use, one after the other.

    >>> from datetime import UTC
    >>> churn = Churn(7, wall=lambda: datetime(2026, 1, 1, tzinfo=UTC), load={"pods": 20})
    >>> len([found for found in churn.objects() if found["kind"] == "Pod"])
    20
    >>> step = next(churn)                     # as fast as whoever owns the time likes
    >>> step.verb.value, step.resource, step.manager
    ('status', 'v1/pods', 'kubelet')

    `load` says how many of each kind there are (see `parse_load`), and about so many stay. First
    `objects` has to be stored, then each step to be carried out (see `carry_out`) before the next
    one is asked for. From the same seed and the same `wall` it is the same cluster, and the same
    things happen in it, as long as nobody else does anything to its pods.
    """

    def __init__(
        self,
        seed: int = 0,
        *,
        wall: Callable[[], datetime],
        load: Mapping[str, int],
    ) -> None:
        self._wall = wall
        self._rng = Random(seed)
        self._load = dict(load)
        self._timeline = Timeline()
        self._addresses = service_addresses()
        self._nodes = new_nodes(load)
        if not self._nodes and (load.get("pods") or load.get("deployments")):
            raise ValueError("pods need a node to run on")
        self._apps = new_apps(load)
        if self._apps:
            self._apps += [App(found, found.name, found.replicas) for found in BATCH]
        self._controllers = Controllers(self._rng, self._timeline, self._nodes)

    @property
    def busy(self) -> bool:
        """Whether there is anything that can happen: it takes pods."""
        return bool(self._apps)

    def objects(self) -> Iterator[dict[str, Any]]:
        """All that is there at the start, to be loaded in this order. Once."""
        made: Counter[str] = Counter()
        for value in self._objects():
            made[f"{value['kind'].lower()}s"] += 1
            yield value
        yield from fillers(self._load, made, self._rng, self._addresses)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Step:
        self._controllers.kubelet.now = timestamp(self._wall())
        step = self._timeline.next()
        if step is None:
            raise StopIteration
        return step

    def deleted(self, namespace: str, name: str, uid: str) -> None:
        """Somebody else has deleted this pod, or told it to end."""
        pod = self._controllers.find(namespace, name)
        if pod is not None and pod.uid == uid:
            self._controllers.doom(pod, told=True)

    def _objects(self) -> Iterator[dict[str, Any]]:
        start = self._ago(_OLDEST)
        for node in self._nodes:
            value = node_object(node, timestamp(self._wall()))
            value["metadata"]["creationTimestamp"] = start
            yield value
        for app in self._apps:
            yield from self._objects_of(app)
        for app in self._apps:
            self._timeline.start(self._controllers.care_for(app))

    def _objects_of(self, app: App) -> Iterator[dict[str, Any]]:
        rng, controllers = self._rng, self._controllers
        exemplar = exemplar_of(app.blueprint)
        age = rng.uniform(3600, _OLDEST)
        app.uid = new_uid(rng)
        group: Group | None = None
        if app.blueprint.kind == "StatefulSet":
            group = Group(app, "StatefulSet", app.name, uid=app.uid)
        elif app.blueprint.kind == "Deployment":
            digest = template_hash(rng)
            group = Group(app, "ReplicaSet", f"{app.name}-{digest}", digest, uid=new_uid(rng))
        app.current = group
        if group is not None:
            group.desired, group.image = app.replicas, app.image
        yield from exemplar.app_objects(app, self._ago(age), self._addresses)
        for number in range(app.replicas if group is not None else 0):
            assert group is not None
            name = f"{app.name}-{number}" if group.kind == "StatefulSet" else ""
            pod = controllers.new_pod(group, name)
            created = age * rng.uniform(0.05, 1)
            self._make_run(pod, created)
            yield exemplar.pod(pod, self._ago(created))
            controllers.adopt(pod)

    def _make_run(self, pod: Pod, created: float) -> None:
        """Put the pod into the state of one that became ready soon after it was created."""
        controllers = self._controllers
        controllers.lives.place(pod)
        pod.uid = new_uid(self._rng)
        controllers.kubelet.now = self._ago(created - self._rng.uniform(2, 9))
        for change in (controllers.kubelet.bound, controllers.kubelet.accepted):
            change(pod)
        controllers.kubelet.started(pod)
        controllers.kubelet.ready(pod)
        pod.container_id = f"containerd://{hex_digits(self._rng)}"

    def _ago(self, seconds: float) -> str:
        return timestamp(self._wall() - timedelta(seconds=seconds))
