"""The life of custom resources (K43, K44)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from listwatch.testing.apiserver.messages import Answer
from tests.testing.apiserver.asking import Asking, message, names, recorded, same_as_recorded

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CRD = f"{CRDS}/widgets.example.com"
WIDGETS = "/apis/example.com/v1/namespaces/rec/widgets"
WIDGETS_V2 = "/apis/example.com/v2/namespaces/rec/widgets"
DEFINITION: dict[str, Any] = json.loads(recorded("k-crd-create").request_body)
MERGE = "application/merge-patch+json"


def widget(name: str, **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": name, **metadata},
        "spec": {"color": "red", "n": 1},
    }


def version(name: str, **more: Any) -> dict[str, Any]:
    first: dict[str, Any] = DEFINITION["spec"]["versions"][0]
    return {**first, "name": name, "storage": name == "v1", **more}


@pytest.fixture
def ask() -> Asking:
    asking = Asking()
    asking.server.load([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "rec"}}])
    return asking


@pytest.fixture
def established(ask: Asking) -> Asking:
    """With the definition, which somebody has asked for already."""
    assert ask.answer("POST", CRDS, DEFINITION).status == 201
    assert ask.get(WIDGETS).status == 429
    return ask


def change_spec(ask: Asking, **spec: Any) -> None:
    assert ask.answer("PATCH", CRD, {"spec": spec}, content_type=MERGE).status == 200


def events(stream: Any) -> list[tuple[str, str]]:
    """Type and name of what came."""
    found = [json.loads(frame) for frame in stream.take()]
    return [(event["type"], event["object"]["metadata"]["name"]) for event in found]


def statuses(stream: Any) -> list[list[tuple[str, str, str]]]:
    """The conditions in each event."""
    return [
        [
            (condition["type"], condition["status"], condition["reason"])
            for condition in json.loads(frame)["object"]["status"]["conditions"] or ()
        ]
        for frame in stream.take()
    ]


def test_a_definition_is_created_as_recorded(ask: Asking) -> None:
    answer = ask.settled(ask.server.handle(_as_recorder("k-crd-create")))
    same_as_recorded(answer, "k-crd-create")


def _as_recorder(name: str) -> Any:
    """The request, from the program that owns the recorded fields."""
    from dataclasses import replace

    from tests.testing.apiserver.asking import request_of

    request = request_of(recorded(name))
    return replace(request, headers={**request.headers, "user-agent": "rawcap/1"})


def test_the_first_list_is_told_to_wait_and_the_second_is_served(ask: Asking) -> None:
    ask.answer("POST", CRDS, DEFINITION)
    same_as_recorded(ask.replay("k-crd-establishing-1"), "k-crd-establishing-1")
    same_as_recorded(ask.replay("k-crd-establishing-2"), "k-crd-establishing-2")


def test_a_definition_is_established_in_two_writes_to_its_status(ask: Asking) -> None:
    stream = ask.watch(f"{CRDS}?watch=1")
    ask.answer("POST", CRDS, DEFINITION)
    accepted = ("NamesAccepted", "True", "NoConflicts")
    assert statuses(stream) == [
        [],
        [accepted, ("Established", "False", "Installing")],
        [accepted, ("Established", "True", "InitialNamesAccepted")],
    ]
    stored = json.loads(ask.get(CRD).body)
    assert stored["status"]["acceptedNames"] == stored["spec"]["names"]
    assert stored["status"]["storedVersions"] == ["v1"]
    assert stored["metadata"]["managedFields"][0]["manager"] == "kube-apiserver"


def test_names_have_defaults(ask: Asking) -> None:
    bare = {**DEFINITION, "spec": {**DEFINITION["spec"]}}
    bare["spec"]["names"] = {"plural": "widgets", "kind": "Widget"}
    answer = ask.answer("POST", CRDS, bare)
    assert json.loads(answer.body)["spec"]["names"] == {
        "plural": "widgets",
        "singular": "widget",
        "kind": "Widget",
        "listKind": "WidgetList",
    }


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            {"scope": "Bogus"},
            'Unsupported value: "Bogus": supported values: "Cluster", "Namespaced"',
        ),
        ({"scope": None}, "spec.scope: Required value"),
        ({"group": None}, '[metadata.name: Invalid value: "widgets.example.com": must be'),
        ({"names": {"plural": "widgets"}}, "[spec.names.singular: Required value, spec.names.kind"),
        ({"versions": []}, "must have exactly one version marked as storage version"),
        ({"versions": [version("v1", storage=False)]}, '[{"Name":"v1","Served":true,"Storage"'),
        (
            {"versions": [version("v1", schema=None)]},
            "spec.versions[0].schema.openAPIV3Schema: Required value",
        ),
    ],
)
def test_a_definition_that_says_too_little_is_invalid(
    ask: Asking, changes: dict[str, Any], problem: str
) -> None:
    wrong = {**DEFINITION, "spec": {**DEFINITION["spec"], **changes}}
    answer = ask.answer("POST", CRDS, wrong)
    assert answer.status == 422
    assert problem in message(answer)
    assert json.loads(answer.body)["details"]["kind"] == "CustomResourceDefinition"


def test_the_name_of_a_definition_is_plural_and_group(ask: Asking) -> None:
    answer = ask.answer("POST", CRDS, {**DEFINITION, "metadata": {"name": "bad"}})
    assert message(answer) == (
        'CustomResourceDefinition.apiextensions.k8s.io "bad" is invalid: metadata.name: '
        'Invalid value: "bad": must be spec.names.plural+"."+spec.group'
    )


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"spec": 1}', b'{"spec": {"names": []}}', b""])
def test_what_is_no_definition_is_refused(ask: Asking, body: bytes) -> None:
    assert ask.answer("POST", CRDS, body).status in (400, 422)


WRONG_TYPES: list[dict[str, Any]] = [
    {"names": []},
    {"names": {"plural": 1}},
    {"versions": {}},
    {"versions": [1]},
    {"versions": [version("v1", schema=1)]},
    {"versions": [version("v1", subresources=[])]},
    {"versions": [version("v1", deprecated=True, deprecationWarning={})]},
    {"scope": 1},
    {"group": []},
]


@pytest.mark.parametrize("wrong", WRONG_TYPES)
def test_a_definition_of_wrong_types_is_refused(ask: Asking, wrong: dict[str, Any]) -> None:
    body = {**DEFINITION, "spec": {**DEFINITION["spec"], **wrong}}
    answer = ask.answer("POST", CRDS, body)
    assert answer.status == 400
    assert "cannot be handled as a CustomResourceDefinition" in message(answer)


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"versions": [{}]}, "spec.versions[0].name"),
        (
            {"versions": [version("v1", selectableFields=[{}])]},
            "spec.selectableFields[0].jsonPath",
        ),
    ],
)
def test_what_is_missing_in_a_definition_is_empty(
    ask: Asking, wrong: dict[str, Any], field: str
) -> None:
    answer = ask.answer("POST", CRDS, {**DEFINITION, "spec": {**DEFINITION["spec"], **wrong}})
    assert answer.status == 422
    assert field in message(answer)


@pytest.mark.parametrize("wrong", WRONG_TYPES)
def test_a_patch_cannot_make_it_one_of_wrong_types(
    established: Asking, wrong: dict[str, Any]
) -> None:
    ask = established
    body = {"spec": {"names": None, **wrong}} if wrong.get("names") == [] else {"spec": wrong}
    assert ask.answer("PATCH", CRD, body, content_type=MERGE).status in (400, 422)
    assert ask.get(WIDGETS).status == 200


@pytest.mark.parametrize("status", [{"conditions": "x"}, {"conditions": [1]}, {"acceptedNames": 1}])
def test_a_status_of_wrong_types_is_refused(established: Asking, status: dict[str, Any]) -> None:
    ask = established
    answer = ask.answer("PATCH", f"{CRD}/status", {"status": status}, content_type=MERGE)
    assert answer.status == 422
    assert message(answer).startswith(' "" is invalid: patch: Invalid value: "{')
    ask.server.restart()
    assert ask.get(WIDGETS).status == 429


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({"scope": "Cluster"}, 'spec.scope: Invalid value: "Cluster": field is immutable'),
        ({"names": {"kind": "Other"}}, 'spec.names.kind: Invalid value: "Other": field is imm'),
        ({"group": "other.example.com"}, "spec.group: Invalid value"),
        ({"versions": [version("v2", storage=True)]}, "v1 was previously a storage version"),
        ({"versions": []}, "must have exactly one version marked as storage version"),
    ],
)
def test_what_objects_live_by_cannot_be_changed(
    established: Asking, spec: dict[str, Any], problem: str
) -> None:
    answer = established.answer("PATCH", CRD, {"spec": spec}, content_type=MERGE)
    assert answer.status == 422
    assert problem in message(answer)
    stored = json.loads(established.get(CRD).body)
    changed = {**stored, "spec": {**stored["spec"], **spec}}
    if "names" in spec:
        changed["spec"]["names"] = {**stored["spec"]["names"], **spec["names"]}
    answer = established.answer("PUT", CRD, changed)
    assert answer.status == 422
    assert problem in message(answer)


def test_a_definition_may_come_in_yaml(ask: Asking) -> None:
    import yaml

    body = yaml.safe_dump(DEFINITION).encode()
    assert ask.answer("POST", CRDS, body, content_type="application/yaml").status == 201
    assert ask.get(WIDGETS).status == 429


def test_a_change_of_the_spec_ends_its_watches_a_second_later(established: Asking) -> None:
    ask = established
    stream = ask.watch(f"{WIDGETS}?watch=1")
    change_spec(ask, versions=[version("v1", additionalPrinterColumns=[])])
    ask.wait(0.99)
    assert not stream.ended
    ask.wait(0.01)
    assert stream.ended
    assert stream.take() == []


def test_after_a_change_the_first_request_is_refused_however_late_it_is(
    established: Asking,
) -> None:
    ask = established
    change_spec(ask, versions=[version("v1", additionalPrinterColumns=[])])
    ask.wait(1000)
    assert [ask.get(WIDGETS).status for _ in range(3)] == [429, 200, 200]


@pytest.mark.parametrize(
    ("method", "target", "body"),
    [
        ("GET", f"{WIDGETS}/a", None),
        ("POST", WIDGETS, widget("b")),
        ("DELETE", f"{WIDGETS}/a", None),
    ],
)
def test_what_needs_no_watch_cache_is_served_at_once(
    established: Asking, method: str, target: str, body: Any
) -> None:
    ask = established
    ask.answer("POST", WIDGETS, widget("a"))
    change_spec(ask, versions=[version("v1", additionalPrinterColumns=[])])
    assert ask.answer(method, target, body).status in (200, 201)
    assert ask.get(WIDGETS).status == 200


def test_a_change_of_metadata_or_status_changes_nothing_else(established: Asking) -> None:
    ask = established
    stream = ask.watch(f"{WIDGETS}?watch=1")
    ask.answer("PATCH", CRD, {"metadata": {"annotations": {"a": "b"}}}, content_type=MERGE)
    status = {"status": {"storedVersions": ["v1"]}}
    ask.answer("PATCH", f"{CRD}/status", status, content_type=MERGE)
    ask.wait(5)
    assert not stream.ended
    assert ask.get(WIDGETS).status == 200


def test_a_version_is_added_and_removed(established: Asking) -> None:
    ask = established
    ask.answer("POST", WIDGETS, widget("a"))
    change_spec(ask, versions=[version("v1"), version("v2")])
    same_as_recorded(ask.replay("k-crd-list-v2"), "k-crd-list-v2")
    listed = json.loads(ask.get(WIDGETS_V2).body)
    assert listed["apiVersion"] == "example.com/v2"
    assert [item["apiVersion"] for item in listed["items"]] == ["example.com/v2"]
    stream = ask.watch(f"{WIDGETS_V2}?watch=1")
    assert events(stream) == [("ADDED", "a")]
    change_spec(ask, versions=[version("v1"), version("v2", served=False)])
    same_as_recorded(ask.replay("k-crd-list-v2-unserved"), "k-crd-list-v2-unserved")
    change_spec(ask, versions=[version("v1")])
    same_as_recorded(ask.replay("k-crd-list-v2-gone"), "k-crd-list-v2-gone")
    ask.wait(1)
    assert stream.ended


def test_a_deprecated_version_warns_even_while_it_is_refused(established: Asking) -> None:
    ask = established
    change_spec(ask, versions=[version("v1"), version("v2", deprecated=True)])
    name = "k-crd-deprecated-version-list"
    same_as_recorded(ask.replay(name), name)
    name = "k-crd-deprecated-version-watch"
    stream = ask.watch(f"{WIDGETS_V2}?watch=1&resourceVersion={ask.server.state.log.revision}")
    expected = recorded(name).headers.get("Warning")
    assert (
        dict(stream.headers)["Warning"]
        == expected
        == ('299 - "example.com/v2 Widget is deprecated"')
    )


def test_a_deprecated_version_warns_in_its_own_words(established: Asking) -> None:
    ask = established
    mine = 'use "v1", é'
    change_spec(
        ask, versions=[version("v1"), version("v2", deprecated=True, deprecationWarning=mine)]
    )
    assert dict(ask.get(WIDGETS_V2).headers)["Warning"] == '299 - "use \\"v1\\", é"'


def test_a_deletion_takes_the_objects_then_ends_the_watches(established: Asking) -> None:
    ask = established
    for name in ("w-0", "w-1", "w-2"):
        ask.answer("POST", WIDGETS, widget(name))
    stream = ask.watch(f"{WIDGETS}?watch=1&resourceVersion={ask.server.state.log.revision}")
    definitions = ask.watch(f"{CRDS}?watch=1&resourceVersion={ask.server.state.log.revision}")
    answer = ask.answer("DELETE", CRD)
    assert answer.status == 200
    deleted = json.loads(answer.body)
    assert deleted["metadata"]["finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]
    assert deleted["status"]["conditions"][-1]["reason"] == "InstanceDeletionPending"
    assert events(stream) == [("DELETED", "w-0"), ("DELETED", "w-1"), ("DELETED", "w-2")]
    assert [event for event, _ in events(definitions)] == ["MODIFIED", "MODIFIED", "DELETED"]
    ask.wait(0.99)
    assert not stream.ended
    ask.wait(0.01)
    assert stream.ended


@pytest.mark.parametrize(
    "name",
    [
        "k-crd-list-after-deletion-0",
        "k-crd-create-after-deletion",
        "k-crd-watch-after-deletion",
        "k-crd-get-after-deletion",
        "k-crd-group-discovery-after-deletion",
    ],
)
def test_after_a_deletion_nothing_is_there(established: Asking, name: str) -> None:
    established.answer("DELETE", CRD)
    same_as_recorded(established.replay(name), name)


def test_the_answer_to_a_deletion_is_as_recorded(established: Asking) -> None:
    real = json.loads(recorded("k-crd-delete").body)
    mine = json.loads(established.answer("DELETE", CRD).body)
    assert [c["reason"] for c in mine["status"]["conditions"]] == [
        c["reason"] for c in real["status"]["conditions"]
    ]
    assert list(mine) == list(real)
    # The recorded one had been annotated before.
    assert list(mine["metadata"]) == [name for name in real["metadata"] if name != "annotations"]


def test_a_finalizer_on_an_object_holds_the_definition(established: Asking) -> None:
    ask = established
    ask.answer("POST", WIDGETS, widget("held", finalizers=["example.com/wait"]))
    ask.answer("POST", WIDGETS, widget("free"))
    ask.answer("DELETE", CRD)
    listed = json.loads(ask.get(WIDGETS).body)["items"]
    assert names(listed) == ["held"]
    assert listed[0]["metadata"]["deletionTimestamp"]
    refused = ask.answer("POST", WIDGETS, widget("late"))
    assert (refused.status, message(refused)) == (
        403,
        'widgets.example.com "late" is forbidden: '
        "create not allowed while custom resource definition is terminating",
    )
    assert ask.answer("DELETE", CRD).status == 200  # again: nothing changes
    freed = {"metadata": {"finalizers": None}}
    ask.answer("PATCH", f"{WIDGETS}/held", freed, content_type=MERGE)
    assert ask.get(CRD).status == 404
    assert ask.get(WIDGETS).content_type == "text/plain; charset=utf-8"


def test_a_dry_run_deletes_nothing(established: Asking) -> None:
    answer = established.answer("DELETE", f"{CRD}?dryRun=All")
    assert answer.status == 200
    assert established.get(CRD).status == 200
    assert "deletionTimestamp" not in json.loads(established.get(CRD).body)["metadata"]


def test_a_precondition_protects_a_definition(established: Asking) -> None:
    answer = established.answer("DELETE", CRD, {"preconditions": {"uid": "other"}})
    assert answer.status == 409
    assert established.get(WIDGETS).status == 200


def test_a_definition_can_come_again(established: Asking) -> None:
    ask = established
    ask.answer("POST", WIDGETS, widget("a"))
    ask.answer("DELETE", CRD)
    assert ask.answer("POST", CRDS, DEFINITION).status == 201
    assert ask.get(WIDGETS).status == 429
    assert json.loads(ask.get(WIDGETS).body)["items"] == []


def test_selectable_fields_select(established: Asking) -> None:
    ask = established
    ask.answer("POST", WIDGETS, widget("red"))
    assert json.loads(ask.get(f"{WIDGETS}?fieldSelector=spec.color%3Dblue").body)["items"] == []
    refused = ask.get(f"{WIDGETS}?fieldSelector=spec.n%3D1")
    assert (refused.status, message(refused)) == (400, "field label not supported: spec.n")


def test_after_a_restart_it_is_served_from_what_was_stored(established: Asking) -> None:
    ask = established
    ask.answer("POST", WIDGETS, widget("a"))
    ask.server.restart()
    assert ask.get(WIDGETS).status == 429
    assert names(json.loads(ask.get(WIDGETS).body)["items"]) == ["a"]


def test_a_restart_without_history_forgets_it(established: Asking) -> None:
    established.server.restart("lost")
    answer = established("GET", WIDGETS)
    assert isinstance(answer, Answer)
    assert answer.body == b"404 page not found\n"
