"""The requests whose whole answers are compared: a few hundred, in groups.

How they are written and made is told in `scripted.py`. A step's name, with its group's, is what
`known_differences.py` and the tests know it by, so it stays when steps come and go.
"""

from __future__ import annotations

from typing import Any

from conformance.behaviour.scripted import (
    Group,
    Step,
    delete,
    get,
    named,
    patch,
    post,
    put,
    variants,
    watch,
)
from conformance.objects import WIDGET_CRD

_FUTURE = "1000000000"
_OTHER_UID = "11111111-1111-1111-1111-111111111111"
_EXACT = "resourceVersionMatch=Exact"
_NOT_OLDER = "resourceVersionMatch=NotOlderThan"
_CM = "$core/configmaps"
_PODS = "$core/pods"
_WIDGETS = "$example/widgets"
_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

_G = ";v=v1;g=meta.k8s.io"
_METADATA = {"Accept": f"application/json;as=PartialObjectMetadata{_G}"}
_METADATA_LIST = {"Accept": f"application/json;as=PartialObjectMetadataList{_G}"}
_TABLE = {"Accept": f"application/json;as=Table{_G}"}
_AGGREGATED = {"Accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}


def _config_map(name: str, data: dict[str, str] | None = None, **metadata: Any) -> dict[str, Any]:
    obj: dict[str, Any] = {"metadata": {"name": name, **metadata}}
    return obj if data is None else {**obj, "data": data}


def _pod(name: str, labels: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    obj = named(name, spec={"containers": [{"name": "main", "image": "none:1"}], **spec})
    if labels:
        obj["metadata"]["labels"] = labels
    return obj


def _widget(name: str, **spec: Any) -> dict[str, Any]:
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}}
    return {**widget, "spec": spec} if spec else widget


def _event(name: str) -> dict[str, Any]:
    involved = {"kind": "Pod", "namespace": "$name", "name": "web"}
    return named(name, involvedObject=involved, reason="Tried", message="a message", type="Normal")


_TEMPLATE = {
    "metadata": {"labels": {"app": "web"}},
    "spec": {"containers": [{"name": "main", "image": "none:1"}]},
}
_JOB_TEMPLATE = {
    "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "none:1"}]}
}
_SELECTOR = {"matchLabels": {"app": "web"}}


def _crd() -> list[Step]:
    return [
        post("define", _CRDS, WIDGET_CRD),
        get("served", "/apis/example.com/v1/widgets", until_code=200),
    ]


CREATES = Group(
    "creates",
    "Creating",
    [
        post("config-map", _CM, _config_map("a", {"x": "1"})),
        post("with-kind", _CM, {"kind": "ConfigMap", "apiVersion": "v1", **_config_map("b")}),
        post(
            "labels-and-annotations",
            _CM,
            _config_map(
                "c",
                {"x": "<&>\u2028é\U0001f600"},
                labels={"z": "1", "a": "2"},
                annotations={"k": "v"},
            ),
        ),
        post(
            "everything-in-metadata",
            _CM,
            _config_map(
                "d",
                finalizers=["example.com/hold"],
                ownerReferences=[
                    {"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": _OTHER_UID}
                ],
                annotations={"b": "1", "a": "2"},
                labels={"x": "y"},
                generation=3,
                selfLink="/none",
                creationTimestamp="2001-01-01T00:00:00Z",
                deletionTimestamp="2001-01-01T00:00:00Z",
                deletionGracePeriodSeconds=5,
                managedFields=[],
            ),
        ),
        post("binary-data", _CM, {**_config_map("e"), "binaryData": {"x": "aGVsbG8="}}),
        post("made-name", _CM, {"metadata": {"generateName": "made-"}}),
        post("name-and-made-name", _CM, {"metadata": {"name": "f", "generateName": "made-"}}),
        post("no-name", _CM, {"metadata": {}}),
        post("no-metadata", _CM, {}),
        post("taken", _CM, _config_map("a")),
        post("upper-case-name", _CM, _config_map("Upper")),
        post("long-name", _CM, _config_map("n" * 254)),
        post("bad-made-name", _CM, {"metadata": {"generateName": "Made_"}}),
        post("bad-label-key", _CM, _config_map("x", labels={"a b": "1"})),
        post("bad-label-value", _CM, _config_map("x", labels={"a": "b c"})),
        post("bad-annotation", _CM, _config_map("x", annotations={"a b": "1"})),
        post("bad-finalizer", _CM, _config_map("x", finalizers=["a b"])),
        post("bad-owner", _CM, _config_map("x", ownerReferences=[{"kind": "ConfigMap"}])),
        post(
            "two-controllers",
            _CM,
            _config_map(
                "x",
                ownerReferences=[
                    {
                        "apiVersion": "v1",
                        "kind": "C",
                        "name": n,
                        "uid": _OTHER_UID,
                        "controller": True,
                    }
                    for n in ("a", "b")
                ],
            ),
        ),
        post("many-problems", _CM, _config_map("X_", labels={"a b": "c d"}, annotations={"-": ""})),
        post("with-rv", _CM, _config_map("x", resourceVersion="5")),
        post("with-uid", _CM, _config_map("g", uid=_OTHER_UID)),
        post("other-namespace", _CM, _config_map("x", namespace="elsewhere")),
        post("unknown-namespace", "/api/v1/namespaces/none/configmaps", _config_map("x")),
        post("other-kind", _CM, {"kind": "Secret", "apiVersion": "v1", **_config_map("x")}),
        post("other-version", _CM, {"kind": "ConfigMap", "apiVersion": "v2", **_config_map("x")}),
        post("dry-run", f"{_CM}?dryRun=All", _config_map("x")),
        post("dry-run-some", f"{_CM}?dryRun=Some", _config_map("x")),
        post("unknown-field", _CM, {**_config_map("h"), "bogus": 1}),
        post("unknown-field-in-metadata", _CM, _config_map("i", bogus=1)),
        post(
            "unknown-field-ignored",
            f"{_CM}?fieldValidation=Ignore",
            {**_config_map("j"), "bogus": 1},
        ),
        post(
            "unknown-field-strict",
            f"{_CM}?fieldValidation=Strict",
            {**_config_map("x"), "bogus": 1},
        ),
        post("odd-field-validation", f"{_CM}?fieldValidation=Odd", _config_map("x")),
        post(
            "duplicate-field", _CM, b'{"metadata":{"name":"k"},"data":{"a":"1"},"data":{"a":"2"}}'
        ),
        post("manager-of-query", f"{_CM}?fieldManager=somebody", _config_map("l", {"x": "1"})),
        post("manager-too-long", f"{_CM}?fieldManager={'m' * 129}", _config_map("x")),
        post("no-user-agent", _CM, _config_map("m", {"x": "1"}), headers={"User-Agent": ""}),
        post(
            "yaml",
            _CM,
            b"metadata:\n  name: from-yaml\ndata: {x: '1'}\n",
            headers={"Content-Type": "application/yaml"},
        ),
        post(
            "yaml-boolean",
            _CM,
            b"metadata: {name: n}\n",
            headers={"Content-Type": "application/yaml"},
        ),
        post("status-of-a-pod", _PODS, {**_pod("p"), "status": {"phase": "Running"}}),
    ],
)

