"""What the HTTP face and the transport without sockets share: one core, its faults, its timers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any, Protocol

from .faults.current import ActiveFault, Faults
from .faults.effects import Stop
from .faults.model import (
    Compact,
    Cut,
    End,
    ExpireToken,
    Refuse,
    Restart,
    Rotate,
    ServerAction,
    Stall,
)
from .http.exchange import Exchange
from .http.heads import Heads
from .http.limits import MAX_BODY
from .messages import Answer, Later, Reaction, ServerRequest, WatchStream
from .statuses import failure
from .storage.alarm import Alarm

if TYPE_CHECKING:
    from .webhooks.caller import WebhookCaller
    from .webhooks.consulting import Outcome
    from .webhooks.questions import Question

__all__ = ["Core", "Service"]

_UNREADABLE = b"\x00"  # no JSON and no YAML, so that nothing is done
_BEFORE_THE_BODY = frozenset({401, 403, 405, 406, 415})
_PANIC = Answer(
    status=500,
    body=b"This request caused apiserver to panic. Look in the logs for details.\n",
    content_type="text/plain; charset=utf-8",
    headers=(("X-Content-Type-Options", "nosniff"),),
)

_log = logging.getLogger(__name__)


class Core(Protocol):
    """As much of `core.APIServer` as is used here."""

    @property
    def next_due(self) -> float | None:
        """When `run_due` is to be called, on the core's clock."""
        ...

    def handle(self, request: ServerRequest) -> Reaction: ...

    def run_due(self) -> None: ...


