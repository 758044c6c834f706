"""The paths of a pod that change one part of its spec."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .ephemeral_containers import with_ephemeral_containers
from .pod_resize import with_resize

__all__ = ["POD_PARTS"]

POD_PARTS: dict[str, Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, Any]]] = {
    "ephemeralcontainers": with_ephemeral_containers,
    "resize": with_resize,
}
"""By the names of the subresources: the old pod with that part of the new one."""
