"""GET of `pods/NAME/log`.

A real server asks the kubelet of the pod's node. Here the controller `kubelet` runs the pods, and
without it there is nobody to ask: that is told in the words of a real server that cannot reach one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..messages import Answer, Reaction, ServerRequest
from ..reading.object_negotiation import view_of
from ..storage.log import StoredObject
from ..storage.state import State, Target
from ..validation.problems import bad_request, internal_error, not_found
from .container_log import containers_of, log_of, shown
from .log_options import LogOptions
from .log_stream import LogStream

__all__ = ["TEXT", "PodLogs"]

TEXT = "text/plain"
_NOTHING = Answer(status=204, content_type=None)
"""Of a pod that is on no node."""
_KUBELET_PORT = 10250
_ADDRESSES = ("Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP")
"""Types of addresses, in the order in which a real server prefers them."""


class PodLogs:
    """Answers with what containers print (`printed.py`)."""

    def __init__(self, state: State) -> None:
        self._state = state

    def get(self, target: Target, request: ServerRequest) -> Reaction:
        """The lines until now, or, with `follow`, those that come too. Raises `Refused`."""
        of, state = target.type, self._state
        view_of(request, of, collection=False)
        options = LogOptions.of(request, target.name)
        pod = state.log.get(of.storage, (target.namespace, target.name))
        if pod is None:
            raise not_found(of, target.name)
        container = _container(pod.value, options.container)
        if not pod.value["spec"].get("nodeName"):
            return _NOTHING
        self._find_kubelet(target, pod, container)
        found = log_of(pod.value, container, previous=options.previous)
        now = state.wall()
        if options.follow and not found.ended:
            return LogStream(state, target, pod, container, options, content_type=TEXT)
        return Answer(status=200, body=shown(found.until(now), options, now), content_type=TEXT)

    def _find_kubelet(self, target: Target, pod: StoredObject, container: str) -> None:
        """Raises `Refused` where there is none to ask."""
        name = pod.value["spec"]["nodeName"]
        node = self._state.log.get("nodes", ("", name))
        if node is None:
            raise not_found(target.type, name)  # of the pods, as there
        if self._state.runs_pods:
            return
        addresses = (node.value.get("status") or {}).get("addresses") or ()
        by_type = {each.get("type"): each.get("address") for each in reversed(addresses)}
        address = next((by_type[kind] for kind in _ADDRESSES if kind in by_type), None)
        if address is None:
            raise internal_error("no preferred addresses found; known addresses: []")
        at = f"{address}:{_KUBELET_PORT}"
        path = f"containerLogs/{target.namespace}/{target.name}/{container}"
        why = f"dial tcp {at}: connect: connection refused"
        raise internal_error(f'Get "https://{at}/{path}": {why}')


def _container(pod: Mapping[str, Any], asked: str) -> str:
    """Which container is meant. Raises `Refused`."""
    name = pod["metadata"]["name"]
    known = containers_of(pod["spec"])
    if asked:
        if asked not in known:
            raise bad_request(f"container {asked} is not valid for pod {name}")
        return asked
    containers = pod["spec"].get("containers") or []
    if len(containers) == 1:
        return str(containers[0].get("name"))
    must = f"a container name must be specified for pod {name}"
    raise bad_request(f"{must}, choose one of: [{' '.join(known)}]" if containers else must)