class Service:
    """Asks the core and keeps its time, on the loop that `start` is called on.

    Clock and wall are the core's. Whoever shows the core to clients sets the hooks.
    """

    def __init__(
        self,
        core: Core,
        faults: Faults | None = None,
        *,
        rng: Random | None = None,
        default_wall: Callable[[], datetime] | None = None,
    ) -> None:
        state: Any = getattr(core, "state", None)
        self.core = core
        self.faults = faults if faults is not None else Faults()
        self.clock: Callable[[], float] = getattr(state, "clock", _loop_time)
        self.heads = Heads(getattr(state, "wall", default_wall or _utc_now), rng or Random())
        # In the order in which they began: a set would have another one in each run.
        self.exchanges: dict[Exchange, None] = {}
        """The requests under way."""
        self.on_kill: Callable[[], None] | None = None
        """Ends every connection as the death of the server does, and those without a request."""
        self.on_refuse: Callable[[bool], None] | None = None
        """Called when new connections are to be refused, and when no longer."""
        self.on_rotate: Callable[[bool], None] | None = None
        """Called with True for a new authority, False for a new certificate of the same."""
        self._alarm = Alarm(self.clock, self._run_due)
        self._caller: WebhookCaller | None = None
        self._refusals: set[object] = set()
        self._timers: dict[object, asyncio.TimerHandle] = {}
        self._backups: dict[int, Any] = {}  # by the identity of the action that goes back to it

    @property
    def refusing(self) -> bool:
        return bool(self._refusals)

    @property
    def watches(self) -> int:
        return sum(exchange.is_watch for exchange in self.exchanges)

    def start(self) -> None:
        """Begin with what time brings. The faults must not have another server."""
        if self.faults.on_add is not None:
            raise RuntimeError("these faults belong to another server that is running")
        self.faults.clock = self.clock
        self.faults.on_add = self._added
        self.faults.on_remove = self._removed
        for active in self.faults:
            self._added(active)
        self._alarm.set(self.core.next_due)
        if hasattr(self.core, "ask_webhook"):
            self.core.ask_webhook = self._ask_webhook

    def stop(self) -> None:
        """No timer is left; requests under way are the owner's to end."""
        self._alarm.cancel()
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        self._refusals.clear()
        self.faults.on_add = self.faults.on_remove = None
        core: Any = self.core
        if getattr(core, "ask_webhook", None) == self._ask_webhook:
            core.ask_webhook = None

    def ask(self, request: ServerRequest) -> Reaction:
        """The core's reaction; a bug in it is logged and answered as Go answers a panic."""
        try:
            if len(request.body) > MAX_BODY:
                reaction = self._refuse_body(request)
            else:
                reaction = self.core.handle(request)
        except Exception:
            _log.exception("%s %s broke the server", request.method, request.path)
            reaction = _PANIC
        self._alarm.set(self.core.next_due)
        return reaction

    def look_at(self, later: Later, request: ServerRequest) -> Answer | WatchStream | None:
        """What has come of a reaction to `request` that was promised for later."""
        try:
            reaction = later.tick()
        except Exception:
            _log.exception("%s %s broke the server", request.method, request.path)
            reaction = _PANIC
        self._alarm.set(self.core.next_due)
        return reaction

    def _refuse_body(self, request: ServerRequest) -> Reaction:
        """A body that is too long. Some refusals come before anybody looks at it."""
        if request.method in ("GET", "HEAD"):
            return self.core.handle(replace(request, body=b""))
        reaction = self.core.handle(replace(request, body=_UNREADABLE))
        if isinstance(reaction, Answer) and (
            reaction.status in _BEFORE_THE_BODY
            or (reaction.status == 404 and b'"name":' not in reaction.body)
        ):
            return reaction
        return failure(
            413, "RequestEntityTooLarge", f"Request entity too large: limit is {MAX_BODY}"
        )

    async def close(self) -> None:
        """`stop`, and wait until what it asks of others has ended."""
        self.stop()
        if self._caller is not None:
            await self._caller.close()

    def _ask_webhook(
        self, question: Question, done: Callable[[Outcome], None]
    ) -> Callable[[], None]:
        if self._caller is None:
            # Few have webhooks, and what they take needs time to load.
            from .webhooks.caller import WebhookCaller

            self._caller = WebhookCaller()
        return self._caller(question, done)

    def look_again(self) -> None:
        """The core was changed from outside: its next moment may be another."""
        self._alarm.set(self.core.next_due)

    def perform(self, action: ServerAction) -> None:
        """Do to the server what a fault says, now."""
        core: Any = self.core
        match action:
            case Compact():
                core.compact()
            case Restart():
                backup = self._backups.get(id(action))
                self.restart(action.history, down=action.down, backup=backup)
            case Refuse():
                self.refuse(action.seconds)
            case Rotate():
                if self.on_rotate is not None:
                    self.on_rotate(action.what == "authority")
            case ExpireToken():
                if core.auth is not None:
                    core.auth.expire(action.token or None)
        self.look_again()

    def restart(self, history: str = "kept", *, down: float = 0.0, backup: Any = None) -> None:
        """Die, and be there again after `down` seconds, with `history` as it says.

        `back` goes to `backup`, as `WriteLog.backup` gives one.
        """
        self.kill()
        core: Any = self.core
        if history == "back":
            if backup is None:
                raise ValueError("there is no backup to go back to")
            core.restart(history=backup)
        else:
            core.restart(history=history)
        if down:
            self.refuse(down)
        self.look_again()

    def kill(self) -> None:
        """End every connection without a word."""
        for exchange in tuple(self.exchanges):
            exchange.kill()
        if self.on_kill is not None:
            self.on_kill()

    def refuse(self, seconds: float | None, key: object | None = None) -> None:
        """Refuse new connections for so long; None: until `accept` with the same key."""
        key = key if key is not None else object()
        self._refusals.add(key)
        self._tell_refusal()
        if seconds is not None:
            loop = asyncio.get_running_loop()
            self._timers[key] = loop.call_later(seconds, self.accept, key)

    def accept(self, key: object) -> None:
        """Take that refusal back."""
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()
        if key in self._refusals:
            self._refusals.remove(key)
            self._tell_refusal()

    def _tell_refusal(self) -> None:
        if self.on_refuse is not None:
            self.on_refuse(self.refusing)

    def _run_due(self) -> None:
        self.core.run_due()
        self._alarm.set(self.core.next_due)

    def _added(self, active: ActiveFault) -> None:
        fault = active.fault
        if active.spent:
            return
        if isinstance(fault.what, Restart) and fault.what.history == "back":
            state: Any = getattr(self.core, "state", None)
            self._backups[id(fault.what)] = state.log.backup()
        if fault.when.kind == "now":
            self._happen(active)
        elif fault.when.kind != "request":
            self._wait(active)

    def _removed(self, active: ActiveFault) -> None:
        self._backups.pop(id(active.fault.what), None)
        self.accept((active, "refuse"))
        timer = self._timers.pop(active, None)
        if timer is not None:
            timer.cancel()

    def _wait(self, active: ActiveFault) -> None:
        loop = asyncio.get_running_loop()
        self._timers[active] = loop.call_later(active.fault.when.seconds, self._happen, active)

    def _happen(self, active: ActiveFault) -> None:
        """What no request sets off: at its time, or because it was added."""
        fault = active.fault
        self._timers.pop(active, None)
        what = fault.what
        if isinstance(what, Cut | End | Stall):
            self._hit_all(what, lambda found: fault.who.matches(found.asked), active)
        elif self.faults.apply(active):
            if isinstance(what, Refuse):
                self.refuse(what.seconds, key=(active, "refuse"))
            elif isinstance(what, ServerAction):
                self.perform(what)
        if fault.when.kind == "every" and not active.spent:
            self._wait(active)

    def _hit_all(
        self,
        what: Cut | End | Stall,
        which: Callable[[Exchange], bool],
        active: ActiveFault | None = None,
    ) -> None:
        for exchange in tuple(self.exchanges):
            if which(exchange):
                why = partial(self.faults.apply, active, exchange.asked) if active else _always
                exchange.hit(Stop(what, why))


def _always() -> bool:
    return True


def _loop_time() -> float:
    return asyncio.get_running_loop().time()


def _utc_now() -> datetime:
    return datetime.now(UTC)
