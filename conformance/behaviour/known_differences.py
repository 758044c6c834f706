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
        "Answers are not given in YAML; bodies in YAML are understood.",
        {
            "negotiation.yaml": ["status", "header Content-Type", "body"],
            "negotiation.yaml-first": ["header Content-Type", "body"],
            "negotiation.object-yaml": ["status", "header Content-Type", "body"],
            "negotiation.missing-yaml": ["status", "header Content-Type", "body"],
            "discovery.apis-yaml": ["status", "header Content-Type", "body"],
        },
    ),
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
        "Not yet: logs. Their path is in discovery, and 404.",
        {
            "paths.log-of-missing-pod": [
                "header X-Kubernetes-Pf-Flowschema-Uid",
                "header X-Kubernetes-Pf-Prioritylevel-Uid",
                "body .message",
                "body .details",
            ],
        },
    ),
    Known(
        "Requests for logs have no priority level in the real server; here they have the one of "
        "all others.",
        {
            "auth.viewer-log": [
                "header X-Kubernetes-Pf-Flowschema-Uid",
                "header X-Kubernetes-Pf-Prioritylevel-Uid",
            ],
        },
    ),
    Known(
        "Of an object's own members only those are checked that are most often wrong (names, "
        "labels, the shape of metadata, a pod's containers); the rest is taken as it comes.",
        {
            "kinds.label-controller-revision": ["status", "body"],
            "validation.data-key": ["status", "body"],
            "validation.same-key-twice": ["status", "body"],
            "validation.too-much-data": ["status", "body", "framing"],
            "validation.immutable-changed": ["status", "body"],
            "validation.secret-type": ["status", "body"],
            "validation.pod-restart-policy": ["status", "body"],
            "validation.pod-node": ["status", "body"],
            "validation.same-container-twice": ["status", "body"],
            "validation.container-port": ["status", "body"],
            "validation.deployment-without-selector": ["status", "body"],
            "validation.deployment-other-labels": ["status", "body"],
            "validation.deployment-selector": ["status", "body"],
            "validation.negative-replicas": ["status", "body"],
            "validation.service-without-ports": ["status", "body"],
            "validation.revision-without-data": ["status", "body"],
            "validation.schedule": ["status", "body"],
            "validation.event-without-object": ["status", "body"],
            "validation.event-elsewhere": ["status", "body"],
        },
    ),
    Known(
        "Nothing watches over volumes, so nobody notes when their phase changed.",
        {
            "kinds.make-volume": ["body .status.lastPhaseTransitionTime"],
            "kinds.label-volume": ["body .status.lastPhaseTransitionTime"],
            "kinds.delete-volume": ["body .status.lastPhaseTransitionTime"],
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
        "Its first namespaces are there from the beginning: nobody has written them, so they have "
        "no managedFields.",
        {
            "namespaces.default": ["body .metadata.managedFields"],
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
