"""How fast a recording is played."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Speed"]


@dataclass(frozen=True, slots=True)
class Speed:
    """How many times as fast as it was recorded; None is as fast as it can."""

    factor: float | None = 1.0

    @classmethod
    def parse(cls, text: str) -> Speed:
        """Raises `ValueError` for what is neither a number above 0 nor `max`."""
        if text == "max":
            return cls(None)
        try:
            factor = float(text.removesuffix("x"))
        except ValueError:
            factor = 0.0
        if not 0 < factor < float("inf"):
            raise ValueError(f"{text!r} is no speed: expected a number above 0, or max")
        return cls(factor)

    def __str__(self) -> str:
        return "max" if self.factor is None else f"{self.factor:g}"
