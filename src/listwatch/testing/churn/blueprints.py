"""What runs in the made-up clusters: a company's services, with what their pods are made of."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BATCH", "SERVICES", "Blueprint"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Blueprint:
    """One program, of which there can be several apps."""

    namespace: str
    name: str
    kind: str = "Deployment"
    """Or `StatefulSet`, or `CronJob`, whose pods come and go."""
    port: int = 8080
    cpu: str = "100m"
    memory: str = "128Mi"
    team: str
    replicas: int = 3
    """What it has where there is room; a share of a larger load is counted by it."""
    crash: str = "Error"
    """What it dies of, if at all: `Error` or `OOMKilled`."""
    calm: float = 1500.0
    """How long a pod of it lives between two troubles, on average, in the cluster's own seconds."""


SERVICES = (
    Blueprint(namespace="shop", name="web", team="storefront", replicas=6),
    Blueprint(namespace="shop", name="cart", team="storefront", replicas=4, memory="256Mi"),
    Blueprint(namespace="shop", name="checkout", team="storefront", replicas=4, calm=250.0),
    Blueprint(namespace="data", name="postgres", kind="StatefulSet", team="data", port=5432),
    Blueprint(namespace="payments", name="ledger", team="payments", replicas=3, memory="512Mi"),
    Blueprint(
        namespace="media",
        name="thumbnailer",
        team="media",
        replicas=5,
        memory="1Gi",
        crash="OOMKilled",
        calm=90.0,
    ),
    Blueprint(namespace="shop", name="search", team="discovery", replicas=3, memory="2Gi"),
    Blueprint(namespace="data", name="redis", kind="StatefulSet", team="data", port=6379),
    Blueprint(namespace="payments", name="fraud-check", team="payments", replicas=4, calm=140.0),
    Blueprint(namespace="monitoring", name="grafana", team="observability", port=3000, replicas=2),
    Blueprint(namespace="media", name="transcoder", team="media", cpu="2", memory="4Gi"),
    Blueprint(namespace="shop", name="catalog", team="discovery", replicas=4),
    Blueprint(namespace="data", name="kafka", kind="StatefulSet", team="data", port=9092),
    Blueprint(namespace="payments", name="invoices", team="payments", replicas=2),
    Blueprint(
        namespace="monitoring",
        name="prometheus",
        kind="StatefulSet",
        team="observability",
        port=9090,
        replicas=2,
        memory="4Gi",
        crash="OOMKilled",
        calm=400.0,
    ),
    Blueprint(namespace="shop", name="reviews", team="storefront", replicas=3),
)
"""What always runs, the most telling first: a small load has only these."""

BATCH = (
    Blueprint(namespace="data", name="etl", kind="CronJob", team="data", memory="2Gi", calm=30.0),
    Blueprint(
        namespace="payments", name="payout", kind="CronJob", team="payments", replicas=1, calm=45.0
    ),
    Blueprint(
        namespace="shop", name="reindex", kind="CronJob", team="discovery", replicas=2, calm=60.0
    ),
)
"""What runs now and then, `calm` being the pause; `replicas` are the pods of one run."""
