"""The whole core: requests, time and controls."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from listwatch.testing.apiserver.core import APIServer
from listwatch.testing.apiserver.messages import Answer, ServerRequest
from listwatch.testing.apiserver.storage.loading import UnknownKind
from listwatch.testing.apiserver.storage.state import Settings
from tests.testing.apiserver.types.test_routes import definition

from .asking import START, Asking, message, names, same_as_recorded

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
PODS = "/api/v1/namespaces/default/pods"
CONFIGMAPS = "/api/v1/namespaces/default/configmaps"


def configmap(name: str, **more: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, **more}


def revision(ask: Asking) -> int:
    return ask.server.state.log.revision


def test_a_new_server_has_the_namespaces_of_every_cluster() -> None:
    listed = json.loads(Asking().get("/api/v1/namespaces").body)["items"]
    assert names(listed) == ["default", "kube-node-lease", "kube-public", "kube-system"]
    assert listed[0]["status"] == {"phase": "Active"}
    assert listed[0]["spec"] == {"finalizers": ["kubernetes"]}
    assert listed[0]["metadata"]["labels"] == {"kubernetes.io/metadata.name": "default"}


def test_the_same_seed_gives_the_same_answers() -> None:
    def answers() -> list[bytes]:
        ask = Asking()
        ask.answer("POST", CONFIGMAPS, {"metadata": {"generateName": "a-"}})
        return [ask.get(CONFIGMAPS).body, ask.get("/api/v1/namespaces").body]

    assert answers() == answers()


def test_a_deprecated_type_warns_on_list_and_watch() -> None:
    # K44
    ask = Asking()
    name = "k-write-warning-v1-endpoints"
    same_as_recorded(ask.replay(name), name)
    stream = ask.watch("/api/v1/endpoints?watch=1")
    assert dict(stream.headers)["Warning"].startswith('299 - "v1 Endpoints is deprecated')


def test_history_is_compacted_as_time_goes_by() -> None:
    ask = Asking(settings=Settings(compaction_interval=300.0))
    ask.answer("POST", CONFIGMAPS, configmap("a"))
    ask.wait(300)
    first = revision(ask)
    ask.answer("POST", CONFIGMAPS, configmap("b"))
    assert ask.server.state.log.compacted < first
    ask.wait(300)
    assert ask.server.state.log.compacted == first


def test_without_an_interval_history_stays() -> None:
    ask = Asking(settings=Settings(compaction_interval=None))
    ask.answer("POST", CONFIGMAPS, configmap("a"))
    ask.wait(100_000)
    assert ask.server.state.log.compacted == 0
    assert ask.server.next_due is None


def test_compaction_on_demand_and_a_restart_make_an_old_watch_expire() -> None:
    # K21
    ask = Asking()
    ask.answer("POST", CONFIGMAPS, configmap("a"))
    old = revision(ask)
    ask.answer("POST", CONFIGMAPS, configmap("b"))
    ask.server.compact()
    assert [e["type"] for e in frames(ask, old)] == ["ADDED"]
    ask.server.restart()
    [event] = frames(ask, old)
    assert (event["type"], event["object"]["code"]) == ("ERROR", 410)


def frames(ask: Asking, rv: int) -> list[Any]:
    stream = ask.watch(f"{CONFIGMAPS}?watch=1&resourceVersion={rv}")
    return [json.loads(frame) for frame in stream.take()]


def test_a_restart_ends_the_open_watches_and_keeps_the_objects() -> None:
    ask = Asking()
    ask.answer("POST", CONFIGMAPS, configmap("a"))
    before = revision(ask)
    stream = ask.watch(f"{CONFIGMAPS}?watch=1&resourceVersion={before}")
    ask.server.restart()
    assert stream.ended
    assert stream.take() == []
    assert revision(ask) == before
    assert ask.get(f"{CONFIGMAPS}/a").status == 200


def test_a_restart_can_lose_everything() -> None:
    ask = Asking()
    ask.answer("POST", CONFIGMAPS, configmap("a"))
    ask.server.restart("lost")
    assert ask.get(f"{CONFIGMAPS}/a").status == 404
    assert ask.answer("POST", CONFIGMAPS, configmap("a")).status == 201


def test_a_restart_can_turn_back_to_a_backup() -> None:
    # K24
    ask = Asking()
    ask.answer("POST", CONFIGMAPS, configmap("early"))
    backup = ask.server.backup()
    ask.answer("POST", CONFIGMAPS, configmap("late"))
    future = revision(ask)
    ask.server.restart(backup)
    assert revision(ask) < future
    listed = json.loads(ask.get(CONFIGMAPS).body)["items"]
    assert "late" not in names(listed)
    assert ask.get(f"{CONFIGMAPS}?resourceVersion={future}").status == 504
    stream = ask.watch(f"{CONFIGMAPS}?watch=1&resourceVersion={future}")
    ask.answer("POST", CONFIGMAPS, configmap("unseen"))
    assert stream.take() == []
    ask.answer("POST", CONFIGMAPS, configmap("seen"))
    assert [json.loads(f)["object"]["metadata"]["name"] for f in stream.take()] == ["seen"]


def test_a_backup_does_not_change_with_the_server() -> None:
    ask = Asking()
    backup = ask.server.backup()
    ask.answer("POST", CONFIGMAPS, configmap("a"))
    ask.server.restart(backup)
    ask.answer("POST", CONFIGMAPS, configmap("b"))
    ask.server.restart(backup)
    assert json.loads(ask.get(CONFIGMAPS).body)["items"] == []


def test_watches_can_be_ended_by_what_they_watch() -> None:
    ask = Asking()
    pods, others = ask.watch("/api/v1/pods?watch=1"), ask.watch("/api/v1/nodes?watch=1")
    ask.server.end_watches(lambda target: target.type.kind == "Pod")
    assert pods.ended
    assert not others.ended
    ask.server.end_watches()
    assert others.ended


def test_what_is_due_happens_before_the_next_request() -> None:
    ask = Asking()
    pod = {
        "metadata": {"name": "web"},
        "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]},
    }
    ask.answer("POST", PODS, pod)
    ask.answer("DELETE", f"{PODS}/web")
    ask.now += 30.0  # nobody called run_due
    assert ask.get(f"{PODS}/web").status == 404


# Loading


def test_loading_stores_what_is_given_and_adds_what_lacks() -> None:
    ask = Asking()
    given = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "namespace": "new", "uid": "mine"},
        "spec": {"containers": []},
        "status": {"phase": "Running"},
    }
    assert ask.server.load([given, configmap("a", data={"b": "2", "a": "1"})]) == 2
    pod = json.loads(ask.get("/api/v1/namespaces/new/pods/web").body)
    assert pod["metadata"]["uid"] == "mine"
    assert pod["metadata"]["creationTimestamp"] == "2026-01-01T00:00:00Z"
    assert pod["metadata"]["generation"] == 1
    assert pod["status"] == {"phase": "Running"}
    assert b'"data":{"a":"1","b":"2"}' in ask.get(f"{CONFIGMAPS}/a").body
    assert ask.get("/api/v1/namespaces/new").status == 200
    assert "uid" not in configmap("a")["metadata"]


def test_loading_does_not_change_what_it_is_given() -> None:
    given = configmap("a")
    Asking().server.load([given])
    assert given == configmap("a")


def test_watchers_see_what_is_loaded() -> None:
    ask = Asking()
    stream = ask.watch(f"{CONFIGMAPS}?watch=1&resourceVersion={revision(ask)}")
    ask.server.load([configmap("a"), configmap("a", data={"k": "v"})])
    assert [json.loads(frame)["type"] for frame in stream.take()] == ["ADDED", "MODIFIED"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"apiVersion": "v1", "kind": "Nosuch", "metadata": {"name": "a"}},
        {"kind": "Pod", "metadata": {"name": "a"}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {}},
        {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "a"}},
    ],
)
def test_what_cannot_be_served_cannot_be_loaded(wrong: dict[str, Any]) -> None:
    with pytest.raises(UnknownKind):
        Asking().server.load([wrong])


# Presentation


@pytest.mark.parametrize(
    ("target", "headers", "pretty"),
    [
        ("", {}, False),
        ("?pretty=true", {}, True),
        ("?pretty=1", {}, True),
        ("?pretty=false", {"user_agent": "curl/8"}, False),
        ("?pretty=yes", {"user_agent": "curl/8"}, False),
        ("?pretty", {}, False),
        ("", {"user_agent": "curl/8.0"}, True),
        ("", {"user_agent": "Wget/1"}, True),
        ("", {"user_agent": "Mozilla/5.0 (X11)"}, True),
        ("", {"user_agent": "kubectl/v1.37"}, False),
    ],
)
def test_json_is_pretty_for_those_who_look_at_it(
    target: str, headers: dict[str, str], pretty: bool
) -> None:
    # K5
    ask = Asking()
    for path in (CONFIGMAPS, "/apis", f"{CONFIGMAPS}/nosuch"):
        body = ask.get(path + target, **headers).body
        assert body.startswith(b'{\n  "') is pretty
        assert body.endswith(b"\n") is not pretty


TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


@pytest.mark.parametrize(
    ("accept", "pretty"),
    [
        (TABLE, True),
        ("text/html", True),
        (f"{TABLE},application/json", False),
        ("*/*", False),
        ("application/*;q=0.5, text/html", False),
    ],
)
def test_an_error_that_cannot_be_sent_as_asked_is_pretty(accept: str, pretty: bool) -> None:
    # K5
    answer = Asking().get("/api/v1/nosuch", accept=accept)
    assert answer.body.startswith(b"{\n") is pretty
    assert answer.content_type == "application/json"


def test_an_answer_that_comes_later_is_pretty_too() -> None:
    ask = Asking()
    later = ask("GET", f"{CONFIGMAPS}?resourceVersion=1000&pretty=true")
    answer = ask.settled(later)
    assert answer.status == 504
    assert answer.body.startswith(b"{\n")
    assert message(answer)


def test_the_core_has_no_time_of_its_own() -> None:
    def clock() -> float:
        return 5.0

    server = APIServer(clock=clock, wall=lambda: START)
    request = ServerRequest(method="GET", path="/api/v1/pods")
    assert server.handle(request) == server.handle(request)


_segments = st.sampled_from(
    [
        *("api", "apis", "v1", "apps", "watch", "namespaces", "default", "pods", "nodes", "status"),
        *("deployments", "configmaps", "web", "events", "proxy", "", "..", "%2F", "%C3", "é", "v2"),
        *("apiextensions.k8s.io", "customresourcedefinitions", "leases", "coordination.k8s.io"),
    ]
)
_pairs = st.tuples(
    st.sampled_from(
        [
            *("watch", "limit", "continue", "resourceVersion", "resourceVersionMatch", "dryRun"),
            *("fieldSelector", "labelSelector", "timeoutSeconds", "sendInitialEvents", "pretty"),
            *("allowWatchBookmarks", "fieldValidation", "gracePeriodSeconds", "propagationPolicy"),
        ]
    ),
    st.sampled_from(["", "0", "1", "-1", "true", "abc", "a=b", "All", "Exact", "NotOlderThan"]),
)
_bodies = st.one_of(
    st.binary(max_size=20),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "metadata",
                        "name",
                        "spec",
                        "status",
                        "kind",
                        "labels",
                        "finalizers",
                        "versions",
                    ]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=10,
    ).map(lambda value: json.dumps(value).encode()),
)


@settings(max_examples=400, deadline=None)
@given(
    method=st.sampled_from(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "FOO"]),
    prefix=st.sampled_from(["", "/api/v1", "/api/v1/namespaces/default", "/apis/apps/v1", CRDS]),
    segments=st.lists(_segments, max_size=4),
    query=st.lists(_pairs, max_size=3),
    body=_bodies,
    content_type=st.sampled_from(
        ["", "application/json", "application/merge-patch+json", "application/json-patch+json"]
    ),
)
def test_no_request_breaks_the_core(
    method: str,
    prefix: str,
    segments: list[str],
    query: list[tuple[str, str]],
    body: bytes,
    content_type: str,
) -> None:
    ask = Asking()
    ask.server.load([configmap("web"), definition("web", "Web", namespaced=False, status=True)])
    request = ServerRequest(
        method=method,
        path="/".join([prefix, *segments]) or "/",
        query=tuple(query),
        headers={"content-type": content_type},
        body=body,
    )
    reaction = ask.server.handle(request)
    if not isinstance(reaction, Answer):
        ask.wait(10)
        reaction.tick()
    else:
        assert 200 <= reaction.status < 600
    ask.wait(100)
    assert ask.get("/api/v1/configmaps").status == 200


def test_a_definition_and_its_objects_load_together_on_a_clock_that_runs() -> None:
    readings = itertools.count(start=0.0, step=0.001)
    server = APIServer(clock=lambda: next(readings), wall=lambda: START)
    web = {"apiVersion": "example.com/v1", "kind": "Web", "metadata": {"name": "a"}}
    assert server.load([definition("web", "Web", namespaced=False, status=True), web]) == 2
