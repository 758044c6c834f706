"""LIST and GET, byte for byte as a real server answered in the same state."""

from __future__ import annotations

import json

import pytest

from listwatch.testing.apiserver.messages import Answer
from listwatch.testing.apiserver.reading.encoding import pretty_json
from tests.testing.apiserver.read_server import WIDGETS, ReadServer, events_of, items_of, recorded

_WIDGETS_54 = (
    "2-list-default",
    "2-list-limit10-page1",
    "2-list-limit10-page2",
    "2-list-limit10-page3",
    "2-list-limit10-page4",
    "2-list-limit10-page5",
)
_WIDGETS_55 = (
    "2-list-empty-namespace",
    "2-list-rv0-limit10",
    "2-list-notolder-limit10",
    "2-list-rvN-nomatch-limit10",
    "2-list-exact-limit10",
    "2-list-limit10-labelselector",
    "2-list-limit10-fieldselector",
    "2-list-continue-with-rv0",
    "2-list-continue-with-rv",
    "2-list-continue-with-match",
    "2-list-limit-bad",
    "2-list-match-bogus",
    "2-list-match-without-rv",
    "2-list-rv-future",
    "2-list-rv-future-exact",
    "2-list-rv-invalid",
    "2-list-rv0-exact-bad",
    "2-list-sendInitialEvents-without-watch",
    "3-list-accept-unsupported",
    "3-watch-path-of-one-object",
    "5-list-unknown-as",
    "6-field-badescape",
    "6-field-garbage",
    "6-field-unsupported",
    "6-label-badkey",
    "6-label-badvalue",
    "6-label-garbage",
)
_PODS_288 = (
    "k-list-pods-all-namespaces",
    "k-list-pods-all-namespaces-fs",
    "k-list-pods-bad-field",
    "k-list-pods-bad-field-syntax",
    "k-list-pods-bad-label",
    "k-list-pods-continue-garbage",
    "k-list-pods-continue-with-rv",
    "k-list-pods-empty",
    "k-list-pods-exact",
    "k-list-pods-exact-future",
    "k-list-pods-exact-old",
    "k-list-pods-exact-rv0",
    "k-list-pods-field-in",
    "k-list-pods-limit-abc",
    "k-list-pods-limit-field",
    "k-list-pods-limit-label",
    "k-list-pods-limit-neg",
    "k-list-pods-match-bogus",
    "k-list-pods-match-no-rv",
    "k-list-pods-no-such-namespace",
    "k-list-pods-notolder",
    "k-list-pods-notolder0",
    "k-list-pods-page1",
    "k-list-pods-page2",
    "k-list-pods-page3-last",
    "k-list-pods-pom-wrong",
    "k-list-pods-rv-abc",
    "k-list-pods-rv-future",
    "k-list-pods-rv-n",
    "k-list-pods-rv0",
    "k-list-pods-rv0-labels",
    "k-list-pods-sendinitial",
    "k-list-pods-timeout-1s",
    "k-list-pods-unknown-param",
    "k-get-pods",
    "k-get-pods-metadata",
    "k-get-pods-missing",
)


def _widgets(rv: int) -> ReadServer:
    server = ReadServer(rv=4)
    found = items_of("2-list-rv0-limit10")
    kept = [value for value in found if int(value["metadata"]["resourceVersion"]) <= rv]
    server.restore(WIDGETS, kept, rv)
    return server


def _pods(rv: int) -> ReadServer:
    server = ReadServer(rv=220)
    server.restore(server.type("pods"), items_of("k-list-pods-rv0"), rv)
    server.items("/api/v1/pods")  # brings the watch cache up to date, as other requests had
    return server


def _same(answer: Answer, name: str) -> None:
    recording = recorded(name)
    expected, body = recording.body, answer.body
    if expected.startswith(b"{\n"):  # how errors are printed is not the business of the reads
        expected, body = pretty_json(json.loads(expected)), pretty_json(json.loads(body))
    assert body == expected
    assert answer.status == recording.status
    assert answer.content_type == recording.headers.get("Content-Type")
    assert dict(answer.headers).get("Retry-After") == recording.headers.get("Retry-After")


@pytest.mark.parametrize("name", _WIDGETS_54)
def test_pages_of_a_custom_resource_are_those_recorded(name: str) -> None:
    server = _widgets(54)
    _same(server.settled(server.replay(name)), name)


@pytest.mark.parametrize("name", _WIDGETS_55)
def test_a_custom_resource_is_read_as_recorded(name: str) -> None:
    server = _widgets(55)
    _same(server.settled(server.replay(name)), name)


@pytest.mark.parametrize("name", _PODS_288)
def test_a_built_in_type_is_read_as_recorded(name: str) -> None:
    server = _pods(288)
    _same(server.settled(server.replay(name)), name)


@pytest.mark.parametrize("name", ["k-list-pods", "k-list-pods-metadata"])
def test_the_rv_of_a_list_is_that_of_the_store(name: str) -> None:
    """K10."""
    server = _pods(270)
    _same(server.settled(server.replay(name)), name)


def test_a_get_of_a_future_revision_is_refused_as_recorded() -> None:
    """K13."""
    server = _pods(290)
    name = "k-get-pods-rv-future"
    answer = server.settled(server.replay(name))
    assert server.now == 3.0
    _same(answer, name)


