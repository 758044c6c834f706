"""The settings of a reflector."""

from __future__ import annotations

from dataclasses import dataclass, field

from .liveness import Liveness
from .pacing import Pacing

__all__ = ["ReflectorOptions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectorOptions:
    """How a reflector asks its source; the defaults suit a real cluster. Times are in seconds.

    One value may serve many reflectors. Raises `ValueError` for what makes no sense.
    """

    page_size: int | None = None
    """Objects a page of a LIST. None: 500 where the server reads them from its storage (RV `""` or
    `"0"`), no limit where its cache answers (H2).
    """
    watch_list: bool = True
    """Whether the initial set is asked for through a watch, where the source can do that (H4). A
    LIST can be gzipped, a stream cannot.
    """
    pacing: Pacing = field(default_factory=Pacing)
    liveness: Liveness = field(default_factory=Liveness)
    resync_period: float | None = None
    """How often the target's `resync` is called (H11); it talks to no server."""
    internal_error_budget: float = 0.0
    """How long a watch that ends in internal errors is opened again before it is given up for a
    list (H8).
    """
    consistency_check: bool = False
    """Whether a set that came through a watch is compared with a LIST at its exact RV (H16)."""
    fail_fast: bool = False
    """Whether a first set that is refused twice in a row, for a reason which waiting does not mend,
    is an error.
    """
    timeout_seconds: tuple[int, int] = (300, 600)
    """The least and the most that a watch is asked to last: each draws between them (H3)."""

    def __post_init__(self) -> None:
        size: object = self.page_size  # anything, as far as a caller without types goes
        if size is not None and not (isinstance(size, int) and size >= 1):
            raise ValueError(f"page_size must be 1 or more objects, or None, not {size}")
        if self.resync_period is not None and not self.resync_period > 0:
            raise ValueError(f"resync_period must be above 0, or None, not {self.resync_period}")
        if not self.internal_error_budget >= 0:
            raise ValueError(
                f"internal_error_budget must be 0 or more, not {self.internal_error_budget}"
            )
        match self.timeout_seconds:
            case (int(least), int(most)) if 1 <= least <= most:
                pass
            case other:
                raise ValueError(
                    f"timeout_seconds must be (least, most) in whole seconds, not {other}"
                )
