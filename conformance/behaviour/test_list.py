"""LIST and GET: order, resource versions, and what is refused."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from conformance.behaviour.space import Space, names, refusal, rv, with_query
from conformance.objects import CustomResource, pod
from conformance.two_servers import TestedServer

_FUTURE = 10**9


def test_an_empty_list_has_items(space: Space) -> None:
    """A list of nothing has an empty ``items`` and an RV (K8)."""
    listed = space.list()
    assert listed["items"] == []
    assert rv(listed) > 0


def test_typed_lists_have_their_items_last(space: Space) -> None:
    """A typed list is kind, apiVersion, metadata, items, and leaves an empty continue out (K7)."""
    space.add("a")
    listed = space.list()
    assert list(listed) == ["kind", "apiVersion", "metadata", "items"]
    assert (listed["kind"], listed["apiVersion"]) == ("ConfigMapList", "v1")
    assert list(listed["metadata"]) == ["resourceVersion"]


def test_items_of_typed_lists_lack_kind_and_api_version(space: Space) -> None:
    """Items of a typed list carry neither kind nor apiVersion."""
    space.add("a")
    [item] = space.list()["items"]
    assert next(iter(item)) == "metadata"
    assert "kind" not in item
    assert "apiVersion" not in item


def test_lists_of_custom_resources_are_alphabetical(space: Space, widgets: CustomResource) -> None:
    """A CR list is apiVersion, items, kind, metadata; its items have their kind; continue is ""."""
    space.put(widgets.object("a", color="red"), "widgets")
    listed = space.list("widgets")
    assert list(listed) == ["apiVersion", "items", "kind", "metadata"]
    assert listed["metadata"]["continue"] == ""
    assert listed["items"][0]["kind"] == "Widget"
    assert list(listed["items"][0]) == ["apiVersion", "kind", "metadata", "spec"]


def test_custom_resources_are_alphabetical_within(space: Space, widgets: CustomResource) -> None:
    """The members of a CR's metadata are in alphabetical order too (K7)."""
    created = space.put(widgets.object("a", color="red", size=1), "widgets")
    assert list(created["metadata"]) == sorted(created["metadata"])


def test_metadata_of_typed_objects_has_its_own_order(space: Space) -> None:
    """Typed metadata: name, namespace, uid, resourceVersion, creationTimestamp, labels (K7)."""
    [created] = space.add("a", labels={"x": "y"})
    members = [member for member in created["metadata"] if member != "managedFields"]
    assert members == [
        "name",
        "namespace",
        "uid",
        "resourceVersion",
        "creationTimestamp",
        "labels",
    ]


def test_html_is_escaped(space: Space) -> None:
    """``<``, ``>``, ``&`` and U+2028 are escaped in JSON (K7)."""
    space.add("a", text="<b>&\u2028")
    body = space.ask("GET", space.path(name="a")).body
    assert rb"\u003cb\u003e\u0026\u2028" in body


def test_bodies_end_in_a_newline(space: Space) -> None:
    """JSON bodies end in a newline."""
    assert space.ask("GET", space.path()).body.endswith(b"}\n")


def test_items_are_sorted_by_name(space: Space) -> None:
    """Items are in the order of their names, whenever they were made."""
    space.add("c", "a-b", "a", "b")
    assert names(space.list()) == ["a", "a-b", "b", "c"]


def test_items_of_all_namespaces_are_sorted_by_key(server: TestedServer) -> None:
    """Over all namespaces items are sorted by namespace, then name."""
    label = Space.make(server).name
    for _ in range(3):
        Space.make(server).add("b", "a", labels={"in": label})
    items = server.get(f"/api/v1/configmaps?labelSelector=in%3D{label}")["items"]
    keys = [(item["metadata"]["namespace"], item["metadata"]["name"]) for item in items]
    assert len(keys) == 6
    assert keys == sorted(keys)


