"""What PyPI ``kubernetes`` brings beside its client: its informer and its leader election."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from itertools import groupby
from typing import Any

import pytest

from conformance.clients.place import Place, Step, increasing
from conformance.two_servers import EmbeddedCluster
from conformance.waiting import until

pytest.importorskip("kubernetes", reason="the extra peers brings the official client")

from kubernetes import client, informer, watch
from kubernetes.client.exceptions import ApiException
from kubernetes.leaderelection import electionconfig, leaderelection
from kubernetes.leaderelection.resourcelock import leaselock

from conformance.clients.official import connect

# These have no types.
Watch: Any = watch.Watch
SharedInformer: Any = informer.SharedInformer
LeaderElection: Any = leaderelection.LeaderElection
ElectionConfig: Any = electionconfig.Config
LeaseLock: Any = leaselock.LeaseLock

# Seconds; it takes none shorter than one for the last.
LEASE, DEADLINE, RETRY = 4, 3, 1


class Informer:
    """Its informer of the ConfigMaps of a place, and what its handlers were called with."""

    def __init__(self, place: Place, core: Any) -> None:
        self._place, self._core = place, core
        self.seen: list[Step] = []
        self.errors: list[Exception] = []
        self.shared = SharedInformer(
            core.list_namespaced_config_map, namespace=place.namespace, resync_period=0
        )
        for kind in (informer.ADDED, informer.MODIFIED, informer.DELETED):
            self.shared.add_event_handler(
                kind, lambda found, kind=kind: self.seen.append(Step(kind, found.metadata.name))
            )
        self.shared.add_event_handler(informer.ERROR, self.errors.append)

    def saw(self, kind: str, name: str) -> None:
        """Wait until it has."""
        until(lambda: (kind, name) in self.seen, what=f"the informer to tell of {kind} {name}")

    def versions(self) -> dict[str, str]:
        return _versions(self.shared.cache.list())

    def listed(self) -> dict[str, str]:
        """What it should have."""
        return _versions(self._core.list_namespaced_config_map(self._place.namespace).items)


def _versions(objects: list[Any]) -> dict[str, str]:
    return {found.metadata.name: found.metadata.resource_version for found in objects}


@contextmanager
def follow(place: Place) -> Iterator[Informer]:
    with connect(place) as api:
        follower = Informer(place, client.CoreV1Api(api))
        follower.shared.start()
        try:
            yield follower
        finally:
            follower.shared.stop()


def test_its_informer_follows(place: Place) -> None:
    place.add("first")
    with follow(place) as follower:
        follower.saw("ADDED", "first")
        churn = place.churn()
        until(lambda: len(follower.seen) > len(churn.all), what="the informer to have seen it all")
    assert follower.seen == [("ADDED", "first"), *churn.all]
    assert list(follower.versions()) == ["first"]


def test_its_informer_outlives_a_restart_and_a_compaction(mortal_place: Place) -> None:
    place, server = mortal_place, mortal_place.server
    for name in ("kept", "changed", "gone"):
        place.add(name)
    with follow(place) as follower:
        for name in ("kept", "changed", "gone"):
            follower.saw("ADDED", name)
        server.kill_apiserver()
        server.start_apiserver()
        place.add("later")
        follower.saw("ADDED", "later")
        assert follower.versions() == follower.listed()

        # It keeps its version over a stop; meanwhile that one is forgotten.
        follower.shared.stop()
        server.delete(place.path(name="gone"))
        server.patch(place.path(name="changed"), {"metadata": {"labels": {"a": "b"}}})
        place.add("last")
        server.compact_etcd(place.resource_version())
        server.kill_apiserver()
        server.start_apiserver()
        follower.seen.clear()
        follower.errors.clear()
        follower.shared.start()
        follower.saw("ADDED", "last")
        assert follower.versions() == follower.listed()
        [expired] = follower.errors
        assert isinstance(expired, ApiException)
        assert expired.status == 410
        # Of a list it tells as if all that stayed had changed.
        assert follower.seen[0] == ("DELETED", "gone")
        assert sorted(follower.seen[1:]) == [
            ("ADDED", "last"),
            ("MODIFIED", "changed"),
            ("MODIFIED", "kept"),
            ("MODIFIED", "later"),
        ]
        place.add("end")
        follower.saw("ADDED", "end")
        assert follower.versions() == follower.listed()


class Retired(Exception):
    """What a leader's work ends with: the only way to have it give up its office."""


