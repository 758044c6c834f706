"""Waiting for something to become true of a set of objects, in a thread (L3)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from random import Random
from typing import TypeVar

from listwatch.api import Event
from listwatch.cache import (
    AsyncListerWatcher,
    AsyncWatcher,
    Delta,
    ErrorHandler,
    Identify,
    Liveness,
    Note,
    Pacing,
    ReflectorOptions,
    Store,
    identity_of,
)
from listwatch.cache.until import until as async_until
from listwatch.cache.until import until_with_sync as async_until_with_sync

from .informer import SharedInformer
from .share import Share

__all__ = ["until", "until_with_sync"]

T = TypeVar("T")
R = TypeVar("R")


def until(
    source: AsyncWatcher[T],
    resource_version: str,
    *conditions: Callable[[Event[T]], bool],
    timeout: float | None = None,
    pacing: Pacing | None = None,
    liveness: Liveness | None = None,
    rng: Random | None = None,
) -> Event[T]:
    """`listwatch.until`, waited for. The conditions are called in the background loop's thread.

    event = until(source, pods.resource_version, lambda event: event.type == "DELETED")
    """
    return _wait(
        lambda: async_until(
            source,
            resource_version,
            *conditions,
            timeout=timeout,
            pacing=pacing,
            liveness=liveness,
            rng=rng,
        )
    )


def until_with_sync(
    source: AsyncListerWatcher[T] | SharedInformer[T],
    *conditions: Callable[[Delta[T]], bool],
    precondition: Callable[[Store[T]], bool] | None = None,
    timeout: float | None = None,
    name: str = "",
    kind: str = "",
    identify: Identify = identity_of,
    options: ReflectorOptions | None = None,
    on_error: ErrorHandler | None = None,
    on_note: Callable[[Note], None] | None = None,
    on_progress: Callable[[int, int | None], None] | None = None,
    rng: Random | None = None,
) -> Delta[T] | None:
    """`listwatch.until_with_sync`, waited for. The conditions are called in the background loop's
    thread.

        with client.informer("pods", field_selector="metadata.name=web-0") as pods:
            until_with_sync(pods, lambda change: change.object["status"]["phase"] == "Running")

    Closing the informer's client ends the waiting.
    """
    return _wait(
        lambda: async_until_with_sync(
            source._inner if isinstance(source, SharedInformer) else source,
            *conditions,
            precondition=precondition,
            timeout=timeout,
            name=name,
            kind=kind,
            identify=identify,
            options=options,
            on_error=on_error,
            on_note=on_note,
            on_progress=on_progress,
            rng=rng,
        )
    )


def _wait(make: Callable[[], Awaitable[R]]) -> R:
    """On a share of the loop of its own: there may be no client at all."""
    share = Share()
    try:
        return share.run(make)
    finally:
        share.close()