def test_the_rv_of_a_list_is_the_whole_stores(space: Space) -> None:
    """The list RV moves with a write to another type (K10)."""
    before = rv(space.list())
    written = rv(space.put({"metadata": {"name": "s"}}, "secrets"))
    assert before < written <= rv(space.list())


def test_a_list_sees_what_was_written_before(space: Space) -> None:
    """A plain list is consistent: every write that was answered is in it, fifty times over."""
    with space.server.session() as session:
        for number in range(50):
            session.create(space.path(), {"metadata": {"name": f"n{number:02}"}})
            assert len(session.get(space.path())["items"]) == number + 1


def test_an_old_rv_gives_the_newest(space: Space) -> None:
    """RV N without a match, or NotOlderThan, gives the newest state."""
    [first, _] = space.add("a", "b")
    for match in (None, "NotOlderThan"):
        listed = space.list(resourceVersion=rv(first), resourceVersionMatch=match)
        assert names(listed) == ["a", "b"]
        assert rv(listed) > rv(first)


def test_rv_0_gives_what_the_cache_has(space: Space) -> None:
    """RV 0 gives a list of some state, at an RV that is not 0."""
    space.add("a")
    assert names(space.list()) == ["a"]
    listed = space.list(resourceVersion=0)
    assert names(listed) == ["a"]
    assert rv(listed) > 0


def test_exact_gives_the_set_at_that_rv(space: Space) -> None:
    """Exact gives the state of that very RV: later writes, changes and deletions are not in it."""
    [_, second] = space.add("a", "b", text="old")
    space.add("c")
    space.change("a", data={"text": "new"})
    space.remove("b")
    listed = space.list(resourceVersion=rv(second), resourceVersionMatch="Exact")
    assert names(listed) == ["a", "b"]
    assert rv(listed) == rv(second)
    assert listed["items"][0]["data"] == {"text": "old"}


def test_an_rv_with_a_limit_is_exact(space: Space) -> None:
    """RV N with a limit and no match behaves like Exact."""
    [_, second, _] = space.add("a", "b", "c")
    listed = space.list(resourceVersion=rv(second), limit=5)
    assert names(listed) == ["a", "b"]
    assert rv(listed) == rv(second)


def test_a_get_gives_the_object(space: Space) -> None:
    """GET gives the object with its kind, as its create answered."""
    [created] = space.add("a", x="1")
    assert space.get("a") == created
    assert space.get("a", resourceVersion=0) == created


def test_a_get_of_a_missing_name_is_404(space: Space) -> None:
    """A missing object is 404 NotFound with name and kind in the details."""
    answer = space.ask("GET", space.path(name="none"))
    assert refusal(answer) == (404, "NotFound", 'configmaps "none" not found')
    assert answer.json()["details"] == {"name": "none", "kind": "configmaps"}


def test_a_missing_custom_resource_names_its_group(space: Space, widgets: CustomResource) -> None:
    """Of a group's types the text has the group behind the plural."""
    answer = space.ask("GET", space.path("widgets", "none"))
    assert refusal(answer) == (404, "NotFound", 'widgets.example.com "none" not found')
    details = {"name": "none", "group": "example.com", "kind": "widgets"}
    assert answer.json()["details"] == details


def test_unknown_parameters_are_ignored(space: Space) -> None:
    """A parameter that nobody knows changes nothing (K13)."""
    space.add("a")
    assert names(space.list(colour="red", dryRun="Some")) == ["a"]


def test_an_unknown_namespace_is_empty(space: Space) -> None:
    """A list in a namespace that does not exist is 200 and empty (K13)."""
    listed = space.server.get("/api/v1/namespaces/no-such-namespace/configmaps")
    assert listed["items"] == []


