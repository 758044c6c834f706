"""Projection: of each object only what matters is kept, and only changes of that are told (K12)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast, overload

from msgspec import Struct

from listwatch.api import MalformedObject, Unstructured, freeze
from listwatch.api._lenient import lenient_decoder

from ._parts import step_for

__all__ = ["Projected", "Projection", "projected", "same_view"]

P = TypeVar("P")

_MOST_SHARED = 1_000


class Projected(Struct, Generic[P], frozen=True, gc=False):
    """What is kept of an object: who it is, which state of it this is, and `value`.

    A store of these holds the newest state of each object, as any does; but where an update has the
    uid and the value of what is there, nobody is told (K12). So a store's `resource_version` moves
    with every heartbeat, and its handlers rest.
    """

    key: str
    """`namespace/name`, or `name` for cluster-scoped objects (A3)."""
    uid: str
    resource_version: str
    """That of the newest state, of which `value` may have been the same for long. (In an informer
    over several sources it is that of the last state that was told.)
    """
    value: P
    """What the view made of the object. It is data: compared by `==`, and never part of a cycle."""

    @property
    def namespace(self) -> str:
        """Empty for cluster-scoped objects."""
        return self.key.rpartition("/")[0]

    @property
    def name(self) -> str:
        """The object's name."""
        return self.key.rpartition("/")[2]

    def at(self, resource_version: str) -> Projected[P]:
        """The same at a later state. It shares all else, so that a heartbeat leaves nothing
        behind."""
        return Projected(self.key, self.uid, resource_version, self.value)

    def __repr__(self) -> str:
        return f"<projected {self.key} rv={self.resource_version or '(none)'} {self.value!r}>"


def same_view(obj: Any, old: Any) -> bool:
    """Whether `obj` says of the same object the same as `old` did. Anything but two Projected is
    news, and so is what cannot be compared: rather one update too many.
    """
    if type(obj) is not Projected or type(old) is not Projected or obj.uid != old.uid:
        return False
    try:
        return bool(obj.value is old.value or obj.value == old.value)
    except Exception:  # anybody's __eq__, on the way of every event; what it may hide is told
        return False


class Projection(Generic[P]):
    """The decoder that `projected` makes. Two of the same view are equal.

    Equal values are one object, where they can be hashed: of thousands of nodes most are ready.
    """

    __slots__ = ("_look", "_values", "view")

    def __init__(self, view: Callable[[Unstructured], P] | type[P]) -> None:
        self.view = view
        """The type or function that it was made of."""
        self._look = _decoding(view) if isinstance(view, type) else _calling(view)
        self._values: dict[P, P] = {}

    def __call__(self, raw: bytes) -> Projected[P]:
        """Decode one object. Raises `MalformedObject`, and what the view raises."""
        obj = Unstructured.from_bytes(raw)
        if not obj.name:
            raise MalformedObject(f"{obj!r} has no key")
        return Projected(obj.key, obj.uid, obj.resource_version, self._shared(self._look(obj)))

    def _shared(self, value: P) -> P:
        if len(self._values) >= _MOST_SHARED:
            self._values.clear()  # they are all different, or many: it holds on to few of them
        try:
            return self._values.setdefault(value, value)
        except TypeError:
            return value  # it has no hash

    def __eq__(self, other: object) -> bool:
        return self.view == other.view if isinstance(other, Projection) else NotImplemented

    def __hash__(self) -> int:
        return hash((Projection, self.view))

    def __repr__(self) -> str:
        return f"projected({getattr(self.view, '__qualname__', self.view)})"


@overload
def projected(view: type[P]) -> Projection[P]: ...
@overload
def projected(view: Callable[[Unstructured], P]) -> Projection[P]: ...
def projected(view: Any) -> Projection[Any]:
    """A decoder that keeps of each object only what `view` makes of it, as `Projected`.

    `view` is a type, best a frozen msgspec Struct, whose fields mirror the object's JSON; fields
    that it does not declare are neither decoded nor kept, and null counts as absent. Or it is a
    function from an `Unstructured` to a value that `==` can compare. What is not to be told must
    not be in it: of a node's conditions the type and status, say, and not the heartbeat's time.

    Where the view fails on an object, that is contained like any decoder's failure (H10). Raises
    `TypeError` for a Struct whose instances do not compare by their fields, or can be changed.

    >>> class Told(Struct, frozen=True):
    ...     reason: str = ""
    ...     count: int = 0
    >>> raw = b'{"metadata":{"name":"e1"},"reason":"BackOff","count":7,"lastTimestamp":"12:00"}'
    >>> projected(Told)(raw)
    <projected e1 rv=(none) Told(reason='BackOff', count=7)>
    >>> projected(lambda obj: len(obj["spec"]))(b'{"metadata":{"name":"n1"},"spec":{"a":1}}')
    <projected n1 rv=(none) 1>
    """
    if isinstance(view, Projection):
        return view
    if isinstance(view, type) and issubclass(view, Struct):
        config = view.__struct_config__
        if not config.frozen or not config.eq:
            raise TypeError(
                f"{view.__name__} must be a Struct with frozen=True, and without eq=False: its"
                " instances are shared by all who read them, and compared by their fields"
            )
    return Projection(view)


def _decoding(view: type[P]) -> Callable[[Unstructured], P]:
    decode = lenient_decoder(view)
    step = step_for(view, None)
    if step is None:
        return lambda obj: decode(obj.raw)
    return lambda obj: cast(P, step(decode(obj.raw)))


def _calling(view: Callable[[Unstructured], P]) -> Callable[[Unstructured], P]:
    return lambda obj: cast(P, freeze(view(obj)))
