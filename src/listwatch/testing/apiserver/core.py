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

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import cached_property, partial
from random import Random
from typing import TYPE_CHECKING, Any, Literal

from .admission.system_classes import system_classes
from .allocating.records import AddressRecords, first_objects
from .auth import Auth, User
from .deleting.deletion import Deletions
from .messages import Reaction, ServerRequest
from .reading.presentation import Presentation, warning_header
from .reading.reads import Reads
from .reading.timeouts import check_timeout
from .reviews.reviews import Reviews
from .statuses import Refused
from .storage.first_namespaces import first_namespaces
from .storage.loading import Loader
from .storage.log import WriteLog
from .storage.state import Settings, State, Target
from .types.api_services import LocalAPIServices
from .types.crds import CRD_STORAGE, CustomResources
from .types.discovery import Discovery
from .types.request_info import request_info
from .types.routes import REVIEW_GROUPS, NonResource, Route, route
from .types.served import TypeRegistry
from .types.type_table import builtin_types
from .watching.watches import WatchHub
from .webhooks.hooks import is_configured
from .writing.writes import Writes

if TYPE_CHECKING:
    from .controllers.running import RunningControllers
    from .subresources import Subresources
    from .webhooks.consultation import Ask
    from .writing.definitions import Definitions

__all__ = ["APIServer"]

_SUBRESOURCES = frozenset(
    {"scale", "eviction", "binding", "log", "exec", "attach", "portforward"},
)
"""What `Subresources` answers."""
_WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})


class APIServer:
    """The core of the embedded server.

    `clock` counts seconds from anywhere and never goes back; `wall` gives the time, with its zone,
    that objects are stamped with; `rng` makes uids, name suffixes and watch durations, so that a
    run can be repeated. Without `auth` everybody may do everything. `controllers` are switched on
    by name (`run_controllers`).
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float],
        wall: Callable[[], datetime],
        rng: Random | None = None,
        settings: Settings | None = None,
        auth: Auth | None = None,
        controllers: Iterable[str] = (),
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
        self.webhooks = True
        """Whether webhooks are asked before something is written."""
        self.ask_webhook: Ask | None = None
        """How they are asked: of whoever shows the core to clients."""
        self.watches = WatchHub(self.state)
        """The open watches and what they are served from."""
        self._reads = Reads(self.state)
        self._writes = Writes(self.state)
        self._deletions = Deletions(self.state)
        self._crds = CustomResources(self.state, self.watches)
        self._reviews = Reviews(self.state)
        self._discovery = Discovery(self.state)
        self._addresses = AddressRecords(self.state)
        self._api_services = LocalAPIServices(self.state)
        self._loader = Loader(self.state, self._crds.settle)
        self._compaction = _Compaction(self.state)
        self._controllers: RunningControllers | None = None
        self._found()
        self.run_controllers(controllers)

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
            if request.query:
                check_timeout(request, info)
            self.state.user = user = self._reviews.admit(self.auth, request, info)
            found = route(self.state, request, info)
            if isinstance(found, NonResource):
                reaction: Reaction = self._discovery.answer(request, found.path)
            else:
                warning = found.target.type.warning
                if warning:
                    headers = (*headers, warning_header(warning))
                if found.verb in _WRITES and self.webhooks and is_configured(self.state):
                    reaction = self._consulted(found, user)
                else:
                    reaction = self._react(found)
        except Refused as refused:
            reaction = refused.answer
        self._settle()
        return Presentation(request, headers).of(reaction)

    def _consulted(self, found: Route, user: User) -> Reaction:
        # Few have any, and they take time to load.
        from .webhooks.consultation import consulted
        from .webhooks.consulting import Consulting

        consulting = Consulting(self.state, user, found.request)
        return consulted(self.state, consulting, partial(self._written, found), self.ask_webhook)

    def _written(self, found: Route) -> Reaction:
        """The reaction to a write that may come long after `handle`."""
        try:
            return self._react(found)
        finally:
            self._settle()

    def _settle(self) -> None:
        """What a request has led to does not wait for the next one."""
        if self._crds.next_due is not None:
            self._crds.run_due()
        self._addresses.settle()
        self._api_services.settle()

    def _react(self, found: Route) -> Reaction:
        target, verb, request = found.target, found.verb, found.request
        if _is_question(target):
            return self._reviews.create(self.auth, target, request, self.state.user)
        if target.type.custom:
            self._crds.check_initialized(target.type, verb, request)
        elif target.type.storage == CRD_STORAGE:
            return self._definitions.react(found)
        return self._react_plainly(target, verb, request)

    @cached_property
    def _definitions(self) -> Definitions:
        # Few make any, and the checks of them take time to load.
        from .writing.definitions import Definitions

        return Definitions(
            self.state, self._writes, self._deletions, self._crds, self._react_plainly
        )

    @cached_property
    def _subresources(self) -> Subresources:
        from .subresources import Subresources  # neither are these needed by everybody

        return Subresources(self.state, self._deletions)

    def _react_plainly(self, target: Target, verb: str, request: ServerRequest) -> Reaction:
        if target.subresource in _SUBRESOURCES or not target.type.is_stored:
            return self._subresources.react(target, verb, request)
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
        planned = [self._crds.next_due, self._deletions.next_due, self._compaction.next_due]
        if self._controllers is not None:
            planned.append(self._controllers.next_due)
        return min((due for due in planned if due is not None), default=None)

    def run_due(self) -> None:
        """Do what was planned for now or before: graceful deletions, the ends of custom resources,
        compaction, and the work of the controllers.
        """
        due = self.next_due
        if due is not None and due <= (now := self.state.clock()):
            self._crds.run_due()
            self._deletions.run_due(now)
            self._compaction.run_due(now)
            if self._controllers is not None:
                self._controllers.run_due(now)
        self._addresses.settle()
        self._api_services.settle()

    # Controls

    def run_controllers(self, names: Iterable[str]) -> None:
        """Have these controllers, and no others, act from now on: `deployment`, `kubelet` and so
        on, or `all`. They make a manifest come to life. Raises `UnknownController`.
        """
        names = (names,) if isinstance(names, str) else tuple(names)
        if self._controllers is not None:
            self._controllers.stop()
            self._controllers = None
        self.state.runs_pods = False
        if names:
            # Few want them, and they take time to load.
            from .controllers.running import RunningControllers

            self._controllers = RunningControllers(self, names)
            self.state.runs_pods = "kubelet" in self._controllers.names

    def load(self, objects: Iterable[Mapping[str, Any]]) -> int:
        """Store objects as a create would, but for its checks and without a request each; give
        their number.

        Each needs apiVersion, kind and a name. What an object has of uid, creationTimestamp and
        status stays; a namespace that is not there is made. Custom resources can follow their
        definition at once. Raises `UnknownKind`.
        """
        try:
            return self._loader.load(objects)
        finally:
            self._addresses.settle()

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
        if self._controllers is not None:
            self._controllers.start()

    def end_watches(self, which: Callable[[Target], bool] = lambda target: True) -> None:
        """End open watches cleanly: all, or those for which `which` is true."""
        self.watches.end(which)

    def _found(self) -> None:
        self.load(first_namespaces(self.state))
        self.load(first_objects(self.state))
        self.load(system_classes(self.state))
        if self.state.settings.bootstrap:
            # Few want them, and they take time to load.
            from .storage.bootstrap import bootstrap_objects

            self.load(bootstrap_objects(self.state))
        self._api_services.found()


def _is_question(target: Target) -> bool:
    """Whether a create stores nothing: of a review, and of a token."""
    return target.subresource == "token" or target.type.group in REVIEW_GROUPS


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
