"""Objects by the thousand: a server makes one of each sort, and the others are written like it.

So they have all that it fills in, defaults and managedFields included, and cost a tenth.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from random import Random
from typing import Any

from listwatch.testing.apiserver import APIServer
from listwatch.testing.apiserver.controllers.pod_reports import image_digest

from .blueprints import Blueprint
from .carry_out import carry_out
from .kubelet import Kubelet
from .manifests import app_object, group_object, pod_object, side_objects
from .model import App, Group, Node, Pod
from .reports import app_status, app_step, group_status, group_step
from .steps import DEPLOYER, Step, Verb
from .templates import Template

__all__ = ["exemplar_of"]

_APP, _APP_UID = "qxapp", "qxappuid"
_HASH, _GROUP_UID = "qxhash", "qxgroupuid"
_SUFFIX, _POD_UID = "qxsuffix", "qxpoduid"
_NODE, _NODE_IP, _POD_IP = "qxnode", "10.0.3.253", "203.0.113.2"
_TOKEN, _CONTAINER = "qxtoken", f"containerd://{'c0' * 32}"
_CREATED, _STARTED = "2001-01-01T00:00:00Z", "2002-01-01T00:00:00Z"
# The longer ones first: some begin like others.
_PLACES = re.compile(
    "|".join(
        (
            *(_APP_UID, _APP, _HASH, _GROUP_UID, _SUFFIX, _POD_UID, _NODE, _TOKEN, _CONTAINER),
            *map(re.escape, (_NODE_IP, _POD_IP, _CREATED, _STARTED)),
        )
    )
)


@cache
def exemplar_of(blueprint: Blueprint) -> _Exemplar:
    """The same one every time: it depends on nothing else."""
    return _Exemplar(blueprint)


class _Exemplar:
    """What the objects of a blueprint look like in a cluster where they run."""

    def __init__(self, blueprint: Blueprint) -> None:
        self._blueprint = blueprint
        self._now = _CREATED
        self._core = APIServer(
            clock=lambda: 0.0, wall=lambda: datetime.fromisoformat(self._now), rng=Random(1)
        )
        self._core.load([_namespace(blueprint.namespace)])
        self._uids: dict[str, str] = {}
        app = App(blueprint, _APP, 1)
        made = self._do(app_step(Verb.CREATE, app, app_object(app), manager=DEPLOYER))
        app.uid = made.uid
        self._uids[app.uid] = _APP_UID
        self._side = [self._side_object(found) for found in side_objects(app)]
        self._group: Template | None = None
        self._pod: Template | None = None
        if blueprint.kind != "CronJob":
            group = self._running_group(app)
            status = app_status(app, _CREATED)
            self._do(app_step(Verb.STATUS, app, {"status": status}))
            if group.kind == "ReplicaSet":
                self._do(group_step(Verb.STATUS, group, {"status": group_status(group)}))
                self._group = self._read("apps/replicasets", group.name)
        self._app = self._read(made.storage, _APP)
        del self._core

    def app_objects(
        self, app: App, created: str, addresses: Iterator[str]
    ) -> Iterator[dict[str, Any]]:
        """What there is of an app beside its pods, with all of them ready. Services are given
        `addresses`.
        """
        group = app.current
        values = {_APP: app.name, _APP_UID: app.uid, _CREATED: created, _STARTED: created}
        if group is not None:
            values |= {_HASH: group.template_hash, _GROUP_UID: group.uid}
        value = self._app.fill(values)
        if group is not None:
            _count(value, app.replicas)
        yield value
        if self._group is not None:
            value = self._group.fill(values)
            _count(value, app.replicas)
            yield value
        for template in self._side:
            value = template.fill(values)
            if value["kind"] == "Service" and value["spec"]["clusterIP"] != "None":
                address = next(addresses)
                value["spec"] = {**value["spec"], "clusterIP": address, "clusterIPs": [address]}
            yield value

    def pod(self, pod: Pod, created: str) -> dict[str, Any]:
        """A pod that runs. Its node is set."""
        assert self._pod is not None
        assert pod.node is not None
        values = {
            _APP: pod.app.name,
            _APP_UID: pod.app.uid,
            _HASH: pod.group.template_hash,
            _GROUP_UID: pod.group.uid,
            _SUFFIX: pod.name.rpartition("-")[2],
            _POD_UID: pod.uid,
            _NODE: pod.node.name,
            _NODE_IP: pod.node.ip,
            _POD_IP: pod.ip,
            _TOKEN: pod.token,
            _CONTAINER: pod.container_id,
            _CREATED: created,
            _STARTED: pod.started_at,
        }
        return self._pod.fill(values)

    def _running_group(self, app: App) -> Group:
        group = Group(app, app.blueprint.kind, _APP, uid=app.uid, image=app.image, desired=1)
        app.current = group
        if group.kind == "Deployment":
            group.kind, group.name, group.template_hash = "ReplicaSet", f"{_APP}-{_HASH}", _HASH
            group.uid = self._do(group_step(Verb.CREATE, group, group_object(group))).uid
            self._uids[group.uid] = _GROUP_UID
        pod = Pod(group, f"{group.name}-{_SUFFIX}", image_digest(group.image), _TOKEN)
        group.pods[pod.name] = pod
        step = Step(
            *(Verb.CREATE, "v1/pods", pod.namespace, pod.name, "kube-controller-manager"),
            pod_object(pod),
        )
        pod.uid = self._do(step).uid
        self._uids[pod.uid] = _POD_UID
        pod.node, pod.ip = Node(_NODE, 999), _POD_IP
        self._now = _STARTED
        kubelet = Kubelet(Random(1))
        kubelet.now = _STARTED
        for change in (kubelet.bound, kubelet.accepted, kubelet.started, kubelet.ready):
            self._do(change(pod))
        self._uids[pod.container_id] = _CONTAINER
        self._pod = self._read("pods", pod.name)
        self._now = _CREATED
        return group

    def _side_object(self, value: dict[str, Any]) -> Template:
        resource = f"v1/{value['kind'].lower()}s"
        metadata = value["metadata"]
        self._do(
            Step(Verb.CREATE, resource, metadata["namespace"], metadata["name"], DEPLOYER, value)
        )
        return self._read(resource.partition("/")[2], metadata["name"])

    def _do(self, step: Step) -> Step:
        carry_out(self._core, step)
        assert not step.refused, step
        return step

    def _read(self, storage: str, name: str) -> Template:
        found = self._core.state.log.get(storage, (self._blueprint.namespace, name))
        assert found is not None
        text = found.raw.decode()
        for uid, place in self._uids.items():
            text = text.replace(uid, place)
        return Template(text, _PLACES)


def _count(value: dict[str, Any], replicas: int) -> None:
    counted = {
        name: replicas if name.endswith("eplicas") and name != "unavailableReplicas" else found
        for name, found in value["status"].items()
    }
    value["status"] = counted
    value["spec"] = {**value["spec"], "replicas": replicas}


def _namespace(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
