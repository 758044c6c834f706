"""Where the embedded server's answers are known to differ from a real one's, and why.

The script's test fails for a difference that is not listed here, and for one that is listed and no
longer there. `docs/fidelity.md` shows them all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Known:
    """A reason, and all that it explains."""

    reason: str
    """For those who use the server: what it does not do, in a sentence or two."""
    where: Mapping[str, Sequence[str]]
    """By step (``group.name``): the places, as `differences.Difference.where` has them."""


def reasons() -> dict[tuple[str, str], str]:
    """The reason of each known difference, by step and place."""
    found: dict[tuple[str, str], str] = {}
    for known in KNOWN:
        for step, places in known.where.items():
            for place in places:
                assert (step, place) not in found, f"listed twice: {step}, {place}"
                found[step, place] = known.reason
    return found


KNOWN: tuple[Known, ...] = (
    Known(
        "It is no OpenID provider: its tokens cannot be checked by others, and its OpenAPI "
        "documents say nothing of that.",
        {
            "discovery.openapi-v3": [
                "body .paths..well-known/openid-configuration",
                "body .paths.openid/v1/jwks",
            ],
        },
    ),
    Known(
        "The real server compares the data of a ControllerRevision as text: a patch, which writes "
        "it anew without spaces, is refused where it was sent with some. Here it is the same.",
        {
            "kinds.label-controller-revision": ["status", "body"],
        },
    ),
    Known(
        "A patch that changes the kind is refused for that, before its members are read as "
        "those of the other kind.",
        {
            "updates.merge-kind": ["body .message", "body .details.causes[].message"],
        },
    ),
    Known(
        "It has fewer parts inside: there are fewer health checks, and fewer paths in `/`.",
        {
            "paths.root": ["body .paths", "framing"],
            "discovery.readyz-verbose": ["body"],
        },
    ),
    Known(
        "The real server leaves it to its HTTP library to find out the type of this answer, "
        "which puts the header behind Date.",
        {
            "discovery.readyz-of-one": ["order of headers"],
        },
    ),
)
