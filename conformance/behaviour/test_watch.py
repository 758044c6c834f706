"""WATCH: what comes, in which order, and how it ends."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from conformance.behaviour.space import Space, names, refusal, rv, steps, with_query
from conformance.objects import config_map, pod
from conformance.two_servers import TestedServer


def test_headers_come_before_any_event(space: Space) -> None:
    """A watch answers 200 and its headers at once: chunked, application/json."""
    with space.watch(resourceVersion=rv(space.list())) as watch:
        assert watch.status == 200
        assert watch.is_chunked
        assert watch.header("Content-Type") == "application/json"
        assert watch.header("Cache-Control") == "no-cache, private"
        assert watch.chunks == []


def test_stream_watch_is_not_in_the_content_type(space: Space) -> None:
    """The type is application/json even where ``;stream=watch`` was asked for."""
    headers = {"Accept": "application/json;stream=watch, application/json"}
    with space.server.stream(space.path(watch=1, timeoutSeconds=1), headers=headers) as watch:
        assert watch.head().header("Content-Type") == "application/json"


def test_an_event_is_a_line(space: Space) -> None:
    """``{"type":...,"object":{...}}`` and a newline; the object has its kind."""
    with space.watch(resourceVersion=rv(space.list())) as watch:
        space.add("a")
        [event] = watch.events(1)
        assert list(event) == ["type", "object"]
        assert list(event["object"])[:2] == ["kind", "apiVersion"]
        assert watch.body.startswith(b'{"type":"ADDED","object":{"kind":"ConfigMap",')
        assert watch.body.endswith(b"}}\n")


@pytest.mark.parametrize("version", [None, "0", ""], ids=["absent", "zero", "empty"])
def test_without_an_rv_the_present_objects_come_first(space: Space, version: str | None) -> None:
    """RV absent or 0: an ADDED for each object, sorted by name, then what happens."""
    space.add("c", "a", "b")
    assert len(space.list()["items"]) == 3
    with space.watch(resourceVersion=version) as watch:
        watch.events(3)
        space.add("aa")
        expected = [("ADDED", name) for name in ("a", "b", "c", "aa")]
        assert steps(watch.events(4)) == expected


def test_from_an_rv_only_what_is_newer_comes(space: Space) -> None:
    """A watch from an RV gives what came after it, and not what made it."""
    [_, second, _] = space.add("a", "b", "c")
    space.remove("a")
    with space.watch(resourceVersion=rv(second)) as watch:
        assert steps(watch.events(2)) == [("ADDED", "c"), ("DELETED", "a")]


def test_every_write_is_an_event_in_its_order(space: Space) -> None:
    """Create, update and delete are ADDED, MODIFIED, DELETED, with growing RVs."""
    with space.watch(resourceVersion=rv(space.list())) as watch:
        space.add("a", "b")
        space.change("a", data={"x": "1"})
        space.remove("b")
        events = watch.events(4)
    assert steps(events) == [
        ("ADDED", "a"),
        ("ADDED", "b"),
        ("MODIFIED", "a"),
        ("DELETED", "b"),
    ]
    versions = [rv(event) for event in events]
    assert versions == sorted(set(versions))


def test_an_event_has_what_the_write_answered(space: Space) -> None:
    """The object of an event is the one that the write answered, and that a GET gives."""
    with space.watch(resourceVersion=rv(space.list())) as watch:
        [created] = space.add("a")
        changed = space.change("a", data={"x": "1"})
        first, second = watch.events(2)
    assert first["object"] == created
    assert second["object"] == changed == space.get("a")


def test_deleted_has_the_last_state_and_a_new_rv(space: Space) -> None:
    """DELETED carries the last state, with the RV of the deletion."""
    [created] = space.add("a", x="1")
    with space.watch(resourceVersion=rv(created)) as watch:
        space.remove("a")
        [event] = watch.events(1)
    gone = event["object"]
    assert rv(gone) > rv(created)
    gone["metadata"]["resourceVersion"] = created["metadata"]["resourceVersion"]
    assert gone == created


def test_a_write_that_changes_nothing_is_no_event(space: Space) -> None:
    """A write that changes nothing keeps the RV and sends nothing (K27)."""
    [created] = space.add("a", x="1")
    with space.watch(resourceVersion=rv(created)) as watch:
        assert rv(space.server.replace(space.path(name="a"), created)) == rv(created)
        assert rv(space.change("a", data={"x": "1"})) == rv(created)
        space.add("b")
        assert steps(watch.events(1)) == [("ADDED", "b")]


def test_a_status_patch_is_modified(space: Space) -> None:
    """A write of the status is a MODIFIED."""
    created = space.put(pod("web"), "pods")
    with space.watch("pods", resourceVersion=rv(created)) as watch:
        patch = {"status": {"phase": "Running"}}
        space.server.patch(space.path("pods", "web") + "/status", patch)
        [event] = watch.events(1)
    assert event["type"] == "MODIFIED"
    assert event["object"]["status"]["phase"] == "Running"


def test_leaving_a_selection_is_deleted_with_the_old_object(space: Space) -> None:
    """An object that leaves a label selection: DELETED with the old object, but the new RV."""
    [created] = space.add("a", labels={"app": "web"})
    with space.watch(resourceVersion=rv(created), labelSelector="app=web") as watch:
        changed = space.change("a", metadata={"labels": {"app": "db"}})
        [event] = watch.events(1)
    assert event["type"] == "DELETED"
    assert event["object"]["metadata"]["labels"] == {"app": "web"}
    assert rv(event) == rv(changed)


def test_coming_into_a_selection_is_added(space: Space) -> None:
    """An object that comes into a selection: ADDED; changes while outside are not seen."""
    [created] = space.add("a", labels={"app": "db"})
    with space.watch(resourceVersion=rv(created), labelSelector="app=web") as watch:
        space.change("a", data={"x": "1"})
        changed = space.change("a", metadata={"labels": {"app": "web"}})
        [event] = watch.events(1)
    assert event == {"type": "ADDED", "object": changed}


def test_field_selectors_move_objects_too(space: Space) -> None:
    """Field selectors move objects in and out like labels (K19)."""
    created = space.put(pod("web"), "pods")
    query = {"resourceVersion": rv(created), "fieldSelector": "status.phase=Running"}
    with space.watch("pods", **query) as watch:
        status = space.path("pods", "web") + "/status"
        space.server.patch(status, {"status": {"phase": "Running"}})
        left = space.server.patch(status, {"status": {"phase": "Failed"}})
        entered, gone = watch.events(2)
    assert (entered["type"], gone["type"]) == ("ADDED", "DELETED")
    assert gone["object"]["status"]["phase"] == "Running"
    assert rv(gone) == rv(left)


def test_one_object_is_watched_by_its_name(space: Space) -> None:
    """fieldSelector metadata.name=a gives the events of a alone."""
    at = rv(space.list())
    with space.watch(resourceVersion=at, fieldSelector="metadata.name=b") as watch:
        space.add("a", "b", "c")
        space.remove("b")
        assert steps(watch.events(2)) == [("ADDED", "b"), ("DELETED", "b")]


def test_a_watch_on_a_named_object_is_a_get(space: Space) -> None:
    """watch=1 on the path of one object gives the plain object."""
    [created] = space.add("a")
    assert space.get("a", watch=1) == created


def test_the_old_watch_path_works(space: Space) -> None:
    """/api/v1/watch/... is a watch (K19)."""
    space.add("a", "b")
    base = f"/api/v1/watch/namespaces/{space.name}/configmaps"
    with space.server.stream(base) as all_of_them, space.server.stream(f"{base}/b") as one:
        assert steps(all_of_them.events(2)) == [("ADDED", "a"), ("ADDED", "b")]
        assert steps(one.events(1)) == [("ADDED", "b")]


@pytest.mark.parametrize(
    ("query", "is_watch"),
    [
        ("watch=1", True),
        ("watch=true", True),
        ("watch", True),
        ("watch=", True),
        ("watch=0", False),
        ("watch=false", False),
        ("watch=banana", True),
    ],
)
def test_what_makes_a_watch(space: Space, query: str, is_watch: bool) -> None:
    """``watch=1``, ``watch=true`` and a bare ``watch`` are watches, 0 and false are lists (K19)."""
    with space.server.stream(f"{space.path()}?{query}&timeoutSeconds=1") as stream:
        assert stream.head().is_chunked == is_watch
        assert stream.status == 200


def test_a_watch_ignores_the_limit(space: Space) -> None:
    """limit means nothing to a watch."""
    space.add("a", "b", "c")
    with space.watch(limit=1) as watch:
        assert len(watch.events(3)) == 3


def test_a_timeout_ends_a_watch_cleanly(space: Space) -> None:
    """timeoutSeconds=1: a clean last chunk after a second; no events is normal."""
    with space.watch(timeoutSeconds=1, resourceVersion=rv(space.list())) as watch:
        watch.finished()
        assert watch.end == "clean"
        assert 0.95 < watch.ended_after < 4
        assert watch.body == b""


def test_a_connection_is_used_again_after_a_watch(space: Space) -> None:
    """After a watch that ended the connection carries the next request."""
    with space.server.session() as session:
        session.request("GET", space.path(watch=1, timeoutSeconds=1))
        connection = session._connection.sock
        assert session.get(space.path())["items"] == []
        assert session._connection.sock is connection is not None


@pytest.mark.parametrize("version", ["abc", "-1"])
def test_a_wrong_rv_is_500(space: Space, version: str) -> None:
    """RV abc or -1 on a watch: 500, a Status without a reason."""
    answer = space.ask("GET", space.path(watch=1, resourceVersion=version))
    assert refusal(answer)[:2] == (500, "")


def test_a_future_rv_is_silent(space: Space) -> None:
    """A watch from a future RV: 200 and silence until its timeout, whatever is written."""
    future = rv(space.list()) + 10**6
    with space.watch(resourceVersion=future, timeoutSeconds=1) as watch:
        space.add("a")
        watch.finished()
        assert (watch.status, watch.end, watch.body) == (200, "clean", b"")


def test_events_spaced_in_time_are_chunks_of_their_own(space: Space) -> None:
    """Events that come one after the other come one per chunk."""
    with space.watch(resourceVersion=rv(space.list())) as watch:
        for number in range(4):
            space.add(f"n{number}", text="x" * 3000)
            watch.events(number + 1)
        assert [chunk.count(b"\n") for chunk in watch.chunks] == [1, 1, 1, 1]


def test_a_burst_of_short_events_fills_chunks(space: Space) -> None:
    """In a burst the chunks are of 2048 bytes at most, and cut events anywhere (K20)."""
    with space.server.session() as session:
        for number in range(60):
            session.create(space.path(), config_map(f"n{number:02}", text="x" * 100))
    with space.watch() as watch:
        watch.events(60)
        sizes = [len(chunk) for chunk in watch.chunks]
        assert max(sizes) == 2048
        assert sizes.count(2048) > 1
        assert not all(chunk.endswith(b"\n") for chunk in watch.chunks)


def test_all_namespaces_can_be_watched(server: TestedServer) -> None:
    """A watch over all namespaces sees each, in the order of the writes."""
    first, second = Space.make(server), Space.make(server)
    at = rv(first.list())
    label = {"in": first.name}
    path = with_query(
        "/api/v1/configmaps", watch=1, resourceVersion=at, labelSelector=f"in={first.name}"
    )
    with server.stream(path) as watch:
        second.add("a", labels=label)
        first.add("b", labels=label)
        second.remove("a")
        events = watch.events(3)
    where = [event["object"]["metadata"]["namespace"] for event in events]
    assert where == [second.name, first.name, second.name]


def test_an_unknown_namespace_can_be_watched(server: TestedServer) -> None:
    """A watch in a namespace that does not exist is 200; made later, its objects are seen (K13)."""
    name = f"{Space.make(server).name}-later"
    later = Space(server, name)
    with later.watch() as watch:
        assert watch.status == 200
        server.create("/api/v1/namespaces", {"metadata": {"name": name}})
        later.add("a")
        assert steps(watch.events(1)) == [("ADDED", "a")]


def test_watchers_of_the_same_see_the_same(space: Space) -> None:
    """Twenty watchers of one collection get the same bytes."""
    at = rv(space.list())
    watches = [space.watch(resourceVersion=at) for _ in range(20)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(space.add, [f"n{number}" for number in range(20)]))
    bodies = set()
    for watch in watches:
        with watch:
            watch.events(20)
            bodies.add(watch.body)
    assert len(bodies) == 1


def test_a_resumed_watch_misses_nothing(space: Space) -> None:
    """A watch from the RV of the last event goes on exactly behind it."""
    at = rv(space.list())
    with space.watch(resourceVersion=at) as first:
        space.add("a", "b")
        seen = first.events(2)
    space.add("c")
    space.remove("a")
    with space.watch(resourceVersion=rv(seen[0])) as second:
        assert steps(second.events(3)) == [("ADDED", "b"), ("ADDED", "c"), ("DELETED", "a")]


def test_names_of_deleted_objects_can_be_used_again(space: Space) -> None:
    """Deleted and made again: another uid, and DELETED before ADDED."""
    [first] = space.add("a")
    with space.watch(resourceVersion=rv(first)) as watch:
        space.remove("a")
        [second] = space.add("a")
        events = watch.events(2)
    assert steps(events) == [("DELETED", "a"), ("ADDED", "a")]
    assert first["metadata"]["uid"] != second["metadata"]["uid"]


def test_a_deleted_collection_is_an_event_each(space: Space) -> None:
    """deletecollection is a DELETED for each object, in an order of its own, each with its RV."""
    space.add("a", "b", "c")
    with space.watch(resourceVersion=rv(space.list())) as watch:
        space.server.delete(space.path())
        events = watch.events(3)
    assert sorted(names(events)) == ["a", "b", "c"]
    assert {event["type"] for event in events} == {"DELETED"}
    assert len({rv(event) for event in events}) == 3