BODIES = Group(
    "bodies",
    "Bodies that are none",
    [
        post("empty", _CM, b""),
        post("broken", _CM, b"{"),
        post("null", _CM, b"null"),
        post("list", _CM, b"[]"),
        post("text", _CM, b'"text"'),
        post("number", _CM, b"5"),
        post("not-utf-8", _CM, b'{"metadata":{"name":"a"},"data":{"x":"\xff"}}'),
        post("trailing", _CM, b'{"metadata":{"name":"t"}} more'),
        post("metadata-is-text", _CM, b'{"metadata":"x"}'),
        post("name-is-number", _CM, b'{"metadata":{"name":5}}'),
        post("labels-are-a-list", _CM, b'{"metadata":{"name":"a","labels":["x"]}}'),
        post("label-is-number", _CM, b'{"metadata":{"name":"a","labels":{"x":1}}}'),
        post("data-is-number", _CM, b'{"metadata":{"name":"a"},"data":{"x":1}}'),
        post("time-is-none", _CM, b'{"metadata":{"name":"a","creationTimestamp":"yesterday"}}'),
        post("csv", _CM, b"a,b", headers={"Content-Type": "text/csv"}),
        post("no-content-type", _CM, b'{"metadata":{"name":"u"}}', headers={"Content-Type": ""}),
        post(
            "charset",
            _CM,
            b'{"metadata":{"name":"v"}}',
            headers={"Content-Type": "application/json; charset=utf-8"},
        ),
        post(
            "protobuf-that-is-none",
            _CM,
            b"{}",
            headers={"Content-Type": "application/vnd.kubernetes.protobuf"},
        ),
        put("put-empty", f"{_CM}/a", b""),
        patch("patch-empty", f"{_CM}/t", b""),
        delete("delete-broken", f"{_CM}/a", b"{"),
        delete("delete-other-kind", f"{_CM}/a", {"kind": "ConfigMap", "apiVersion": "v1"}),
        post("over-3-mib", _CM, b'{"metadata":{"name":"a"},"x":"' + b"x" * 3_200_000 + b'"}'),
    ],
)

READS = Group(
    "reads",
    "GET and LIST",
    [
        get("empty", _CM),
        get("empty-pretty", f"{_CM}?pretty=true"),
        post("make-a", _CM, _config_map("a", {"x": "1"}), save="a"),
        post("make-b", _CM, _config_map("b", {"x": "x" * 1500}), save="b"),
        post("make-c", _CM, _config_map("c", {"x": "x" * 1500})),
        patch("change-a", f"{_CM}/a", {"data": {"x": "2"}}),
        delete("delete-b", f"{_CM}/b"),
        get("one", f"{_CM}/a"),
        get("one-pretty", f"{_CM}/a?pretty=1"),
        get("one-curl", f"{_CM}/a", headers={"User-Agent": "curl/8.1"}),
        get("one-curl-not-pretty", f"{_CM}/a?pretty=false", headers={"User-Agent": "curl/8.1"}),
        get("one-at-0", f"{_CM}/a?resourceVersion=0"),
        get("one-at-its-first-rv", f"{_CM}/a?resourceVersion=$a_rv"),
        get("one-watch", f"{_CM}/a?watch=1"),
        get("one-at-abc", f"{_CM}/a?resourceVersion=abc"),
        get("one-in-the-future", f"{_CM}/a?resourceVersion={_FUTURE}", waits=True),
        get("missing", f"{_CM}/none"),
        get("missing-pretty", f"{_CM}/none?pretty=true"),
        get("missing-of-a-group", "$apps/deployments/none"),
        get("missing-of-cluster", "/api/v1/nodes/none"),
        get("status-of-config-map", f"{_CM}/a/status"),
        get("unknown-subresource", f"{_CM}/a/nosuch"),
        get("list", _CM),
        get("list-pretty", f"{_CM}?pretty=true"),
        get("unknown-parameter", f"{_CM}?colour=red"),
        get("unknown-namespace", "/api/v1/namespaces/none/configmaps"),
        *variants(
            "list",
            _CM,
            {
                "at-0": "resourceVersion=0",
                "at-an-old-rv": "resourceVersion=$b_rv",
                "not-older": "resourceVersion=$b_rv&resourceVersionMatch=NotOlderThan",
                "not-older-than-0": "resourceVersion=0&resourceVersionMatch=NotOlderThan",
                "exact": "resourceVersion=$b_rv&resourceVersionMatch=Exact",
                "exact-with-limit": "resourceVersion=$b_rv&resourceVersionMatch=Exact&limit=1",
                "rv-and-limit": "resourceVersion=$b_rv&limit=1",
                "limit-0": "limit=0",
                "limit-minus-1": "limit=-1",
                "limit-abc": "limit=abc",
                "limit-huge": "limit=99999999999999999999",
                "rv-abc": "resourceVersion=abc",
                "rv-minus-1": "resourceVersion=-1",
                "match-alone": "resourceVersionMatch=Exact",
                "not-older-alone": "resourceVersionMatch=NotOlderThan",
                "exact-0": "resourceVersion=0&resourceVersionMatch=Exact",
                "match-unknown": "resourceVersion=1&resourceVersionMatch=Almost",
                "continue-nonsense": "continue=nonsense",
                "continue-and-rv": "continue=nonsense&resourceVersion=5",
                "continue-and-match": f"continue=nonsense&resourceVersion=5&{_EXACT}",
                "initial-events": "sendInitialEvents=true",
                "initial-events-and-match": f"sendInitialEvents=true&{_NOT_OLDER}",
                "bookmarks": "allowWatchBookmarks=true",
                "timeout": "timeoutSeconds=5",
                "timeout-abc": "timeoutSeconds=abc",
                "watch-abc": "watch=false&limit=1",
            },
        ),
        *variants(
            "slow",
            _CM,
            {
                "future": f"resourceVersion={_FUTURE}",
                "future-exact": f"resourceVersion={_FUTURE}&resourceVersionMatch=Exact",
                "future-limit": f"resourceVersion={_FUTURE}&limit=1",
            },
            waits=True,
        ),
    ],
)

PAGES = Group(
    "pages",
    "Pages",
    [
        *(post(f"make-{n}", _CM, _config_map(f"n{n}", labels={"p": "1"})) for n in range(5)),
        get("first", f"{_CM}?limit=2", save="first"),
        get("second", f"{_CM}?limit=2&continue=$first_continue", save="second"),
        get("last", f"{_CM}?limit=2&continue=$second_continue"),
        get("rest", f"{_CM}?continue=$first_continue"),
        get("exactly-all", f"{_CM}?limit=5"),
        get("at-0", f"{_CM}?limit=2&resourceVersion=0"),
        get("token-and-0", f"{_CM}?limit=2&continue=$first_continue&resourceVersion=0"),
        get("token-and-rv", f"{_CM}?limit=2&continue=$first_continue&resourceVersion=5"),
        get(
            "token-and-match",
            f"{_CM}?limit=2&continue=$first_continue&resourceVersion=0"
            "&resourceVersionMatch=NotOlderThan",
        ),
        get("labelled", f"{_CM}?limit=2&labelSelector=p%3D1"),
        get("by-field", f"{_CM}?limit=2&fieldSelector=metadata.name!%3Dn0"),
        get("token-and-selector", f"{_CM}?limit=2&continue=$first_continue&labelSelector=p!%3D1"),
        get("metadata", f"{_CM}?limit=2", headers=_METADATA_LIST),
        post("make-later", _CM, _config_map("n2-later")),
        get("second-again", f"{_CM}?limit=2&continue=$first_continue"),
        post("event-a", "$core/events", _event("a")),
        post("event-b", "$core/events", _event("b")),
        get("events", "$core/events?limit=1", save="events"),
        get("events-at-0", "$core/events?limit=1&resourceVersion=0"),
        get("events-second", "$core/events?limit=1&continue=$events_continue"),
        get("empty-with-limit", "$core/secrets?limit=2"),
    ],
)

_WATCH_LIST = "resourceVersionMatch=NotOlderThan&sendInitialEvents=true&allowWatchBookmarks=true"

