"""Open watches: who is told of a write, and how they end."""

from __future__ import annotations

from listwatch.testing.apiserver.storage.state import Settings, Target
from tests.testing.apiserver.read_server import ReadServer, events

PODS = "/api/v1/namespaces/default/pods"


def _with_pods(*names: str, settings: Settings | None = None) -> ReadServer:
    server = ReadServer(settings=settings)
    for name in names:
        server.put("pods", name)
    return server


# Who is told


def test_a_write_wakes_those_who_watch_its_type_from_within() -> None:
    server = ReadServer()
    streams = {
        "pods": server.watch(f"{PODS}?watch=1"),
        "others": server.watch("/api/v1/namespaces/other/pods?watch=1"),
        "all": server.watch("/api/v1/pods?watch=1"),
        "nodes": server.watch("/api/v1/nodes?watch=1"),
    }
    woken: list[str] = []
    for name, stream in streams.items():
        stream.wake = lambda name=name: woken.append(name)  # type: ignore[misc]
    server.put("pods", "a")
    assert sorted(woken) == ["all", "pods"]


def test_the_bytes_of_an_event_are_made_once_for_all_who_see_the_same() -> None:
    server = ReadServer()
    paths = [PODS, "/api/v1/pods", f"{PODS}?labelSelector=app%3Dx"]
    streams = [server.watch(path + ("&" if "?" in path else "?") + "watch=1") for path in paths * 2]
    server.put("pods", "a", labels={"app": "x"})
    frames = [stream.take()[0] for stream in streams]
    assert all(frame is frames[0] for frame in frames)


def test_both_groups_of_events_see_each_write_in_their_form() -> None:
    server = ReadServer()
    old = server.watch("/api/v1/events?watch=1")
    new = server.watch("/apis/events.k8s.io/v1/events?watch=1")
    server.put("events", "e", message="hello")
    assert b'"message":"hello"' in old.take()[0]
    assert b'"note":"hello"' in new.take()[0]


def test_a_watch_may_go_while_others_are_told() -> None:
    server = ReadServer()
    first, second = server.watch(f"{PODS}?watch=1"), server.watch(f"{PODS}?watch=1")
    first.wake = second.close
    server.put("pods", "a")
    assert len(first.take()) == 1
    assert second.take() == []


# How a watch ends


def test_a_watch_ends_cleanly_when_its_time_is_up() -> None:
    server = ReadServer()
    stream = server.watch(f"{PODS}?watch=1&timeoutSeconds=3")
    assert stream.due == 3.0
    server.now = 3.0
    stream.tick()
    assert stream.ended
    assert stream.due is None
    server.put("pods", "late")
    assert stream.take() == []


def test_a_watch_without_a_timeout_lasts_half_an_hour_to_an_hour() -> None:
    ends = {
        ReadServer(seed=seed).watch(f"{PODS}?watch=1&timeoutSeconds=0").due for seed in range(20)
    }
    assert len(ends) == 20
    assert all(end is not None and 1800 <= end < 3600 for end in ends)


def test_a_negative_timeout_is_over_at_once() -> None:
    """A real server was asked: not even the state is sent."""
    stream = _with_pods("a").watch(f"{PODS}?watch=1&timeoutSeconds=-1")
    assert stream.ended
    assert stream.take() == []


def test_what_came_before_the_end_is_still_given() -> None:
    server = ReadServer()
    stream = server.watch(f"{PODS}?watch=1&timeoutSeconds=3")
    server.put("pods", "a")
    server.now = 3.0
    stream.tick()
    assert stream.ended
    assert len(stream.take()) == 1


def test_a_reader_that_is_too_slow_is_cut_off_cleanly() -> None:
    """A clean end with no ERROR: what came until then is given, and nothing more."""
    server = _with_pods("a", "b", settings=Settings(slow_watcher_events=5))
    stream = server.watch(f"{PODS}?watch=1")  # the state does not count
    for number in range(5):
        server.put("pods", f"p{number}")
    assert not stream.ended
    server.put("pods", "too-many")
    assert stream.ended
    assert [name for _, name, _ in events(stream.take())] == [
        "a",
        "b",
        *(f"p{n}" for n in range(5)),
    ]


def test_a_reader_that_keeps_up_is_not_cut_off() -> None:
    server = ReadServer(settings=Settings(slow_watcher_events=5))
    stream = server.watch(f"{PODS}?watch=1")
    for number in range(20):
        server.put("pods", f"p{number}")
        stream.take()
    assert not stream.ended


def test_a_slow_reader_does_not_hurt_others() -> None:
    server = ReadServer(settings=Settings(slow_watcher_events=2))
    slow, quick = server.watch(f"{PODS}?watch=1"), server.watch(f"{PODS}?watch=1")
    taken: list[bytes] = []
    quick.wake = lambda: taken.extend(quick.take())
    for number in range(5):
        server.put("pods", f"p{number}")
    assert (len(slow.take()), len(taken)) == (2, 5)


def test_watches_can_be_ended_by_what_they_watch() -> None:
    """K43: cleanly, without an event."""
    server = ReadServer()
    pods, nodes = server.watch(f"{PODS}?watch=1"), server.watch("/api/v1/nodes?watch=1")
    woken: list[str] = []
    pods.wake = lambda: woken.append("pods")
    nodes.wake = lambda: woken.append("nodes")

    def are_pods(target: Target) -> bool:
        return target.type.plural == "pods"

    server.hub.end(are_pods)
    assert (pods.ended, nodes.ended, woken) == (True, False, ["pods"])
    assert len(server.hub) == 1


def test_a_restart_ends_all_watches() -> None:
    server = ReadServer()
    stream = server.watch(f"{PODS}?watch=1")
    server.hub.restart()
    assert stream.ended
    server.put("pods", "a")
    assert stream.take() == []
    again = server.watch(f"{PODS}?watch=1&resourceVersion=1")
    server.put("pods", "b")
    assert len(again.take()) == 2


def test_a_client_that_is_gone_costs_nothing_more() -> None:
    server = _with_pods("a")
    stream = server.watch(f"{PODS}?watch=1")
    stream.close()
    stream.close()
    server.put("pods", "b")
    assert stream.take() == []
    assert len(server.hub) == 0
    assert stream.due is None
    stream.tick()