@pytest.mark.parametrize(
    ("query", "code", "reason"),
    [
        ({"limit": 1, "continue": "nonsense"}, 400, "BadRequest"),
        ({"resourceVersion": "abc"}, 400, "BadRequest"),
        ({"limit": "abc"}, 400, "BadRequest"),
        ({"resourceVersionMatch": "Exact"}, 422, "Invalid"),
        ({"resourceVersionMatch": "NotOlderThan"}, 422, "Invalid"),
        ({"resourceVersion": 0, "resourceVersionMatch": "Exact"}, 422, "Invalid"),
        ({"resourceVersion": 1, "resourceVersionMatch": "Almost"}, 422, "Invalid"),
        ({"sendInitialEvents": "true"}, 422, "Invalid"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_wrong_options_are_refused(
    space: Space, query: dict[str, Any], code: int, reason: str
) -> None:
    """Options that make no sense are 400, those that do not go together 422 with causes."""
    answer = space.ask("GET", with_query(space.path(), **query))
    assert refusal(answer)[:2] == (code, reason)
    if code == 422:
        causes = answer.json()["details"]["causes"]
        assert all(cause["reason"] and cause["field"] for cause in causes)


def test_a_negative_limit_is_none(space: Space) -> None:
    """limit=-1 and limit=0 give everything."""
    space.add("a", "b")
    assert names(space.list(limit=-1)) == ["a", "b"]
    assert names(space.list(limit=0)) == ["a", "b"]


def test_a_future_rv_is_a_timeout_after_3_seconds(space: Space) -> None:
    """LIST and GET at a future RV: 504 after 3 s, Retry-After 1, ResourceVersionTooLarge (K13)."""
    space.put(pod("web"), "pods")
    paths = [
        space.path("pods", resourceVersion=_FUTURE),
        space.path("pods", resourceVersion=_FUTURE, resourceVersionMatch="Exact", limit=1),
        space.path("pods", "web", resourceVersion=_FUTURE),
    ]
    with ThreadPoolExecutor() as pool:
        answers = list(pool.map(lambda path: space.server.stream(path).finished(), paths))
    for stream in answers:
        with stream:
            assert 2.9 < stream.ended_after < 6
            assert stream.status == 504
            assert stream.header("Retry-After") == "1"
            assert b'"reason":"ResourceVersionTooLarge"' in stream.body
            assert b'"retryAfterSeconds":1' in stream.body


def test_a_future_rv_of_events_fails_at_once(space: Space) -> None:
    """Events have no watch cache: a future RV is 504 at once, without Retry-After (K12)."""
    with space.server.stream(space.path("events", resourceVersion=_FUTURE)) as stream:
        stream.finished()
        assert stream.status == 504
        assert stream.ended_after < 2.5
        assert stream.header("Retry-After") is None
        assert b"retryAfterSeconds" not in stream.body


def test_lists_over_2048_bytes_come_in_chunks(space: Space) -> None:
    """A typed list over 2048 bytes comes in chunks of 2048; a shorter one has a length (K2)."""
    with space.server.stream(space.path()) as short:
        assert short.finished().header("Content-Length") == str(len(short.body))
    space.add("a", "b", "c", text="x" * 1500)
    with space.server.stream(space.path()) as long:
        long.finished()
        assert long.is_chunked
        sizes = [len(chunk) for chunk in long.chunks]
        assert all(size % 2048 == 0 for size in sizes[:-1])
        assert len(sizes) > 1


@pytest.mark.parametrize("gzip", [True, False], ids=["large", "small"])
def test_large_bodies_are_compressed_if_asked(space: Space, gzip: bool) -> None:
    """gzip only from 128 KiB of plain body, with Vary: Accept-Encoding (K6)."""
    for name in ("a", "b", "c"):
        space.add(name, text="x" * (45_000 if gzip else 40_000))
    answer = space.ask("GET", space.path(), Accept_Encoding="gzip")
    assert answer.headers["Content-Encoding"] == ("gzip" if gzip else None)
    assert answer.headers["Vary"] == ("Accept-Encoding" if gzip else None)
    assert answer.body.startswith(b"\x1f\x8b" if gzip else b"{")