@pytest.mark.parametrize(
    "name",
    ["5-list-accept-json-charset", "5-list-poml", "5-list-poml-fallback-json", "5-get-pom"],
)
def test_metadata_alone_is_in_the_order_of_the_built_in_types(name: str) -> None:
    """K7: even of a custom resource, which is alphabetical otherwise."""
    server = _after_the_watch(212)
    if name == "5-list-accept-json-charset":
        server.log.revision = 213
    _same(server.settled(server.replay(name)), name)


def test_a_page_of_an_older_revision_is_as_recorded() -> None:
    """K11, K21: the token of a page names its revision, and compaction takes nothing from it."""
    server = _after_the_watch(79)
    _same(server.settled(server.replay("2-list-page1-for-expiry")), "2-list-page1-for-expiry")
    for name in ("w-000", "w-010", "w-050"):
        server.put("widgets", name)
    server.log.compact(server.log.revision)
    name = "2-list-page2-after-compaction-A"
    _same(server.settled(server.replay(name)), name)


def _after_the_watch(rv: int) -> ReadServer:
    server = _widgets(55)
    for event, value in events_of("3-watch-add-modify-status-delete"):
        if int(value["metadata"]["resourceVersion"]) <= rv:
            server.replay_write(WIDGETS, event, value)
    server.log.revision = rv
    return server


@pytest.mark.parametrize(
    "name",
    [
        "2-list-continue-expired-410-watchcache",
        "2-list-continue-expired-nolimit-watchcache",
        "2-list-exact-compacted-rv5",
        "k-compacted-restart-list-rv-old",
        "k-compacted-restart-exact",
        "k-compacted-restart-continue",
        "k-compacted-exact-events",
        "k-compacted-continue-events",
    ],
)
def test_what_is_forgotten_is_refused_as_recorded(name: str) -> None:
    """K21: 410, for types with a watch cache only after a restart."""
    server = ReadServer(rv=720)
    server.put("configmaps", "any")
    server.log.compact(720)
    if "events" not in name:
        server.hub.restart()
    _same(server.settled(server.replay(name)), name)


@pytest.mark.parametrize(
    "name", ["k-events-list-future", "k-events-list-exact-future", "k-events-get-future"]
)
def test_events_do_not_wait_for_a_future_revision(name: str) -> None:
    """K12: no watch cache."""
    server = ReadServer(rv=1271)
    _same(server.settled(server.replay(name)), name)
    assert server.now == 0.0


@pytest.mark.parametrize(
    "name", ["k-list-events", "k-list-events-metadata", "k-list-events-k8s-io"]
)
def test_events_are_listed_as_recorded(name: str) -> None:
    """K11: their tokens have no leading slash; K12; and both groups show the same objects."""
    server = ReadServer(rv=250)
    old = server.type("events")
    new = server.type("events", "events.k8s.io")
    for value in items_of("k-list-events"):
        server.replay_write(old, "ADDED", value)
    stored_as_new = items_of("k-list-events-k8s-io")[1]
    server.replay_write(new, "MODIFIED", stored_as_new)
    server.log.revision = 273
    answer = server.settled(server.replay(name))
    assert json.loads(answer.body)["metadata"] == json.loads(recorded(name).body)["metadata"]
    if name != "k-list-events-k8s-io":
        _same(answer, name)


@pytest.mark.parametrize(
    ("name", "plural", "source"),
    [
        ("k-list-configmaps", "configmaps", "k-list-configmaps"),
        ("k-list-configmaps-metadata", "configmaps", "k-list-configmaps"),
        ("k-list-nodes", "nodes", "k-list-nodes"),
        ("k-list-secrets", "secrets", "k-list-secrets"),
        ("k-list-services", "services", "k-list-services"),
        ("k-list-namespaces", "namespaces", "k-list-namespaces"),
    ],
)
def test_lists_of_other_built_in_types_are_as_recorded(name: str, plural: str, source: str) -> None:
    """K7: `<`, `>` and U+2028 escaped; K11."""
    server = ReadServer(rv=2)
    listed = json.loads(recorded(source).body)
    remaining = listed["metadata"].get("remainingItemCount", 0)
    values = listed["items"]
    for number in range(remaining):  # what the recorded page left out
        value = json.loads(json.dumps(values[-1]))
        value["metadata"]["name"] = f"zzz-{number}"
        values.append(value)
    server.restore(server.type(plural), values, 0)
    server.log.revision = int(json.loads(recorded(name).body)["metadata"]["resourceVersion"])
    _same(server.settled(server.replay(name)), name)


@pytest.mark.parametrize(
    "name",
    ["k-list-configmaps-bad-field", "k-list-deployments-bad-field", "k-list-events-bad-field"],
)
def test_unknown_fields_are_refused_as_recorded(name: str) -> None:
    """K39."""
    server = ReadServer()
    _same(server.settled(server.replay(name)), name)


def test_an_empty_list_of_metadata_is_null_as_recorded() -> None:
    """K8."""
    name = "k-list-configmaps-metadata-empty"
    server = ReadServer(rv=1271)
    _same(server.settled(server.replay(name)), name)
