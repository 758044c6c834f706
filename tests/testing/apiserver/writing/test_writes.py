"""POST, PUT and PATCH, beyond what was recorded. What a test expects of a text, a kube-apiserver
v1.36 answered.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.testing.apiserver.asking import message
from tests.testing.apiserver.write_server import JSON_PATCH, MERGE, Writing, causes, parsed, rv
from tests.testing.apiserver.writing.test_writes_recordings import CONTAINER, widgets

DEFAULT = "/api/v1/namespaces/default"
CONFIGMAPS = f"{DEFAULT}/configmaps"
PODS = f"{DEFAULT}/pods"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
WIDGETS = "/apis/example.com/v1/namespaces/rec/widgets"


@pytest.fixture
def server() -> Writing:
    return Writing()


@pytest.fixture
def custom() -> Writing:
    server = Writing()
    server.made("/api/v1/namespaces", {"metadata": {"name": "rec"}})
    widgets(server)
    return server


def config(name: str, **data: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "data": data}


def widget(name: str, **members: Any) -> dict[str, Any]:
    return {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": name},
        **members,
    }


def revision(server: Writing) -> int:
    return server.server.state.log.revision


# POST


def test_k28_the_server_sets_what_a_client_may_not(server: Writing) -> None:
    sent = {
        "name": "b",
        "uid": "mine",
        "selfLink": "/x",
        "creationTimestamp": "2001-01-01T00:00:00Z",
        "deletionTimestamp": "2001-01-01T00:00:00Z",
        "deletionGracePeriodSeconds": 7,
        "labels": {},
        "annotations": {},
        "finalizers": [],
        "ownerReferences": [],
    }
    made = server.made(CONFIGMAPS, {"metadata": sent, "data": {}})
    uid = made["metadata"].pop("uid")
    assert uid != "mine"
    assert made == {
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "metadata": {
            "name": "b",
            "namespace": "default",
            "resourceVersion": str(revision(server)),
            "creationTimestamp": "2026-01-01T00:00:00Z",
        },
    }


def test_k28_a_generated_name_that_is_taken_is_made_again() -> None:
    class Twice:
        """A source that gives every suffix twice."""

        def __init__(self) -> None:
            self.calls = 0

        def __call__(self, alphabet: str, *, k: int) -> list[str]:
            self.calls += 1
            return [alphabet[(self.calls // 2) % 20]] * k

    server = Writing()
    server.server.state.rng.choices = Twice()  # type: ignore[method-assign, assignment]
    names = [
        server.made(CONFIGMAPS, {"metadata": {"generateName": "a-"}})["metadata"]["name"]
        for _ in range(4)
    ]
    assert len(set(names)) == 4


def test_k28_what_a_dry_run_creates_is_not_there(server: Writing) -> None:
    before = revision(server)
    made = server.made(f"{CONFIGMAPS}?dryRun=All", config("a", x="1"))
    assert "uid" in made["metadata"]
    assert "resourceVersion" not in made["metadata"]
    assert revision(server) == before
    assert server.get(f"{CONFIGMAPS}/a").status == 404


def test_k28_an_rv_that_is_none_does_no_harm(server: Writing) -> None:
    assert server.made(CONFIGMAPS, {"metadata": {"name": "a", "resourceVersion": "abc"}})


def test_k28_owners_are_kept_each_once_and_duplicates_warned_of(server: Writing) -> None:
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}
    body = {"metadata": {"name": "a", "ownerReferences": [owner, owner]}}
    answer = server.write("POST", CONFIGMAPS, body)
    assert parsed(answer)["metadata"]["ownerReferences"] == [owner]
    (warning,) = (value for name, value in answer.headers if name == "Warning")
    assert warning.endswith('please fix your requests; duplicate UID(s) observed: u"')


def test_k9_the_manager_is_the_field_manager_or_the_program(server: Writing) -> None:
    def manager(name: str, query: str = "", **more: Any) -> str:
        made = server.made(f"{CONFIGMAPS}{query}", config(name, a="1"), **more)
        found: str = made["metadata"]["managedFields"][0]["manager"]
        return found

    assert manager("a", "?fieldManager=me/too") == "me/too"
    assert manager("b", agent="Mozilla (x) foo/1") == "Mozilla (x) foo"
    assert manager("c", agent="") == "unknown"
    assert manager("d", agent="x" * 200) == "x" * 128


def test_options_that_are_not_valid_are_all_told(server: Writing) -> None:
    query = f"?dryRun=Some&fieldValidation=X&fieldManager={'x' * 129}"
    answer = server.write("POST", CONFIGMAPS + query, config("a"))
    assert answer.status == 422
    assert causes(answer) == [
        ("fieldManager", "Too long: may not be more than 128 bytes"),
        ("dryRun", 'Unsupported value: ["Some"]: supported values: "All"'),
        (
            "fieldValidation",
            'Unsupported value: "X": supported values: "", "Ignore", "Strict", "Warn"',
        ),
    ]
    answer = server.write("POST", f"{CONFIGMAPS}?fieldManager=%07", config("a"))
    assert causes(answer) == [
        ("fieldManager", 'Invalid value: "\\a": invalid character U+0007 (at position 0)')
    ]
    answer = server.write("PATCH", f"{CONFIGMAPS}/a?force=true", {}, kind=MERGE)
    assert causes(answer) == [("force", "Forbidden: may not be specified for non-apply patch")]


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({"name": 5}, "number into Go struct field ObjectMeta.metadata.name of type string"),
        ("x", "string into Go struct field ConfigMap.metadata of type v1.ObjectMeta"),
        (
            {"labels": "x"},
            "string into Go struct field ObjectMeta.metadata.labels of type map[string]string",
        ),
        (
            {"labels": {"a": 5}},
            "number into Go struct field ObjectMeta.metadata.labels of type string",
        ),
        (
            {"finalizers": "x"},
            "string into Go struct field ObjectMeta.metadata.finalizers of type []string",
        ),
        (
            {"finalizers": [True]},
            "bool into Go struct field ObjectMeta.metadata.finalizers of type string",
        ),
        (
            {"ownerReferences": [[]]},
            "array into Go struct field ObjectMeta.metadata.ownerReferences of type "
            "v1.OwnerReference",
        ),
        (
            {"ownerReferences": [{"name": {}}]},
            "object into Go struct field OwnerReference.metadata.ownerReferences.name of "
            "type string",
        ),
        (
            {"generation": "5"},
            "string into Go struct field ObjectMeta.metadata.generation of type int64",
        ),
    ],
)
def test_wrong_json_types_are_refused_in_the_words_of_go(
    server: Writing, metadata: Any, said: str
) -> None:
    answer = server.write("POST", CONFIGMAPS, {"metadata": metadata})
    assert answer.status == 400
    assert message(answer) == (
        f'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal {said}'
    )


def test_more_that_cannot_be_read(server: Writing) -> None:
    def refused(target: str, value: Any) -> str:
        answer = server.write("POST", target, value)
        assert answer.status == 400
        return message(answer).rpartition("cannot be handled as a ")[2]

    assert refused(CONFIGMAPS, {"metadata": {"creationTimestamp": "zzz"}}) == (
        'ConfigMap: parsing time "zzz" as "2006-01-02T15:04:05Z07:00": cannot parse "zzz" as "2006"'
    )
    assert refused(f"{DEFAULT}/secrets", {"data": {"a": "@@"}}) == (
        "Secret: illegal base64 data at input byte 0"
    )
    assert refused(DEPLOYMENTS, {"spec": "x"}) == (
        "Deployment: json: cannot unmarshal string into Go struct field Deployment.spec of type "
        "v1.DeploymentSpec"
    )


def test_nulls_are_nothing_and_in_maps_empty(server: Writing) -> None:
    value = {
        "metadata": {"name": "a", "labels": None, "annotations": {"a": None}},
        "data": None,
        "immutable": None,
    }
    made = server.made(CONFIGMAPS, value)
    assert made["metadata"]["annotations"] == {"a": ""}
    assert set(made) == {"kind", "apiVersion", "metadata"}


def test_what_is_nested_too_deeply_is_refused_and_hurts_nobody(custom: Writing) -> None:
    for depth in (400, 900, 5_000, 20_000):
        start = json.dumps(widget(f"d{depth}", spec=None)).removesuffix("null}")
        body = start.encode() + b'{"a":' * depth + b"1" + b"}" * depth + b"}"
        assert custom.write("POST", WIDGETS, body).status in (201, 400)
    assert custom.write("POST", CONFIGMAPS, config("a")).status == 201


# Custom objects


def test_k7_custom_objects_are_sorted_throughout(custom: Writing) -> None:
    answer = custom.write("POST", WIDGETS, widget("w", spec={"b": 1, "a": [{"d": 1, "c": 2}]}))

    def sorted_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert [name for name, _ in pairs] == sorted(name for name, _ in pairs)
        return dict(pairs)

    json.loads(answer.body, object_pairs_hook=sorted_members)


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (
            b'{"metadata":{}}',
            400,
            "the object provided is unrecognized (must be of type Widget): Object 'Kind' is "
            "missing in "
            """'{"metadata":{}}' ({"metadata":{}})""",
        ),
        (
            b'{"kind":"Widget"}',
            400,
            "the API version in the data () does not match the expected API version "
            "(example.com/v1)",
        ),
        (
            b'{"kind":"X","apiVersion":"example.com/v1","metadata":{"name":"a"}}',
            422,
            'X.example.com "a" is invalid: kind: Invalid value: "X": must be Widget',
        ),
        (
            b'{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":5}}',
            400,
            'Widget in version "v1" cannot be handled as a Widget: json: cannot unmarshal '
            "number into "
            "Go struct field ObjectMeta.name of type string",
        ),
    ],
)
def test_custom_objects_say_what_they_are(
    custom: Writing, body: bytes, status: int, said: str
) -> None:
    answer = custom.write("POST", WIDGETS, body)
    assert (answer.status, message(answer)) == (status, said)


def test_k32_the_status_of_custom_objects(custom: Writing) -> None:
    made = custom.made(WIDGETS, widget("w", spec={"a": 1}, status={"x": 1}))
    assert "status" not in made
    unchanged = custom.merged(f"{WIDGETS}/w", {"status": {"x": 2}})
    assert unchanged == made
    patch = {"status": {"x": 2}, "spec": {"z": 1}, "metadata": {"labels": {"q": "r"}}}
    changed = custom.merged(f"{WIDGETS}/w/status", patch)
    assert (changed["spec"], changed["status"]) == ({"a": 1}, {"x": 2})
    assert "labels" not in changed["metadata"]
    assert changed["metadata"]["generation"] == 1
    assert custom.get(f"{WIDGETS}/w/status").body == custom.get(f"{WIDGETS}/w").body
    stale = {**changed, "metadata": {**changed["metadata"], "resourceVersion": "1"}}
    assert custom.write("PUT", f"{WIDGETS}/w/status", stale).status == 409
    assert custom.write("PUT", f"{WIDGETS}/w/status", {**changed, "status": {"x": 3}}).status == 200


def test_k32_the_status_path_creates_nothing(server: Writing, custom: Writing) -> None:
    assert custom.write("PUT", f"{WIDGETS}/nope/status", widget("nope")).status == 404
    assert (
        server.write("PUT", f"{DEFAULT}/services/a/status", {"metadata": {"name": "a"}}).status
        == 404
    )


def test_k27_generation_of_custom_objects_counts_all_but_metadata_and_status(
    custom: Writing,
) -> None:
    def generation(patch: Any, target: str = f"{WIDGETS}/w") -> int:
        number: int = custom.merged(target, patch)["metadata"]["generation"]
        return number

    custom.made(WIDGETS, widget("w", spec={"a": 1}))
    assert generation({"metadata": {"labels": {"a": "b"}}}) == 1
    assert generation({"spec": {"a": [1]}}) == 2
    assert generation({"status": {"a": 1}}, f"{WIDGETS}/w/status") == 2
    assert generation({"other": 1}) == 3


# PUT and PATCH


def test_k27_a_write_that_changes_nothing_is_none(server: Writing) -> None:
    made = server.made(CONFIGMAPS, config("a", x="1"))
    watch = server.watch(f"{CONFIGMAPS}?watch=true&resourceVersion={revision(server)}")
    assert parsed(server.write("PUT", f"{CONFIGMAPS}/a", made)) == made
    assert parsed(server.write("PUT", f"{CONFIGMAPS}/a", config("a", x="1"))) == made
    assert server.merged(f"{CONFIGMAPS}/a", {"data": {"x": "1"}}) == made
    assert rv(made) == revision(server)
    assert watch.take() == []


@pytest.mark.parametrize(
    ("put", "status", "said"),
    [
        (
            {"data": {}},
            400,
            "the name of the object (a based on URL) was undeterminable: name must be provided",
        ),
        (
            {"metadata": {"name": "a", "namespace": "other"}},
            400,
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
        (
            {"metadata": {"name": "a", "resourceVersion": "abc"}},
            500,
            'strconv.ParseUint: parsing "abc": invalid syntax',
        ),
        (
            {"metadata": {"name": "a", "resourceVersion": "99999999"}},
            409,
            'Operation cannot be fulfilled on configmaps "a": the object has been modified; please '
            "apply your changes to the latest version and try again",
        ),
        (
            {"apiVersion": "a/b/c", "kind": "ConfigMap"},
            400,
            "the object provided is unrecognized (must be of type ConfigMap): unexpected "
            "GroupVersion "
            'string: a/b/c ({"apiVersion": "a/b/c", "kind" ...)',
        ),
    ],
)
def test_k27_puts_that_are_refused(server: Writing, put: Any, status: int, said: str) -> None:
    server.made(CONFIGMAPS, config("a", x="1"))
    answer = server.write("PUT", f"{CONFIGMAPS}/a", put)
    assert (answer.status, message(answer)) == (status, said)


def test_k27_a_put_to_a_missing_name(server: Writing) -> None:
    for target, status in (
        (f"{LEASES}/new", 201),
        (f"{DEFAULT}/services/new", 201),
        (f"{DEFAULT}/events/new", 201),
        (f"{CONFIGMAPS}/new", 404),
        (f"{PODS}/new", 404),
    ):
        new: dict[str, Any] = {"metadata": {"name": "new", "resourceVersion": "5"}}
        if "services" in target:
            new["spec"] = {"ports": [{"port": 80}]}
        answer = server.write("PUT", target, new)
        assert answer.status == status, target
    gone = {"metadata": {"name": "x", "uid": "old"}}
    answer = server.write("PUT", f"{LEASES}/x", gone)
    assert answer.status == 409
    assert message(answer).endswith(
        "Key: /registry/leases/default/x, ResourceVersion: 0, AdditionalErrorMsg: Precondition "
        "failed: UID in precondition: old, UID in object meta: "
    )


def test_k27_types_that_need_an_rv(server: Writing) -> None:
    server.made(LEASES, {"metadata": {"name": "a"}})
    answer = server.write("PUT", f"{LEASES}/a", {"metadata": {"name": "a"}, "spec": {"a": 1}})
    assert (answer.status, causes(answer)) == (
        422,
        [("metadata.resourceVersion", "Invalid value: 0: must be specified for an update")],
    )
    without = server.write(
        "PATCH", f"{LEASES}/a", {"metadata": {"resourceVersion": None}}, kind=MERGE
    )
    assert without.status == 422


def test_k32_a_dry_update_says_what_would_be(server: Writing) -> None:
    made = server.made(CONFIGMAPS, config("a", x="1"))
    before = revision(server)
    dry = parsed(server.write("PUT", f"{CONFIGMAPS}/a?dryRun=All", config("a", x="2")))
    assert (dry["data"], rv(dry)) == ({"x": "2"}, rv(made))
    assert revision(server) == before
    assert parsed(server.get(f"{CONFIGMAPS}/a")) == made


@pytest.mark.parametrize(
    ("patch", "field", "said", "times"),
    [
        ({"uid": "q"}, "uid", 'Invalid value: "q": field is immutable', 2),
        ({"finalizers": ["nodomain"]}, "finalizers[0]", "Invalid value", 2),
        ({"labels": {"a b": "c"}}, "labels", "Invalid value", 4),
        ({"annotations": {"a b": "c"}}, "annotations", "Invalid value", 4),
    ],
)
def test_problems_of_an_update_are_told_as_often_as_there(
    server: Writing, patch: dict[str, Any], field: str, said: str, times: int
) -> None:
    server.made(CONFIGMAPS, config("a", x="1"))
    answer = server.write("PATCH", f"{CONFIGMAPS}/a", {"metadata": patch}, kind=MERGE)
    assert answer.status == 422
    found = causes(answer)
    assert len(found) == times
    assert all(name == f"metadata.{field}" and text.startswith(said) for name, text in found)
    assert message(answer).count(said) == 1


def test_k32_the_status_of_a_pod_and_what_else_its_path_changes(server: Writing) -> None:
    spec = {"containers": [CONTAINER]}
    server.made(PODS, {"metadata": {"name": "a", "labels": {"a": "b"}}, "spec": spec})
    pending = server.merged(f"{PODS}/a", {"status": {"phase": "Running"}})
    assert pending["status"] == {"phase": "Pending", "qosClass": "BestEffort"}
    patch = {
        "metadata": {"labels": {"c": "d"}, "ownerReferences": [{"uid": "u"}]},
        "spec": {"nodeName": "n"},
        "status": {"phase": "Running"},
    }
    running = server.merged(f"{PODS}/a/status", patch)
    assert running["status"] == {"phase": "Running", "qosClass": "BestEffort"}
    assert "nodeName" not in running["spec"]
    assert running["metadata"]["labels"] == {"a": "b", "c": "d"}
    assert "ownerReferences" not in running["metadata"]
    assert running["metadata"]["generation"] == 1
    assert [entry.get("subresource") for entry in running["metadata"]["managedFields"]] == [
        None,
        "status",
    ]


def test_k29_unknown_fields_of_patches_warn_or_are_refused(server: Writing) -> None:
    server.made(CONFIGMAPS, config("a", x="1"))
    answer = server.write("PATCH", f"{CONFIGMAPS}/a", {"bogus": 1}, kind=MERGE)
    assert ("Warning", '299 - "unknown field \\"bogus\\""') in answer.headers
    assert "bogus" not in parsed(answer)
    ignored = server.write(
        "PATCH", f"{CONFIGMAPS}/a?fieldValidation=Ignore", {"bogus": 1}, kind=MERGE
    )
    assert not [name for name, _ in ignored.headers if name == "Warning"]


def test_the_form_of_the_answer_is_the_one_asked_for(server: Writing) -> None:
    partial = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
    made = parsed(server.write("POST", CONFIGMAPS, config("a", x="1"), accept=partial))
    assert (made["kind"], "data" in made) == ("PartialObjectMetadata", False)
    refused = server.write("POST", CONFIGMAPS, config("b"), accept="text/plain")
    assert refused.status == 406
    assert server.get(f"{CONFIGMAPS}/b").status == 404


def test_k34_the_answer_to_the_last_finalizer_has_the_old_rv_and_the_event_a_new_one(
    custom: Writing,
) -> None:
    custom.made(WIDGETS, {**widget("w"), "metadata": {"name": "w", "finalizers": ["a.b/c"]}})
    custom.write("DELETE", f"{WIDGETS}/w")
    before = revision(custom)
    watch = custom.watch(f"{WIDGETS}?watch=true&resourceVersion={before}")
    answer = custom.merged(f"{WIDGETS}/w", {"metadata": {"finalizers": None}})
    assert rv(answer) == before
    event = json.loads(b"".join(watch.take()))
    assert (event["type"], rv(event["object"])) == ("DELETED", before + 1)
    assert custom.get(f"{WIDGETS}/w").status == 404


def test_a_stored_object_is_never_changed(server: Writing) -> None:
    log = server.server.state.log
    server.made(
        PODS, {"metadata": {"name": "a", "labels": {"a": "b"}}, "spec": {"containers": [CONTAINER]}}
    )
    states = []
    for target, kind, patch in (
        (f"{PODS}/a", MERGE, {"metadata": {"labels": {"c": "d"}}}),
        (f"{PODS}/a/status", MERGE, {"status": {"phase": "Running"}}),
        (
            f"{PODS}/a",
            JSON_PATCH,
            [{"op": "add", "path": "/metadata/annotations", "value": {"a": "b"}}],
        ),
    ):
        stored = log.get("pods", ("default", "a"))
        assert stored is not None
        states.append((stored, json.dumps(stored.value)))
        assert server.write("PATCH", target, patch, kind=kind).status == 200
    server.write("DELETE", f"{PODS}/a")
    for stored, text in states:
        assert json.dumps(stored.value) == text
