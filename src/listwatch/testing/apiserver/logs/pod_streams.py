"""`pods/NAME/exec`, `attach` and `portforward`: what `kubectl exec`, `cp` and `port-forward` ask.

There is no container behind any pod. So everything is checked as a real server does before it calls
the kubelet, and then the call fails: without the controller `kubelet` in the words of a real server
that cannot reach one, and with it in words that say why.
"""

from __future__ import annotations

from typing import NoReturn

from ..messages import ServerRequest
from ..storage.state import State, Target
from ..validation.problems import bad_request, internal_error, not_found
from .kubelet_address import container_meant, kubelet_address

__all__ = ["PodStreams"]

_NOTHING = (
    "the embedded server has no real containers: exec, attach, cp and port-forward have nothing "
    "to reach"
)


class PodStreams:
    """Refuses them all."""

    def __init__(self, state: State) -> None:
        self._state = state

    def open(self, target: Target, request: ServerRequest) -> NoReturn:
        """Raises `Refused`."""
        pod = self._state.log.get(target.type.storage, (target.namespace, target.name))
        if pod is None:
            raise not_found(target.type, target.name)
        if target.subresource != "portforward":
            container_meant(pod.value, request.parameter("container") or "")
        if not pod.value["spec"].get("nodeName"):
            raise bad_request(f"pod {target.name} does not have a host assigned")
        address = kubelet_address(self._state, target, pod)
        if "upgrade" not in request.headers.get("connection", "").lower():
            raise bad_request("Upgrade request required")
        refused = f"dial tcp {address}: connect: connection refused"
        why = _NOTHING if self._state.runs_pods else refused
        raise internal_error(f"error dialing backend: {why}")
