"""The life of a custom resource: definition, versions, its end."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import pytest

from conformance.behaviour.space import Space, names, refusal, rv, steps
from conformance.requests import Json, Response
from conformance.streams import Stream
from conformance.two_servers import TestedServer
from conformance.waiting import until

_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_MERGE = "application/merge-patch+json"


def definition(plural: str, kind: str, *, scope: str = "Namespaced", **version: object) -> Json:
    """A definition in a group of its own, of whose objects any spec and status is accepted."""
    group = f"{plural}.example.com"
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"type": "object", "properties": {"spec": anything, "status": anything}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": scope,
            "names": {"plural": plural, "kind": kind},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema},
                    **version,
                }
            ],
        },
    }


class Defined:
    """A definition on a server, and its objects in a namespace."""

    def __init__(self, space: Space, obj: Json) -> None:
        self.server = space.server
        self.obj = obj
        spec = obj["spec"]
        self.crd = f"{_CRDS}/{obj['metadata']['name']}"
        self.kind = spec["names"]["kind"]
        self.group = spec["group"]
        self.objects = f"/apis/{self.group}/v1/namespaces/{space.name}/{spec['names']['plural']}"

    def serve(self) -> Defined:
        self.server.create(_CRDS, self.obj)
        return self.served()

    def served(self) -> Defined:
        """Wait until its objects are listed."""
        until(
            lambda: self.server.request("GET", self.objects).status == 200,
            what=f"{self.objects} to be served",
        )
        return self

    def add(self, name: str, **metadata: object) -> Json:
        return self.server.create(
            self.objects,
            {
                "apiVersion": f"{self.group}/v1",
                "kind": self.kind,
                "metadata": {"name": name, **metadata},
                "spec": {"x": 1},
            },
        )

    def condition(self, kind: str) -> str:
        """The status of a condition of the definition."""
        conditions = (self.server.get(self.crd).get("status") or {}).get("conditions") or ()
        return next((c["status"] for c in conditions if c["type"] == kind), "")


@pytest.fixture(scope="module")
def room(server: TestedServer) -> Space:
    """A namespace that the tests of this file share: their definitions are the clusters'."""
    return Space.make(server)


@pytest.fixture
def fresh(room: Space, request: pytest.FixtureRequest) -> Iterator[Defined]:
    """A definition that this test alone has."""
    plural = f"t{abs(hash(request.node.nodeid)) % 10**8}s"
    defined = Defined(room, definition(plural, plural.capitalize()[:-1])).serve()
    yield defined
    room.server.request("DELETE", defined.crd)


def test_a_definition_is_completed(room: Space) -> None:
    """A new definition has singular, listKind, conversion and the stored versions filled in."""
    answer = room.server.create(_CRDS, definition("plums", "Plum"))
    spec = answer["spec"]
    assert spec["names"] == {
        "plural": "plums",
        "singular": "plum",
        "kind": "Plum",
        "listKind": "PlumList",
    }
    assert spec["conversion"] == {"strategy": "None"}
    assert answer["status"]["storedVersions"] == ["v1"]


def test_a_definition_is_established(fresh: Defined) -> None:
    """Its conditions become NamesAccepted and Established."""
    assert fresh.condition("NamesAccepted") == "True"
    assert fresh.condition("Established") == "True"
    assert fresh.server.get(fresh.crd)["status"]["acceptedNames"]["kind"] == fresh.kind


def test_a_new_resource_warms_up(room: Space) -> None:
    """Until it is served it is 404; its first answer is 429 "storage is (re)initializing" (K43),
    unless its storage is quick, which it seldom is.
    """
    found: list[list[int]] = []
    for plural in ("pears", "quinces", "figs"):
        defined = Defined(room, definition(plural, plural.capitalize()[:-1]))
        assert room.server.request("GET", defined.objects).status == 404
        room.server.create(_CRDS, defined.obj)
        answers = _until_served(defined)
        found.append([answer.status for answer in answers if answer.status != 404])
        for warming in answers:
            if warming.status == 429:
                text = "storage is (re)initializing"
                assert refusal(warming) == (429, "TooManyRequests", text)
                assert warming.headers["Retry-After"] == "1"
    assert [429, 200] in found
    assert all(codes in ([429, 200], [200]) for codes in found)


