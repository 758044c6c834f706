"""What happens to a pod from its creation to its end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from .kubelet import Kubelet
from .manifests import pod_object
from .model import Node, Pod
from .steps import CONTROLLER, Step, Verb
from .timeline import Process

__all__ = ["Doomed", "Lives"]

_UNSCHEDULABLE = 0.03
_NO_IMAGE = 0.02
_FAILED_JOB = 0.12


class Doomed(Exception):
    """The pod is to end."""

    def __init__(self, *, told: bool = False) -> None:
        super().__init__()
        self.told = told
        """Whether the server knows already."""


class _Gone(Exception):
    """The server does not know the pod any more."""


class Lives:
    """`nodes` are where pods run. `changed` is called when a pod's readiness has changed, or it is
    there no more.
    """

    def __init__(
        self,
        rng: Random,
        kubelet: Kubelet,
        nodes: Sequence[Node],
        changed: Callable[[Pod], None],
    ) -> None:
        self._rng = rng
        self._kubelet = kubelet
        self._nodes = nodes
        self._changed = changed

    def place(self, pod: Pod) -> None:
        """Choose a node for it: the emptier of two."""
        node = min(self._rng.choices(self._nodes, k=2), key=lambda found: found.pods)
        node.pods += 1
        pod.node, pod.ip = node, node.next_address()

    def live(self, pod: Pod, *, running: bool = False) -> Process:
        """The whole life; from when it was ready, if it is `running`."""
        try:
            if not running:
                yield from self._create(pod)
            try:
                if not running:
                    yield from self._start(pod)
                if pod.group.kind == "Job":
                    yield from self._work(pod)
                else:
                    yield from self._serve(pod)
            except Doomed as doomed:
                yield from self._end(pod, told=doomed.told)
        except (_Gone, Doomed):
            pass  # either way there is nothing left to do
        finally:
            if pod.node is not None:
                pod.node.pods -= 1
            pod.group.pods.pop(pod.name, None)
            pod.doomed = True
            self._changed(pod)

    def _create(self, pod: Pod) -> Process:
        if pod.doomed:
            raise _Gone
        body = pod_object(pod)
        step = Step(Verb.CREATE, "v1/pods", pod.namespace, pod.name, CONTROLLER, body)
        yield from _write(step)
        pod.uid = step.uid

    def _start(self, pod: Pod) -> Process:
        rng, kubelet = self._rng, self._kubelet
        if pod.doomed:
            raise Doomed  # while it was being created
        yield rng.uniform(0.05, 0.4)
        if rng.random() < _UNSCHEDULABLE:
            yield from _write(kubelet.unschedulable(pod, len(self._nodes)))
            yield rng.uniform(4, 12)
        self.place(pod)
        yield from _write(kubelet.bound(pod))
        yield rng.uniform(0.1, 0.6)
        yield from _write(kubelet.accepted(pod))
        yield rng.uniform(0.8, 3)
        if rng.random() < _NO_IMAGE:
            yield from _write(kubelet.cannot_pull(pod, "ErrImagePull"))
            yield rng.uniform(2, 4)
            yield from _write(kubelet.cannot_pull(pod, "ImagePullBackOff"))
            yield rng.uniform(6, 15)
        yield from _write(kubelet.started(pod))
        if pod.group.kind != "Job":
            yield rng.uniform(1, 4)
            yield from self._write_ready(pod)

    def _serve(self, pod: Pod) -> Process:
        """Until it is told to end."""
        rng, kubelet, blueprint = self._rng, self._kubelet, pod.app.blueprint
        while True:
            yield rng.expovariate(1 / blueprint.calm)
            chance = rng.random()
            if chance < 0.12:
                yield from _write(kubelet.evicted(pod))
                self._changed(pod)
                yield rng.uniform(20, 60)
                yield from _write(kubelet.gone(pod))
                raise _Gone
            if chance < 0.45:
                yield from _write(kubelet.ready(pod, ready=False))
                self._changed(pod)
                yield rng.uniform(3, 10)
                yield from self._write_ready(pod)
                continue
            for attempt in range(rng.choice((1, 1, 2, 3))):
                yield from _write(kubelet.crashed(pod, blueprint.crash))
                self._changed(pod)
                yield rng.uniform(0.3, 1)
                if attempt or pod.restarts:
                    back_off = min(300, 10 * 2 ** min(pod.restarts, 5))
                    yield from _write(kubelet.backs_off(pod, back_off))
                    yield rng.uniform(5, 10) * (attempt + 1)
                yield from _write(kubelet.restarted(pod))
                yield rng.uniform(1, 4)
            yield from self._write_ready(pod)

    def _work(self, pod: Pod) -> Process:
        """A pod of a Job: until its work is done, and then until it is cleaned up."""
        rng = self._rng
        yield rng.uniform(5, 25)
        fails = rng.random() < _FAILED_JOB
        yield from _write(self._kubelet.stopped(pod, "Error" if fails else "Completed"))
        if fails:
            pod.group.failed += 1
        else:
            pod.group.succeeded += 1
        self._changed(pod)
        while True:
            yield 3600.0

    def _end(self, pod: Pod, *, told: bool) -> Process:
        rng, kubelet = self._rng, self._kubelet
        if not told:
            yield from _write(kubelet.told_to_end(pod))
            if pod.node is None or pod.finished:
                return  # nothing runs, so that it went at once
        yield rng.uniform(1, 4)
        if pod.node is not None and "running" in pod.state:
            yield from _write(kubelet.stopped(pod))
            yield rng.uniform(0.1, 0.5)
        yield from _write(kubelet.gone(pod))

    def _write_ready(self, pod: Pod) -> Process:
        yield from _write(self._kubelet.ready(pod))
        self._changed(pod)


def _write(step: Step) -> Process:
    yield step
    if step.refused:
        raise _Gone
