"""What of an Accept header concerns answers that are no objects: Status, discovery.

How objects, lists and watches are negotiated is with the reads.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

__all__ = ["Clause", "accepts_plain_json", "clauses"]

_PLAIN = frozenset({"application/json", "application/*", "*/*"})


@dataclass(frozen=True, slots=True)
class Clause:
    """One of the media types that a client takes."""

    type: str
    params: tuple[tuple[str, str], ...]

    def parameter(self, name: str) -> str:
        return next((value for key, value in self.params if key == name), "")

    @property
    def is_plain_json(self) -> bool:
        """JSON of the kind itself, not as another kind."""
        return self.type in _PLAIN and not self.parameter("as")


@lru_cache(maxsize=1024)
def clauses(accept: str) -> tuple[Clause, ...]:
    """The clauses of a header, the best first; of equals the first (K6)."""
    found = []
    for text in accept.split(","):
        media_type, *words = (word.strip() for word in text.split(";"))
        if not media_type:
            continue
        params = []
        quality = 1.0
        for word in words:
            name, _, value = word.partition("=")
            if name == "q":
                try:
                    quality = float(value)
                except ValueError:
                    quality = 1.0
            else:
                params.append((name, value))
        found.append((quality, Clause(media_type.lower(), tuple(params))))
    if not found:
        return (Clause("*/*", ()),)
    return tuple(clause for _, clause in sorted(found, key=lambda pair: -pair[0]))


@lru_cache(maxsize=1024)
def accepts_plain_json(accept: str) -> bool:
    """Whether a Status can be sent in a form that was asked for. If not, it is sent all the same,
    pretty-printed (K5).
    """
    return any(clause.is_plain_json for clause in clauses(accept))
