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
        "Not yet: tables (`as=Table`), which kubectl asks for first. Where JSON is its second "
        "choice, it gets that.",
        {
            "negotiation.table": ["status", "body"],
            "negotiation.table-or-json": ["body"],
            "negotiation.object-table": ["status", "body"],
            "negotiation.missing-table": ["status", "body"],
        },
    ),
    Known(
        "Not yet: protobuf. Where JSON is the second choice, clients get that.",
        {
            "bodies.protobuf-that-is-none": ["status", "body"],
            "negotiation.protobuf": ["status", "header Content-Type", "body"],
            "negotiation.protobuf-or-json": ["header Content-Type", "body"],
            "custom.protobuf": ["header Content-Type", "body"],
        },
    ),
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
        "A YAML body is read by YAML 1.2's rules for yes and no: a plain `n` is a text, where "
        "the real server takes it for false.",
        {
            "creates.yaml-boolean": ["status", "body"],
        },
    ),
    Known(
        "Not yet: OpenAPI documents.",
        {
            "discovery.openapi-v3": [
                "status",
                "header Accept-Ranges",
                "header Last-Modified",
                "header X-Content-Type-Options",
                "body",
            ],
            "discovery.openapi-v2": [
                "status",
                "header Accept-Ranges",
                "header Content-Type",
                "header Etag",
                "header Last-Modified",
                "header Vary",
                "header X-Content-Type-Options",
                "body",
            ],
        },
    ),
    Known(
        "Not yet: strategic merge patches and server-side apply.",
        {
            "updates.strategic": ["status", "body"],
            "updates.apply": ["status", "body"],
        },
    ),
    Known(
        "Not yet: binding, eviction, scale and logs. Their paths are in discovery, and 404.",
        {
            "paths.log-of-missing-pod": [
                "header X-Kubernetes-Pf-Flowschema-Uid",
                "header X-Kubernetes-Pf-Prioritylevel-Uid",
                "body .message",
                "body .details",
            ],
            "paths.scale-of-missing": ["body .message", "body .details"],
            "pods.bind": ["status", "body"],
            "pods.evict": ["status", "body"],
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
        "Not yet: the schemas of custom resources are stored, but neither prune nor check what "
        "is written.",
        {
            "validation.custom-unknown-field": [
                "header Warning",
                "body .metadata.managedFields",
                "body .spec.bogus",
            ],
            "validation.custom-wrong-type": ["status", "body"],
            "validation.custom-strict": ["status", "body"],
            "validation.custom-patch-wrong-type": ["status", "body"],
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
            "validation.quantity": ["status", "body"],
            "validation.replicas-are-text": ["status", "body"],
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
        "The sets in a spec that several managers may own one by one are owned as a whole; the "
        "exact entries come with server-side apply.",
        {
            "kinds.make-node": ["body .metadata.managedFields"],
            "kinds.label-node": ["body .metadata.managedFields"],
            "kinds.make-csi-driver": ["body .metadata.managedFields"],
            "kinds.label-csi-driver": ["body .metadata.managedFields"],
            "kinds.delete-csi-driver": ["body .metadata.managedFields"],
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
        "Duplicate members are looked for only where fieldValidation is given, since it costs a "
        "second reading of the body.",
        {
            "creates.duplicate-field": ["header Warning"],
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
