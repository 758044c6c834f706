"""The subresources of the built-in types, as discovery names them.

Some of them do nothing here, but are listed, since clients look for them (`types/routes.py` knows
which are served).
"""

from __future__ import annotations

from .served import Subresource

__all__ = ["SUBRESOURCES"]

_CHANGE = "get,patch,update"
_POLICY, _LEVEL = "ValidatingAdmissionPolicy", "PriorityLevelConfiguration"
_PROXY = "create,delete,get,patch,update"

_TABLE = f"""
# address; subresource; its kind; verbs
v1/namespaces finalize Namespace update
v1/namespaces status Namespace {_CHANGE}
v1/nodes proxy NodeProxyOptions {_PROXY}
v1/nodes status Node {_CHANGE}
v1/persistentvolumeclaims status PersistentVolumeClaim {_CHANGE}
v1/persistentvolumes status PersistentVolume {_CHANGE}
v1/pods attach PodAttachOptions create,get
v1/pods binding Binding create
v1/pods ephemeralcontainers Pod {_CHANGE}
v1/pods eviction policy/v1/Eviction create
v1/pods exec PodExecOptions create,get
v1/pods log Pod get
v1/pods portforward PodPortForwardOptions create,get
v1/pods proxy PodProxyOptions {_PROXY}
v1/pods resize Pod {_CHANGE}
v1/pods status Pod {_CHANGE}
v1/replicationcontrollers scale autoscaling/v1/Scale {_CHANGE}
v1/replicationcontrollers status ReplicationController {_CHANGE}
v1/resourcequotas status ResourceQuota {_CHANGE}
v1/serviceaccounts token authentication.k8s.io/v1/TokenRequest create
v1/services proxy ServiceProxyOptions {_PROXY}
v1/services status Service {_CHANGE}
apiregistration.k8s.io/v1/apiservices status APIService {_CHANGE}
apps/v1/daemonsets status DaemonSet {_CHANGE}
apps/v1/deployments scale autoscaling/v1/Scale {_CHANGE}
apps/v1/deployments status Deployment {_CHANGE}
apps/v1/replicasets scale autoscaling/v1/Scale {_CHANGE}
apps/v1/replicasets status ReplicaSet {_CHANGE}
apps/v1/statefulsets scale autoscaling/v1/Scale {_CHANGE}
apps/v1/statefulsets status StatefulSet {_CHANGE}
autoscaling/v2/horizontalpodautoscalers status HorizontalPodAutoscaler {_CHANGE}
autoscaling/v1/horizontalpodautoscalers status HorizontalPodAutoscaler {_CHANGE}
batch/v1/cronjobs status CronJob {_CHANGE}
batch/v1/jobs status Job {_CHANGE}
certificates.k8s.io/v1/certificatesigningrequests approval CertificateSigningRequest {_CHANGE}
certificates.k8s.io/v1/certificatesigningrequests status CertificateSigningRequest {_CHANGE}
networking.k8s.io/v1/ingresses status Ingress {_CHANGE}
networking.k8s.io/v1/servicecidrs status ServiceCIDR {_CHANGE}
policy/v1/poddisruptionbudgets status PodDisruptionBudget {_CHANGE}
storage.k8s.io/v1/volumeattachments status VolumeAttachment {_CHANGE}
admissionregistration.k8s.io/v1/validatingadmissionpolicies status {_POLICY} {_CHANGE}
apiextensions.k8s.io/v1/customresourcedefinitions status CustomResourceDefinition {_CHANGE}
resource.k8s.io/v1/resourceclaims status ResourceClaim {_CHANGE}
flowcontrol.apiserver.k8s.io/v1/flowschemas status FlowSchema {_CHANGE}
flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations status {_LEVEL} {_CHANGE}
"""


def _subresources(table: str) -> dict[str, tuple[Subresource, ...]]:
    found: dict[str, tuple[Subresource, ...]] = {}
    for line in table.strip().splitlines():
        if line.startswith("#"):
            continue
        address, name, kind, verbs = line.split()
        group_version, _, kind = kind.rpartition("/")
        group, _, version = group_version.partition("/")
        entry = Subresource(name, kind, tuple(verbs.split(",")), group, version)
        found[address] = (*found.get(address, ()), entry)
    return found


SUBRESOURCES = _subresources(_TABLE)
