"""Label and field selectors of LIST, WATCH and deletecollection."""

from __future__ import annotations

import pytest

from conformance.behaviour.space import Space, names, refusal, rv, steps, with_query
from conformance.objects import CustomResource, pod


@pytest.fixture
def labelled(space: Space) -> Space:
    """a: app=web, tier=1; b: app=db, tier=3; c: app=web; d: none."""
    space.add("a", labels={"app": "web", "tier": "1"})
    space.add("b", labels={"app": "db", "tier": "3"})
    space.add("c", labels={"app": "web"})
    space.add("d")
    return space


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("app=web", "ac"),
        ("app==web", "ac"),
        ("app!=web", "bd"),
        ("app in (web, db)", "abc"),
        ("app notin (web)", "bd"),
        ("app", "abc"),
        ("!app", "d"),
        ("tier>1", "b"),
        ("tier<3", "a"),
        ("app=web,tier", "a"),
        ("app=web,!tier", "c"),
        ("app in (),tier", ""),
        ("", "abcd"),
        (" app = web ", "ac"),
        ("app=", ""),
    ],
)
def test_label_selectors(labelled: Space, selector: str, expected: str) -> None:
    """Every operator of label selectors, alone and together."""
    answer = labelled.ask("GET", labelled.path(labelSelector=selector))
    if selector == "app in (),tier":  # an empty set is one value, the empty text
        assert answer.status in (200, 400)
        return
    assert "".join(names(answer.json())) == expected


@pytest.mark.parametrize(
    "selector",
    ["app in web", "=web", "app=web=db", "app>x", "a b", "app in (", "-app=x", "app=-x", "app,,b"],
)
@pytest.mark.parametrize("watch", [None, 1], ids=["list", "watch"])
def test_bad_label_selectors_are_400(space: Space, selector: str, watch: int | None) -> None:
    """A bad selector is 400 BadRequest, for LIST and WATCH alike."""
    answer = space.ask("GET", space.path(labelSelector=selector, watch=watch, timeoutSeconds=1))
    assert refusal(answer)[:2] == (400, "BadRequest")


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("metadata.name=a", "a"),
        ("metadata.name==a", "a"),
        ("metadata.name!=a", "bcd"),
        ("metadata.name=none", ""),
        ("metadata.name=a,metadata.name=b", ""),
        ("metadata.name!=a,metadata.name!=b", "cd"),
        ("metadata.namespace=elsewhere", ""),
        ("metadata.namespace!=elsewhere", "abcd"),
    ],
)
def test_field_selectors(labelled: Space, selector: str, expected: str) -> None:
    """Name and namespace can be selected of everything (K38); exclusion is 200 and empty (K13)."""
    assert "".join(names(labelled.list(fieldSelector=selector))) == expected


def test_labels_and_fields_together(labelled: Space) -> None:
    """Both selectors must hold."""
    listed = labelled.list(labelSelector="app=web", fieldSelector="metadata.name!=a")
    assert names(listed) == ["c"]


@pytest.mark.parametrize(
    ("plural", "field", "text"),
    [
        (
            "configmaps",
            "spec.x",
            '"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
        ),
        ("pods", "spec.x", "field label not supported: spec.x"),
        ("widgets", "spec.size", "field label not supported: spec.size"),
        ("jobs", "spec.x", 'field label "spec.x" not supported for Job'),
    ],
)
def test_unsupported_fields_are_400(
    space: Space, widgets: CustomResource, plural: str, field: str, text: str
) -> None:
    """A field that cannot be selected is 400 BadRequest, in the words of its type (K39)."""
    for watch in (None, 1):
        answer = space.ask("GET", space.path(plural, fieldSelector=f"{field}=a", watch=watch))
        code, reason, message = refusal(answer)
        assert (code, reason) == (400, "BadRequest")
        assert text in message