WATCHES = Group(
    "watches",
    "WATCH",
    [
        post("make-a", _CM, _config_map("a", {"x": "1"}, labels={"app": "web"}), save="a"),
        post("make-b", _CM, _config_map("b", labels={"app": "db"}), save="b"),
        watch("initial", _CM, events=2),
        watch("initial-at-0", f"{_CM}?resourceVersion=0", events=2),
        watch("initial-selected", f"{_CM}?labelSelector=app%3Ddb", events=1),
        watch("live", f"{_CM}?resourceVersion=$a_rv", events=8),
        watch("live-selected", f"{_CM}?resourceVersion=$b_rv&labelSelector=app%3Dweb", events=4),
        watch(
            "live-by-name", f"{_CM}?resourceVersion=$b_rv&fieldSelector=metadata.name%3Db", events=2
        ),
        watch("live-metadata", f"{_CM}?resourceVersion=$a_rv", events=8, headers=_METADATA),
        watch("live-pretty", f"{_CM}?resourceVersion=$a_rv&pretty=true", events=2),
        watch("live-metadata-list", f"{_CM}?resourceVersion=$a_rv", headers=_METADATA_LIST),
        patch("change-a", f"{_CM}/a", {"data": {"x": "2"}}),
        patch("change-nothing", f"{_CM}/a", {"data": {"x": "2"}}),
        patch("a-leaves", f"{_CM}/a", {"metadata": {"labels": {"app": "db"}}}),
        patch("b-enters", f"{_CM}/b", {"metadata": {"labels": {"app": "web"}}}),
        delete("delete-b", f"{_CM}/b"),
        post("make-c", _CM, _config_map("c", finalizers=["example.com/hold"])),
        delete("delete-c", f"{_CM}/c"),
        patch("let-c-go", f"{_CM}/c", {"metadata": {"finalizers": None}}),
        get("future", f"{_CM}?watch=1&resourceVersion={_FUTURE}&timeoutSeconds=1", waits=True),
        get("rv-abc", f"{_CM}?watch=1&resourceVersion=abc"),
        get("rv-minus-1", f"{_CM}?watch=1&resourceVersion=-1"),
        get("bad-labels", f"{_CM}?watch=1&labelSelector=a%20b"),
        get("bad-fields", f"{_CM}?watch=1&fieldSelector=spec.x%3D1"),
        get("timeout-abc", f"{_CM}?watch=1&timeoutSeconds=abc"),
        get("unacceptable", f"{_CM}?watch=1", headers={"Accept": "text/html"}),
        get("unknown-resource", "$core/nosuch?watch=1"),
        watch("bare", f"{_CM}?timeoutSeconds=1&limit=1"),
        watch("old-path", "/api/v1/watch/namespaces/$name/configmaps?timeoutSeconds=1"),
        watch("old-path-of-one", "/api/v1/watch/namespaces/$name/configmaps/a?timeoutSeconds=1"),
        watch(
            "stream-watch",
            f"{_CM}?timeoutSeconds=1",
            headers={"Accept": "application/json;stream=watch"},
        ),
        watch("gzip", f"{_CM}?timeoutSeconds=1", headers={"Accept-Encoding": "gzip"}),
    ],
)

WATCH_LISTS = Group(
    "watch-lists",
    "WatchList",
    [
        post("make-a", _CM, _config_map("a"), save="a"),
        post("make-pod", _PODS, _pod("web")),
        watch("config-maps", f"{_CM}?{_WATCH_LIST}", events=2),
        watch("at-0", f"{_CM}?{_WATCH_LIST}&resourceVersion=0", events=2),
        watch("at-n", f"{_CM}?{_WATCH_LIST}&resourceVersion=$a_rv", events=2),
        watch("pods", f"{_PODS}?{_WATCH_LIST}", events=2),
        watch("metadata", f"{_CM}?{_WATCH_LIST}", events=2, headers=_METADATA),
        watch("empty-secrets", f"$core/secrets?{_WATCH_LIST}", events=1),
        watch("empty-services", f"$core/services?{_WATCH_LIST}", events=1),
        watch("empty-deployments", f"$apps/deployments?{_WATCH_LIST}", events=1),
        watch("empty-jobs", f"$batch/jobs?{_WATCH_LIST}", events=1),
        watch("empty-leases", f"$coordination/leases?{_WATCH_LIST}", events=1),
        watch("empty-events", f"$core/events?{_WATCH_LIST}", events=1),
        watch("empty-ingresses", f"$networking/ingresses?{_WATCH_LIST}", events=1),
        watch("empty-endpoint-slices", f"$discovery/endpointslices?{_WATCH_LIST}", events=1),
        watch("empty-nodes", f"/api/v1/nodes?{_WATCH_LIST}", events=1),
        watch("selected", f"{_CM}?{_WATCH_LIST}&labelSelector=no%3Dsuch", events=1),
        watch(
            "no-bookmarks",
            f"{_CM}?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1",
        ),
        watch("bookmarks-alone", f"{_CM}?allowWatchBookmarks=true", events=2),
        watch(
            "bookmarks-alone-at-0", f"{_CM}?allowWatchBookmarks=true&resourceVersion=0", events=2
        ),
        watch(
            "not-initial",
            f"{_CM}?{_WATCH_LIST.replace('Events=true', 'Events=false')}&timeoutSeconds=1",
        ),
        get("future", f"{_CM}?watch=1&{_WATCH_LIST}&resourceVersion={_FUTURE}", waits=True),
        get("future-of-events", f"$core/events?watch=1&{_WATCH_LIST}&resourceVersion={_FUTURE}"),
        *variants(
            "wrong",
            _CM,
            {
                "no-match": "watch=1&sendInitialEvents=true&allowWatchBookmarks=true",
                "other-match": "watch=1&sendInitialEvents=true&resourceVersionMatch=Exact"
                "&resourceVersion=5",
                "unknown-match": "watch=1&sendInitialEvents=true&resourceVersionMatch=Odd",
                "match-alone": "watch=1&resourceVersionMatch=NotOlderThan&resourceVersion=5",
                "continue": f"watch=1&{_WATCH_LIST}&continue=abc",
                "false-without-match": "watch=1&sendInitialEvents=false",
            },
        ),
    ],
)

SELECTORS = Group(
    "selectors",
    "Selectors",
    [
        post("make-a", _CM, _config_map("a", labels={"app": "web", "n": "1"})),
        post("make-b", _CM, _config_map("b", labels={"app": "db"})),
        *variants(
            "labels",
            _CM,
            {
                "equal": "labelSelector=app%3Dweb",
                "not-equal": "labelSelector=app!%3Dweb",
                "in": "labelSelector=app+in+(web,db)",
                "not-in": "labelSelector=app+notin+(web)",
                "exists": "labelSelector=n",
                "not-exists": "labelSelector=!n",
                "greater": "labelSelector=n%3E0",
                "empty-value": "labelSelector=app%3D",
                "empty-set": "labelSelector=app+in+()",
                "bad-no-parenthesis": "labelSelector=app+in+web",
                "bad-open": "labelSelector=app+in+(web",
                "bad-no-key": "labelSelector=%3Dweb",
                "bad-twice": "labelSelector=a%3Db%3Dc",
                "bad-words": "labelSelector=a+b",
                "bad-comma": "labelSelector=a,,b",
                "bad-number": "labelSelector=n%3Ex",
                "bad-value": "labelSelector=a%3D-x",
                "bad-key": "labelSelector=-a%3Dx",
                "long-value": f"labelSelector=a%3D{'x' * 64}",
            },
        ),
        *variants(
            "fields",
            _CM,
            {
                "name": "fieldSelector=metadata.name%3Da",
                "not-name": "fieldSelector=metadata.name!%3Da",
                "namespace": "fieldSelector=metadata.namespace%3Delsewhere",
                "unknown": "fieldSelector=spec.x%3D1",
                "labels": "fieldSelector=metadata.labels%3D1",
                "in": "fieldSelector=metadata.name+in+(a,b)",
                "nothing": "fieldSelector=%3D",
                "no-operator": "fieldSelector=metadata.name",
                "escaped": r"fieldSelector=metadata.name%3Da%5C,b",
            },
        ),
        get("pods-unknown", f"{_PODS}?fieldSelector=spec.x%3D1"),
        get("pods-phase", f"{_PODS}?fieldSelector=status.phase%3DRunning"),
        get("secrets-unknown", "$core/secrets?fieldSelector=spec.x%3D1"),
        get("services-unknown", "$core/services?fieldSelector=spec.x%3D1"),
        get("events-unknown", "$core/events?fieldSelector=spec.x%3D1"),
        get("jobs-unknown", "$batch/jobs?fieldSelector=spec.x%3D1"),
        get("jobs-successful", "$batch/jobs?fieldSelector=status.successful%3D1"),
        get("deployments-unknown", "$apps/deployments?fieldSelector=spec.x%3D1"),
        get("replicasets-replicas", "$apps/replicasets?fieldSelector=status.replicas%3D1"),
        get("nodes-unknown", "/api/v1/nodes?fieldSelector=spec.x%3D1"),
        get("nodes-namespace", "/api/v1/nodes?fieldSelector=metadata.namespace%3Dx"),
        get("namespaces-phase", "/api/v1/namespaces?fieldSelector=status.phase%3DTerminating"),
        get("namespaces-unknown", "/api/v1/namespaces?fieldSelector=spec.x%3D1"),
        get("leases-unknown", "$coordination/leases?fieldSelector=spec.x%3D1"),
        get("crds-unknown", f"{_CRDS}?fieldSelector=spec.x%3D1"),
    ],
)

