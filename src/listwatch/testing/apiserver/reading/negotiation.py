"""What of an Accept header concerns answers that are no objects: Status, discovery; and in which
encoding an answer is to be.

How objects, lists and watches are negotiated is with the reads.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

__all__ = ["JSON", "PROTOBUF", "YAML", "Clause", "accepts_plain", "clauses", "encoding_of"]

JSON, YAML = "application/json", "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
_JSON = frozenset({JSON, "application/*", "*/*"})
_METADATA = frozenset({"PartialObjectMetadata", "PartialObjectMetadataList"})


@dataclass(frozen=True, slots=True)
class Clause:
    """One of the media types that a client takes."""

    type: str
    params: tuple[tuple[str, str], ...]

    def parameter(self, name: str) -> str:
        return next((value for key, value in self.params if key == name), "")

    @property
    def is_plain(self) -> bool:
        """JSON or YAML of the kind itself, not as another kind."""
        return (self.type in _JSON or self.is_yaml) and not self.parameter("as")

    @property
    def is_yaml(self) -> bool:
        """No stream is in YAML."""
        return self.type == YAML and not self.parameter("stream")


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
        found.append((quality, Clause(media_type, tuple(params))))
    if not found:
        return (Clause("*/*", ()),)
    return tuple(clause for _, clause in sorted(found, key=lambda pair: -pair[0]))


@lru_cache(maxsize=1024)
def accepts_plain(accept: str) -> bool:
    """Whether a Status can be sent in a form that was asked for. If not, it is sent all the same,
    as JSON, pretty-printed (K5).
    """
    return any(clause.is_plain for clause in clauses(accept))


@lru_cache(maxsize=1024)
def encoding_of(accept: str, *, failure: bool = False, custom: bool = False) -> str:
    """`JSON`, `YAML` or `PROTOBUF`, the best of what a client takes. `failure`: for a Status, which
    is no metadata; `custom`: for custom resources, of which there is nothing but metadata in
    protobuf.
    """
    for clause in clauses(accept):
        converted = clause.parameter("as")
        if clause.type == PROTOBUF:
            if custom and not converted:
                continue
            if not converted or (converted in _METADATA and not failure):
                return PROTOBUF
        elif not (converted and failure):
            if clause.type in _JSON:
                return JSON
            if clause.is_yaml:
                return YAML
    return JSON
