"""The built-in types of a kube-apiserver v1.36, by table (K7, K27, K33, K38)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from listwatch.api import BUILTIN_RESOURCES, APIResource

from .served import DEFAULT_FIELDS, ResourceType
from .subresource_table import SUBRESOURCES

__all__ = ["builtin_types"]

_TABLE = """
# Address of the type; traits; then the members of its objects besides kind, apiVersion, metadata,
# in the order in which they are written. `name=value`: what is written where an object has none.
# Traits: g counts its generation, o DELETE answers the object, r PUT needs an RV, c PUT creates.
v1/configmaps - immutable data binaryData
v1/componentstatuses - conditions
v1/endpoints c subsets
v1/events c involvedObject={} reason message source={} firstTimestamp=null lastTimestamp=null
  count type eventTime=null series action related reportingComponent="" reportingInstance=""
v1/limitranges c spec={"limits":null}
v1/namespaces o spec={} status={}
v1/nodes - spec={} status={"daemonEndpoints":{"kubeletEndpoint":{"Port":0}},"nodeInfo":{
  "machineID":"","systemUUID":"","bootID":"","kernelVersion":"","osImage":"",
  "containerRuntimeVersion":"","kubeletVersion":"","kubeProxyVersion":"","operatingSystem":"",
  "architecture":""}}
v1/persistentvolumeclaims o spec={"resources":{}} status={}
v1/persistentvolumes o spec={} status={}
v1/pods go spec={"containers":null} status={}
v1/podtemplates go template={"metadata":{},"spec":{"containers":null}}
v1/replicationcontrollers go spec={} status={"replicas":0}
v1/resourcequotas o spec={} status={}
v1/secrets - immutable data stringData type
v1/serviceaccounts o secrets imagePullSecrets automountServiceAccountToken
v1/services oc spec={} status={"loadBalancer":{}}
authentication.k8s.io/v1/selfsubjectreviews - status={"userInfo":{}}
authentication.k8s.io/v1/tokenreviews - spec={} status={"user":{}}
authorization.k8s.io/v1/localsubjectaccessreviews - spec={} status={"allowed":false}
authorization.k8s.io/v1/selfsubjectaccessreviews - spec={} status={"allowed":false}
authorization.k8s.io/v1/selfsubjectrulesreviews - spec={} status={"resourceRules":null,
  "nonResourceRules":null,"incomplete":false}
authorization.k8s.io/v1/subjectaccessreviews - spec={} status={"allowed":false}
apiregistration.k8s.io/v1/apiservices r spec={"groupPriorityMinimum":0,"versionPriority":0}
  status={}
apps/v1/controllerrevisions - data=null revision=0
apps/v1/daemonsets g spec={"selector":null,"template":{"metadata":{},"spec":{"containers":null}},
  "updateStrategy":{}} status={"currentNumberScheduled":0,"numberMisscheduled":0,
  "desiredNumberScheduled":0,"numberReady":0}
apps/v1/deployments g spec={"replicas":0,"selector":null,"template":{"metadata":{},"spec":{
  "containers":null}},"strategy":{}} status={}
apps/v1/replicasets g spec={"replicas":0,"selector":null,"template":{"metadata":{},"spec":{
  "containers":null}}} status={"replicas":0}
apps/v1/statefulsets g spec={"replicas":0,"selector":null,"template":{"metadata":{},"spec":{
  "containers":null}},"serviceName":"","updateStrategy":{}}
  status={"replicas":0,"availableReplicas":0}
events.k8s.io/v1/events c eventTime=null series reportingController reportingInstance action reason
  regarding={} related note type deprecatedSource={} deprecatedFirstTimestamp=null
  deprecatedLastTimestamp=null deprecatedCount
autoscaling/v2/horizontalpodautoscalers - spec={"scaleTargetRef":{"kind":"","name":""},
  "maxReplicas":0} status={"desiredReplicas":0,"currentMetrics":null}
