"""The order in which the members of spec and status are written, for the types that people look at
most.
"""

from __future__ import annotations

from typing import Any

__all__ = ["in_order", "spec_in_order", "status_in_order"]

_ORDERS = {
    "services": """ports selector clusterIP clusterIPs type externalIPs sessionAffinity
        loadBalancerIP loadBalancerSourceRanges externalName externalTrafficPolicy
        healthCheckNodePort publishNotReadyAddresses sessionAffinityConfig ipFamilies
        ipFamilyPolicy allocateLoadBalancerNodePorts loadBalancerClass internalTrafficPolicy
        trafficDistribution""",
    "persistentvolumeclaims": """accessModes selector resources volumeName storageClassName
        volumeMode dataSource dataSourceRef volumeAttributesClassName""",
    "replicationcontrollers": "replicas minReadySeconds selector template",
    "apps/deployments": """replicas selector template strategy minReadySeconds
        revisionHistoryLimit paused progressDeadlineSeconds""",
    "apps/replicasets": "replicas minReadySeconds selector template",
    "apps/statefulsets": """replicas selector template volumeClaimTemplates serviceName
        podManagementPolicy updateStrategy revisionHistoryLimit minReadySeconds
        persistentVolumeClaimRetentionPolicy ordinals""",
    "apps/daemonsets": "selector template updateStrategy minReadySeconds revisionHistoryLimit",
    "batch/jobs": """parallelism completions activeDeadlineSeconds podFailurePolicy successPolicy
        backoffLimit backoffLimitPerIndex maxFailedIndexes selector manualSelector template
        ttlSecondsAfterFinished completionMode suspend podReplacementPolicy managedBy""",
    "batch/cronjobs": """schedule timeZone startingDeadlineSeconds concurrencyPolicy suspend
        jobTemplate successfulJobsHistoryLimit failedJobsHistoryLimit""",
    "autoscaling/horizontalpodautoscalers": """scaleTargetRef minReplicas maxReplicas
        targetCPUUtilizationPercentage metrics behavior""",
    "networking.k8s.io/ingresses": "ingressClassName defaultBackend tls rules",
    "networking.k8s.io/networkpolicies": "podSelector ingress egress policyTypes",
    "policy/poddisruptionbudgets": """minAvailable selector maxUnavailable
        unhealthyPodEvictionPolicy""",
    "coordination.k8s.io/leases": """holderIdentity leaseDurationSeconds acquireTime renewTime
        leaseTransitions strategy preferredHolder""",
    "storage.k8s.io/csidrivers": """attachRequired podInfoOnMount volumeLifecycleModes
        storageCapacity fsGroupPolicy tokenRequests requiresRepublish seLinuxMount""",
    "nodes": """podCIDR podCIDRs providerID unschedulable taints configSource externalID""",
}
_STATUS_ORDERS = {
    "pods": """observedGeneration phase conditions message reason nominatedNodeName hostIP hostIPs
        podIP podIPs startTime initContainerStatuses containerStatuses qosClass
        ephemeralContainerStatuses resize resourceClaimStatuses""",
    "nodes": """capacity allocatable phase conditions addresses daemonEndpoints nodeInfo images
        volumesInUse volumesAttached config runtimeHandlers features""",
    "apps/deployments": """observedGeneration replicas updatedReplicas readyReplicas
        availableReplicas unavailableReplicas terminatingReplicas conditions collisionCount""",
    "apps/replicasets": """replicas fullyLabeledReplicas readyReplicas availableReplicas
        terminatingReplicas observedGeneration conditions""",
    "batch/jobs": """conditions startTime completionTime active succeeded failed terminating
        completedIndexes failedIndexes uncountedTerminatedPods ready""",
}
_STATUSES = {storage: tuple(names.split()) for storage, names in _STATUS_ORDERS.items()}
_SPECS = {storage: tuple(names.split()) for storage, names in _ORDERS.items()}


def spec_in_order(storage: str, spec: dict[str, Any]) -> dict[str, Any]:
    """`spec` with its known members in order, and the others behind them."""
    order = _SPECS.get(storage)
    return spec if order is None else in_order(spec, order)


def status_in_order(storage: str, status: dict[str, Any]) -> dict[str, Any]:
    """Likewise."""
    order = _STATUSES.get(storage)
    return status if order is None else in_order(status, order)


def in_order(value: dict[str, Any], order: tuple[str, ...]) -> dict[str, Any]:
    """`value` with the members in `order` first; nulls are left out."""
    known = {name: value[name] for name in order if value.get(name) is not None}
    rest = {name: item for name, item in value.items() if name not in known and item is not None}
    return {**known, **rest} if rest else known
