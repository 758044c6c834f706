"""Short descriptions of the types and fields that people look up most, for `kubectl explain`.

They are our own words: Kubernetes' own are not in here.
"""

from __future__ import annotations

from typing import Any

__all__ = ["described"]

_TABLE = """
io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta | Who an object is, and more about it.
  name | Unique among the objects of its type in its namespace.
  namespace | Where it is; empty for types that are in none.
  labels | Names and values that selectors look at.
  annotations | Names and values that nothing selects by.
  finalizers | What must be done, and taken out of here, before a deleted object goes.
  ownerReferences | The objects without which this one is garbage.
  generateName | The beginning of a name whose end the server makes.
  resourceVersion | Which state of the object this is; opaque to clients.
  uid | Unique in time and space, given by the server.
io.k8s.api.core.v1.Pod | Containers that run together on one node.
  spec | What shall run, and how.
  status | What became of it, as the kubelet reports.
  metadata | Name, namespace, labels and the like.
io.k8s.api.core.v1.PodSpec | What a pod shall be.
  containers | Those that run side by side; at least one.
  initContainers | Those that run one after the other before them.
  volumes | What its containers can mount.
  nodeName | The node it is bound to; the scheduler fills it in.
  nodeSelector | Labels that the node must have.
  restartPolicy | When containers are started again: Always, OnFailure or Never.
  serviceAccountName | Whose credentials its processes get.
  terminationGracePeriodSeconds | How long they have to end, in seconds.
  tolerations | The taints of nodes that it puts up with.
  affinity | Which nodes, and which pods beside it, it prefers or needs.
io.k8s.api.core.v1.PodStatus | What became of a pod.
  phase | Pending, Running, Succeeded, Failed or Unknown.
  conditions | What is the case, such as Ready.
  podIP | Its address in the cluster.
  containerStatuses | What each container is doing.
io.k8s.api.core.v1.Container | One container of a pod.
  name | Unique in the pod.
  image | Which image it is made from.
  command | What is run instead of the image's entrypoint.
  args | The arguments of what is run.
  env | Its environment variables.
  ports | The ports that it says it listens on.
  resources | What it needs of CPU, memory and the like, and how much it may take.
  volumeMounts | Where the pod's volumes are in its file system.
  livenessProbe | How to find out that it must be started again.
  readinessProbe | How to find out whether it can be sent requests.
  imagePullPolicy | When its image is fetched: Always, IfNotPresent or Never.
  securityContext | As whom and with which rights it runs.
io.k8s.api.core.v1.ConfigMap | Configuration that is no secret.
  data | Texts by key.
  binaryData | Bytes by key, in base64.
  immutable | Whether its data can never be changed.
io.k8s.api.core.v1.Secret | Data that few should see.
  data | Bytes by key, in base64.
  stringData | Texts by key, for writing only: they end up in data.
  type | What kind of secret it is, and so which keys it has.
io.k8s.api.core.v1.Service | One name and address for the pods that a selector finds.
  spec | Which pods, at which ports, reachable from where.
  status | What a load balancer has given it.
io.k8s.api.core.v1.ServiceSpec | How a service is reached.
  selector | The labels of its pods.
  ports | The ports it is reached at.
  type | ClusterIP, NodePort, LoadBalancer or ExternalName.
  clusterIP | Its address in the cluster, or None.
io.k8s.api.core.v1.Namespace | A place for names, rights and quotas.
io.k8s.api.core.v1.Node | A machine that runs pods.
io.k8s.api.core.v1.ServiceAccount | Who programs in pods are to the API server.
io.k8s.api.core.v1.Event | Something that happened to an object.
io.k8s.api.core.v1.PersistentVolume | A piece of storage.
io.k8s.api.core.v1.PersistentVolumeClaim | Somebody's wish for storage.
io.k8s.api.apps.v1.Deployment | Keeps pods of one template running, and rolls changes out.
  spec | The template, how many, and how changes are rolled out.
  status | How far it is.
io.k8s.api.apps.v1.DeploymentSpec | What a deployment shall keep running.
  replicas | How many pods; 1 where nothing is said.
  selector | Which pods are its own; must match the template's labels.
  template | What its pods are made from.
  strategy | How old pods give way to new ones.
  paused | Whether changes are held back.
  revisionHistoryLimit | How many old ReplicaSets are kept.
io.k8s.api.apps.v1.ReplicaSet | Keeps a number of pods of one template running.
io.k8s.api.apps.v1.StatefulSet | Keeps pods with names and volumes of their own running, in order.
io.k8s.api.apps.v1.DaemonSet | Keeps one pod on each node.
io.k8s.api.batch.v1.Job | Runs pods until enough of them have succeeded.
io.k8s.api.batch.v1.CronJob | Makes Jobs at the times of a schedule.
io.k8s.api.networking.v1.Ingress | How requests from outside reach services, by host and path.
io.k8s.api.networking.v1.NetworkPolicy | Which traffic pods may send and get.
io.k8s.api.rbac.v1.Role | What may be done in one namespace.
io.k8s.api.rbac.v1.ClusterRole | What may be done in all namespaces, or outside of them.
io.k8s.api.rbac.v1.RoleBinding | Who has a role in one namespace.
io.k8s.api.rbac.v1.ClusterRoleBinding | Who has a ClusterRole everywhere.
io.k8s.api.coordination.v1.Lease | Who holds something, and since when.
"""


def _read() -> dict[str, tuple[str, dict[str, str]]]:
    found: dict[str, tuple[str, dict[str, str]]] = {}
    fields: dict[str, str] = {}
    for line in _TABLE.strip().splitlines():
        name, _, text = line.partition(" | ")
        if line.startswith("  "):
            fields[name.strip()] = text
        else:
            fields = {}
            found[name] = (text, fields)
    return found


_FOUND = _read()
_NAMES = {
    "apiVersion": "The group and version in which the object is written.",
    "kind": "The type of the object.",
}


def described(name: str, node: dict[str, Any]) -> dict[str, Any]:
    """A schema, as `expanded` makes it, with what there is to say of it. `node` may be changed."""
    known = _FOUND.get(name)
    if known is None:
        return node
    text, fields = known
    properties = node.get("properties", {})
    fields = {**_NAMES, **fields}
    for field, said in fields.items():
        if field in properties:
            properties[field] = {"description": said, **properties[field]}
    return {"description": text, **node}