def _until_served(defined: Defined) -> list[Response]:
    """Ask until it is served, and give all answers."""
    answers: list[Response] = []

    def served() -> bool:
        answers.append(defined.server.request("GET", defined.objects))
        return answers[-1].status == 200

    until(served, what=f"{defined.objects} to be served")
    return answers


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"metadata": {"name": "other.name"}}, "metadata.name"),
        ({"spec": {"scope": "Everywhere"}}, "spec.scope"),
        ({"spec": {"names": {"plural": "Upper", "kind": "Bad"}}}, "spec.names.plural"),
    ],
)
def test_wrong_definitions_are_422(room: Space, change: Json, field: str) -> None:
    """A definition that makes no sense is 422, naming the field."""
    obj = definition("wrongs", "Wrong")
    for member, value in change.items():
        obj[member] = {**obj[member], **value}
    answer = room.server.request("POST", _CRDS, obj)
    assert refusal(answer)[:2] == (422, "Invalid")
    fields = {cause["field"] for cause in answer.json()["details"]["causes"]}
    assert field in fields


def test_a_changed_spec_ends_the_watches(fresh: Defined) -> None:
    """Any change of the spec ends all watches cleanly about 1 s later, without an event (K43)."""
    fresh.add("a")
    with fresh.server.stream(f"{fresh.objects}?watch=1") as watch:
        watch.events(1)
        spec = fresh.server.get(fresh.crd)["spec"]
        schema = spec["versions"][0]["schema"]["openAPIV3Schema"]
        schema["description"] = "changed"
        fresh.server.patch(fresh.crd, {"spec": {"versions": spec["versions"]}})
        watch.finished()
        assert watch.end == "clean"
        assert steps(watch.so_far()) == [("ADDED", "a")]
        assert 0.5 < watch.ended_after < 6


def test_after_a_changed_spec_the_first_request_is_429(fresh: Defined) -> None:
    """After that the first request, however late, is 429, the next works (K43)."""
    found: list[list[int]] = []
    for number in range(3):
        with fresh.server.stream(f"{fresh.objects}?watch=1") as watch:
            watch.head()
            versions = fresh.server.get(fresh.crd)["spec"]["versions"]
            versions[0]["schema"]["openAPIV3Schema"]["description"] = f"changed {number}"
            fresh.server.patch(fresh.crd, {"spec": {"versions": versions}})
            watch.finished()
        found.append([answer.status for answer in _until_served(fresh)])
    assert [429, 200] in found
    assert all(codes in ([429, 200], [200]) for codes in found)


def test_changed_labels_end_nothing(fresh: Defined) -> None:
    """A change of a definition's metadata ends no watch (K43)."""
    with fresh.server.stream(f"{fresh.objects}?watch=1&timeoutSeconds=3") as watch:
        watch.head()
        fresh.server.patch(fresh.crd, {"metadata": {"labels": {"x": "y"}}})
        watch.finished()
        assert 2.8 < watch.ended_after < 6


def test_a_deleted_definition_takes_its_objects_along(room: Space) -> None:
    """Deleted: DELETED for each object, a clean end about 1 s later, then 404 as text (K43)."""
    defined = Defined(room, definition("grapes", "Grape")).serve()
    for name in ("a", "b"):
        defined.add(name)
    with defined.server.stream(f"{defined.objects}?watch=1") as watch:
        watch.events(2)
        answer = room.server.delete(defined.crd)
        watch.finished()
        events = watch.so_far()[2:]
    assert answer["kind"] in ("CustomResourceDefinition", "Status")
    assert sorted(steps(events)) == [("DELETED", "a"), ("DELETED", "b")]
    assert watch.end == "clean"
    until(lambda: room.server.request("GET", defined.crd).status == 404, what="its end")
    until(lambda: room.server.request("GET", defined.objects).status == 404, what="404")
    assert room.server.request("GET", defined.objects).body == b"404 page not found\n"


