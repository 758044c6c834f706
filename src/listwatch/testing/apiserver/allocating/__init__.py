"""What Services are given of what there is only so much of: addresses and ports of nodes.

What it takes is loaded when the first one is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..storage.state import State

__all__ = ["allocated", "reallocated"]


def allocated(state: State, new: dict[str, Any], *, dry_run: bool) -> dict[str, Any]:
    """A new Service with what it is given. Raises `Refused`."""
    from . import services

    return services.allocated(state, new, dry_run=dry_run)


def reallocated(
    state: State, old: Mapping[str, Any], new: dict[str, Any], *, dry_run: bool
) -> dict[str, Any]:
    """The next state of a Service, with what it keeps and is given. Raises `Refused`."""
    from . import services

    return services.reallocated(state, old, new, dry_run=dry_run)