PATHS = Group(
    "paths",
    "Paths and methods",
    [
        get("unknown-resource", "/api/v1/nosuch"),
        get("unknown-resource-of-a-namespace", "$core/nosuch"),
        get("unknown-resource-of-a-group", "/apis/apps/v1/nosuch"),
        get("unknown-version", "/apis/apps/v9/deployments"),
        get("unknown-core-version", "/api/v9/pods"),
        get("unknown-group", "/apis/no.such/v1/things"),
        get("unknown-group-alone", "/apis/no.such"),
        get("unknown-path", "/nosuch"),
        get("root", "/", waits=True),
        get("slash-at-the-end", f"{_CM}/"),
        get("two-slashes", "//api/v1/namespaces"),
        get("short-name", "$core/cm"),
        get("namespaced-cluster-type", "$core/nodes"),
        get("namespace-of-nothing", "/api/v1/namespaces//pods?fieldSelector=metadata.name%3D$name"),
        put("put-list", _CM, _config_map("a")),
        patch("patch-list", _CM, {}),
        post("post-object", f"{_CM}/a", _config_map("a")),
        post("post-all-namespaces", "/api/v1/configmaps", _config_map("a")),
        delete("delete-all-namespaces", "/api/v1/configmaps"),
        Step(name="head-list", method="HEAD", path=_CM),
        Step(name="head-object", method="HEAD", path=f"{_CM}/none"),
        Step(name="options-list", method="OPTIONS", path=_CM),
        Step(name="odd-method", method="JUMP", path=_CM),
        post("post-to-version", "/version", {}),
        post("post-to-discovery", "/apis", {}),
        post("post-to-unknown", "/nosuch", {}),
        post("post-to-unknown-resource", "$core/nosuch", {}),
        delete("delete-namespaces", "/api/v1/namespaces"),
        get("log-of-missing-pod", f"{_PODS}/none/log"),
        get("scale-of-missing", "$apps/deployments/none/scale"),
        get("escaped-slash", f"{_CM}/a%2Fb"),
        get("escaped-zero", f"{_CM}/a%00b"),
        get("given-audit-id", _CM, headers={"Audit-ID": "made-up"}),
    ],
)

NEGOTIATION = Group(
    "negotiation",
    "What can be asked for",
    [
        post("make", _CM, _config_map("a", {"x": "1"}), save="a"),
        watch("table-changes", f"{_CM}?resourceVersion=$a_rv", events=3, headers=_TABLE),
        *(
            get(name, _CM, headers={"Accept": accept})
            for name, accept in {
                "none": "",
                "anything": "*/*",
                "any-application": "application/*",
                "html": "text/html",
                "html-or-anything": "text/html, */*",
                "html-or-json": "text/html;q=0.9, application/json;q=0.1",
                "json-charset": "application/json; charset=utf-8",
                "json-pretty": "application/json;pretty=1",
                "json-q-0": "application/json;q=0",
                "yaml": "application/yaml",
                "yaml-first": "application/yaml, application/json",
                "cbor": "application/cbor",
                "cbor-or-json": "application/cbor, application/json",
                "as-nonsense": f"application/json;as=Nonsense{_G}",
                "as-metadata": f"application/json;as=PartialObjectMetadata{_G}",
                "metadata-old-version": "application/json;as=PartialObjectMetadataList"
                ";v=v1beta1;g=meta.k8s.io",
                "metadata-no-group": "application/json;as=PartialObjectMetadataList;v=v1",
                "metadata-or-json": f"application/json;as=PartialObjectMetadataList{_G}"
                ",application/json",
                "nonsense": "nonsense",
                "table": _TABLE["Accept"],
                "table-or-json": f"{_TABLE['Accept']},application/json",
                "protobuf": "application/vnd.kubernetes.protobuf",
                "protobuf-or-json": "application/vnd.kubernetes.protobuf,application/json",
            }.items()
        ),
        get("object-yaml", f"{_CM}/a", headers={"Accept": "application/yaml"}),
        get("object-metadata", f"{_CM}/a", headers=_METADATA),
        get("object-metadata-list", f"{_CM}/a", headers=_METADATA_LIST),
        get("object-table", f"{_CM}/a", headers=_TABLE),
        get("table-of-names", f"{_CM}?includeObject=None", headers=_TABLE),
        get("table-of-objects", f"{_CM}?includeObject=Object&limit=1", headers=_TABLE),
        get("table-of-nonsense", f"{_CM}?includeObject=All", headers=_TABLE),
        get("table-pretty", f"{_CM}?pretty=true", headers=_TABLE),
        get("table-empty", "$core/pods", headers=_TABLE),
        get(
            "table-old-version",
            f"{_CM}/a",
            headers={"Accept": "application/json;as=Table;v=v1beta1;g=meta.k8s.io"},
        ),
        get("table-no-version", f"{_CM}/a", headers={"Accept": "application/json;as=Table"}),
        get("missing-metadata", f"{_CM}/none", headers=_METADATA),
        get("missing-table", f"{_CM}/none", headers=_TABLE),
        get("missing-yaml", f"{_CM}/none", headers={"Accept": "application/yaml"}),
        get("missing-html", f"{_CM}/none", headers={"Accept": "text/html"}),
        get("metadata-list", _CM, headers=_METADATA_LIST),
        get("metadata-list-empty", "$core/secrets", headers=_METADATA_LIST),
        get("metadata-list-pretty", f"{_CM}?pretty=true", headers=_METADATA_LIST),
        post("create-as-metadata", _CM, _config_map("b"), headers=_METADATA),
        post("create-as-html", _CM, _config_map("c"), headers={"Accept": "text/html"}),
        patch("patch-as-table", f"{_CM}/b", {"data": {"y": "2"}}, headers=_TABLE),
        delete("delete-as-metadata", f"{_CM}/b", headers=_METADATA),
        post("large-1", _CM, _config_map("l1", {"x": "x" * 60_000})),
        post("large-2", _CM, _config_map("l2", {"x": "x" * 60_000})),
        get("gzip-under-128-kib", _CM, headers={"Accept-Encoding": "gzip"}),
        post("large-3", _CM, _config_map("l3", {"x": "x" * 60_000})),
        get("gzip-refused", _CM, headers={"Accept-Encoding": "gzip;q=0"}),
        get("not-gzip", _CM, headers={"Accept-Encoding": "br"}),
        delete("delete-as-table", f"{_CM}/a", headers=_TABLE),
    ],
)

