"""The checks of workloads, other than jobs."""

from __future__ import annotations

from ..checks import Checks
from .controller_revisions import CONTROLLER_REVISIONS, POD_TEMPLATES
from .daemon_sets import DAEMON_SETS
from .deployments import DEPLOYMENTS, REPLICA_SETS, REPLICATION_CONTROLLERS
from .stateful_sets import STATEFUL_SETS

__all__ = ["CHECKS"]

CHECKS: dict[str, Checks] = {
    "podtemplates": POD_TEMPLATES,
    "replicationcontrollers": REPLICATION_CONTROLLERS,
    "apps/controllerrevisions": CONTROLLER_REVISIONS,
    "apps/daemonsets": DAEMON_SETS,
    "apps/deployments": DEPLOYMENTS,
    "apps/replicasets": REPLICA_SETS,
    "apps/statefulsets": STATEFUL_SETS,
}
