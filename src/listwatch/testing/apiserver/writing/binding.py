"""Bindings: a scheduler says on which node a pod is to run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from listwatch.api import APIResource

from ..deleting.namespaces import check_open
from ..messages import Answer, ServerRequest
from ..reading.object_answers import warning_headers
from ..reading.object_negotiation import view_of
from ..statuses import done
from ..storage.state import State, Target
from ..storage.storage_keys import uid_precondition_failed
from ..types.go_structs import in_go_form
from ..types.served import ResourceType
from ..validation.problems import bad_request, conflict, internal_error, not_found
from .metadata import timestamp
from .subresource_name import SubresourceName
from .told import told
from .write_checks import check_namespace, read_sent
from .write_options import WriteOptions, write_options

__all__ = ["Bindings", "bound"]

_BINDING = ResourceType(
    resource=APIResource(group="", version="v1", name="bindings", kind="Binding", namespaced=True),
    storage="",
    members={"target": ...},
)


def bound(pod: Mapping[str, Any], node: str, conditions: list[Mapping[str, Any]]) -> dict[str, Any]:
    """`pod` on `node`, with these conditions. It is written in nobody's name (managedFields)."""
    placed = {**pod, "spec": {**pod["spec"], "nodeName": node}}
    spec = in_go_form("v1", "Pod", placed, pod)["spec"]
    before: dict[str, Any] = dict(pod.get("status") or {})
    status = {"phase": "Pending", **before, "conditions": conditions}
    if "qosClass" in status:
        status["qosClass"] = status.pop("qosClass")  # it is written last
    return {**pod, "metadata": dict(pod["metadata"]), "spec": spec, "status": status}


class Bindings:
    """Binds pods to nodes. Whether there is such a node is not asked, as there."""

    def __init__(self, state: State) -> None:
        self._state = state

    def create(self, target: Target, request: ServerRequest) -> Answer:
        """POST of `pods/NAME/binding`. Raises `Refused`."""
        options = write_options(request)
        value, warnings = read_sent(replace(target, type=_BINDING), request, options)
        if value["metadata"].get("name") != target.name:
            raise bad_request("name in URL does not match name in Binding object")
        return self._bind(target, value, options, warnings)

    def create_named(self, target: Target, request: ServerRequest) -> Answer:
        """POST of `bindings`, the older path: the body says which pod, and its uid does not count.
        Raises `Refused`.
        """
        view_of(request, _BINDING, collection=False)
        options = write_options(request)
        value, warnings = read_sent(replace(target, type=_BINDING), request, options)
        with told(warnings):
            check_namespace(target, value["metadata"])
            name = value["metadata"].get("name")
            if not name:
                raise bad_request("Name parameter required.")
            check_open(self._state, _BINDING, target.namespace, name)
            value["metadata"].pop("uid", None)
            pods = self._state.types.find("", "v1", "pods")
            assert pods is not None  # a built-in type
            of_pod = replace(target, type=pods, name=name, subresource="binding")
            asked_about = replace(target, name=name)
            return self._bind(of_pod, value, options, warnings, asked_about)

    def _bind(
        self,
        target: Target,
        value: Mapping[str, Any],
        options: WriteOptions,
        warnings: list[str],
        asked_about: Target | None = None,
    ) -> Answer:
        """`asked_about`: as what webhooks are asked about it, where it is not `target`."""
        metadata, to = value["metadata"], value.get("target")
        node = _node(to if isinstance(to, dict) else {})
        of, log = target.type, self._state.log
        if self._state.consulting is not None:
            shown = {**value, "metadata": {**metadata, "namespace": target.namespace}}
            self._state.consulting.check_new(asked_about or target, shown)
        stored = log.get(of.storage, (target.namespace, target.name))
        if stored is None:
            raise not_found(of, target.name)
        self._check(target, metadata, stored.value)
        pod = stored.value
        joined = {}
        for name in ("labels", "annotations"):
            if metadata.get(name):
                joined[name] = {**(pod["metadata"].get(name) or {}), **metadata[name]}
        conditions = list((pod.get("status") or {}).get("conditions") or ())
        made = bound(pod, node, [*_others(conditions), _scheduled(timestamp(self._state.wall()))])
        made["metadata"] |= joined
        if not options.dry_run:
            log.put(of.storage, stored.key, of.ordered(made))
        return replace(done(), headers=warning_headers(warnings))

    def _check(self, target: Target, sent: Mapping[str, Any], pod: Mapping[str, Any]) -> None:
        of, name, metadata = target.type, target.name, pod["metadata"]
        key = (target.namespace, name)
        uid, rv = sent.get("uid"), sent.get("resourceVersion")
        if uid and uid != metadata["uid"]:
            raise uid_precondition_failed(of, key, uid, metadata["uid"])
        if rv and rv != metadata["resourceVersion"]:
            path = f"/registry/pods/{target.namespace}/{name}"
            raise conflict(
                of,
                name,
                f"StorageError: invalid object, Code: 4, Key: {path}, ResourceVersion: 0, "
                f"AdditionalErrorMsg: Precondition failed: ResourceVersion in precondition: {rv}, "
                f"ResourceVersion in object meta: {metadata['resourceVersion']}",
            )
        why = ""
        if metadata.get("deletionTimestamp") is not None:
            why = f"pod {name} is being deleted, cannot be assigned to a host"
        elif pod["spec"].get("nodeName"):
            why = f'pod {name} is already assigned to node "{pod["spec"]["nodeName"]}"'
        elif pod["spec"].get("schedulingGates"):
            why = f"pod {name} has non-empty .spec.schedulingGates"
        if why:
            raise conflict(SubresourceName(of, "binding"), name, why)


def _node(target: Mapping[str, Any]) -> str:
    kind, name = target.get("kind") or "", target.get("name") or ""
    if kind not in ("", "Node"):
        raise internal_error(
            f'target.kind: Unsupported value: "{kind}": supported values: "Node", "<empty>"'
        )
    if not name:
        raise internal_error("target.name: Required value")
    return str(name)


def _others(conditions: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [found for found in conditions if found.get("type") != "PodScheduled"]


def _scheduled(now: str) -> dict[str, Any]:
    return {
        "type": "PodScheduled",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": now,
    }
