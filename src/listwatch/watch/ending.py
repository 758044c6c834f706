"""What a watch says of itself, where it says anything: any object with the methods of a Watch will
do, and only some know more.
"""

from __future__ import annotations

__all__ = ["broken_by", "last_read"]


def broken_by(watch: object) -> Exception | None:
    """What broke the watch off, once it has ended. None after a clean end, and where the watch does
    not say.

    >>> from listwatch.watch import EmptyWatch
    >>> broken_by(EmptyWatch(ConnectionResetError("cut")))
    ConnectionResetError('cut')
    """
    broken = getattr(watch, "broken", None)
    return broken if isinstance(broken, Exception) else None


def last_read(watch: object) -> float | None:
    """When bytes of the watch last arrived, as time of its event loop; at first when it was opened.
    None where the watch does not say.
    """
    read = getattr(watch, "last_read", None)
    return float(read) if isinstance(read, int | float) else None