class Candidate:
    """One who stands for election, in a thread."""

    def __init__(self, api: Any, place: Place, name: str) -> None:
        self.leads, self.stopped, self._retired = (threading.Event() for _ in range(3))
        lock = LeaseLock("leader", place.namespace, name)
        lock.api_instance = _leases(api)
        config = ElectionConfig(
            lock,
            lease_duration=LEASE,
            renew_deadline=DEADLINE,
            retry_period=RETRY,
            onstarted_leading=self._lead,
            onstopped_leading=self.stopped.set,
        )
        run = LeaderElection(config).run
        self._thread = threading.Thread(target=run, name=f"candidate {name}", daemon=True)
        self._thread.start()

    def retire(self) -> None:
        """Lead no more, and renew no more; returns when that is so, if it leads."""
        self._retired.set()
        if self.leads.is_set():
            self._thread.join()

    def _lead(self) -> None:
        self.leads.set()
        self._retired.wait()
        raise Retired


def _leases(api: Any) -> Any:
    return client.CoordinationV1Api(api)


class Contest:
    """Two candidates for one Lease, of whom the first leads."""

    def __init__(self, api: Any, place: Place) -> None:
        self._place = place
        self._leases = _leases(api)
        listed = self._leases.list_namespaced_lease(place.namespace)
        self._start = listed.metadata.resource_version
        self.one = Candidate(api, place, "one")
        _wait(self.one.leads, "the first to lead")
        self.two = Candidate(api, place, "two")

    def history(self) -> list[Any]:
        """The Lease after each write."""
        listing, where = self._leases.list_namespaced_lease, self._place.namespace
        events = Watch().stream(listing, where, resource_version=self._start, timeout_seconds=1)
        return [event["object"] for event in events]

    def renewed(self, times: int) -> None:
        """Wait until the first has renewed it so often."""
        for _ in range(times):
            until(partial(self._is_later_than, self._version()), what="a renewal")

    def handed_over(self) -> None:
        """Check that the office was handed over once, and not before the lease was up."""
        history = self.history()
        terms = [
            (holder, list(leases))
            for holder, leases in groupby(history, lambda lease: lease.spec.holder_identity)
        ]
        assert [holder for holder, _ in terms] == ["one", "two"]
        (_, ones), (_, twos) = terms
        assert len(ones) > 2
        assert len({lease.spec.acquire_time for lease in ones}) == 1
        renewals = [lease.spec.renew_time for lease in history]
        assert renewals == sorted(set(renewals))
        last, first = ones[-1].spec, twos[0].spec
        assert first.acquire_time - last.renew_time >= timedelta(seconds=LEASE)
        assert increasing([lease.metadata.resource_version for lease in history])

    def _is_later_than(self, version: str) -> bool:
        return self._version() != version

    def _version(self) -> str:
        lease = self._leases.read_namespaced_lease("leader", self._place.namespace)
        return str(lease.metadata.resource_version)


def _wait(event: threading.Event, what: str) -> None:
    assert event.wait(30), f"waited 30 s for {what}"


@pytest.fixture
def contest(place: Place) -> Iterator[Contest]:
    with connect(place) as api:
        contest = Contest(api, place)
        contest.renewed(2)
        assert not contest.two.leads.is_set()
        yield contest
        for candidate in (contest.one, contest.two):
            candidate.retire()


def test_who_stops_leading_is_followed_by_the_other(contest: Contest) -> None:
    contest.one.retire()
    assert contest.one.stopped.is_set()
    _wait(contest.two.leads, "the second to lead")
    contest.handed_over()


@pytest.mark.parametrize("any_server", ["embedded"], indirect=True)
@pytest.mark.parametrize("answer", ["answer 503", "answer 409"])
def test_whose_renewals_are_refused_is_followed_by_the_other(
    any_server: EmbeddedCluster, contest: Contest, answer: str
) -> None:
    with any_server.fault(f"update leases: {answer}"):
        _wait(contest.one.stopped, "the first to have given up")
        assert not contest.two.leads.is_set()
    _wait(contest.two.leads, "the second to lead")
    contest.handed_over()