autoscaling/v1/horizontalpodautoscalers - spec={"scaleTargetRef":{"kind":"","name":""},
  "maxReplicas":0} status={"currentReplicas":0,"desiredReplicas":0}
batch/v1/cronjobs g spec={"schedule":"","jobTemplate":{"metadata":{},"spec":{"template":{
  "metadata":{},"spec":{"containers":null}}}}} status={}
batch/v1/jobs go spec={"template":{"metadata":{},"spec":{"containers":null}}} status={}
certificates.k8s.io/v1/certificatesigningrequests - spec={"request":null,"signerName":""} status={}
networking.k8s.io/v1/ingressclasses g spec={}
networking.k8s.io/v1/ingresses g spec={} status={"loadBalancer":{}}
networking.k8s.io/v1/ipaddresses - spec={}
networking.k8s.io/v1/networkpolicies g spec={"podSelector":{}}
networking.k8s.io/v1/servicecidrs - spec={} status={}
policy/v1/poddisruptionbudgets gr spec={} status={"disruptionsAllowed":0,"currentHealthy":0,
  "desiredHealthy":0,"expectedPods":0}
rbac.authorization.k8s.io/v1/clusterrolebindings c subjects
  roleRef={"apiGroup":"","kind":"","name":""}
rbac.authorization.k8s.io/v1/clusterroles c rules=null aggregationRule
rbac.authorization.k8s.io/v1/rolebindings c subjects roleRef={"apiGroup":"","kind":"","name":""}
rbac.authorization.k8s.io/v1/roles c rules=null
storage.k8s.io/v1/csidrivers or spec={}
storage.k8s.io/v1/csinodes or spec={"drivers":null}
storage.k8s.io/v1/csistoragecapacities r nodeTopology storageClassName="" capacity
  maximumVolumeSize
storage.k8s.io/v1/storageclasses o provisioner="" parameters reclaimPolicy mountOptions
  allowVolumeExpansion volumeBindingMode allowedTopologies
storage.k8s.io/v1/volumeattachments or spec={"attacher":"","source":{},"nodeName":""}
  status={"attached":false}
storage.k8s.io/v1/volumeattributesclasses o driverName="" parameters
admissionregistration.k8s.io/v1/mutatingadmissionpolicies gr spec={}
admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings gr spec={}
admissionregistration.k8s.io/v1/mutatingwebhookconfigurations gr webhooks
admissionregistration.k8s.io/v1/validatingadmissionpolicies gr spec={} status={}
admissionregistration.k8s.io/v1/validatingadmissionpolicybindings gr spec={}
admissionregistration.k8s.io/v1/validatingwebhookconfigurations gr webhooks
apiextensions.k8s.io/v1/customresourcedefinitions gor spec={"group":"","names":{"plural":"",
  "kind":""},"scope":"","versions":null} status={"conditions":null,"acceptedNames":{"plural":"",
  "kind":""},"storedVersions":null}
scheduling.k8s.io/v1/priorityclasses g value=0 globalDefault description preemptionPolicy
coordination.k8s.io/v1/leases cr spec={}
node.k8s.io/v1/runtimeclasses cr handler="" overhead scheduling
discovery.k8s.io/v1/endpointslices g addressType="" endpoints=null ports=null
resource.k8s.io/v1/deviceclasses go spec={}
resource.k8s.io/v1/resourceclaims o spec={"devices":{"requests":null}} status={}
resource.k8s.io/v1/resourceclaimtemplates o spec={"metadata":{},"spec":{"devices":{
  "requests":null}}}
resource.k8s.io/v1/resourceslices go spec={"driver":"","pool":{"name":"","generation":0,
  "resourceSliceCount":0}}
flowcontrol.apiserver.k8s.io/v1/flowschemas g spec={"priorityLevelConfiguration":{"name":""},
  "matchingPrecedence":0} status={}
flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations g spec={"type":""} status={}
"""

_INVOLVED = "kind namespace name uid apiVersion resourceVersion fieldPath"
_MORE_FIELDS = {
    "v1/pods": "spec.nodeName spec.restartPolicy spec.schedulerName spec.serviceAccountName "
    "spec.hostNetwork status.phase status.podIP status.podIPs status.nominatedNodeName",
    "v1/events": "type reason reportingComponent source "
    + " ".join(f"involvedObject.{name}" for name in _INVOLVED.split()),
    "events.k8s.io/v1/events": "type reason regarding.kind regarding.name regarding.namespace "
    "regarding.uid reportingController",
    "v1/replicationcontrollers": "status.replicas",
    "v1/secrets": "type",
    "v1/services": "spec.type spec.clusterIP",
    "batch/v1/jobs": "status.successful",
}
"""Besides the name and the namespace (K38)."""
_FIELDS_WITHOUT_NAMESPACE = {
    "v1/nodes": "spec.unschedulable",
    "v1/namespaces": "status.phase",
    "certificates.k8s.io/v1/certificatesigningrequests": "spec.signerName",
    "resource.k8s.io/v1/resourceslices": "spec.nodeName spec.driver",
}

_WARNINGS = {
    "v1/componentstatuses": "v1 ComponentStatus is deprecated in v1.19+",
    "v1/endpoints": "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
}

_STORAGE_VERSIONS = {
    "events.k8s.io/v1/events": "v1",
    "autoscaling/v1/horizontalpodautoscalers": "autoscaling/v2",
    "apiextensions.k8s.io/v1/customresourcedefinitions": "apiextensions.k8s.io/v1beta1",
    **dict.fromkeys(
        (
            "admissionregistration.k8s.io/v1/mutatingadmissionpolicies",
            "admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings",
        ),
        "admissionregistration.k8s.io/v1beta1",
    ),
}


def builtin_types() -> Iterator[ResourceType]:
    """Every built-in type, in the order of discovery."""
    rows = dict(_rows())
    for resource in BUILTIN_RESOURCES:
        address = str(resource)
        traits, members = rows.get(address, ("-", {}))
        subresources = SUBRESOURCES.get(address, ())
        yield ResourceType(
            resource=resource,
            storage=_storage(resource),
            storage_version=_STORAGE_VERSIONS.get(address, ""),
            members=members,
            selectable=_selectable(address),
            generation="g" in traits,
            has_status=any(found.name == "status" for found in subresources),
            delete_returns_object="o" in traits,
            put_needs_rv="r" in traits,
            put_creates="c" in traits,
            watch_cache=resource.name != "events",
            warning=_WARNINGS.get(address, ""),
            subresources=subresources,
        )


def _storage(resource: APIResource) -> str:
    if resource.name == "events":
        return "events"  # both groups show the same objects
    return f"{resource.group}/{resource.name}" if resource.group else resource.name


def _selectable(address: str) -> frozenset[str]:
    if address in _FIELDS_WITHOUT_NAMESPACE:
        return frozenset({"metadata.name", *_FIELDS_WITHOUT_NAMESPACE[address].split()})
    return DEFAULT_FIELDS | frozenset(_MORE_FIELDS.get(address, "").split())


def _rows() -> Iterator[tuple[str, tuple[str, dict[str, Any]]]]:
    """Address, traits and members with their value where the object has none (None: left out)."""
    table = "\n".join(line for line in _TABLE.splitlines() if not line.startswith("#"))
    # A line that goes on inside a value continues without a space.
    for row in table.replace(",\n  ", ",").replace("{\n  ", "{").replace("\n  ", " ").split("\n"):
        if not row:
            continue
        address, traits, *words = row.split()
        members = {}
        for word in words:
            name, given, value = word.partition("=")
            members[name] = json.loads(value) if given else ...
        yield address, (traits, members)
