"""The faults that the server can be told to have, as values. `str` of one is its line of text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ..types.request_info import RequestInfo

__all__ = [
    "READ_VERBS",
    "WRITE_VERBS",
    "Action",
    "Compact",
    "Cut",
    "Delay",
    "DropEvents",
    "End",
    "ErrorEvent",
    "ExpireToken",
    "FailWith",
    "Fault",
    "Garbage",
    "Hang",
    "How",
    "Oversize",
    "Refuse",
    "Restart",
    "Rotate",
    "ServerAction",
    "Skip",
    "Stall",
    "When",
    "Where",
    "Who",
]

READ_VERBS = frozenset({"get", "list", "watch"})
WRITE_VERBS = frozenset({"create", "update", "patch", "delete", "deletecollection"})


def _plain(value: float) -> str:
    """`value` without an exponent and without zeros at its end."""
    return f"{value:.9f}".rstrip("0").rstrip(".")


def seconds(value: float) -> str:
    return f"{_plain(value)}s"


@dataclass(frozen=True, slots=True)
class Who:
    """Which requests. What is empty matches everything."""

    verb: str = "any"
    """An RBAC verb, `read`, `write` or `any`."""
    resource: str = ""
    """`pods`, `deployments.apps`, `pods/status`, or a path that begins with `/`."""
    namespace: str = ""
    name: str = ""

    def matches(self, asked: RequestInfo) -> bool:
        return (
            self._verb_matches(asked.verb)
            and (not self.resource or self._resource_matches(asked))
            and self.namespace in ("", asked.namespace)
            and self.name in ("", asked.name)
        )

    def _verb_matches(self, verb: str) -> bool:
        if self.verb == "any":
            return True
        if self.verb == "read":
            return verb in READ_VERBS
        return verb in WRITE_VERBS if self.verb == "write" else verb == self.verb

    def _resource_matches(self, asked: RequestInfo) -> bool:
        if self.resource.startswith("/"):
            return asked.path == self.resource
        resource, _, subresource = self.resource.partition("/")
        plural, dot, group = resource.partition(".")
        return (plural, subresource) == (asked.resource, asked.subresource) and (
            not dot or group == asked.group
        )

    def __str__(self) -> str:
        words = [self.verb] if self.verb != "any" or not self.resource else []
        words += [self.resource] if self.resource else []
        words += ["in", self.namespace] if self.namespace else []
        words += ["named", self.name] if self.name else []
        return " ".join(words)


@dataclass(frozen=True, slots=True)
class When:
    """What sets it off."""

    kind: Literal["request", "now", "after", "every"] = "request"
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class How:
    """How often."""

    times: int | None = None
    """It takes effect no more often than that."""
    first: int = 1
    """The first request, of those that match, to be looked at."""
    every: int = 1
    """Every so many of them, from `first` on."""
    last: int | None = None
    chance: float = 1.0

    def __str__(self) -> str:
        parts = []
        if self.last is not None:
            parts.append(f"request {self.last}")
        elif self.every > 1:
            parts.append(f"every {_ordinal(self.every)} request")
        if self.last is None and self.first != self.every:
            parts.append(f"from request {self.first}")
        if self.chance < 1:
            parts.append(f"chance {_plain(self.chance * 100)}%")
        if self.times is not None:
            parts.append("once" if self.times == 1 else f"{self.times} times")
        return "".join(f", {part}" for part in parts)


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10)
    return f"{number}{ending or 'th'}"


Unit: TypeAlias = Literal["bytes", "wire bytes", "events", "seconds"]


@dataclass(frozen=True, slots=True)
class Where:
    """How far an answer gets before it happens."""

    amount: float = 0
    unit: Unit = "bytes"
    """`bytes` of the body; `wire bytes` of the connection, heads and chunk sizes included."""

    def __str__(self) -> str:
        if self.unit == "seconds":
            return f" after {seconds(self.amount)}"
        if not self.amount and self.unit == "bytes":
            return ""
        unit = self.unit.removesuffix("s") if self.amount == 1 else self.unit
        return f" after {int(self.amount)} {unit}"


@dataclass(frozen=True, slots=True)
class Cut:
    """The connection ends there, without a last chunk and without a goodbye of TLS."""

    where: Where = Where()
    reset: bool = False
    """With a TCP reset, which also takes away what the client has not read yet."""

    def __str__(self) -> str:
        return f"{'reset' if self.reset else 'cut'}{self.where}"


@dataclass(frozen=True, slots=True)
class End:
    """The body ends there, cleanly."""

    where: Where = Where()

    def __str__(self) -> str:
        return f"end{self.where}"


@dataclass(frozen=True, slots=True)
class Stall:
    """Nothing is sent from there on, for so many seconds or for ever, and the connection stays."""

    where: Where = Where()
    seconds: float | None = None

    def __str__(self) -> str:
        lasting = "" if self.seconds is None else f" for {seconds(self.seconds)}"
        return f"stall{self.where}{lasting}"


@dataclass(frozen=True, slots=True)
class Hang:
    """The request is never answered, nor even looked at."""

    def __str__(self) -> str:
        return "hang"


@dataclass(frozen=True, slots=True)
class Delay:
    """The request waits before it is looked at."""

    seconds: float

    def __str__(self) -> str:
        return f"delay {seconds(self.seconds)}"


@dataclass(frozen=True, slots=True)
class FailWith:
    """The answer is this, whatever was asked."""

    code: int
    form: Literal["status", "text", "html"] = "status"
    retry_after: int | None = None
    """Seconds."""

    def __str__(self) -> str:
        form = "" if self.form == "status" else f" as {self.form}"
        wait = "" if self.retry_after is None else f" retry-after {self.retry_after}"
        return f"answer {self.code}{form}{wait}"


@dataclass(frozen=True, slots=True)
class ErrorEvent:
    """A watch gets an ERROR event with a Status of this code, and ends cleanly."""

    code: int
    where: Where = Where()

    def __str__(self) -> str:
        return f"error {self.code}{self.where}"


@dataclass(frozen=True, slots=True)
class DropEvents:
    """A watch loses its next events, and ends cleanly behind them."""

    count: int = 1
    where: Where = Where()

    def __str__(self) -> str:
        return f"drop {self.count} event{'s' if self.count > 1 else ''}{self.where}"


@dataclass(frozen=True, slots=True)
class Garbage:
    """A watch gets a line that is no JSON among its events."""

    where: Where = Where()

    def __str__(self) -> str:
        return f"garbage{self.where}"


@dataclass(frozen=True, slots=True)
class Oversize:
    """The next object of a watch is made larger than it is."""

    size: int
    """Bytes of its event."""
    where: Where = Where()

    def __str__(self) -> str:
        return f"oversize {self.size} bytes{self.where}"


@dataclass(frozen=True, slots=True)
class Skip:
    """A watch gets no bookmark: not the one that ends the initial events, or none of the others."""

    what: Literal["marker", "bookmarks"]

    def __str__(self) -> str:
        return f"skip {self.what}"


@dataclass(frozen=True, slots=True)
class Compact:
    """History up to now is forgotten."""

    def __str__(self) -> str:
        return "compact"


@dataclass(frozen=True, slots=True)
class Restart:
    """The server is killed, and comes back after so many seconds: with its history kept; with
    nothing; or with what it had when the fault was added, RVs included (K24).
    """

    history: Literal["kept", "lost", "back"] = "kept"
    down: float = 0.0

    def __str__(self) -> str:
        return f"restart {self.history}" + (f" down {seconds(self.down)}" if self.down else "")


@dataclass(frozen=True, slots=True)
class Refuse:
    """New connections are refused, for so many seconds or until the fault is removed."""

    seconds: float | None = None

    def __str__(self) -> str:
        return "refuse" if self.seconds is None else f"refuse for {seconds(self.seconds)}"


@dataclass(frozen=True, slots=True)
class Rotate:
    """New connections meet another certificate: of the same authority, or of another one."""

    what: Literal["certificate", "authority"] = "certificate"

    def __str__(self) -> str:
        return f"rotate {self.what}"


@dataclass(frozen=True, slots=True)
class ExpireToken:
    """A bearer token is known no longer; without a name, all of them."""

    token: str = field(default="", repr=False)

    def __str__(self) -> str:
        return f"expire {f'token {self.token}' if self.token else 'tokens'}"


ServerAction: TypeAlias = Compact | Restart | Refuse | Rotate | ExpireToken
"""What happens to the whole server rather than to an answer."""

Action: TypeAlias = (
    Cut
    | End
    | Stall
    | Hang
    | Delay
    | FailWith
    | ErrorEvent
    | DropEvents
    | Garbage
    | Oversize
    | Skip
    | ServerAction
)


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault: what, for whom, when and how often.

    >>> str(Fault(Cut(Where(5000)), Who("watch", "pods"), how=How(times=3)))
    'watch pods: cut after 5000 bytes, 3 times'
    """

    what: Action
    who: Who = Who()
    when: When = When()
    how: How = How()

    def __str__(self) -> str:
        what = f"{self.what}{self.how}"
        match self.when.kind:
            case "now":
                return what
            case "request":
                return f"{self.who}: {what}"
            case _:
                who = "" if self.who == Who() else f" {self.who}"
                return f"{self.when.kind} {seconds(self.when.seconds)}{who}: {what}"
