"""The types every Kubernetes cluster has, as discovery lists them.

The facts are those of a kube-apiserver v1.36 with its default settings. They serve to resolve a
name such as `po` without asking, and as the resources of a test server.
"""

from __future__ import annotations

from .resource import APIResource

__all__ = ["BUILTIN_RESOURCES"]

_VERBS = {
    "": ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
    "single": ("create", "delete", "get", "list", "patch", "update", "watch"),
    "create": ("create",),
    "get,list": ("get", "list"),
}

_TABLE = """
# N: namespaced, C: cluster-scoped; resource; kind; short names; category; verbs, where not all
[v1]
N bindings                        Binding                        -        -              create
C componentstatuses               ComponentStatus                cs       -              get,list
N configmaps                      ConfigMap                      cm       -
N endpoints                       Endpoints                      ep       -
N events                          Event                          ev       -
N limitranges                     LimitRange                     limits   -
C namespaces                      Namespace                      ns       -              single
C nodes                           Node                           no       -
N persistentvolumeclaims          PersistentVolumeClaim          pvc      -
C persistentvolumes               PersistentVolume               pv       -
N pods                            Pod                            po       all
N podtemplates                    PodTemplate                    -        -
N replicationcontrollers          ReplicationController          rc       all
N resourcequotas                  ResourceQuota                  quota    -
N secrets                         Secret                         -        -
N serviceaccounts                 ServiceAccount                 sa       -
N services                        Service                        svc      all
[apiregistration.k8s.io/v1]
C apiservices                     APIService                     -        api-extensions
[apps/v1]
N controllerrevisions             ControllerRevision             -        -
N daemonsets                      DaemonSet                      ds       all
N deployments                     Deployment                     deploy   all
N replicasets                     ReplicaSet                     rs       all
N statefulsets                    StatefulSet                    sts      all
[events.k8s.io/v1]
N events                          Event                          ev       -
[authentication.k8s.io/v1]
C selfsubjectreviews              SelfSubjectReview              -        -              create
C tokenreviews                    TokenReview                    -        -              create
[authorization.k8s.io/v1]
N localsubjectaccessreviews       LocalSubjectAccessReview       -        -              create
C selfsubjectaccessreviews        SelfSubjectAccessReview        -        -              create
C selfsubjectrulesreviews         SelfSubjectRulesReview         -        -              create
C subjectaccessreviews            SubjectAccessReview            -        -              create
[autoscaling/v2]
N horizontalpodautoscalers        HorizontalPodAutoscaler        hpa      all
[autoscaling/v1]
N horizontalpodautoscalers        HorizontalPodAutoscaler        hpa      all
[batch/v1]
N cronjobs                        CronJob                        cj       all
N jobs                            Job                            -        all
[certificates.k8s.io/v1]
C certificatesigningrequests      CertificateSigningRequest      csr      -
[networking.k8s.io/v1]
C ingressclasses                  IngressClass                   -        -
N ingresses                       Ingress                        ing      -
C ipaddresses                     IPAddress                      ip       -
N networkpolicies                 NetworkPolicy                  netpol   -
C servicecidrs                    ServiceCIDR                    -        -
[policy/v1]
N poddisruptionbudgets            PodDisruptionBudget            pdb      -
[rbac.authorization.k8s.io/v1]
C clusterrolebindings             ClusterRoleBinding             -        -
C clusterroles                    ClusterRole                    -        -
N rolebindings                    RoleBinding                    -        -
N roles                           Role                           -        -
[storage.k8s.io/v1]
C csidrivers                      CSIDriver                      -        -
C csinodes                        CSINode                        -        -
N csistoragecapacities            CSIStorageCapacity             -        -
C storageclasses                  StorageClass                   sc       -
C volumeattachments               VolumeAttachment               -        -
C volumeattributesclasses         VolumeAttributesClass          vac      -
[admissionregistration.k8s.io/v1]
C mutatingadmissionpolicies       MutatingAdmissionPolicy        -        api-extensions
C mutatingadmissionpolicybindings MutatingAdmissionPolicyBinding -        api-extensions
C mutatingwebhookconfigurations   MutatingWebhookConfiguration   -        api-extensions
C validatingadmissionpolicies     ValidatingAdmissionPolicy      -        api-extensions
C validatingadmissionpolicybindings ValidatingAdmissionPolicyBinding -        api-extensions
C validatingwebhookconfigurations ValidatingWebhookConfiguration -        api-extensions
[apiextensions.k8s.io/v1]
C customresourcedefinitions       CustomResourceDefinition       crd,crds api-extensions
[scheduling.k8s.io/v1]
C priorityclasses                 PriorityClass                  pc       -
[coordination.k8s.io/v1]
N leases                          Lease                          -        -
[node.k8s.io/v1]
C runtimeclasses                  RuntimeClass                   -        -
[discovery.k8s.io/v1]
N endpointslices                  EndpointSlice                  -        -
[resource.k8s.io/v1]
C deviceclasses                   DeviceClass                    -        -
N resourceclaims                  ResourceClaim                  -        -
N resourceclaimtemplates          ResourceClaimTemplate          -        -
C resourceslices                  ResourceSlice                  -        -
[flowcontrol.apiserver.k8s.io/v1]
C flowschemas                     FlowSchema                     -        -
C prioritylevelconfigurations     PriorityLevelConfiguration     -        -
"""


def _resources(table: str) -> tuple[APIResource, ...]:
    resources = []
    group = version = ""
    for line in table.strip().splitlines():
        if line.startswith("#"):
            continue
        if line.startswith("["):
            group, _, version = line.strip("[]").rpartition("/")
            continue
        scope, name, kind, short_names, category, *verbs = line.split()
        resources.append(
            APIResource(
                group=group,
                version=version,
                name=name,
                kind=kind,
                namespaced=scope == "N",
                singular=kind.lower(),  # as it is for every built-in type
                short_names=() if short_names == "-" else tuple(short_names.split(",")),
                categories=() if category == "-" else (category,),
                verbs=_VERBS["".join(verbs)],
            )
        )
    return tuple(resources)


BUILTIN_RESOURCES: tuple[APIResource, ...] = _resources(_TABLE)
"""In the order of discovery: groups by the server's priority, a group's preferred version first."""
