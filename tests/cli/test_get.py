from __future__ import annotations

import json

import pytest
import yaml

from listwatch.testing import Match, Recording
from tests.cli.conftest import Run
from tests.cli.servers import http, replaying, serving
from tests.support.vectors import vector

POD = {
    "kind": "Pod",
    "apiVersion": "v1",
    "metadata": {"name": "web-0", "namespace": "default", "labels": {"on": "yes"}},
    "spec": {"nodeName": "node-1"},
    "status": {"phase": "Running"},
}
ITEM = {key: value for key, value in POD.items() if key not in ("kind", "apiVersion")}


def _list(*items: object, **metadata: object) -> bytes:
    found = {"kind": "PodList", "apiVersion": "v1", "metadata": metadata, "items": list(items)}
    return http(json.dumps(found).encode())


def _asked(run: Run, *arguments: str, answer: bytes) -> list[str]:
    """The requests that the command sends."""
    recording = Recording("", b"GET / HTTP/1.1\r\n\r\n", answer)
    with replaying([recording], match=Match.ORDER) as server:
        run(*arguments, "--server", server.url)
        return [request.target for request in server.requests]


def test_a_table_is_what_get_prints(run: Run) -> None:
    with serving(_list(ITEM)) as url:
        ran = run("get", "pods", "--server", url)
    assert ran.lines == [
        "NAME    READY   STATUS    RESTARTS   AGE         NODE",
        "web-0   0/0     Running   0          <unknown>   node-1",
    ]
    assert (ran.code, ran.notes) == (0, "")


def test_the_namespace_is_a_column_where_all_are_asked(run: Run) -> None:
    with serving(_list(ITEM)) as url:
        ran = run("get", "pods", "-A", "--server", url)
    assert [line.split()[:2] for line in ran.lines] == [["NAMESPACE", "NAME"], ["default", "web-0"]]


@pytest.mark.parametrize(
    ("arguments", "target"),
    [
        (["pods"], "/api/v1/namespaces/default/pods"),
        (["po", "-n", "a"], "/api/v1/namespaces/a/pods"),
        (["pods", "-A"], "/api/v1/pods"),
        (["pods", "-n", "a", "-A"], "/api/v1/pods"),
        (["nodes", "-n", "a"], "/api/v1/nodes"),
        (["deploy", "web"], "/apis/apps/v1/namespaces/default/deployments/web"),
        (["pods/web-0", "-n", "a"], "/api/v1/namespaces/a/pods/web-0"),
        (
            ["pods", "-l", "app in (a,b)", "--field-selector", "spec.nodeName=n", "--limit", "5"],
            "/api/v1/namespaces/default/pods?fieldSelector=spec.nodeName%3Dn"
            "&labelSelector=app%20in%20%28a%2Cb%29&limit=5",
        ),
    ],
)
def test_one_request_asks_for_it(arguments: list[str], target: str, run: Run) -> None:
    assert _asked(run, "get", *arguments, answer=_list(ITEM)) == [target]


def test_json_of_several_is_a_list_and_items_have_their_kind(run: Run) -> None:
    with serving(_list(ITEM)) as url:
        ran = run("get", "pods", "-o", "json", "--server", url)
    assert json.loads(ran.data) == {
        "apiVersion": "v1",
        "kind": "List",
        "metadata": {"resourceVersion": ""},
        "items": [POD],
    }
    assert ran.lines[:2] == ["{", '    "apiVersion": "v1",']


def test_json_and_yaml_of_one_name_are_the_object(run: Run) -> None:
    with serving(http(json.dumps(POD).encode())) as url:
        as_json = run("get", "pods", "web-0", "-o", "json", "--server", url)
        as_yaml = run("get", "pods/web-0", "-o", "yaml", "--server", url)
    assert json.loads(as_json.data) == POD
    assert yaml.safe_load(as_yaml.data) == POD
    assert as_yaml.lines[0] == "kind: Pod"
    assert "      'on': 'yes'" not in as_yaml.text
    assert "'on': 'yes'" in as_yaml.text.replace('"', "'")


@pytest.mark.parametrize("output", ["json", "yaml"])
def test_managed_fields_are_left_out_unless_they_are_wanted(output: str, run: Run) -> None:
    managed = {**POD, "metadata": {"name": "web-0", "managedFields": [{"manager": "m"}]}}
    with serving(http(json.dumps(managed).encode())) as url:
        without = run("get", "pods", "web-0", "-o", output, "--server", url)
        complete = run(
            "get", "pods", "web-0", "-o", output, "--show-managed-fields", "--server", url
        )
    assert yaml.safe_load(without.data)["metadata"] == {"name": "web-0"}
    assert yaml.safe_load(complete.data) == managed


