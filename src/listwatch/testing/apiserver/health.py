"""`/healthz`, `/livez` and `/readyz` (K26)."""

from __future__ import annotations

from dataclasses import replace

from .messages import Answer, ServerRequest
from .plain import plain_text
from .storage.state import State

__all__ = ["Health"]

_CHECKS = ("ping", "log", "etcd", "poststarthook/crd-informer-synced", "autoregister-completion")
_READY_CHECKS = (*_CHECKS[:3], "etcd-readiness", "informer-sync", *_CHECKS[3:], "shutdown")
_ENDPOINTS = {"healthz": _CHECKS, "livez": _CHECKS, "readyz": _READY_CHECKS}
_LATE = frozenset({"informer-sync", "autoregister-completion"})
"""What has still failed just after a start."""


class Health:
    """Healthy from the beginning; ready at once, or at a time that somebody sets."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.ready_at = float("-inf")
        """On the core's clock. `/readyz` fails before it, and nothing else does: lists work earlier
        than that on a real server too.
        """

    @property
    def paths(self) -> list[str]:
        return [
            path
            for endpoint, checks in _ENDPOINTS.items()
            for path in (f"/{endpoint}", *(f"/{endpoint}/{check}" for check in checks))
        ]

    def answer(self, request: ServerRequest, path: str) -> Answer | None:
        """The answer to any method; None where the path is none of these."""
        endpoint, _, check = path[1:].partition("/")
        checks = _ENDPOINTS.get(endpoint)
        if checks is None or not path.startswith("/") or (path != f"/{endpoint}" and not check):
            return None
        failing = _LATE if endpoint == "readyz" and self._is_late() else frozenset()
        if check:
            if check not in checks:
                return None
            if check in failing:
                return plain_text(500, "internal server error: reason withheld\n")
            return replace(_good("ok"), headers=())  # not even what plain text has elsewhere
        if not failing and request.parameter("verbose") is None:
            return _good("ok")
        excluded = {value for name, value in request.query if name == "exclude"}
        lines = [
            f"[-]{name} failed: reason withheld"
            if name in failing - excluded
            else f"[+]{name} {'excluded: ' if name in excluded else ''}ok"
            for name in checks
        ]
        if failing - excluded:
            return plain_text(500, "\n".join([*lines, f"{endpoint} check failed\n"]))
        return _good("\n".join([*lines, f"{endpoint} check passed\n"]))

    def _is_late(self) -> bool:
        return self._state.clock() < self.ready_at


def _good(text: str) -> Answer:
    return plain_text(200, text)
