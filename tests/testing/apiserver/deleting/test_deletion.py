"""DELETE, beyond what was recorded; the answers are those of a kube-apiserver v1.36."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.testing.apiserver.storage.state import Settings
from tests.testing.apiserver.asking import message, names
from tests.testing.apiserver.write_server import MERGE, Writing, causes, events_of, parsed, rv
from tests.testing.apiserver.writing.test_writes_recordings import CONTAINER

DEFAULT = "/api/v1/namespaces/default"
CONFIGMAPS = f"{DEFAULT}/configmaps"
PODS = f"{DEFAULT}/pods"
JOBS = "/apis/batch/v1/namespaces/default/jobs"


@pytest.fixture
def server() -> Writing:
    return Writing()


def config(server: Writing, name: str, **metadata: Any) -> dict[str, Any]:
    return server.made(CONFIGMAPS, {"metadata": {"name": name, **metadata}, "data": {"x": "1"}})


def pod(server: Writing, name: str, *, spec: Any = None, **metadata: Any) -> dict[str, Any]:
    spec = {"containers": [CONTAINER], "nodeName": "n", **(spec or {})}
    return server.made(PODS, {"metadata": {"name": name, **metadata}, "spec": spec})


def revision(server: Writing) -> int:
    return server.server.state.log.revision


# Options


@pytest.mark.parametrize(
    ("query", "body", "status", "said"),
    [
        ("?gracePeriodSeconds=abc", None, 400, 'strconv.ParseInt: parsing "abc": invalid syntax'),
        (
            "",
            b"{bad",
            400,
            "couldn't get version/kind; json parse error: invalid character 'b' looking for "
            "beginning "
            "of object key string",
        ),
        (
            "",
            {"kind": "Pod", "apiVersion": "v1"},
            400,
            'no kind "Pod" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
        ),
        (
            "",
            {"gracePeriodSeconds": "x"},
            400,
            "json: cannot unmarshal string into Go struct field "
            "DeleteOptions.gracePeriodSeconds of "
            "type int64",
        ),
        (
            "",
            {"preconditions": {"uid": 5}},
            400,
            "json: cannot unmarshal number into Go struct field Preconditions.preconditions.uid of "
            "type types.UID",
        ),
        (
            "?dryRun=Some",
            None,
            422,
            'DeleteOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: '
            "supported "
            'values: "All"',
        ),
        (
            "?propagationPolicy=Nope",
            None,
            422,
            'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: '
            '"Nope": '
            'supported values: "Foreground", "Background", "Orphan", "nil"',
        ),
    ],
)
def test_k33_options_that_are_refused(
    server: Writing, query: str, body: Any, status: int, said: str
) -> None:
    config(server, "a")
    answer = server.write("DELETE", f"{CONFIGMAPS}/a{query}", body)
    assert (answer.status, message(answer)) == (status, said)
    assert server.get(f"{CONFIGMAPS}/a").status == 200


def test_k33_options_are_no_text(server: Writing) -> None:
    config(server, "a")
    assert server.write("DELETE", f"{CONFIGMAPS}/a", b"x", kind="text/plain").status == 415


@pytest.mark.parametrize("body", [b"null", b"{}", b'{"kind":"DeleteOptions","apiVersion":"v1"}'])
def test_k33_options_may_say_nothing(server: Writing, body: bytes) -> None:
    config(server, "a")
    assert parsed(server.write("DELETE", f"{CONFIGMAPS}/a", body))["status"] == "Success"


def test_k33_where_there_is_a_body_the_query_does_not_count(server: Writing) -> None:
    config(server, "a")
    body = {"propagationPolicy": "Foreground"}
    answer = server.write("DELETE", f"{CONFIGMAPS}/a?propagationPolicy=Orphan", body)
    assert parsed(answer)["metadata"]["finalizers"] == ["foregroundDeletion"]


@pytest.mark.parametrize("precondition", [{"uid": "x", "resourceVersion": "1"}, {"uid": ""}])
def test_k33_preconditions_that_fail(server: Writing, precondition: dict[str, str]) -> None:
    uid = config(server, "a")["metadata"]["uid"]
    answer = server.write("DELETE", f"{CONFIGMAPS}/a", {"preconditions": precondition})
    assert answer.status == 409
    assert message(answer) == (
        f'Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition '
        f"({precondition['uid']}) does not match the UID in record ({uid}). The object might have "
        "been deleted and then recreated"
    )


def test_k33_preconditions_that_hold(server: Writing) -> None:
    metadata = config(server, "a")["metadata"]
    held = {name: metadata[name] for name in ("uid", "resourceVersion")}
    assert server.write("DELETE", f"{CONFIGMAPS}/a", {"preconditions": held}).status == 200


# Finalizers


@pytest.mark.parametrize(
    ("finalizers", "options", "left"),
    [
        ([], {"orphanDependents": True}, ["orphan"]),
        ([], {"orphanDependents": False}, None),
        ([], {"propagationPolicy": "Background"}, None),
        (["orphan"], {}, ["orphan"]),
        (["orphan"], {"propagationPolicy": "Background"}, None),
        (["orphan"], {"propagationPolicy": "Foreground"}, ["foregroundDeletion"]),
        (["foregroundDeletion", "a.b/c"], {"propagationPolicy": "Background"}, ["a.b/c"]),
        (["a.b/c"], {"propagationPolicy": "Orphan"}, ["a.b/c", "orphan"]),
    ],
)
def test_k34_what_is_to_become_of_the_dependents(
    server: Writing, finalizers: list[str], options: dict[str, Any], left: list[str] | None
) -> None:
    config(server, "a", finalizers=finalizers)
    answer = server.write("DELETE", f"{CONFIGMAPS}/a", options)
    if left is None:
        assert parsed(answer)["status"] == "Success"
        assert server.get(f"{CONFIGMAPS}/a").status == 404
    else:
        metadata = parsed(answer)["metadata"]
        assert metadata["finalizers"] == left
        assert metadata["deletionTimestamp"] == "2026-01-01T00:00:00Z"
        assert metadata["deletionGracePeriodSeconds"] == 0


def test_k34_a_second_delete_changes_nothing(server: Writing) -> None:
    config(server, "a", finalizers=["a.b/c"])
    first = server.write("DELETE", f"{CONFIGMAPS}/a")
    server.wait(10)
    assert server.write("DELETE", f"{CONFIGMAPS}/a").body == first.body


def test_an_object_that_is_to_go_with_its_dependents_is_accepted_only(server: Writing) -> None:
    config(server, "a", finalizers=["a.b/c"])
    assert server.write("DELETE", f"{CONFIGMAPS}/a", {"orphanDependents": False}).status == 202


def test_k33_a_job_is_orphaned_with_a_warning_unless_somebody_says_otherwise(
    server: Writing,
) -> None:
    template = {"spec": {"restartPolicy": "Never", "containers": [CONTAINER]}}
    server.made(JOBS, {"metadata": {"name": "a"}, "spec": {"template": template}})
    answer = server.write("DELETE", f"{JOBS}/a")
    assert parsed(answer)["metadata"]["finalizers"] == ["orphan"]
    assert parsed(answer)["metadata"]["generation"] == 2
    (warning,) = (value for name, value in answer.headers if name == "Warning")
    assert warning.startswith('299 - "child pods are preserved by default')
    answer = server.write("DELETE", f"{JOBS}/a?propagationPolicy=Background")
    assert parsed(answer)["details"]["kind"] == "jobs"
    assert not [name for name, _ in answer.headers if name == "Warning"]


# Dry runs


@pytest.mark.parametrize("options", [{}, {"propagationPolicy": "Foreground"}])
def test_a_dry_run_deletes_nothing(server: Writing, options: dict[str, Any]) -> None:
    config(server, "a")
    pod(server, "a")
    pod(server, "b", spec={"nodeName": ""})
    before = revision(server)
    for target in (f"{CONFIGMAPS}/a", f"{PODS}/a", f"{PODS}/b"):
        answer = server.write("DELETE", target, {"dryRun": ["All"], **options})
        assert answer.status == 200
        if target != f"{CONFIGMAPS}/a":
            assert "deletionTimestamp" in parsed(answer)["metadata"]
    server.write("DELETE", f"{CONFIGMAPS}?dryRun=All")
    server.wait(100)
    assert revision(server) == before


# Pods


def test_k35_a_pod_is_gone_once_its_time_is_over(server: Writing) -> None:
    pod(server, "a")
    told = parsed(server.write("DELETE", f"{PODS}/a"))
    assert told["metadata"]["deletionTimestamp"] == "2026-01-01T00:00:30Z"
    assert told["metadata"]["generation"] == 2
    watch = server.watch(f"{PODS}?watch=true&resourceVersion={rv(told)}")
    assert server.server.next_due == 30
    server.wait(29)
    assert watch.take() == []
    server.wait(1)
    events = list(events_of(watch.take()))
    assert [kind for kind, _ in events] == ["MODIFIED", "DELETED"]
    assert events[0][1]["metadata"]["deletionGracePeriodSeconds"] == 0
    assert [rv(found) for _, found in events] == [rv(told) + 1, rv(told) + 2]


@pytest.mark.parametrize(
    ("spec", "query", "grace"),
    [
        ({}, "", 30),
        ({}, "?gracePeriodSeconds=5", 5),
        ({}, "?gracePeriodSeconds=-5", 1),
        ({"terminationGracePeriodSeconds": 7}, "", 7),
    ],
)
def test_k35_how_much_time_a_pod_has(
    server: Writing, spec: dict[str, Any], query: str, grace: int
) -> None:
    pod(server, "a", spec=spec)
    metadata = parsed(server.write("DELETE", f"{PODS}/a{query}"))["metadata"]
    assert metadata["deletionGracePeriodSeconds"] == grace
    server.wait(grace - 0.5)
    assert server.get(f"{PODS}/a").status == 200
    server.wait(0.5)
    assert server.get(f"{PODS}/a").status == 404


def test_k35_the_time_may_become_shorter_only(server: Writing) -> None:
    pod(server, "a")
    server.write("DELETE", f"{PODS}/a")
    server.wait(2)
    shorter = parsed(server.write("DELETE", f"{PODS}/a?gracePeriodSeconds=10"))
    assert shorter["metadata"]["deletionTimestamp"] == "2026-01-01T00:00:10Z"
    longer = server.write("DELETE", f"{PODS}/a?gracePeriodSeconds=20&propagationPolicy=Orphan")
    assert parsed(longer) == shorter
    server.wait(8)
    assert server.get(f"{PODS}/a").status == 404
    server.wait(100)


def test_k35_a_pod_of_the_same_name_is_not_taken_for_it(server: Writing) -> None:
    pod(server, "a")
    server.write("DELETE", f"{PODS}/a")
    server.write("DELETE", f"{PODS}/a?gracePeriodSeconds=0")
    pod(server, "a")
    server.wait(100)
    assert server.get(f"{PODS}/a").status == 200


def test_k35_finalizers_hold_a_pod_beyond_its_time(server: Writing) -> None:
    pod(server, "a", finalizers=["a.b/c"])
    server.write("DELETE", f"{PODS}/a?gracePeriodSeconds=20")
    server.wait(60)
    assert parsed(server.get(f"{PODS}/a"))["metadata"]["deletionGracePeriodSeconds"] == 0
    server.merged(f"{PODS}/a", {"metadata": {"finalizers": None}})
    assert server.get(f"{PODS}/a").status == 404


def test_k35_time_holds_a_pod_that_no_finalizer_holds_any_more(server: Writing) -> None:
    pod(server, "a", finalizers=["a.b/c"])
    server.write("DELETE", f"{PODS}/a?gracePeriodSeconds=20")
    server.merged(f"{PODS}/a", {"metadata": {"finalizers": None}})
    assert server.get(f"{PODS}/a").status == 200
    server.wait(20)
    assert server.get(f"{PODS}/a").status == 404


def test_k35_without_a_kubelet_a_pod_stays() -> None:
    server = Writing(settings=Settings(pod_termination=False, compaction_interval=None))
    pod(server, "a")
    server.write("DELETE", f"{PODS}/a")
    assert server.server.next_due is None
    server.wait(100)
    assert server.get(f"{PODS}/a").status == 200


# Collections


def test_k33_a_collection_is_deleted_page_by_page(server: Writing) -> None:
    for number in range(3):
        config(server, f"c{number}", labels={"set": "c"})
    config(server, "other")
    first = server.write("DELETE", f"{CONFIGMAPS}?labelSelector=set%3Dc&limit=2")
    assert names(parsed(first)["items"]) == ["c0", "c1"]
    assert parsed(first)["metadata"]["continue"]
    assert names(parsed(server.get(CONFIGMAPS))["items"]) == ["c2", "other"]
    server.write("DELETE", f"{CONFIGMAPS}?fieldSelector=metadata.name%3Dother")
    assert names(parsed(server.get(CONFIGMAPS))["items"]) == ["c2"]


def test_k33_a_collection_that_cannot_be_listed_is_left_alone(server: Writing) -> None:
    config(server, "a")
    for target, status in (
        (f"{CONFIGMAPS}?labelSelector=a%3D%3D%3Db", 400),
        (f"{CONFIGMAPS}?propagationPolicy=Nope", 422),
        (f"{CONFIGMAPS}?resourceVersion=999999", 504),
    ):
        assert server.write("DELETE", target).status == status
    assert server.get(f"{CONFIGMAPS}/a").status == 200


def test_k33_a_collection_that_is_waited_for_is_deleted_then(server: Writing) -> None:
    config(server, "a")
    future = revision(server) + 1
    later = server("DELETE", f"{CONFIGMAPS}?resourceVersion={future}&limit=1")
    assert server.get(f"{CONFIGMAPS}/a").status == 200
    server.merged(f"{CONFIGMAPS}/a", {"data": {"x": "2"}})
    answer = later.tick()  # type: ignore[union-attr]  # it is one that waits
    assert names(parsed(answer)["items"]) == ["a"]  # type: ignore[arg-type]
    assert server.get(f"{CONFIGMAPS}/a").status == 404


def test_k33_preconditions_of_a_collection(server: Writing) -> None:
    config(server, "a")
    answer = server.write("DELETE", CONFIGMAPS, {"preconditions": {"uid": "zz"}})
    assert answer.status == 409
    assert server.get(f"{CONFIGMAPS}/a").status == 200


def test_what_delete_answers_can_be_metadata_alone(server: Writing) -> None:
    accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
    config(server, "a")
    pod(server, "a")
    assert parsed(server.write("DELETE", f"{CONFIGMAPS}/a", accept=accept))["kind"] == "Status"
    assert (
        parsed(server.write("DELETE", f"{PODS}/a", accept=accept))["kind"]
        == "PartialObjectMetadata"
    )


def test_k28_problems_have_causes(server: Writing) -> None:
    both = {"propagationPolicy": "Nope", "orphanDependents": True}
    config(server, "a")
    fields = [field for field, _ in causes(server.write("DELETE", f"{CONFIGMAPS}/a", both))]
    assert fields == ["propagationPolicy", "propagationPolicy"]
    assert server.write("PATCH", f"{CONFIGMAPS}/a", {}, kind=MERGE).status == 200
