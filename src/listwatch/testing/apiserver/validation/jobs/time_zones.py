"""Time zones by their names in the IANA database."""

from __future__ import annotations

from datetime import UTC, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

__all__ = ["time_zone"]


@lru_cache(maxsize=256)
def time_zone(name: str) -> tzinfo | None:
    """The zone of that name: UTC where there is no name, None for the one that the reader is in.
    Raises `ValueError` with the real server's words where there is no such zone.
    """
    if name in ("", "UTC"):
        return UTC
    if name == "Local":
        return None
    if ".." in name or name[0] in "/\\":
        raise ValueError("time: invalid location name")
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        if any(found.startswith(f"{name}/") for found in available_timezones()):
            raise ValueError("is a directory") from None
        raise ValueError(f"unknown time zone {name}") from None