def test_fields_know_no_sets(space: Space) -> None:
    """``in (...)`` in a field selector is 400 (K39)."""
    answer = space.ask("GET", space.path(fieldSelector="metadata.name in (a,b)"))
    assert refusal(answer)[:2] == (400, "BadRequest")


def test_pods_by_node_and_phase(space: Space) -> None:
    """Pods can be selected by spec.nodeName, status.phase and spec.restartPolicy (K38)."""
    space.put(pod("waiting"), "pods")
    bound = pod("bound")
    bound["spec"] |= {"nodeName": "n1", "restartPolicy": "Never"}
    space.put(bound, "pods")
    assert names(space.list("pods", fieldSelector="spec.nodeName=n1")) == ["bound"]
    assert names(space.list("pods", fieldSelector="spec.nodeName=")) == ["waiting"]
    assert names(space.list("pods", fieldSelector="spec.nodeName!=")) == ["bound"]
    assert names(space.list("pods", fieldSelector="status.phase=Pending")) == ["bound", "waiting"]
    assert names(space.list("pods", fieldSelector="spec.restartPolicy=Never")) == ["bound"]


def test_secrets_by_type(space: Space) -> None:
    """Secrets can be selected by type (K38)."""
    space.put({"metadata": {"name": "a"}}, "secrets")
    space.put({"metadata": {"name": "b"}, "type": "example.com/mine"}, "secrets")
    assert names(space.list("secrets", fieldSelector="type=Opaque")) == ["a"]
    assert names(space.list("secrets", fieldSelector="type=example.com/mine")) == ["b"]


def test_events_by_their_object(space: Space) -> None:
    """Events can be selected by involvedObject.*, reason and type (K38)."""
    for name in ("web", "db"):
        involved = {"kind": "Pod", "namespace": space.name, "name": name}
        event = {"metadata": {"name": name}, "involvedObject": involved, "reason": f"Of{name}"}
        space.put(event, "events")
    assert names(space.list("events", fieldSelector="involvedObject.name=web")) == ["web"]
    assert names(space.list("events", fieldSelector="involvedObject.kind=Pod,reason=Ofdb")) == [
        "db"
    ]


def test_namespaces_by_phase(space: Space) -> None:
    """Namespaces can be selected by status.phase and name (K38)."""
    selector = f"status.phase=Active,metadata.name={space.name}"
    path = with_query("/api/v1/namespaces", fieldSelector=selector)
    assert names(space.server.get(path)) == [space.name]


def test_custom_resources_by_selectable_fields(space: Space, widgets: CustomResource) -> None:
    """CRs can be selected by what their definition declares, in LIST and WATCH."""
    at = rv(space.list("widgets"))
    query = {"fieldSelector": "spec.color=blue"}
    with space.watch("widgets", resourceVersion=at, **query) as watch:
        space.put(widgets.object("one", color="red"), "widgets")
        space.put(widgets.object("two", color="blue"), "widgets")
        space.change("two", "widgets", spec={"color": "red"})
        assert steps(watch.events(2)) == [("ADDED", "two"), ("DELETED", "two")]
    assert names(space.list("widgets", fieldSelector="spec.color=red")) == ["one", "two"]


def test_a_selected_collection_is_deleted(labelled: Space) -> None:
    """deletecollection deletes what its selectors select, and nothing else."""
    query = {"labelSelector": "app=web", "fieldSelector": "metadata.name!=c"}
    deleted = labelled.server.delete(labelled.path(**query))
    assert deleted["kind"] == "ConfigMapList"
    assert names(deleted) == ["a"]
    assert names(labelled.list()) == ["b", "c", "d"]


def test_a_changed_label_changes_the_list(labelled: Space) -> None:
    """What a selector selects is what is there now."""
    labelled.change("d", metadata={"labels": {"app": "web"}})
    labelled.change("a", metadata={"labels": {"app": None}})
    assert names(labelled.list(labelSelector="app=web")) == ["c", "d"]
