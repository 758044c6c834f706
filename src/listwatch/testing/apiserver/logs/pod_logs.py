"""GET of `pods/NAME/log`.

A real server asks the kubelet of the pod's node. Here the controller `kubelet` runs the pods, and
without it there is nobody to ask: that is told in the words of a real server that cannot reach one.
"""

from __future__ import annotations

from ..messages import Answer, Reaction, ServerRequest
from ..reading.object_negotiation import view_of
from ..storage.state import State, Target
from ..validation.problems import internal_error, not_found
from .container_log import log_of, shown
from .kubelet_address import container_meant, kubelet_address
from .log_options import LogOptions
from .log_stream import LogStream

__all__ = ["TEXT", "PodLogs"]

TEXT = "text/plain"
_NOTHING = Answer(status=204, content_type=None)
"""Of a pod that is on no node."""


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
        container = container_meant(pod.value, options.container)
        if not pod.value["spec"].get("nodeName"):
            return _NOTHING
        address = kubelet_address(state, target, pod)
        if not state.runs_pods:
            path = f"containerLogs/{target.namespace}/{target.name}/{container}"
            why = f"dial tcp {address}: connect: connection refused"
            raise internal_error(f'Get "https://{address}/{path}": {why}')
        found = log_of(pod.value, container, previous=options.previous)
        now = state.wall()
        if options.follow and not found.ended:
            return LogStream(state, target, pod, container, options, content_type=TEXT)
        return Answer(status=200, body=shown(found.until(now), options, now), content_type=TEXT)
