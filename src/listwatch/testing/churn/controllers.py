"""What controllers and people do: they keep the number of pods, scale, roll out, run jobs."""

from __future__ import annotations

from random import Random
from typing import Any

from listwatch.testing.apiserver.controllers.pod_reports import image_digest

from .kubelet import Kubelet
from .lives import Doomed, Lives
from .manifests import app_object, group_object, pod_template
from .model import App, Group, Node, Pod
from .names import pod_suffix, template_hash
from .reports import app_status, app_step, group_status, group_step, job_status
from .steps import DEPLOYER, Step, Verb
from .timeline import Process, Timeline

__all__ = ["Controllers"]

_HISTORY = 2
"""ReplicaSets that are kept beside the current one."""
_PATIENCE = 90
"""Seconds that a rollout waits for a batch of pods."""
_BETWEEN_ACTIONS = 70.0
"""Seconds between two things that people do to an app, on average."""


class Controllers:
    """The controllers of the cluster, with the people who use them."""

    def __init__(self, rng: Random, timeline: Timeline, nodes: list[Node]) -> None:
        self.kubelet = Kubelet(rng)
        self.lives = Lives(rng, self.kubelet, nodes, self._changed)
        self._rng = rng
        self._timeline = timeline
        self._to_report: dict[App, None] = {}
        self._pods: dict[tuple[str, str], Pod] = {}

    # Pods

    def new_pod(self, group: Group, name: str = "") -> Pod:
        """A pod that is not there yet."""
        rng = self._rng
        while not name or name in group.pods:
            name = f"{group.name}-{pod_suffix(rng)}"
        pod = Pod(group, name, image_digest(group.image), pod_suffix(rng))
        group.pods[name] = pod
        self._pods[pod.namespace, name] = pod
        return pod

    def find(self, namespace: str, name: str) -> Pod | None:
        """The pod of that name."""
        return self._pods.get((namespace, name))

    def adopt(self, pod: Pod) -> None:
        """Let the life of a pod that is ready already go on."""
        pod.task = self._timeline.start(self.lives.live(pod, running=True))

    def doom(self, pod: Pod, *, told: bool = False) -> None:
        """Have a pod end; `told`: somebody else has deleted it."""
        if pod.doomed:
            return
        pod.doomed = True
        if pod.uid:
            self._timeline.interrupt(pod.task, Doomed(told=told))
        self._changed(pod)

    def _changed(self, pod: Pod) -> None:
        group = pod.group
        if pod.name not in group.pods:
            self._pods.pop((pod.namespace, pod.name), None)
        self._keep_number(group)
        if group.app not in self._to_report:
            self._to_report[group.app] = None
            self._timeline.start(self._report(group.app), after=self._rng.uniform(1, 4))

    def _keep_number(self, group: Group) -> None:
        if group.kind == "Job":
            return
        if group.kind == "StatefulSet":
            names = [f"{group.name}-{number}" for number in range(group.desired)]
            for name in names:
                if name not in group.pods:
                    self._start_pod(group, name)
            surplus = [pod for pod in group.live if pod.name not in names]
        else:
            live = group.live
            for _ in range(group.desired - len(live)):
                self._start_pod(group)
            # Those that are not ready go first.
            surplus = sorted(live, key=lambda pod: pod.ready)[: max(0, len(live) - group.desired)]
        for pod in surplus:
            self.doom(pod)

    def _start_pod(self, group: Group, name: str = "") -> None:
        pod = self.new_pod(group, name)
        process = self.lives.live(pod)
        pod.task = self._timeline.start(process, after=self._rng.uniform(0.05, 0.8))

    # Reports

    def _report(self, app: App) -> Process:
        self._to_report.pop(app, None)
        for group in app.groups:
            if group.kind == "ReplicaSet":
                status = group_status(group)
                if status != group.reported:
                    group.reported = status
                    yield group_step(Verb.STATUS, group, {"status": status})
        app_now = app_status(app, self.kubelet.now)
        if app_now is not None and app_now != app.reported:
            app.reported = app_now
            step = app_step(Verb.STATUS, app, {"status": app_now})
            yield step
            if step.refused:
                app.reported = None
                yield from self._make_again(app)

    def _make_again(self, app: App) -> Process:
        """The app is gone, as after a restart that lost everything: back to what it should be."""
        namespace = Step(
            Verb.CREATE,
            "v1/namespaces",
            "",
            app.namespace,
            DEPLOYER,
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": app.namespace}},
        )
        yield namespace
        created = app_step(Verb.CREATE, app, app_object(app), manager=DEPLOYER)
        yield created
        if created.refused:
            return
        app.uid = created.uid
        for group in app.groups:
            if group.kind == "ReplicaSet":
                step = group_step(Verb.CREATE, group, group_object(group))
                yield step
                group.uid = step.uid or group.uid
            else:
                group.uid = app.uid

    # People

    def care_for(self, app: App) -> Process:
        """What is done to an app from time to time, for ever."""
        rng = self._rng
        yield rng.uniform(0, _BETWEEN_ACTIONS)
        if app.blueprint.kind == "CronJob":
            while True:
                yield rng.expovariate(1 / app.blueprint.calm)
                yield from self._run_job(app)
        while True:
            chance = rng.random()
            if chance < 0.35:
                yield from self._roll_out(app)
            elif chance < 0.65:
                yield from self._scale(app)
            else:
                self._delete_a_pod(app)
            yield rng.expovariate(1 / _BETWEEN_ACTIONS)

    def _scale(self, app: App) -> Process:
        group, base = app.current, app.usual
        assert group is not None
        wanted = self._rng.choice((base, base + 1, max(1, base - 1)))
        if wanted == app.replicas:
            return
        app.replicas = wanted
        yield app_step(Verb.PATCH, app, {"spec": {"replicas": wanted}}, manager=DEPLOYER)
        yield from self._resize(group, wanted)

    def _delete_a_pod(self, app: App) -> None:
        assert app.current is not None
        live = app.current.live
        if live:
            self.doom(self._rng.choice(live))

    def _roll_out(self, app: App) -> Process:
        """Replace all pods, some at a time, by those of a newer image."""
        old = app.current
        assert old is not None
        app.version += 1
        app.revision += 1
        change: dict[str, Any] = {"spec": {"template": pod_template(app)}}
        if old.kind == "StatefulSet":
            yield app_step(Verb.PATCH, app, change, manager=DEPLOYER)
            old.image = app.image
            yield from self._restart_in_turn(old)
            return
        revision = {"deployment.kubernetes.io/revision": str(app.revision)}
        yield app_step(
            Verb.PATCH, app, {**change, "metadata": {"annotations": revision}}, manager=DEPLOYER
        )
        digest = template_hash(self._rng)
        new = Group(app, "ReplicaSet", f"{app.name}-{digest}", digest, image=app.image)
        step = group_step(Verb.CREATE, new, group_object(new))
        yield step
        if step.refused:
            return
        new.uid = step.uid
        app.old.append(old)
        app.current = new
        batch = max(1, -(-app.replicas // 3))
        while new.desired < app.replicas:
            yield from self._resize(new, min(app.replicas, new.desired + batch))
            for _ in range(_PATIENCE):
                yield 1.0
                if new.ready >= new.desired:
                    break
            yield from self._resize(old, max(0, app.replicas - new.desired))
        yield from self._forget_history(app)

    def _resize(self, group: Group, desired: int) -> Process:
        if group.desired == desired:
            return
        group.desired = desired
        if group.kind == "ReplicaSet":
            yield group_step(Verb.PATCH, group, {"spec": {"replicas": desired}})
        self._keep_number(group)

    def _restart_in_turn(self, group: Group) -> Process:
        for number in reversed(range(group.desired)):
            name = f"{group.name}-{number}"
            before = group.pods.get(name)
            if before is None:
                continue
            self.doom(before)
            for _ in range(_PATIENCE):
                yield 1.0
                now = group.pods.get(name)
                if now is not None and now is not before and now.ready:
                    break

    def _forget_history(self, app: App) -> Process:
        for group in [found for found in app.old if not found.pods][:-_HISTORY]:
            app.old.remove(group)
            yield group_step(Verb.DELETE, group, {"propagationPolicy": "Background"})

    def _run_job(self, app: App) -> Process:
        """One run of a CronJob, and cleaning up after it."""
        number = 29_000_000 + app.revision * 5
        app.revision += 1
        job = Group(app, "Job", f"{app.name}-{number}", desired=app.replicas, image=app.image)
        step = group_step(Verb.CREATE, job, group_object(job))
        yield step
        if step.refused:
            yield from self._make_again(app)
            return
        job.uid, app.current = step.uid, job
        for _ in range(job.desired):
            self._start_pod(job)
        for _ in range(10 * _PATIENCE):
            yield 1.0
            status = job_status(job, self.kubelet.now)
            if status != job.reported:
                job.reported = status
                yield group_step(Verb.STATUS, job, {"status": status})
            if job.succeeded >= job.desired or job.failed > 2:
                break
            for _ in range(job.desired - job.succeeded - len(job.live)):
                self._start_pod(job)
        yield self._rng.uniform(10, 30)
        for pod in list(job.pods.values()):
            self.doom(pod)
        yield group_step(Verb.DELETE, job, {"propagationPolicy": "Background"})
        app.current = None