def test_names_are_those_of_kubectl(run: Run) -> None:
    web = {"metadata": {"name": "web"}}
    deployments = {
        "kind": "DeploymentList",
        "apiVersion": "apps/v1",
        "metadata": {},
        "items": [web],
    }
    with serving(_list(ITEM)) as url:
        assert run("get", "pods", "-o", "name", "--server", url).lines == ["pod/web-0"]
    with serving(http(json.dumps(deployments).encode())) as url:
        ran = run("get", "deploy", "-o", "name", "--server", url)
    assert ran.lines == ["deployment.apps/web"]


@pytest.mark.parametrize("output", ["table", "name"])
def test_where_nothing_is_it_says_so_beside_the_data(output: str, run: Run) -> None:
    with serving(_list()) as url:
        in_one = run("get", "pods", "-o", output, "--server", url)
        in_all = run("get", "pods", "-A", "-o", output, "--server", url)
    assert (in_one.code, in_one.data) == (0, b"")
    assert in_one.note == "No resources found in default namespace."
    assert in_all.note == "No resources found"


def test_nothing_is_an_empty_list_in_json(run: Run) -> None:
    with serving(_list()) as url:
        ran = run("get", "pods", "-o", "json", "--server", url)
    assert json.loads(ran.data)["items"] == []
    assert ran.notes == ""


def test_a_page_says_how_many_more_there_are(run: Run) -> None:
    with serving(_list(ITEM, **{"continue": "abc", "remainingItemCount": 9})) as url:
        counted = run("get", "pods", "--limit", "1", "--server", url)
    with serving(_list(ITEM, **{"continue": "abc"})) as url:
        uncounted = run("get", "pods", "--limit", "1", "-l", "a", "--server", url)
    assert counted.note == "listwatch: these are 1 of 10: leave --limit out for all"
    assert uncounted.note == (
        "listwatch: these are the first 1; there are more: leave --limit out for all"
    )
    assert counted.code == uncounted.code == 0


@pytest.mark.clause("A5")
def test_a_name_that_is_not_there_is_told_in_the_servers_words(run: Run) -> None:
    told = {"kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404}
    body = json.dumps({**told, "message": 'pods "web-9" not found'}).encode()
    with serving(http(body, status="404 Not Found")) as url:
        ran = run("get", "pods", "web-9", "--server", url)
    assert (ran.code, ran.data) == (1, b"")
    assert ran.note == 'listwatch: the server answered 404 NotFound: pods "web-9" not found'


@pytest.mark.clause("D6")
def test_one_object_that_cannot_be_read_costs_no_other(run: Run) -> None:
    with serving(_list({"metadata": {"name": 7}}, ITEM)) as url:
        ran = run("get", "pods", "-o", "name", "--server", url)
    assert ran.lines == ["pod/web-0"]
    assert ran.note.startswith("listwatch: cannot decode an object")
    assert ran.code == 1  # not all is there


def test_the_namespace_and_server_of_the_context_are_used(run: Run, tmp_path: object) -> None:
    with replaying([vector("k-list-pods")]) as server:
        config = {
            "clusters": [{"name": "c", "cluster": {"server": server.url}}],
            "contexts": [
                {"name": "one", "context": {"cluster": "c", "namespace": "other"}},
                {"name": "two", "context": {"cluster": "c", "namespace": "rec"}},
            ],
            "current-context": "one",
        }
        path = f"{tmp_path}/config"
        with open(path, "w") as file:
            json.dump(config, file)
        refused = run("get", "pods", "--kubeconfig", path)
        ran = run("get", "pods", "--kubeconfig", path, "--context", "two")
        unknown = run("get", "pods", "--kubeconfig", path, "--context", "three")
    assert "/namespaces/other/pods" in refused.note
    assert ran.code == 0
    assert len(ran.lines) > 2
    assert unknown.code == 1
    assert "three" in unknown.note


def test_verbose_shows_requests_and_never_a_token(run: Run) -> None:
    with serving(_list(ITEM)) as url:
        ran = run("get", "pods", "-v", "--token", "top-secret", "--server", url)
    assert ran.code == 0
    asked, answered = ran.notes.splitlines()
    assert asked == f"listwatch: GET {url}/api/v1/namespaces/default/pods"
    assert answered.startswith(f"{asked} -> 200, application/json, after ")
    assert "top-secret" not in ran.notes


@pytest.mark.clause("B4")
def test_a_busy_server_is_asked_again_when_it_says_and_the_user_is_told(run: Run) -> None:
    busy = b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n"
    request = b"GET / HTTP/1.1\r\n\r\n"
    answers = [Recording("", request, busy), Recording("", request, _list(ITEM))]
    with replaying(answers, match=Match.ORDER) as server:
        ran = run("get", "pods", "-o", "name", "--server", server.url)
    assert (ran.code, ran.lines) == (0, ["pod/web-0"])
    assert ran.note == "listwatch: the server is busy (429), and asks to wait 0 s"
