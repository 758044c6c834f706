"""Those paths below an object that are neither the object nor its status; and `bindings`, which is
one of a pod's under another path.
"""

from __future__ import annotations

from .deleting.deletion import Deletions
from .deleting.eviction import Evictions
from .logs.pod_logs import PodLogs
from .logs.pod_streams import PodStreams
from .messages import Reaction, ServerRequest
from .storage.state import State, Target
from .writing.binding import Bindings
from .writing.custom_scale import CustomScales
from .writing.scale import Scales

__all__ = ["Subresources"]


class Subresources:
    """Knows who answers for which of them."""

    def __init__(self, state: State, deletions: Deletions) -> None:
        self._scales = Scales(state)
        self._custom_scales = CustomScales(state)
        self._evictions = Evictions(state, deletions)
        self._bindings = Bindings(state)
        self._logs = PodLogs(state)
        self._streams = PodStreams(state)

    def react(self, target: Target, verb: str, request: ServerRequest) -> Reaction:
        """Raises `Refused`."""
        scales = self._custom_scales if target.type.custom else self._scales
        match target.subresource, verb:
            case "scale", "get" | "watch":  # a watch of one is a GET, as there
                return scales.get(target, request)
            case "scale", "update":
                return scales.update(target, request)
            case "scale", "patch":
                return scales.patch(target, request)
            case "log", "get":
                return self._logs.get(target, request)
            case "exec" | "attach" | "portforward", "get" | "create":
                self._streams.open(target, request)
            case "eviction", "create":
                return self._evictions.create(target, request)
            case "binding", "create":
                return self._bindings.create(target, request)
            case "", "create":
                return self._bindings.create_named(target, request)
        raise AssertionError(f"no such verb: {verb} of {target.subresource}")
