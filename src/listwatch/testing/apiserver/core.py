"""A Kubernetes API server without sockets, clock or event loop: requests in, reactions out.

>>> import datetime, json
>>> clock = [0.0]                                      # seconds; the caller owns the time
>>> start = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
>>> server = APIServer(
...     clock=lambda: clock[0],
...     wall=lambda: start + datetime.timedelta(seconds=clock[0]),
... )
>>> pods = "/api/v1/namespaces/default/pods"
>>> pod = b'{"metadata": {"name": "web"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}'
>>> server.handle(ServerRequest(method="POST", path=pods, body=pod)).status
201
>>> answer = server.handle(ServerRequest(method="GET", path=f"{pods}/web"))
>>> json.loads(answer.body)["metadata"]["creationTimestamp"]
'2026-01-01T00:00:00Z'
>>> clock[0] = 300.0                                   # whatever was due meanwhile happens now
>>> server.run_due()

A reaction is an `Answer`, or something that goes on: a `Later` or a `WatchStream` (messages.py).
What stands behind a request is in parts of their own: `routes` says what it is for, `auth` whether
it is allowed; `reads`, `watches`, `writes` and `deletion` do it; `crds` adds types, `discovery`
lists them. All of them share one `State`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from random import Random
from typing import Any, Literal

from .auth import Auth
from .deleting.deletion import Deletions
from .messages import Reaction, ServerRequest
from .reading.encoding import go_json
from .reading.presentation import Presentation, warning_header
from .reading.reads import Reads
from .statuses import Refused
from .storage.loading import Loader
from .storage.log import WriteLog
from .storage.state import Settings, State, Target
from .types.crd_types import check_definition, completed
from .types.crds import CRD_STORAGE, CustomResources
from .types.discovery import Discovery
from .types.request_info import request_info
from .types.routes import NonResource, Route, route
from .types.served import TypeRegistry
from .types.type_table import builtin_types
from .watching.watches import WatchHub
from .writing.request_bodies import read_body
from .writing.writes import Writes

__all__ = ["APIServer"]

_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")


class APIServer:
    """The core of the embedded server.

    `clock` counts seconds from anywhere and never goes back; `wall` gives the time, with its zone,
    that objects are stamped with; `rng` makes uids, name suffixes and watch durations, so that a
    run can be repeated. Without `auth` everybody may do everything.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float],
        wall: Callable[[], datetime],
        rng: Random | None = None,
        settings: Settings | None = None,
        auth: Auth | None = None,
    ) -> None:
        self.state = State(
            log=WriteLog(clock),
            types=TypeRegistry(builtin_types()),
            clock=clock,
            wall=wall,
            rng=rng or Random(0),
            settings=settings or Settings(),
        )
        self.auth = auth
        self.watches = WatchHub(self.state)
        """The open watches and what they are served from."""
        self._reads = Reads(self.state)
        self._writes = Writes(self.state)
        self._deletions = Deletions(self.state)
        self._crds = CustomResources(self.state, self.watches)
        self._discovery = Discovery(self.state)
        self._loader = Loader(self.state, self._crds.settle)
        self._compaction = _Compaction(self.state)
        self._found()

    # Requests

    def handle(self, request: ServerRequest) -> Reaction:
        """Answer one request. What was due before it happens first."""
        self.run_due()
        headers: tuple[tuple[str, str], ...] = ()
        audit_id = request.headers.get("audit-id")
        if audit_id:
            headers = (("Audit-Id", audit_id),)
        try:
            info = request_info(request)
            if self.auth is not None:
                self.auth.check(request, info)
            found = route(self.state, request, info)
            if isinstance(found, NonResource):
                reaction: Reaction = self._discovery.answer(request, found.path)
            else:
                warning = found.target.type.warning
                if warning:
                    headers = (*headers, warning_header(warning))
                reaction = self._react(found)
        except Refused as refused:
            reaction = refused.answer
        if self._crds.next_due is not None:
            self._crds.run_due()  # what this request has led to does not wait for the next one
        return Presentation(request, headers).of(reaction)

    def _react(self, found: Route) -> Reaction:
        target, verb, request = found.target, found.verb, found.request
        if target.type.custom:
            self._crds.check_initialized(target.type, verb, request)
        elif target.type.storage == CRD_STORAGE:
            return self._react_to_definition(found)
        return self._react_plainly(target, verb, request)

    def _react_plainly(self, target: Target, verb: str, request: ServerRequest) -> Reaction:
        match verb:
            case "get":
                return self._reads.get(target, request)
            case "list":
                return self._reads.list(target, request)
            case "watch":
                return self.watches.open(target, request)
            case "create":
                return self._writes.create(target, request)
            case "update":
                return self._writes.update(target, request)
            case "patch":
                return self._writes.patch(target, request)
            case "delete":
                return self._deletions.delete(target, request)
            case "deletecollection":
                return self._deletions.delete_collection(target, request)
        raise AssertionError(f"no such verb: {verb}")

    # Time

    @property
    def next_due(self) -> float | None:
        """When `run_due` has something to do, on the core's clock; None: nothing is planned.

        Watches and later answers have a `due` of their own.
        """
        planned = (self._crds.next_due, self._deletions.next_due, self._compaction.next_due)
        return min((due for due in planned if due is not None), default=None)

    def run_due(self) -> None:
        """Do what was planned for now or before: graceful deletions, the ends of custom resources,
        compaction.
        """
        due = self.next_due
        if due is not None and due <= (now := self.state.clock()):
            self._crds.run_due()
            self._deletions.run_due(now)
            self._compaction.run_due(now)

    # Controls

    def load(self, objects: Iterable[Mapping[str, Any]]) -> int:
        """Store objects as a create would, but for its checks and without a request each; give
        their number.

        Each needs apiVersion, kind and a name. What an object has of uid, creationTimestamp and
        status stays; a namespace that is not there is made. Custom resources can follow their
        definition at once. Raises `UnknownKind`.
        """
        return self._loader.load(objects)

    def compact(self, rv: int | None = None) -> None:
        """Forget the states before revision `rv`; None: all but the newest (K21)."""
        self.state.log.compact(self.state.log.revision if rv is None else rv)

    def backup(self) -> WriteLog:
        """A copy of the store, for `restart`."""
        return self.state.log.backup()

    def restart(
        self, history: Literal["kept", "lost"] | WriteLog = "kept", *, ready_after: float = 0.0
    ) -> None:
        """Start again: open watches end, and what was only in memory is gone (K21, K24).

        The history is kept; or lost, with all objects; or turned back to a backup, after which RVs
        that clients know lie in the future. `/readyz` fails for `ready_after` seconds.
        """
        self.end_watches()
        log = self.state.log
        if history == "lost":
            log.restore(WriteLog(self.state.clock))
        elif isinstance(history, WriteLog):
            log.restore(history)
        self.watches.restart()
        self._crds.reload()
        self._discovery.health.ready_at = self.state.clock() + ready_after
        if history == "lost":
            self._found()

    def end_watches(self, which: Callable[[Target], bool] = lambda target: True) -> None:
        """End open watches cleanly: all, or those for which `which` is true."""
        self.watches.end(which)

    def _found(self) -> None:
        for name in _NAMESPACES:
            self._loader.namespace(name)

    def _react_to_definition(self, found: Route) -> Reaction:
        """Definitions of custom resources are completed before they are stored, and die slowly."""
        target, verb, request = found.target, found.verb, found.request
        stored = self.state.log.get(CRD_STORAGE, ("", target.name))
        if verb in ("create", "update") and not target.subresource:
            request = _with_completed_definition(request)
            if verb == "create":
                check_definition(json.loads(self._writes.create(target, _dry(request)).body))
        if verb in ("update", "patch") and stored is not None:
            write = self._writes.update if verb == "update" else self._writes.patch
            written = json.loads(write(target, _dry(request)).body)
            check_definition(written, stored.value, patched=verb == "patch")
        if verb == "delete" and stored is not None and "deletionTimestamp" not in stored.metadata:
            answer = self._deletions.delete(target, _dry(request))  # refuses what it has to refuse
            is_dry = request.parameter("dryRun") is not None
            return answer if is_dry else self._crds.terminate(stored)
        return self._react_plainly(target, verb, request)


def _dry(request: ServerRequest) -> ServerRequest:
    return replace(request, query=(*request.query, ("dryRun", "All")))


def _with_completed_definition(request: ServerRequest) -> ServerRequest:
    try:
        definition = read_body(request)
    except Refused:
        return request  # the writes say what is wrong with it, in other words
    headers = {**request.headers, "content-type": "application/json"}
    return replace(request, headers=headers, body=go_json(completed(definition)))


class _Compaction:
    """Every so often, forgets what was history the last time already, as etcd's clients do."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._interval = state.settings.compaction_interval
        self._revision = state.log.revision
        self.next_due = None if self._interval is None else state.clock() + self._interval

    def run_due(self, now: float) -> None:
        while self.next_due is not None and self._interval is not None and self.next_due <= now:
            self._state.log.compact(self._revision)
            self._revision = self._state.log.revision
            self.next_due += self._interval