def test_a_definition_can_come_back_empty(room: Space) -> None:
    """Made again after its deletion it is empty."""
    defined = Defined(room, definition("dates", "Date")).serve()
    defined.add("a")
    room.server.delete(defined.crd)
    until(lambda: room.server.request("GET", defined.objects).status == 404, what="its end")
    until(lambda: room.server.request("GET", defined.crd).status == 404, what="its end")
    defined.serve()
    assert room.server.get(defined.objects)["items"] == []


def test_a_held_object_holds_its_definition(room: Space) -> None:
    """An object with a finalizer holds the definition, which is Terminating, until it may go."""
    defined = Defined(room, definition("limes", "Lime")).serve()
    defined.add("a", finalizers=["example.com/hold"])
    room.server.delete(defined.crd)
    until(lambda: defined.condition("Terminating") == "True", what="Terminating")
    path = f"{defined.objects}/a"
    until(
        lambda: "deletionTimestamp" in room.server.get(path)["metadata"], what="a deletionTimestamp"
    )
    room.server.patch(path, {"metadata": {"finalizers": None}})
    until(lambda: room.server.request("GET", defined.crd).status == 404, what="its end")


def test_a_terminating_definition_takes_no_objects(room: Space) -> None:
    """While a definition is Terminating, creates are 403."""
    defined = Defined(room, definition("kiwis", "Kiwi")).serve()
    defined.add("a", finalizers=["example.com/hold"])
    room.server.delete(defined.crd)
    until(lambda: defined.condition("Terminating") == "True", what="Terminating")
    body = {**defined.server.get(f"{defined.objects}/a"), "metadata": {"name": "b"}, "spec": {}}
    answers: list[Response] = []

    def refused() -> bool:
        answers.append(room.server.request("POST", f"{defined.objects}?dryRun=All", body))
        return answers[-1].status not in (201, 429)

    until(refused, what="a refusal")
    code, reason, message = refusal(answers[-1])
    assert (code, reason) == (403, "Forbidden")
    assert "create not allowed while custom resource definition is terminating" in message
    room.server.patch(f"{defined.objects}/a", {"metadata": {"finalizers": None}})


def test_cluster_scoped_resources(room: Space) -> None:
    """A CR may be cluster-scoped: its collection is at the root of its version."""
    obj = definition("suns", "Sun", scope="Cluster")
    defined = Defined(room, obj)
    room.server.create(_CRDS, obj)
    collection = "/apis/suns.example.com/v1/suns"
    until(lambda: room.server.request("GET", collection).status == 200, what="suns")
    body = {"apiVersion": "suns.example.com/v1", "kind": "Sun", "metadata": {"name": "a"}}
    room.server.create(collection, body)
    assert names(room.server.get(collection)) == ["a"]
    assert room.server.request("GET", defined.objects).status == 404


def test_versions_show_the_same_objects(room: Space) -> None:
    """Each served version shows all objects under its own apiVersion; watches see all writes."""
    obj = definition("nuts", "Nut")
    first = obj["spec"]["versions"][0]
    obj["spec"]["versions"].append({**copy.deepcopy(first), "name": "v2", "storage": False})
    defined = Defined(room, obj).serve()
    second = defined.objects.replace("/v1/", "/v2/")
    until(lambda: room.server.request("GET", second).status == 200, what="v2")
    at = rv(room.server.get(second))
    with room.server.stream(f"{second}?watch=1&resourceVersion={at}") as watch:
        defined.add("a")
        [event] = watch.events(1)
    assert event["object"]["apiVersion"] == "nuts.example.com/v2"
    [item] = room.server.get(second)["items"]
    assert item["apiVersion"] == "nuts.example.com/v2"
    assert room.server.get(defined.objects)["items"][0]["apiVersion"] == "nuts.example.com/v1"


def test_deprecated_versions_warn(room: Space) -> None:
    """A deprecated version warns on LIST, GET, WATCH and create, and on the 429 of K43 (K44)."""
    obj = definition("olds", "Old", deprecated=True)
    defined = Defined(room, obj)
    room.server.create(_CRDS, obj)
    text = '299 - "olds.example.com/v1 Old is deprecated"'
    warnings = {
        answer.headers["Warning"] for answer in _until_served(defined) if answer.status != 404
    }
    assert warnings == {text}
    with room.server.stream(f"{defined.objects}?watch=1&timeoutSeconds=1") as watch:
        assert watch.head().header("Warning") == text
    body = {"apiVersion": "olds.example.com/v1", "kind": "Old", "metadata": {"name": "a"}}
    assert room.server.request("POST", defined.objects, body).headers["Warning"] == text


