"""The table: what is run, on what, and what it must print, answer and do."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from conformance.kubectl_commands.stage import (
    APP,
    CHANGED,
    CREATED,
    ROLL,
    WIDGET_K,
    WIDGET_K_CHANGED,
    Stage,
)

Act = Callable[[Stage], object]
Check = Callable[[Stage], bool]


@dataclass(frozen=True, kw_only=True)
class Command:
    run: str
    """Its arguments; ``$ns`` is the namespace and ``$node`` a node."""
    before: tuple[Act, ...] = ()
    first: str = ""
    """Another command before it, of its input."""
    stdin: str = ""
    exit: int = 0
    out: str = ""
    """A regular expression that begins to match where the output begins."""
    err: str = ""
    """One that is found in what it complains of."""
    during: Act | None = None
    """What happens while it runs: then it may have to be ended."""
    lines: int = 0
    """Of one that runs on: how many lines it must have printed at the end."""
    after: Check | None = None
    """What must be true afterwards."""
    node: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)


def _pods(stage: Stage) -> None:
    stage.pod("web-03", app="web")
    stage.pod("web-04", ready=False)


def _create(name: str, **labels: str) -> Act:
    return lambda stage: stage.pod(name, ready=False, **labels)


def _gone(plural: str, name: str) -> Check:
    return lambda stage: not stage.is_there(plural, name)


def _data(name: str, **data: str) -> Check:
    return lambda stage: stage.get("configmaps", name)["data"] == data


def _touch(stage: Stage) -> None:
    stage.set_pod("web-03", "Running", ready=True)
    stage.server.patch(stage.path("pods", "web-03"), {"metadata": {"annotations": {"a": "1"}}})


def _paint(stage: Stage) -> None:
    stage.server.patch(stage.path("widgets", "w-1"), {"spec": {"color": "pink"}})


def _terminating(stage: Stage) -> bool:
    found = stage.server.get(f"/api/v1/namespaces/{stage.place.namespace}-more")
    return bool(found["status"]["phase"] == "Terminating")


def _make_namespace(stage: Stage) -> None:
    name = f"{stage.place.namespace}-more"
    stage.server.create("/api/v1/namespaces", {"metadata": {"name": name}})


def _has_annotation(stage: Stage) -> bool:
    template = stage.get("deployments", "roll")["spec"]["template"]["metadata"]
    return "kubectl.kubernetes.io/restartedAt" in template.get("annotations", {})


def _image(image: str) -> Check:
    def check(stage: Stage) -> bool:
        template = stage.get("deployments", "roll")["spec"]["template"]
        return bool(template["spec"]["containers"][0]["image"] == image)

    return check


_POD_HEAD = r"NAME +READY +STATUS +RESTARTS +AGE\n"
_ON_NODE: tuple[Act, ...] = (lambda stage: stage.pod("on-node", node=stage.node),)
_ROLLED: tuple[Act, ...] = (Stage.deployment,)
_TWO_REVISIONS: tuple[Act, ...] = (lambda stage: stage.deployment(revisions=2),)
_CREATED_MAP: tuple[Act, ...] = (lambda stage: stage.config_maps("created"),)
_LIT: tuple[Act, ...] = (lambda stage: stage.config_maps("lit"),)

COMMANDS: Mapping[str, Command] = {
    # get
    "get-pods-cold": Command(
        run="get pods",
        before=(_pods,),
        out=_POD_HEAD + r"web-03 +0/1 +Running +0 .*\nweb-04 +0/1 +",
    ),
    "get-pods-warm": Command(
        run="get pods", before=(_pods,), first="get pods", out=_POD_HEAD + "web-03 "
    ),
    "get-pod": Command(run="get pod web-03", before=(_pods,), out=_POD_HEAD + r"web-03 .*\n$"),
    "get-pod-missing": Command(
        run="get pod nope", exit=1, err=r'^Error from server \(NotFound\): pods "nope" not found\n$'
    ),
    "get-unknown-type": Command(
        run="get nosuch",
        exit=1,
        err='^error: the server doesn\'t have a resource type "nosuch"\n$',
    ),
    "get-pods-wide": Command(
        run="get pods -o wide",
        before=(_pods,),
        out=r"NAME +READY +STATUS +RESTARTS +AGE +IP +NODE +NOMINATED NODE +READINESS GATES\nweb-",
    ),
    "get-pods-yaml": Command(
        run="get pods -o yaml", before=(_pods,), out="apiVersion: v1\nitems:\n- apiVersion: v1\n"
    ),
    "get-pods-name-all-namespaces": Command(
        run="get pods -A -o name", before=(_pods,), out=r"(pod/\S+\n)*pod/web-03\n"
    ),
    "get-pods-selectors": Command(
        run="get pods -l app=web --field-selector status.phase=Running",
        before=(_pods,),
        out=_POD_HEAD + r"web-03 .*\n$",
    ),
    "get-pods-chunk": Command(
        run="get pods --chunk-size=1", before=(_pods,), out=_POD_HEAD + r"web-03.*\nweb-04.*\n$"
    ),
    "get-pods-sort": Command(
        run="get pods --sort-by=.metadata.name",
        before=(_pods,),
        out=_POD_HEAD + r"web-03.*\nweb-04.*\n$",
    ),
    "get-pods-watch": Command(
        run="get pods -w", before=(_pods,), during=_touch, lines=4, out=_POD_HEAD + "web-03"
    ),
    "get-pod-watch": Command(
        run="get pod web-03 -w", before=(_pods,), during=_touch, lines=3, out=_POD_HEAD + "web-03"
    ),
    "get-pods-watch-only": Command(
        run="get pods --watch-only", before=(_pods,), during=_touch, lines=2, out=_POD_HEAD
    ),
    "get-pods-watch-json": Command(
        run="get pods -w -o name",
        before=(_pods,),
        during=_touch,
        lines=3,
        out="pod/web-03\npod/web-04\npod/web-03",
    ),
    "get-pods-watch-events": Command(
        run="get pods -w --output-watch-events",
        before=(_pods,),
        during=_touch,
        lines=4,
        out=r"EVENT +NAME .*\nADDED +web-03.*\nADDED +web-04.*\nMODIFIED +web-03",
    ),
    "get-all": Command(
        run="get all",
        before=(_pods, Stage.service),
        out=_POD_HEAD + r"pod/web-03(.*\n)+NAME +TYPE.*\nservice/web ",
    ),
    "get-two-types": Command(
        run="get pods,services",
        before=(_pods, Stage.service),
        out=_POD_HEAD + r"pod/web-03(.*\n)+NAME +TYPE.*\nservice/web ",
    ),
    "get-events": Command(
        run="get events",
        before=(Stage.event,),
        out=r"LAST SEEN +TYPE +REASON +OBJECT +MESSAGE\n\S+ +Normal +Started +pod/web-03 +it ",
    ),
    "events": Command(
        run="events",
        before=(Stage.event,),
        out=r"LAST SEEN +TYPE +REASON +OBJECT +MESSAGE\n\S+ +Normal +Started +Pod/web-03 +it ",
    ),
    "get-nodes": Command(
        run="get nodes $node", node=True, out=r"NAME +STATUS +ROLES +AGE +VERSION\n$node +Unknown "
    ),
    "get-crd": Command(run="get crd", out=r"NAME +CREATED AT\n(.*\n)*widgets.example.com +\d{4}-"),
    "get-widgets": Command(run="get widgets", before=(Stage.widgets,), out="NAME .*\nw-0 .*\nw-1 "),
    "get-wd-short": Command(run="get wd", before=(Stage.widgets,), out="NAME .*\nw-0 .*\nw-1 "),
    "get-deploy": Command(
        run="get deploy",
        before=_ROLLED,
        out=r"NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nroll +1/1 +1 +1 ",
    ),
    "get-raw": Command(
        run="get --raw /api/v1/namespaces/$ns/configmaps/created",
        before=_CREATED_MAP,
        out=r'\{"kind":"ConfigMap","apiVersion":"v1","metadata":\{"name":"created"',
    ),
    "get-pods-output-watch-cr": Command(
        run="get widgets -w", before=(Stage.widgets,), during=_paint, lines=4, out="NAME .*\nw-0 "
    ),
    # explain and describe
    "explain-pods": Command(
        run="explain pods",
        out=r"KIND: +Pod\nVERSION: +v1\n\nDESCRIPTION:\n(.*\n)+  spec\t<PodS",
    ),
    "explain-field": Command(
        run="explain pods.spec.containers",
        out=r"KIND: +Pod\nVERSION: +v1\n\nFIELD: containers <\[\]Container>\n(.*\n)+  image\t<str",
    ),
    "explain-cr": Command(
        run="explain widgets",
        out=r"GROUP: +example.com\nKIND: +Widget\nVERSION: +v1\n(.*\n)+  spec\t",
    ),
    "describe-pod": Command(
        run="describe pod web-03",
        before=(Stage.event,),
        out=r"Name: +web-03\nNamespace: +$ns\n(.*\n)+Status: +Running\n(.*\n)+ +Normal +Started ",
    ),
    "describe-node": Command(
        run="describe node $node", node=True, out=r"Name: +$node\nRoles: +<none>\n"
    ),
    "describe-deployment": Command(
        run="describe deployment roll",
        before=_ROLLED,
        out=r"Name: +roll\n(.*\n)+Replicas: +1 desired \| 1 updated \| 1 total \| 1 available",
    ),
    "describe-service": Command(
        run="describe service web", before=(Stage.service,), out=r"Name: +web\nNamespace: +$ns\n"
    ),
    "describe-widget": Command(
        run="describe widget w-0",
        before=(Stage.widgets,),
        out=r"Name: +w-0\nNamespace: +$ns\n(.*\n)+Spec:\n  Color: +red\n",
    ),
    "describe-namespace": Command(
        run="describe namespace $ns",
        out=r"Name: +$ns\nLabels: +kubernetes.io/metadata.name=$ns\n(.*\n)+No resource quota.",
    ),
    # what the server is
    "api-resources": Command(
        run="api-resources",
        out=r"NAME +SHORTNAMES +APIVERSION +NAMESPACED +KIND\nbindings +v1 +true",
    ),
    "api-versions": Command(
        run="api-versions", out=r"admissionregistration.k8s.io/v1\n(.*\n)+v1\n$"
    ),
    "version": Command(run="version", out=r"Client Version: (.*\n)+Server Version: v1\."),
    "cluster-info": Command(
        run="cluster-info", out=r".*Kubernetes control plane.* is running at .*https?://"
    ),
    "auth-can-i": Command(run="auth can-i list pods", out="yes\n$"),
    "auth-can-i-list": Command(
        run="auth can-i --list", out=r"Resources +Non-Resource URLs +Resource Names +Verbs\n\*\.\* "
    ),
    "auth-whoami": Command(
        run="auth whoami",
        out=r"ATTRIBUTE +VALUE\nUsername +admin\nUID +admin\n"
        r"Groups +\[system:masters system:authenticated\]\n",
    ),
    "top-pods": Command(run="top pods", exit=1, err="error: Metrics API not available"),
    # apply, create and change
    "apply-create": Command(
        run="apply -f -", stdin=APP, out="configmap/app created\n$", after=_data("app", a="1")
    ),
    "apply-unchanged": Command(
        run="apply -f -", first="apply -f -", stdin=APP, out="configmap/app unchanged\n$"
    ),
    "apply-changed": Command(
        run="apply -f -",
        first="apply -f - <app",
        stdin=CHANGED,
        out="configmap/app configured\n$",
        after=_data("app", a="2"),
    ),
    "apply-custom-resource": Command(
        run="apply -f -", stdin=WIDGET_K, out="widget.example.com/k created\n$"
    ),
    "apply-custom-resource-changed": Command(
        run="apply -f -",
        first="apply -f - <widget",
        stdin=WIDGET_K_CHANGED,
        out="widget.example.com/k configured\n$",
        after=lambda stage: stage.get("widgets", "k")["spec"]["color"] == "blue",
    ),
    "apply-server-side": Command(
        run="apply --server-side -f -",
        first="apply -f - <app",
        stdin=APP,
        out="configmap/app serverside-applied\n$",
    ),
    "apply-server-side-force": Command(
        run="apply --server-side --force-conflicts -f -",
        first="create -f - <app",
        stdin=CHANGED,
        out="configmap/app serverside-applied\n$",
        after=_data("app", a="2"),
    ),
    "apply-dry-run-server": Command(
        run="apply --dry-run=server -f -",
        first="apply -f - <app",
        stdin=CHANGED,
        out=r"configmap/app configured \(server dry run\)\n$",
        after=_data("app", a="1"),
    ),
    "apply-dry-run-client": Command(
        run="apply --dry-run=client -f -",
        first="apply -f - <app",
        stdin=CHANGED,
        out=r"configmap/app configured \(dry run\)\n$",
        after=_data("app", a="1"),
    ),
    "diff": Command(
        run="diff -f -",
        first="apply -f - <app",
        stdin=CHANGED,
        exit=1,
        out=r'diff (.*\n)+-  a: "1"\n\+  a: "2"\n',
        after=_data("app", a="1"),
    ),
    "create-file": Command(run="create -f -", stdin=CREATED, out="configmap/created created\n$"),
    "create-exists": Command(
        run="create -f -",
        before=_CREATED_MAP,
        stdin=CREATED,
        exit=1,
        err=r'^Error from server \(AlreadyExists\): error when creating "STDIN": configmaps "c',
    ),
    "create-configmap": Command(
        run="create configmap lit --from-literal=a=b",
        out="configmap/lit created\n$",
        after=_data("lit", a="b"),
    ),
    "create-namespace": Command(
        run="create namespace $ns-more", out="namespace/$ns-more created\n$"
    ),
    "replace": Command(
        run="replace -f -",
        before=_CREATED_MAP,
        stdin=CREATED,
        out="configmap/created replaced\n$",
        after=_data("created", a="1"),
    ),
    "label": Command(
        run="label configmap created x=y", before=_CREATED_MAP, out="configmap/created labeled\n$"
    ),
    "annotate": Command(
        run="annotate configmap created x=y",
        before=_CREATED_MAP,
        out="configmap/created annotated\n$",
    ),
    "patch": Command(
        run='patch configmap created -p {"data":{"z":"1"}}',
        before=_CREATED_MAP,
        out="configmap/created patched\n$",
        after=lambda stage: stage.get("configmaps", "created")["data"]["z"] == "1",
    ),
    "edit": Command(
        run="edit configmap lit",
        before=_LIT,
        environment={"KUBE_EDITOR": "sed -i s/marker/edited/"},
        out="configmap/lit edited\n$",
        after=_data("lit", key="edited"),
    ),
    # delete
    "delete-configmap": Command(
        run="delete configmap created",
        before=_CREATED_MAP,
        out='configmap "created" deleted from $ns namespace\n$',
        after=_gone("configmaps", "created"),
    ),
    "delete-no-wait": Command(
        run="delete configmap lit --wait=false",
        before=_LIT,
        out='configmap "lit" deleted from $ns namespace\n$',
        after=_gone("configmaps", "lit"),
    ),
    "delete-missing": Command(
        run="delete configmap nope",
        exit=1,
        err=r'^Error from server \(NotFound\): configmaps "nope" not found\n$',
    ),
    "delete-ignore-missing": Command(run="delete configmap nope --ignore-not-found", out="$"),
    "delete-selector": Command(
        run="delete configmap -l kd=1",
        before=(lambda stage: stage.config_maps("kd-0", "kd-1", kd="1"),),
        out='configmap "kd-0" deleted from $ns namespace\nconfigmap "kd-1" deleted',
    ),
    "delete-pod-wait": Command(
        run="delete pod kp",
        before=(_create("kp"),),
        out='pod "kp" deleted from $ns namespace\n$',
        after=_gone("pods", "kp"),
    ),
    "delete-pod-force": Command(
        run="delete pod kf --force --grace-period=0",
        before=(_create("kf"),),
        out='pod "kf" force deleted from $ns namespace\n$',
        after=_gone("pods", "kf"),
    ),
    "delete-pod-now": Command(
        run="delete pod kn --now",
        before=(_create("kn"),),
        out='pod "kn" deleted from $ns namespace\n$',
        after=_gone("pods", "kn"),
    ),
    "delete-deployment": Command(
        run="delete deployment roll",
        before=_ROLLED,
        out='deployment.apps "roll" deleted from $ns namespace\n$',
        after=_gone("deployments", "roll"),
    ),
    "delete-deployment-foreground": Command(
        # Nobody collects garbage on either server: it would wait for ever.
        run="delete deployment roll --cascade=foreground --wait=false",
        before=_ROLLED,
        out='deployment.apps "roll" deleted from $ns namespace\n$',
        after=lambda stage: (
            stage.get("deployments", "roll")["metadata"]["finalizers"] == ["foregroundDeletion"]
        ),
    ),
    "delete-namespace": Command(
        # And nobody empties namespaces.
        run="delete namespace $ns-more --wait=false",
        before=(_make_namespace,),
        out='namespace "$ns-more" deleted\n$',
        after=_terminating,
    ),
    # wait
    "wait-condition": Command(
        run="wait --for=condition=Ready pod/kw --timeout=20s",
        before=(_create("kw"),),
        during=lambda stage: stage.set_pod("kw", "Running", ready=True),
        out="pod/kw condition met\n$",
    ),
    "wait-condition-already": Command(
        run="wait --for=condition=Ready pod/web-03 --timeout=20s",
        before=(_pods,),
        out="pod/web-03 condition met\n$",
    ),
    "wait-jsonpath": Command(
        run="wait --for=jsonpath={.status.phase}=Succeeded pod/kw --timeout=20s",
        before=(_create("kw"),),
        during=lambda stage: stage.set_pod("kw", "Succeeded"),
        out="pod/kw condition met\n$",
    ),
    "wait-timeout": Command(
        run="wait --for=condition=Nope pod/kw --timeout=1s",
        before=(_create("kw"),),
        exit=1,
        err="error: timed out waiting for the condition on pods/kw\n",
    ),
    "wait-delete": Command(
        run="wait --for=delete pod/kw --timeout=20s",
        before=(_create("kw"),),
        during=lambda stage: stage.server.delete(stage.path("pods", "kw")),
        out="pod/kw condition met\n$",
    ),
    "wait-create": Command(
        run="wait --for=create pod/kc --timeout=20s",
        during=_create("kc"),
        out="pod/kc condition met\n$",
    ),
    "wait-selector": Command(
        run="wait --for=condition=Ready pod -l app=web --timeout=20s",
        before=(_pods,),
        out="pod/web-03 condition met\n$",
    ),
    # deployments
    "create-deployment": Command(
        run="create -f -", stdin=ROLL, out="deployment.apps/roll created\n$"
    ),
    "rollout-status": Command(
        run="rollout status deployment/roll --timeout=20s",
        before=(lambda stage: stage.server.create(stage.path("deployments"), json.loads(ROLL)),),
        during=Stage.roll_out,
        out='(Waiting for .*\n)+deployment "roll" successfully rolled out\n$',
    ),
    "rollout-status-done": Command(
        run="rollout status deployment/roll --timeout=20s",
        before=_ROLLED,
        out='deployment "roll" successfully rolled out\n$',
    ),
    "rollout-history": Command(
        run="rollout history deployment/roll",
        before=_ROLLED,
        out=r"deployment.apps/roll \nREVISION +CHANGE-CAUSE\n1 +<none>\n",
    ),
    "rollout-restart": Command(
        run="rollout restart deployment/roll",
        before=_ROLLED,
        out="deployment.apps/roll restarted\n$",
        after=_has_annotation,
    ),
    "rollout-undo": Command(
        run="rollout undo deployment/roll",
        before=_TWO_REVISIONS,
        out="deployment.apps/roll rolled back\n$",
        after=_image("example.invalid/app:1"),
    ),
    "set-image": Command(
        run="set image deployment/roll *=example.invalid/app:9",
        before=_ROLLED,
        out="deployment.apps/roll image updated\n$",
        after=_image("example.invalid/app:9"),
    ),
    "scale": Command(
        run="scale deployment/roll --replicas=2",
        before=_ROLLED,
        out="deployment.apps/roll scaled\n$",
        after=lambda stage: stage.get("deployments", "roll")["spec"]["replicas"] == 2,
    ),
    "autoscale": Command(
        run="autoscale deployment/roll --max=3 --cpu=80%",
        before=_ROLLED,
        out="horizontalpodautoscaler.autoscaling/roll autoscaled\n$",
    ),
    "expose": Command(
        run="expose deployment/roll --port=80", before=_ROLLED, out="service/roll exposed\n$"
    ),
    "run": Command(
        run="run krun --image=example.invalid/x",
        out="pod/krun created\n$",
        after=lambda stage: stage.is_there("pods", "krun"),
    ),
    # nodes
    "cordon": Command(
        run="cordon $node",
        node=True,
        out="node/$node cordoned\n$",
        after=lambda stage: stage.get_node()["spec"].get("unschedulable") is True,
    ),
    "uncordon": Command(
        run="uncordon $node",
        node=True,
        first="cordon $node",
        out="node/$node uncordoned\n$",
        after=lambda stage: "unschedulable" not in stage.get_node()["spec"],
    ),
    "taint": Command(
        run="taint node $node k=v:NoSchedule",
        node=True,
        out="node/$node tainted\n$",
        after=lambda stage: (
            {"key": "k", "value": "v", "effect": "NoSchedule"} in stage.get_node()["spec"]["taints"]
        ),
    ),
    "drain": Command(
        # There is no kubelet to end the pod: with no grace it goes at once.
        run="drain $node --force --ignore-daemonsets --grace-period=0 --timeout=20s",
        node=True,
        before=_ON_NODE,
        out=r"node/$node cordoned\n(.*\n)*node/$node drained\n$",
        after=_gone("pods", "on-node"),
    ),
    # tokens
    "create-token": Command(
        run="create token bot", before=(Stage.account,), out=r"[\w-]+\.[\w-]+\.[\w-]+$"
    ),
    # What needs a kubelet
    "logs": Command(run="logs on-node", node=True, before=_ON_NODE, exit=1),
    "logs-follow": Command(run="logs -f on-node", node=True, before=_ON_NODE, exit=1),
    "exec": Command(run="exec on-node -- ls", node=True, before=_ON_NODE, exit=1),
    "port-forward": Command(
        run="port-forward pod/on-node 18080:80", node=True, before=_ON_NODE, exit=1
    ),
}
"""By the names that they have in `k-kubectl.json`."""

NEEDS_KUBELET = ("logs", "logs-follow", "exec", "port-forward")
"""Those that fail on either server, and say so in other words: there is no kubelet to ask."""
