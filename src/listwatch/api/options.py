"""ListOptions: what a LIST or WATCH asks for (A1, A2, A4)."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from .faults import InvalidOptions
from .fields import FieldSelector
from .labels import LabelSelector

__all__ = ["ListOptions", "ResourceVersionMatch"]


class ResourceVersionMatch(StrEnum):
    """How `resource_version` is meant in a LIST, or in a WATCH with initial events."""

    EXACT = "Exact"
    """The set as it was at that RV."""
    NOT_OLDER_THAN = "NotOlderThan"
    """The newest set at hand, if it is at least that new."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOptions:
    """The options of a LIST or WATCH: immutable, hashable, checked when it is made.

    Selectors may be given as text; they are parsed to check them (A4) and sent as they were
    written. Whether the options go together is the server's to say. Raises `InvalidOptions`,
    `SelectorError`.

    >>> options = ListOptions(label_selector="app=web", limit=500)
    >>> options.query()
    (('labelSelector', 'app=web'), ('limit', '500'))
    >>> options.replace(limit=None, resource_version="0").query()
    (('labelSelector', 'app=web'), ('resourceVersion', '0'))
    >>> ListOptions(label_selector="app in a")
    Traceback (most recent call last):
        ...
    listwatch.api.faults.SelectorError: selector 'app in a', at position 7: expected '(', found 'a'
    """

    label_selector: str | LabelSelector = ""
    field_selector: str | FieldSelector = ""
    watch: bool = False
    """A request's `watch()` sets this itself."""
    allow_watch_bookmarks: bool = False
    resource_version: str = ""
    """Opaque. `""`: the newest state; `"0"`: any cached state is fine; else an RV seen before."""
    resource_version_match: ResourceVersionMatch | str | None = None
    timeout_seconds: int | None = None
    """After how many seconds the server ends a watch; at 0, as at None, when it likes."""
    limit: int | None = None
    """The most items in a page. None and 0 mean no limit, as kubectl's `--chunk-size=0` does."""
    continue_: str = ""
    """The token of the next page, from the one before. Opaque."""
    send_initial_events: bool | None = None
    """In a WATCH: whether what exists comes first, as a WatchList. None leaves it to the server."""
    shard_selector: str = ""
    """A part of the key space: `shardRange(object.metadata.uid, '0x...', '0x...')`, sent as it is.

    A server that does not know shards ignores it and sends the full set.
    """

    def __post_init__(self) -> None:
        self._check_type("label_selector", str, LabelSelector)
        self._check_type("field_selector", str, FieldSelector)
        for name in ("watch", "allow_watch_bookmarks"):
            self._check_type(name, bool)
        for name in ("resource_version", "continue_", "shard_selector"):
            self._check_type(name, str)
        for name in ("timeout_seconds", "limit"):
            self._check_count(name)
        if self.send_initial_events is not None:
            self._check_type("send_initial_events", bool)
        object.__setattr__(self, "resource_version_match", self._match())
        LabelSelector.parse(self.label_selector)
        FieldSelector.parse(self.field_selector)

    def replace(self, **changes: Any) -> ListOptions:
        """These options with some changed, checked anew. Raises `TypeError` for an unknown name."""
        return dataclasses.replace(self, **changes)

    def query(self) -> tuple[tuple[str, str], ...]:
        """The query parameters that are set, under Kubernetes' names, not yet percent-encoded.

        They are sorted by name, as client-go sends them.
        """
        pairs = (
            ("allowWatchBookmarks", self.allow_watch_bookmarks or None),
            ("continue", self.continue_ or None),
            ("fieldSelector", str(self.field_selector) or None),
            ("labelSelector", str(self.label_selector) or None),
            ("limit", self.limit or None),
            ("resourceVersion", self.resource_version or None),
            ("resourceVersionMatch", self.resource_version_match),
            ("sendInitialEvents", self.send_initial_events),
            ("shardSelector", self.shard_selector or None),
            ("timeoutSeconds", self.timeout_seconds),
            ("watch", self.watch or None),
        )
        return tuple((name, _text(value)) for name, value in pairs if value is not None)

    def _check_type(self, name: str, *types: type) -> None:
        value = getattr(self, name)
        if not isinstance(value, types):
            wanted = " or ".join(kind.__name__ for kind in types)
            raise InvalidOptions(f"{name} must be a {wanted}, not {value!r}")

    def _check_count(self, name: str) -> None:
        value = getattr(self, name)
        if value is None:
            return
        if isinstance(value, bool) or not isinstance(value, int):
            raise InvalidOptions(f"{name} must be an int or None, not {value!r}")
        if value < 0:
            raise InvalidOptions(f"{name} must not be negative, and is {value}")

    def _match(self) -> ResourceVersionMatch | None:
        if not self.resource_version_match:
            return None
        try:
            return ResourceVersionMatch(self.resource_version_match)
        except ValueError:
            raise InvalidOptions(
                f"resource_version_match must be 'Exact' or 'NotOlderThan', "
                f"not {self.resource_version_match!r}"
            ) from None


def _text(value: bool | int | str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