def test_deprecation_may_have_words_of_its_own(room: Space) -> None:
    """deprecationWarning is the text; quotes are escaped, UTF-8 is raw."""
    warning = 'say "goodbye" to grüne things'
    obj = definition("greens", "Green", deprecated=True, deprecationWarning=warning)
    defined = Defined(room, obj).serve()
    found = room.server.request("GET", defined.objects).headers["Warning"]
    assert found == '299 - "say \\"goodbye\\" to grüne things"'.encode().decode("latin-1")


def test_endpoints_warn(room: Space) -> None:
    """v1 Endpoints are deprecated, and warn (K44)."""
    answer = room.ask("GET", room.path("endpoints"))
    assert answer.headers["Warning"].startswith('299 - "v1 Endpoints is deprecated')


def test_names_can_clash(room: Space, fresh: Defined) -> None:
    """A definition whose kind another of its group has is not accepted, and not served."""
    obj = definition("others", fresh.kind)
    plural = "others"
    obj["spec"]["group"] = fresh.group
    obj["metadata"]["name"] = f"{plural}.{fresh.group}"
    room.server.create(_CRDS, obj)
    other = Defined(room, obj)
    until(lambda: other.condition("NamesAccepted") == "False", what="a refusal")
    assert other.condition("Established") in ("", "False")
    assert room.server.request("GET", other.objects).status == 404
    room.server.delete(other.crd)


def test_watches_of_definitions(room: Space) -> None:
    """Definitions are watched like anything: ADDED, then MODIFIED until Established."""
    at = rv(room.server.get(_CRDS))
    name = "peas.peas.example.com"
    query = f"watch=1&resourceVersion={at}&fieldSelector=metadata.name%3D{name}"
    with room.server.stream(f"{_CRDS}?{query}") as watch:
        Defined(room, definition("peas", "Pea")).serve()
        assert _established(watch)
    assert steps(watch.so_far())[0] == ("ADDED", name)


def _established(watch: Stream) -> bool:
    def seen() -> bool:
        last = watch.so_far()[-1:] or [{"object": {}}]
        conditions = (last[0]["object"].get("status") or {}).get("conditions") or ()
        return ("Established", "True") in [(c["type"], c["status"]) for c in conditions]

    until(seen, what="Established in an event")
    return True


def test_a_definition_without_status_has_no_such_path(fresh: Defined) -> None:
    """Without the subresource, /status is 404 and a status in the object is kept."""
    fresh.add("a")
    assert fresh.server.request("GET", f"{fresh.objects}/a/status").status == 404
    written = fresh.server.patch(f"{fresh.objects}/a", {"status": {"ready": True}})
    assert written["status"] == {"ready": True}


def test_an_unserved_version_is_404(fresh: Defined) -> None:
    """A version that is no longer served is 404."""
    versions = fresh.server.get(fresh.crd)["spec"]["versions"]
    versions[0]["served"] = False
    fresh.server.patch(fresh.crd, {"spec": {"versions": versions}})
    until(lambda: fresh.server.request("GET", fresh.objects).status == 404, what="404")


def test_a_custom_kind_must_be_right(fresh: Defined) -> None:
    """A create of another kind than the path's is 422, of another version 400."""
    for version, kind, code in (("v1", "Other", 422), ("v9", fresh.kind, 400)):
        body = {
            "apiVersion": f"{fresh.group}/{version}",
            "kind": kind,
            "metadata": {"name": "a"},
        }
        answer = fresh.server.request("POST", fresh.objects, body)
        assert refusal(answer)[0] == code


def test_generation_counts_without_a_status(fresh: Defined) -> None:
    """generation of a CR grows with every change but that of metadata."""
    fresh.add("a")
    path = f"{fresh.objects}/a"
    labelled = fresh.server.patch(path, {"metadata": {"labels": {"x": "y"}}})
    changed = fresh.server.patch(path, {"spec": {"x": 2}})
    assert [obj["metadata"]["generation"] for obj in (labelled, changed)] == [1, 2]
