"""What compaction, a restart and a restored backup do to RVs, tokens and watches.

A restart of a real server takes seconds, so all of it happens once, to a server of its own; the
tests look at what was answered when.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from conformance.behaviour.space import Space, names, refusal, rv, steps, token_of
from conformance.objects import install_crd, pod
from conformance.requests import Json, Response
from conformance.streams import Stream
from conformance.two_servers import KINDS, TestedServer, start
from conformance.waiting import until

_MANY = 100


class History:
    """The scenario: some state, a compaction, a restart, a step back in time."""

    def __init__(self, server: TestedServer) -> None:
        self.server = server
        self.space = space = Space.make(server)
        space.add(*(f"n{number}" for number in range(4)))
        for name in ("a", "b", "c"):
            space.put(_event(space, name), "events")
        space.put(pod("web"), "pods")
        self.old = rv(space.list())
        self.token = space.list(limit=2)["metadata"]["continue"]
        self.event_token = space.list("events", limit=1)["metadata"]["continue"]
        space.change("n0", data={"x": "1"})
        space.remove("n3")
        self.changed = rv(space.list())
        self.requests: dict[str, str] = {
            "exact": space.path(resourceVersion=self.old, resourceVersionMatch="Exact"),
            "not older": space.path(resourceVersion=self.old, resourceVersionMatch="NotOlderThan"),
            "limit": space.path(resourceVersion=self.old, limit=2),
            "continue": space.path(limit=2, continue_=self.token),
            "watch": space.path(watch=1, resourceVersion=self.old, timeoutSeconds=1),
            "watch list": space.path(
                watch=1,
                resourceVersion=self.old,
                timeoutSeconds=1,
                sendInitialEvents=True,
                resourceVersionMatch="NotOlderThan",
                allowWatchBookmarks=True,
            ),
            "watch without initial events": space.path(
                watch=1,
                resourceVersion=self.old,
                timeoutSeconds=1,
                sendInitialEvents=False,
                resourceVersionMatch="NotOlderThan",
                allowWatchBookmarks=True,
            ),
            "events exact": space.path(
                "events", resourceVersion=self.old, resourceVersionMatch="Exact"
            ),
            "events continue": space.path("events", limit=1, continue_=self.event_token),
            "events watch": space.path(
                "events", watch=1, resourceVersion=self.old, timeoutSeconds=1
            ),
            "pods watch": space.path("pods", watch=1, resourceVersion=self.old, timeoutSeconds=1),
        }
        self.compact()
        self.restart()
        self.turn_back()

    def compact(self) -> None:
        at = rv(self.space.list())
        self.open = self.space.watch(resourceVersion=at)
        self.server.compact_etcd(at)
        self.compacted = self._ask_all()
        self.space.add("later")
        self.open.events(1)

    def restart(self) -> None:
        widgets = install_crd(self.server)
        self.space.put(widgets.object("w", color="red"), "widgets")
        before = self.space.list()
        # Only what is before the newest revision can be compacted, and the cache of the server
        # that comes up begins at the newest.
        self.server.compact_etcd(rv(before))
        self.server.restart_apiserver()
        until(lambda: self.open.end is not None, what="the end of the watch")
        self.before, self.after = before, self.space.list()
        self.first_of_widgets: list[Response] = []

        def served() -> bool:
            path = self.space.path("widgets")
            self.first_of_widgets.append(self.server.request("GET", path))
            return self.first_of_widgets[-1].status == 200

        until(served, what="widgets after a restart")
        self.restarted = self._ask_all()
        if token := _inconsistent(self.restarted["continue"].body):
            self.resumed = self.server.request("GET", self.space.path(limit=2, continue_=token))

    def turn_back(self) -> None:
        space = self.space
        space.add("kept")
        self.server.save_history()
        [lost] = space.add("lost")
        # More than a server writes by itself when it starts.
        for number in range(_MANY):
            space.change("lost", data={"x": str(number)})
        [last] = space.add("lost-too")
        self.ahead = rv(last)
        self.server.turn_back()
        self.turned = space.list()
        with ThreadPoolExecutor() as pool:
            listing = pool.submit(space.ask, "GET", space.path(resourceVersion=self.ahead))
            with (
                space.watch(resourceVersion=self.ahead, timeoutSeconds=5) as silent,
                space.watch(resourceVersion=rv(self.turned)) as seeing,
            ):
                self.first_write = space.add("new")[0]
                number = 0
                while rv(space.add(f"new-{number}")[0]) <= self.ahead:
                    number += 1
                [self.past] = space.add("past")
                self.seen = seeing.events(number + 3)
                silent.find("ADDED", "past")
                self.silent = silent.so_far()
            self.future_list = listing.result()
        self.lost = lost

    def _ask_all(self) -> dict[str, Stream]:
        with ThreadPoolExecutor(len(self.requests)) as pool:
            streams = pool.map(
                lambda path: self.server.stream(path).finished(), self.requests.values()
            )
            answers = dict(zip(self.requests, streams, strict=True))
        for stream in answers.values():
            stream.close()
        return answers

    def close(self) -> None:
        self.open.close()


@pytest.fixture(scope="module", params=KINDS)
def history(request: pytest.FixtureRequest) -> Iterator[History]:
    binaries = request.getfixturevalue("binaries") if request.param == "real" else None
    server = start(request.param, binaries)
    try:
        history = History(server)
        yield history
        history.close()
    finally:
        server.stop()


def _json(stream: Stream) -> Json:
    return Response(stream.status, None, stream.body).json()  # type: ignore[arg-type]


def _inconsistent(body: bytes) -> str:
    status = Response(0, None, body).json()  # type: ignore[arg-type]
    token = status.get("metadata", {}).get("continue", "")
    assert isinstance(token, str)
    return token


def _event(space: Space, name: str) -> Json:
    involved = {"kind": "Pod", "namespace": space.name, "name": "web"}
    return {"metadata": {"name": name}, "involvedObject": involved}


# Compaction


@pytest.mark.parametrize("which", ["exact", "limit"])
def test_the_cache_outlives_a_compaction(history: History, which: str) -> None:
    """Compaction alone expires no Exact list: it is answered from the cache (K21)."""
    listed = _json(history.compacted[which])
    assert names(listed)[:2] == ["n0", "n1"]
    assert rv(listed) == history.old


def test_tokens_outlive_a_compaction(history: History) -> None:
    """Nor a continue token (K21)."""
    assert names(_json(history.compacted["continue"])) == ["n2", "n3"]


def test_watches_outlive_a_compaction(history: History) -> None:
    """Nor a watch from an older RV, nor one that is open (K21)."""
    events = history.compacted["watch"].so_far()
    assert steps(events) == [("MODIFIED", "n0"), ("DELETED", "n3")]
    assert steps(history.open.so_far()) == [("ADDED", "later")]


@pytest.mark.parametrize("which", ["events exact", "events continue"])
def test_without_a_cache_compaction_expires(history: History, which: str) -> None:
    """Events have no cache: an Exact list and a token at a compacted RV are 410 at once (K12)."""
    status = _json(history.compacted[which])
    assert (status["code"], status["reason"]) == (410, "Expired")


def test_without_a_cache_old_watches_fail(history: History) -> None:
    """A watch of events from a compacted RV: ERROR 410, in words of its own (K23)."""
    [event] = history.compacted["events watch"].so_far()
    assert event["type"] == "ERROR"
    assert event["object"]["code"] == 410
    assert event["object"]["message"] == "The resourceVersion for the provided watch is too old."


# Restart


def test_a_restart_breaks_watches(history: History) -> None:
    """A crash cuts open watches: their bodies have no last chunk."""
    assert history.open.end == "cut"


def test_a_restart_keeps_everything_stored(history: History) -> None:
    """After a restart the objects are those before it, uids and RVs too."""
    assert history.after["items"] == history.before["items"]
    assert rv(history.after) >= rv(history.before)


def test_custom_resources_warm_up_again(history: History) -> None:
    """After a restart the first request for a CR is 429, the next works."""
    codes = [answer.status for answer in history.first_of_widgets]
    assert codes[-1] == 200
    assert set(codes) <= {404, 429, 200}
    assert codes.count(429) <= 1


@pytest.mark.parametrize("which", ["exact", "limit"])
def test_after_a_restart_compacted_lists_are_410(history: History, which: str) -> None:
    """Exact at a compacted RV is 410 Expired, once the cache is new (K21)."""
    status = _json(history.restarted[which])
    assert history.restarted[which].status == status["code"] == 410
    assert status["reason"] == "Expired"


def test_after_a_restart_not_older_than_works(history: History) -> None:
    """NotOlderThan at an expired RV gives the newest."""
    assert names(_json(history.restarted["not older"])) == ["later", "n0", "n1", "n2"]


def test_an_expired_token_offers_another(history: History) -> None:
    """An expired token is 410, and its Status has one that goes on inconsistently."""
    status = _json(history.restarted["continue"])
    assert (status["code"], status["reason"]) == (410, "Expired")
    assert token_of(status) == {"v": "meta.k8s.io/v1", "rv": -1, "start": "n1\u0000"}


def test_the_other_token_goes_on_at_a_newer_rv(history: History) -> None:
    """With it the next page is of the present, at a newer RV."""
    page = history.resumed.json()
    assert names(page) == ["n2"]
    assert rv(page) > history.old


@pytest.mark.parametrize("which", ["watch", "watch without initial events"])
def test_an_expired_watch_is_an_error_event(history: History, which: str) -> None:
    """An expired RV: always 200 with one ERROR event, 410 Expired, and a clean end (K23)."""
    stream = history.restarted[which]
    [event] = stream.so_far()
    status = event["object"]
    assert (stream.status, stream.end, event["type"]) == (200, "clean", "ERROR")
    assert (status["kind"], status["code"], status["reason"]) == ("Status", 410, "Expired")
    assert status["message"].startswith(f"too old resource version: {history.old} (")


def test_a_watch_list_never_expires(history: History) -> None:
    """WatchList at an expired RV works (K23)."""
    *added, end = history.restarted["watch list"].so_far()
    assert [name for _, name in steps(added)] == ["later", "n0", "n1", "n2"]
    assert end["type"] == "BOOKMARK"


# Back in time


def test_turned_back_the_lost_is_gone(history: History) -> None:
    """A restored backup has what it had, at its RVs (K24)."""
    assert "kept" in names(history.turned)
    assert "lost" not in names(history.turned)
    assert rv(history.turned) < history.ahead


def test_turned_back_rvs_are_given_again(history: History) -> None:
    """RVs that were given before are given again, to other writes (K24)."""
    assert rv(history.first_write) <= history.ahead
    assert history.first_write["metadata"]["uid"] != history.lost["metadata"]["uid"]


def test_turned_back_a_watch_from_the_future_is_silent(history: History) -> None:
    """A watch from an RV that is now in the future drops all events up to it, and goes on (K24)."""
    assert all(rv(event) > history.ahead for event in history.silent)
    assert ("ADDED", "past") in steps(history.silent)
    assert ("ADDED", "new") not in steps(history.silent)


def test_turned_back_a_watch_from_the_present_sees_all(history: History) -> None:
    """A watch from a listed RV sees every write."""
    found = [name for _, name in steps(history.seen)]
    assert found[0] == "new"
    assert found[-1] == "past"


def test_turned_back_a_list_from_the_future_waits(history: History) -> None:
    """LIST at an RV that is now in the future is answered once it has come, or 504 (K24)."""
    answer = history.future_list
    if answer.status != 200:
        assert refusal(answer)[:2] == (504, "Timeout")