UPDATES = Group(
    "updates",
    "PUT and PATCH",
    [
        post("make", _CM, _config_map("a", {"x": "1"}, labels={"l": "1"}), save="a"),
        put("plain", f"{_CM}/a", _config_map("a", {"y": "1"})),
        put("nothing-changed", f"{_CM}/a", _config_map("a", {"y": "1"})),
        put("old-rv", f"{_CM}/a", _config_map("a", {"z": "1"}, resourceVersion="$a_rv")),
        put("rv-abc", f"{_CM}/a", _config_map("a", resourceVersion="abc")),
        put("rv-0", f"{_CM}/a", _config_map("a", {"y": "0"}, resourceVersion="0")),
        put("other-uid", f"{_CM}/a", _config_map("a", uid=_OTHER_UID)),
        put("other-name", f"{_CM}/a", _config_map("b")),
        put("no-name", f"{_CM}/a", {"data": {"n": "1"}}),
        put("other-namespace", f"{_CM}/a", _config_map("a", namespace="elsewhere")),
        put("missing", f"{_CM}/none", _config_map("none")),
        put("missing-with-rv", f"{_CM}/none", _config_map("none", resourceVersion="5")),
        put("dry-run", f"{_CM}/a?dryRun=All", _config_map("a", {"d": "1"})),
        put("unknown-field", f"{_CM}/a", {**_config_map("a", {"u": "1"}), "bogus": 1}),
        put("bad-label", f"{_CM}/a", _config_map("a", labels={"a b": "1"})),
        put("manager", f"{_CM}/a?fieldManager=other", _config_map("a", {"m": "1"})),
        patch("merge", f"{_CM}/a", {"data": {"m": None, "n": "1"}}),
        patch("merge-nothing", f"{_CM}/a", {}),
        patch("merge-old-rv", f"{_CM}/a", {"metadata": {"resourceVersion": "$a_rv"}}),
        patch("merge-name", f"{_CM}/a", {"metadata": {"name": "b"}}),
        patch("merge-namespace", f"{_CM}/a", {"metadata": {"namespace": "b"}}),
        patch("merge-uid", f"{_CM}/a", {"metadata": {"uid": _OTHER_UID}}),
        patch("merge-kind", f"{_CM}/a", {"kind": "Secret"}),
        patch("merge-creation", f"{_CM}/a", {"metadata": {"creationTimestamp": None}}),
        patch("merge-unknown-field", f"{_CM}/a", {"bogus": 1}),
        patch("merge-strict", f"{_CM}/a?fieldValidation=Strict", {"bogus": 1}),
        patch("merge-bad-label", f"{_CM}/a", {"metadata": {"labels": {"a b": "1"}}}),
        patch("merge-wrong-type", f"{_CM}/a", {"data": "x"}),
        patch("merge-broken", f"{_CM}/a", b"{"),
        patch("merge-list", f"{_CM}/a", b"[]"),
        patch("merge-missing", f"{_CM}/none", {}),
        patch("merge-dry-run", f"{_CM}/a?dryRun=All", {"data": {"d": "1"}}),
        patch("json", f"{_CM}/a", [{"op": "add", "path": "/data/j", "value": "1"}], "json-patch"),
        patch(
            "json-test", f"{_CM}/a", [{"op": "test", "path": "/data/j", "value": "2"}], "json-patch"
        ),
        patch("json-no-path", f"{_CM}/a", [{"op": "remove", "path": "/data/none"}], "json-patch"),
        patch("json-no-op", f"{_CM}/a", [{"op": "jump", "path": "/data"}], "json-patch"),
        patch("json-not-a-list", f"{_CM}/a", {"op": "add"}, "json-patch"),
        patch("json-broken", f"{_CM}/a", b"[", "json-patch"),
        patch("json-nothing", f"{_CM}/a", [], "json-patch"),
        patch(
            "json-move",
            f"{_CM}/a",
            [{"op": "move", "from": "/data/j", "path": "/data/k"}],
            "json-patch",
        ),
        patch("json-missing", f"{_CM}/none", [], "json-patch"),
        patch("plain-json", f"{_CM}/a", {}, headers={"Content-Type": "application/json"}),
        patch("strategic", f"{_CM}/a", {"data": {"s": "1"}}, "strategic-merge-patch"),
        patch(
            "apply",
            f"{_CM}/a?fieldManager=x",
            {"apiVersion": "v1", "kind": "ConfigMap", **_config_map("a")},
            "apply-patch",
            headers={"Content-Type": "application/apply-patch+yaml"},
        ),
        put("lease-missing", "$coordination/leases/a", named("a")),
        put("lease-without-rv", "$coordination/leases/a", named("a", spec={"holderIdentity": "x"})),
        put("role-missing", "$rbac/roles/a", named("a")),
        put("secret-missing", "$core/secrets/a", named("a")),
        put("deployment-missing", "$apps/deployments/a", named("a")),
        post("secret", "$core/secrets", named("s", stringData={"x": "plain"})),
    ],
)

DELETES = Group(
    "deletes",
    "Deleting",
    [
        *(post(f"make-{n}", _CM, _config_map(n), save=n) for n in ("a", "b", "c", "d")),
        post("make-held", _CM, _config_map("held", finalizers=["example.com/hold"]), save="held"),
        watch("seen", f"{_CM}?resourceVersion=$held_rv", events=8),
        delete("dry-run", f"{_CM}/a?dryRun=All"),
        delete("wrong-uid", f"{_CM}/a", {"preconditions": {"uid": _OTHER_UID}}),
        delete("wrong-rv", f"{_CM}/a", {"preconditions": {"resourceVersion": "5"}}),
        delete("odd-policy", f"{_CM}/a", {"propagationPolicy": "Sideways"}),
        delete(
            "two-policies", f"{_CM}/a", {"propagationPolicy": "Orphan", "orphanDependents": True}
        ),
        delete("negative-grace", f"{_CM}/a?gracePeriodSeconds=-5&dryRun=All"),
        delete("grace-abc", f"{_CM}/a?gracePeriodSeconds=abc"),
        delete("plain", f"{_CM}/a"),
        delete("again", f"{_CM}/a"),
        delete(
            "with-preconditions",
            f"{_CM}/b",
            {"preconditions": {"uid": "$b_uid", "resourceVersion": "$b_rv"}},
        ),
        delete(
            "with-options-kind",
            f"{_CM}/c",
            {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"},
        ),
        delete("foreground", f"{_CM}/d?propagationPolicy=Foreground"),
        get("foreground-after", f"{_CM}/d"),
        patch("foreground-let-go", f"{_CM}/d", {"metadata": {"finalizers": []}}),
        delete("held", f"{_CM}/held"),
        delete("held-again", f"{_CM}/held"),
        post("held-name-taken", _CM, _config_map("held")),
        patch(
            "held-new-finalizer",
            f"{_CM}/held",
            {"metadata": {"finalizers": ["example.com/hold", "example.com/b"]}},
        ),
        patch("held-changed", f"{_CM}/held", {"data": {"x": "1"}}),
        put("held-let-go", f"{_CM}/held", _config_map("held", {"x": "1"})),
        get("held-gone", f"{_CM}/held"),
        *(post(f"make-again-{n}", _CM, _config_map(n, labels={"n": n})) for n in ("a", "b")),
        delete("collection-selected", f"{_CM}?labelSelector=n%3Da"),
        delete("collection-bad-selector", f"{_CM}?labelSelector=a%20b"),
        delete("collection-dry-run", f"{_CM}?dryRun=All"),
        delete("collection-broken", _CM, b"{"),
        delete("collection", _CM),
        delete("collection-empty", _CM),
        post(
            "make-deployment",
            "$apps/deployments",
            named("web", spec={"selector": _SELECTOR, "template": _TEMPLATE}),
        ),
        delete("deployment-orphan", "$apps/deployments/web", {"propagationPolicy": "Orphan"}),
        post("make-job", "$batch/jobs", named("job", spec={"template": _JOB_TEMPLATE})),
        delete("job", "$batch/jobs/job"),
        post("make-service", "$core/services", named("web", spec={"ports": [{"port": 80}]})),
        delete("service", "$core/services/web"),
        post("make-secret", "$core/secrets", named("s")),
        delete("secret", "$core/secrets/s"),
        post("make-account", "$core/serviceaccounts", named("sa")),
        delete("account", "$core/serviceaccounts/sa"),
    ],
)

PODS = Group(
    "pods",
    "Pods",
    [
        post("make", _PODS, _pod("web", {"app": "web"}), save="web"),
        watch("seen", f"{_PODS}?resourceVersion=$web_rv", events=10),
        get("one", f"{_PODS}/web"),
        get("status", f"{_PODS}/web/status"),
        patch("main-resource-status", f"{_PODS}/web", {"status": {"phase": "Running"}}),
        patch("running", f"{_PODS}/web/status", {"status": {"phase": "Running"}}),
        patch("label", f"{_PODS}/web", {"metadata": {"labels": {"app": "db"}}}),
        post("bound", _PODS, _pod("bound", nodeName="n1")),
        delete("delete-bound", f"{_PODS}/bound"),
        delete("delete-bound-shorter", f"{_PODS}/bound?gracePeriodSeconds=5"),
        delete("delete-bound-longer", f"{_PODS}/bound?gracePeriodSeconds=50"),
        get("bound-dying", f"{_PODS}/bound"),
        delete("delete-bound-now", f"{_PODS}/bound?gracePeriodSeconds=0"),
        delete("delete-unbound", f"{_PODS}/web"),
        get("gone", f"{_PODS}/web"),
        post("no-containers", _PODS, named("x", spec={})),
        post("no-spec", _PODS, named("x")),
        post("no-image", _PODS, named("x", spec={"containers": [{"name": "a"}]})),
        post(
            "bad-container-name",
            _PODS,
            named("x", spec={"containers": [{"name": "A_", "image": "i"}]}),
        ),
        post(
            "resources",
            _PODS,
            named(
                "full",
                spec={
                    "containers": [
                        {
                            "name": "main",
                            "image": "none:latest",
                            "command": ["sh"],
                            "ports": [{"containerPort": 80}],
                            "env": [{"name": "A", "value": "1"}],
                            "resources": {
                                "requests": {"cpu": "100m", "memory": "64Mi"},
                                "limits": {"cpu": "1", "memory": "64Mi"},
                            },
                            "livenessProbe": {"httpGet": {"path": "/", "port": 80}},
                        }
                    ],
                    "restartPolicy": "Never",
                    "tolerations": [{"key": "a", "operator": "Exists"}],
                    "nodeSelector": {"disk": "ssd"},
                    "terminationGracePeriodSeconds": 5,
                },
            ),
        ),
        post(
            "guaranteed",
            _PODS,
            named(
                "sure",
                spec={
                    "containers": [
                        {
                            "name": "main",
                            "image": "none:1",
                            "resources": {"limits": {"cpu": "1", "memory": "1Gi"}},
                        }
                    ]
                },
            ),
        ),
        get("list", _PODS),
        get("list-metadata", _PODS, headers=_METADATA_LIST),
        delete("all", f"{_PODS}?gracePeriodSeconds=0"),
        post("to-bind", _PODS, _pod("bind")),
        post(
            "bind",
            f"{_PODS}/bind/binding",
            {"metadata": {"name": "bind"}, "target": {"kind": "Node", "name": "n1"}},
        ),
        post("to-evict", _PODS, _pod("evict")),
        post("evict", f"{_PODS}/evict/eviction", named("evict")),
    ],
)

_RULES = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]

_KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "service": ("$core/services", {"spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}}),
    "secret": ("$core/secrets", {"data": {"x": "aGVsbG8="}}),
    "service-account": ("$core/serviceaccounts", {}),
    "event": ("$core/events", _event("a")),
    "endpoints": (
        "$core/endpoints",
        {"subsets": [{"addresses": [{"ip": "10.1.1.1"}], "ports": [{"port": 80}]}]},
    ),
    "limit-range": (
        "$core/limitranges",
        {"spec": {"limits": [{"type": "Container", "default": {"cpu": "1"}}]}},
    ),
    "resource-quota": ("$core/resourcequotas", {"spec": {"hard": {"pods": "5"}}}),
    "volume-claim": (
        "$core/persistentvolumeclaims",
        {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}},
    ),
    "replication-controller": (
        "$core/replicationcontrollers",
        {"spec": {"replicas": 0, "selector": {"app": "web"}, "template": _TEMPLATE}},
    ),
    "pod-template": ("$core/podtemplates", {"template": _TEMPLATE}),
    "controller-revision": ("$apps/controllerrevisions", {"revision": 1, "data": {"x": 1}}),
    "deployment": (
        "$apps/deployments",
        {"spec": {"replicas": 2, "selector": _SELECTOR, "template": _TEMPLATE}},
    ),
    "replica-set": ("$apps/replicasets", {"spec": {"selector": _SELECTOR, "template": _TEMPLATE}}),
    "stateful-set": (
        "$apps/statefulsets",
        {"spec": {"serviceName": "web", "selector": _SELECTOR, "template": _TEMPLATE}},
    ),
    "daemon-set": ("$apps/daemonsets", {"spec": {"selector": _SELECTOR, "template": _TEMPLATE}}),
    "job": ("$batch/jobs", {"spec": {"template": _JOB_TEMPLATE}}),
    "cron-job": (
        "$batch/cronjobs",
        {"spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": _JOB_TEMPLATE}}}},
    ),
    "lease": (
        "$coordination/leases",
        {"spec": {"holderIdentity": "me", "leaseDurationSeconds": 15}},
    ),
    "endpoint-slice": (
        "$discovery/endpointslices",
        {
            "addressType": "IPv4",
            "endpoints": [{"addresses": ["10.1.1.1"]}],
            "ports": [{"port": 80}],
        },
    ),
    "ingress": (
        "$networking/ingresses",
        {"spec": {"defaultBackend": {"service": {"name": "web", "port": {"number": 80}}}}},
    ),
    "network-policy": ("$networking/networkpolicies", {"spec": {"podSelector": {}}}),
    "disruption-budget": (
        "$policy/poddisruptionbudgets",
        {"spec": {"minAvailable": 1, "selector": _SELECTOR}},
    ),
    "autoscaler": (
        "$autoscaling/horizontalpodautoscalers",
        {
            "spec": {
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"},
                "maxReplicas": 3,
            }
        },
    ),
    "role": ("$rbac/roles", {"rules": _RULES}),
    "role-binding": (
        "$rbac/rolebindings",
        {
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "a"},
            "subjects": [{"kind": "User", "name": "u"}],
        },
    ),
    "events-event": (
        "$events/events",
        {
            "metadata": {"name": "b"},
            "eventTime": "2026-01-01T00:00:00.000000Z",
            "action": "Try",
            "reason": "Tried",
            "type": "Normal",
            "reportingController": "c",
            "reportingInstance": "i",
            "regarding": {"kind": "Pod", "namespace": "$name", "name": "web"},
        },
    ),
    "node": ("/api/v1/nodes", {"spec": {"podCIDR": "10.2.0.0/24"}}),
    "volume": (
        "/api/v1/persistentvolumes",
        {
            "spec": {
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteOnce"],
                "hostPath": {"path": "/tmp"},
            }
        },
    ),
    "storage-class": ("/apis/storage.k8s.io/v1/storageclasses", {"provisioner": "none"}),
    "priority-class": ("/apis/scheduling.k8s.io/v1/priorityclasses", {"value": 5}),
    "ingress-class": ("/apis/networking.k8s.io/v1/ingressclasses", {"spec": {"controller": "a/b"}}),
    "runtime-class": ("/apis/node.k8s.io/v1/runtimeclasses", {"handler": "none"}),
    "cluster-role": ("/apis/rbac.authorization.k8s.io/v1/clusterroles", {"rules": _RULES}),
    "csi-driver": ("/apis/storage.k8s.io/v1/csidrivers", {"spec": {}}),
}


def _kinds() -> list[Step]:
    """Make one of each, read it, change its labels, and delete it."""
    found: list[Step] = []
    for kind, (path, members) in _KINDS.items():
        name = members.get("metadata", {}).get("name", "made-of-a-script")
        obj = {"metadata": {"name": name}, **members}
        found += [
            post(f"make-{kind}", path, obj),
            patch(f"label-{kind}", f"{path}/{name}", {"metadata": {"labels": {"x": "y"}}}),
            delete(f"delete-{kind}", f"{path}/{name}"),
        ]
    return found


KINDS = Group("kinds", "One of each kind: made, labelled, deleted", _kinds())

STATUS = Group(
    "status",
    "The status subresource",
    [
        post(
            "make",
            "$apps/deployments",
            named("web", spec={"replicas": 1, "selector": _SELECTOR, "template": _TEMPLATE}),
            save="web",
        ),
        get("read", "$apps/deployments/web/status"),
        patch("patch", "$apps/deployments/web/status", {"status": {"replicas": 1}}),
        patch(
            "patch-spec-too",
            "$apps/deployments/web/status",
            {"spec": {"replicas": 5}, "status": {"replicas": 2}},
        ),
        patch(
            "patch-labels-too",
            "$apps/deployments/web/status",
            {"metadata": {"labels": {"x": "y"}}, "status": {"replicas": 3}},
        ),
        patch("main", "$apps/deployments/web", {"status": {"replicas": 9}}),
        patch("scale-up", "$apps/deployments/web", {"spec": {"replicas": 2}}),
        put(
            "put-old-rv",
            "$apps/deployments/web/status",
            {"metadata": {"name": "web", "resourceVersion": "$web_rv"}},
        ),
        patch(
            "json",
            "$apps/deployments/web/status",
            [{"op": "replace", "path": "/status/replicas", "value": 7}],
            "json-patch",
        ),
        patch("missing", "$apps/deployments/none/status", {"status": {}}),
        patch("no-status", f"{_CM}/a/status", {}),
        get("after", "$apps/deployments/web"),
    ],
)

