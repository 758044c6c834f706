"""A few recordings to look at: a Deployment and its pods are created, scaled and deleted."""

from __future__ import annotations

from pathlib import Path

from listwatch.testing.recording import Recording

__all__ = ["demo_recordings"]


def demo_recordings() -> list[Recording]:
    """Lists and watches of pods, deployments, replicasets and events of one namespace, `rec`.

    They are answers of a kube-apiserver v1.36.3 with its controllers. The lists show what is there;
    in the nine seconds of the watches a Deployment `churn` is created with two replicas, loses one,
    and is deleted.
    """
    return [Recording.load(path) for path in sorted(Path(__file__).parent.glob("*.http"))]
