"""A running server told what to do over HTTP, under `/_listwatch/`: JSON in, JSON out.

    GET    /_listwatch/state                what it holds and does now
    GET    /_listwatch/faults               its faults, and how often each took effect
    POST   /_listwatch/faults               one more: {"fault": "watch pods: cut after 5000 bytes"}
    DELETE /_listwatch/faults               none any more; /_listwatch/faults/3: not that one
    GET    /_listwatch/log                  every time that a fault took effect
    POST   /_listwatch/compact              {"resourceVersion": 17}, or {} for all but the newest
    POST   /_listwatch/backup               remember this state of the store
    POST   /_listwatch/restart              {"history": "kept" | "lost" | "back", "down": seconds}
    POST   /_listwatch/end-watches          end every watch cleanly
    POST   /_listwatch/rotate-certificate   {"authority": true} for another authority, too
    POST   /_listwatch/expire-tokens        {"token": "..."}, or {} for all

Nobody is asked who he is: it is off unless it is enabled, and for loopback only.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from .faults.current import ActiveFault
from .faults.language import FaultSyntaxError
from .faults.model import Compact, ExpireToken, Rotate
from .messages import Answer, ServerRequest
from .service import Service

__all__ = ["PREFIX", "Control"]

PREFIX = "/_listwatch/"

_Handler = Callable[[dict[str, Any]], Any]


class _Refused(Exception):
    def __init__(self, status: int, problem: str) -> None:
        super().__init__(problem)
        self.status = status


class Control:
    """Answers the requests under `PREFIX`, and lets all others pass."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._backup: Any = None
        self._routes: dict[tuple[str, str], _Handler] = {
            ("GET", "state"): self._state,
            ("GET", "faults"): self._faults,
            ("POST", "faults"): self._add_fault,
            ("DELETE", "faults"): self._clear_faults,
            ("GET", "log"): self._log,
            ("POST", "compact"): self._compact,
            ("POST", "backup"): self._back_up,
            ("POST", "restart"): self._restart,
            ("POST", "end-watches"): self._end_watches,
            ("POST", "rotate-certificate"): self._rotate,
            ("POST", "expire-tokens"): self._expire,
        }

    def __call__(self, request: ServerRequest) -> Answer | None:
        """The answer, or None where the path is not one of the control endpoint's."""
        if not request.path.startswith(PREFIX):
            return None
        try:
            return _json(200, self._handle(request))
        except _Refused as refused:
            return _json(refused.status, {"error": str(refused)})
        except FaultSyntaxError as error:
            return _json(400, {"error": str(error), "position": error.position})

    def _handle(self, request: ServerRequest) -> Any:
        what = request.path.removeprefix(PREFIX).strip("/")
        handler = self._routes.get((request.method, what))
        if handler is not None:
            return handler(_body_of(request))
        kind, _, number = what.partition("/")
        if kind == "faults" and number.isdecimal() and request.method in ("GET", "DELETE"):
            return self._one_fault(int(number), remove=request.method == "DELETE")
        allowed = [method for method, path in self._routes if path == what]
        if allowed:
            raise _Refused(405, f"{PREFIX}{what} takes {' and '.join(allowed)}")
        known = ", ".join(sorted({path for _, path in self._routes}))
        raise _Refused(404, f"there is no {PREFIX}{what}; there are {known}")

    def _state(self, _: dict[str, Any]) -> Any:
        service = self._service
        log = self._core.state.log
        return {
            "resourceVersion": str(log.revision),
            "compactedBefore": str(log.compacted),
            "objects": {name: log.count(name) for name in log.storages() if log.count(name)},
            "requests": len(service.exchanges),
            "watches": service.watches,
            "refusing": service.refusing,
            "faults": [_described(active) for active in service.faults],
        }

    def _faults(self, _: dict[str, Any]) -> Any:
        return [_described(active) for active in self._service.faults]

    def _add_fault(self, given: dict[str, Any]) -> Any:
        return _described(self._service.faults.add(_text(given, "fault")))

    def _clear_faults(self, _: dict[str, Any]) -> Any:
        self._service.faults.clear()
        return []

    def _one_fault(self, number: int, *, remove: bool) -> Any:
        active = self._service.faults.get(number)
        if active is None:
            raise _Refused(404, f"there is no fault {number}")
        if remove:
            self._service.faults.remove(active)
        return _described(active)

    def _log(self, _: dict[str, Any]) -> Any:
        return [
            {
                "time": applied.time,
                "id": applied.id,
                "fault": str(applied.fault),
                "request": applied.request,
            }
            for applied in self._service.faults.log
        ]

    def _compact(self, given: dict[str, Any]) -> Any:
        rv = given.get("resourceVersion")
        if rv is None:
            self._service.perform(Compact())
        elif isinstance(rv, str | int) and str(rv).isdecimal():
            self._core.compact(int(rv))
            self._service.look_again()
        else:
            raise _Refused(400, "resourceVersion should be a number")
        return {"compactedBefore": str(self._core.state.log.compacted)}

    def _back_up(self, _: dict[str, Any]) -> Any:
        self._backup = self._core.state.log.backup()
        return {"resourceVersion": str(self._backup.revision)}

    def _restart(self, given: dict[str, Any]) -> Any:
        history, down = given.get("history", "kept"), given.get("down", 0)
        if history not in ("kept", "lost", "back"):
            raise _Refused(400, "history should be kept, lost or back")
        if isinstance(down, bool) or not isinstance(down, int | float) or down < 0:
            raise _Refused(400, "down should be a number of seconds")
        if history == "back" and self._backup is None:
            raise _Refused(409, f"nothing to go back to: POST {PREFIX}backup first")
        self._service.restart(history, down=float(down), backup=self._backup)
        return {"resourceVersion": str(self._core.state.log.revision)}

    def _end_watches(self, _: dict[str, Any]) -> Any:
        ended = self._service.watches
        self._core.end_watches()
        return {"ended": ended}

    def _rotate(self, given: dict[str, Any]) -> Any:
        authority = given.get("authority", False)
        if not isinstance(authority, bool):
            raise _Refused(400, "authority should be true or false")
        self._service.perform(Rotate("authority" if authority else "certificate"))
        return {}

    def _expire(self, given: dict[str, Any]) -> Any:
        token = _text(given, "token") if "token" in given else ""
        self._service.perform(ExpireToken(token))
        return {}

    @property
    def _core(self) -> Any:
        return self._service.core


def _described(active: ActiveFault) -> dict[str, Any]:
    return {
        "id": active.id,
        "fault": str(active.fault),
        "requests": active.requests,
        "applied": active.applied,
        "spent": active.spent,
    }


def _body_of(request: ServerRequest) -> dict[str, Any]:
    if not request.body:
        return {}
    try:
        found = json.loads(request.body)
    except ValueError as error:
        raise _Refused(400, f"the body is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise _Refused(400, "the body should be a JSON object")
    return found


def _text(given: dict[str, Any], name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str):
        raise _Refused(400, f"{name} should be text")
    return value


def _json(status: int, value: Any) -> Answer:
    return Answer(status=status, body=json.dumps(value, indent=2).encode() + b"\n")