CUSTOM = Group(
    "custom",
    "Custom resources",
    [
        *_crd(),
        get("definition", f"{_CRDS}/widgets.example.com"),
        get("group", "/apis/example.com"),
        get("version", "/apis/example.com/v1"),
        get("empty", _WIDGETS),
        post("make", _WIDGETS, _widget("a", color="red", size=1), save="a"),
        post("make-empty", _WIDGETS, _widget("b"), save="b"),
        post("make-with-status", _WIDGETS, {**_widget("c", color="red"), "status": {"x": 1}}),
        post("no-kind", _WIDGETS, named("x")),
        post("other-kind", _WIDGETS, {**_widget("x"), "kind": "Other"}),
        post("other-version", _WIDGETS, {**_widget("x"), "apiVersion": "example.com/v9"}),
        post("bad-name", _WIDGETS, _widget("Upper")),
        post("taken", _WIDGETS, _widget("a")),
        get("one", f"{_WIDGETS}/a"),
        get("list", _WIDGETS),
        get("list-pages", f"{_WIDGETS}?limit=1"),
        get("list-by-color", f"{_WIDGETS}?fieldSelector=spec.color%3Dred"),
        get("list-by-size", f"{_WIDGETS}?fieldSelector=spec.size%3D1"),
        get("list-metadata", _WIDGETS, headers=_METADATA_LIST),
        get("missing", f"{_WIDGETS}/none"),
        get("protobuf", _WIDGETS, headers={"Accept": "application/vnd.kubernetes.protobuf"}),
        get("unknown-version", "/apis/example.com/v9/widgets"),
        get("unknown-plural", "/apis/example.com/v1/nosuch"),
        watch("seen", f"{_WIDGETS}?resourceVersion=$a_rv", events=8),
        watch("state", f"{_WIDGETS}?{_WATCH_LIST}", events=4),
        watch("bookmark-of-nothing", f"{_WIDGETS}?{_WATCH_LIST}&labelSelector=no%3Dsuch", events=1),
        put("put-without-rv", f"{_WIDGETS}/b", _widget("b", color="blue")),
        put(
            "put",
            f"{_WIDGETS}/b",
            {**_widget("b", color="blue"), "metadata": {"name": "b", "resourceVersion": "$b_rv"}},
        ),
        put(
            "put-old-rv",
            f"{_WIDGETS}/b",
            {**_widget("b"), "metadata": {"name": "b", "resourceVersion": "$b_rv"}},
        ),
        patch("merge", f"{_WIDGETS}/a", {"spec": {"size": 2}}),
        patch("strategic", f"{_WIDGETS}/a", {}, "strategic-merge-patch"),
        patch("status", f"{_WIDGETS}/a/status", {"status": {"ready": True}}),
        patch("json", f"{_WIDGETS}/a", [{"op": "remove", "path": "/spec/size"}], "json-patch"),
        Step(name="head", method="HEAD", path=_WIDGETS),
        put("put-list", _WIDGETS, {}),
        delete("delete", f"{_WIDGETS}/a"),
        delete("delete-collection", _WIDGETS),
        post("bad-scope", _CRDS, {**WIDGET_CRD, "metadata": {"name": "x.example.com"}}),
        patch(
            "change-description",
            f"{_CRDS}/widgets.example.com",
            {"metadata": {"annotations": {"a": "b"}}},
        ),
        get(
            "definitions-metadata",
            f"{_CRDS}?fieldSelector=metadata.name%3Dwidgets.example.com",
            headers=_METADATA_LIST,
        ),
    ],
)

VALIDATION = Group(
    "validation",
    "What is checked of an object's own members",
    [
        post("data-key", _CM, _config_map("a1", {"a b": "1"})),
        post("same-key-twice", _CM, {**_config_map("a2", {"a": "1"}), "binaryData": {"a": "aA=="}}),
        post("too-much-data", _CM, _config_map("a3", {"x": "x" * (1024 * 1024 + 1)})),
        post("immutable", _CM, {**_config_map("a4", {"x": "1"}), "immutable": True}),
        patch("immutable-changed", f"{_CM}/a4", {"data": {"x": "2"}}),
        post("secret", "$core/secrets", named("a", stringData={"x": "plain"})),
        patch("secret-type", "$core/secrets/a", {"type": "other"}),
        post("pod", _PODS, _pod("a")),
        patch("pod-restart-policy", f"{_PODS}/a", {"spec": {"restartPolicy": "Never"}}),
        patch("pod-node", f"{_PODS}/a", {"spec": {"nodeName": "n1"}}),
        post(
            "same-container-twice",
            _PODS,
            named(
                "b", spec={"containers": [{"name": "a", "image": "i"}, {"name": "a", "image": "i"}]}
            ),
        ),
        post(
            "container-port",
            _PODS,
            named(
                "c",
                spec={
                    "containers": [{"name": "a", "image": "i", "ports": [{"containerPort": 70000}]}]
                },
            ),
        ),
        post("restart-policy", _PODS, _pod("d", restartPolicy="Sometimes")),
        post(
            "quantity",
            _PODS,
            named(
                "e",
                spec={
                    "containers": [
                        {"name": "a", "image": "i", "resources": {"limits": {"cpu": "much"}}}
                    ]
                },
            ),
        ),
        post("replicas-are-text", "$apps/deployments", named("a", spec={"replicas": "one"})),
        post(
            "deployment-without-selector",
            "$apps/deployments",
            named("b", spec={"template": _TEMPLATE}),
        ),
        post(
            "deployment-other-labels",
            "$apps/deployments",
            named("c", spec={"selector": {"matchLabels": {"app": "db"}}, "template": _TEMPLATE}),
        ),
        post(
            "deployment",
            "$apps/deployments",
            named("d", spec={"selector": _SELECTOR, "template": _TEMPLATE}),
        ),
        patch(
            "deployment-selector",
            "$apps/deployments/d",
            {"spec": {"selector": {"matchLabels": {"app": "db"}}}},
        ),
        patch("negative-replicas", "$apps/deployments/d", {"spec": {"replicas": -1}}),
        post("service-without-ports", "$core/services", named("a", spec={})),
        post("service-name", "$core/services", named("1a", spec={"ports": [{"port": 80}]})),
        post("revision-without-data", "$apps/controllerrevisions", named("a", revision=1)),
        post(
            "schedule",
            "$batch/cronjobs",
            named(
                "a",
                spec={"schedule": "often", "jobTemplate": {"spec": {"template": _JOB_TEMPLATE}}},
            ),
        ),
        post("event-without-object", "$core/events", named("a")),
        post("event-elsewhere", "$core/events", named("b", involvedObject={"namespace": "y"})),
        post("custom-unknown-field", _WIDGETS, _widget("a", bogus=1)),
        post("custom-wrong-type", _WIDGETS, _widget("b", size="big")),
        post("custom-strict", f"{_WIDGETS}?fieldValidation=Strict", _widget("c", bogus=1)),
        patch("custom-patch-wrong-type", f"{_WIDGETS}/a", {"spec": {"color": 5}}),
    ],
)

EVENTS = Group(
    "events",
    "Events, which have no watch cache",
    [
        post("make", "$core/events", _event("a"), save="a"),
        get("list", "$core/events"),
        get("list-at-0", "$core/events?resourceVersion=0"),
        get("list-of-other-group", "$events/events"),
        get("future", f"$core/events?resourceVersion={_FUTURE}"),
        get("exact", "$core/events?resourceVersion=$a_rv&resourceVersionMatch=Exact"),
        get("of-object", "$core/events?fieldSelector=involvedObject.name%3Dweb"),
        watch("seen", "$core/events", events=3),
        watch("from-rv", "$core/events?resourceVersion=$a_rv", events=2),
        patch("count", "$core/events/a", {"count": 2}),
        delete("delete", "$core/events/a"),
    ],
)

NAMESPACES = Group(
    "namespaces",
    "Namespaces",
    [
        get("own", "/api/v1/namespaces/$name"),
        post("make", "/api/v1/namespaces", named("script-dying")),
        post("make-bad", "/api/v1/namespaces", named("Bad_Name")),
        post("make-dotted", "/api/v1/namespaces", named("a.b")),
        post("make-taken", "/api/v1/namespaces", named("default")),
        get("default", "/api/v1/namespaces/default"),
        post("content", "/api/v1/namespaces/script-dying/configmaps", _config_map("a")),
        patch("label", "/api/v1/namespaces/script-dying", {"metadata": {"labels": {"x": "y"}}}),
        delete("delete", "/api/v1/namespaces/script-dying"),
        delete("delete-again", "/api/v1/namespaces/script-dying"),
        post("create-in-dying", "/api/v1/namespaces/script-dying/configmaps", _config_map("b")),
        delete("delete-content", "/api/v1/namespaces/script-dying/configmaps/a"),
        put(
            "finalize",
            "/api/v1/namespaces/script-dying/finalize",
            {
                "metadata": {"name": "script-dying", "labels": {"x": "y"}},
                "spec": {"finalizers": []},
            },
        ),
        get("gone", "/api/v1/namespaces/script-dying"),
        delete("delete-default", "/api/v1/namespaces/default"),
        delete("delete-missing", "/api/v1/namespaces/none"),
    ],
)

AUTH = Group(
    "auth",
    "Who may",
    [
        get("wrong-token", _CM, user="?"),
        get("wrong-token-version", "/version", user="?"),
        get("wrong-token-unknown-path", "/nosuch", user="?"),
        get("wrong-token-html", _CM, user="?", headers={"Accept": "text/html"}),
        get("no-token", _CM, user=""),
        get("no-token-object", f"{_CM}/a", user=""),
        get("no-token-cluster", "/api/v1/nodes", user=""),
        get("no-token-discovery", "/apis", user=""),
        get("no-token-version", "/version", user=""),
        get("no-token-health", "/healthz", user=""),
        get("no-token-unknown", "/nosuch", user=""),
        get("no-token-watch", f"{_CM}?watch=1", user=""),
        get("no-token-table", _CM, user="", headers=_TABLE),
        get("no-token-pretty", f"{_CM}?pretty=true", user=""),
        post("no-token-create", _CM, _config_map("a"), user=""),
        put("no-token-put", f"{_CM}/a", _config_map("a"), user=""),
        patch("no-token-patch", "$apps/deployments/a", {}, user=""),
        delete("no-token-delete", f"{_CM}/a", user=""),
        delete("no-token-collection", _CM, user=""),
        get("no-token-status", f"{_PODS}/a/status", user=""),
        get("no-token-named-watch", f"{_CM}?watch=1&fieldSelector=metadata.name%3Da", user=""),
        get("no-token-unknown-resource", "$core/nosuch", user=""),
        get("no-token-namespace", "/api/v1/namespaces/default", user=""),
        Step(name="no-token-head", method="HEAD", path=_CM, user=""),
        get("nobody", _CM, user="nobody"),
        get("nobody-discovery", "/api", user="nobody"),
        get("nobody-metrics", "/metrics", user="nobody"),
        get("viewer-elsewhere", _PODS, user="viewer"),
        get("viewer", "/api/v1/namespaces/default/pods", user="viewer"),
        get("viewer-object", "/api/v1/namespaces/default/pods/none", user="viewer"),
        get("viewer-log", "/api/v1/namespaces/default/pods/none/log", user="viewer"),
        delete("viewer-delete", "/api/v1/namespaces/default/pods/none", user="viewer"),
        get("basic", _CM, user="", headers={"Authorization": "Basic YWRtaW46YWRtaW4="}),
        get("empty-bearer", _CM, user="", headers={"Authorization": "Bearer "}),
    ],
)

_DISCOVERED = [
    "admissionregistration.k8s.io/v1",
    "apiextensions.k8s.io/v1",
    "apiregistration.k8s.io/v1",
    "apps/v1",
    "authentication.k8s.io/v1",
    "authorization.k8s.io/v1",
    "autoscaling/v1",
    "autoscaling/v2",
    "batch/v1",
    "certificates.k8s.io/v1",
    "coordination.k8s.io/v1",
    "discovery.k8s.io/v1",
    "events.k8s.io/v1",
    "flowcontrol.apiserver.k8s.io/v1",
    "networking.k8s.io/v1",
    "node.k8s.io/v1",
    "policy/v1",
    "rbac.authorization.k8s.io/v1",
    "resource.k8s.io/v1",
    "scheduling.k8s.io/v1",
    "storage.k8s.io/v1",
]

DISCOVERY = Group(
    "discovery",
    "Discovery, version and health",
    [
        get("api", "/api"),
        get("apis", "/apis"),
        get("core", "/api/v1"),
        *(get(f"version-{gv.replace('/', '-')}", f"/apis/{gv}") for gv in _DISCOVERED),
        *(get(f"group-{group}", f"/apis/{group}") for group in ("apps", "batch", "autoscaling")),
        get("aggregated-api", "/api", headers=_AGGREGATED),
        get("aggregated-apis", "/apis", headers=_AGGREGATED),
        get(
            "aggregated-beta",
            "/apis",
            headers={"Accept": _AGGREGATED["Accept"].replace("v=v2", "v=v2beta1")},
        ),
        get(
            "aggregated-or-json",
            "/apis",
            headers={"Accept": f"{_AGGREGATED['Accept']},application/json"},
        ),
        get("aggregated-of-group", "/apis/apps", headers=_AGGREGATED),
        get("api-slash", "/api/"),
        get("apis-yaml", "/api", headers={"Accept": "application/yaml"}),
        get("apis-html", "/apis", headers={"Accept": "text/html"}),
        get("version", "/version"),
        get("version-slash", "/version/"),
        get("healthz", "/healthz"),
        get("livez", "/livez"),
        get("readyz", "/readyz"),
        get("readyz-verbose", "/readyz?verbose"),
        get("readyz-excluded", "/readyz?exclude=etcd"),
        get("readyz-of-one", "/readyz/ping"),
        get("readyz-of-unknown", "/readyz/nosuch"),
        Step(name="healthz-head", method="HEAD", path="/healthz"),
        get("openapi-v3", "/openapi/v3"),
        get("openapi-v3-unknown", "/openapi/v3/nosuch"),
        get("openapi-v3-html", "/openapi/v3/version", headers={"Accept": "text/html"}),
        get("openapi-v2-html", "/openapi/v2", headers={"Accept": "text/html"}),
        get("openapi-v2-slash", "/openapi/v2/"),
    ],
)

WARNINGS = Group(
    "warnings",
    "Warnings",
    [
        get("endpoints", "$core/endpoints"),
        post("make-endpoints", "$core/endpoints", named("a")),
        get("one-endpoints", "$core/endpoints/a"),
        watch("endpoints-watch", "$core/endpoints", events=1),
        post("two-unknown-fields", _CM, {**_config_map("a"), "one": 1, "two": 2}),
        post("quotes", _CM, {**_config_map("b"), 'a "quote" é': 1}),
        delete("delete-endpoints", "$core/endpoints/a"),
    ],
)

SCRIPT: tuple[Group, ...] = (
    CREATES,
    BODIES,
    READS,
    PAGES,
    WATCHES,
    WATCH_LISTS,
    SELECTORS,
    PATHS,
    NEGOTIATION,
    UPDATES,
    DELETES,
    PODS,
    KINDS,
    STATUS,
    CUSTOM,
    VALIDATION,
    EVENTS,
    NAMESPACES,
    AUTH,
    DISCOVERY,
    WARNINGS,
)
