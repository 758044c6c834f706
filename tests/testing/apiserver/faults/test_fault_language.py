from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.testing.apiserver.faults.language import FaultSyntaxError, parse_fault
from listwatch.testing.apiserver.faults.model import (
    Compact,
    Cut,
    Delay,
    DropEvents,
    End,
    ErrorEvent,
    ExpireToken,
    FailWith,
    Fault,
    Garbage,
    Hang,
    How,
    Oversize,
    Refuse,
    Restart,
    Rotate,
    Skip,
    Stall,
    When,
    Where,
    Who,
)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (
            "watch pods: cut after 5000 bytes, 3 times",
            Fault(Cut(Where(5000)), Who("watch", "pods"), how=How(times=3)),
        ),
        ("any: reset after 100 wire bytes", Fault(Cut(Where(100, "wire bytes"), reset=True))),
        ("watch: end after 3 events", Fault(End(Where(3, "events")), Who("watch"))),
        ("list: stall after 1KiB for 2m", Fault(Stall(Where(1024), 120.0), Who("list"))),
        ("watch: hang after 2 events", Fault(Stall(Where(2, "events")), Who("watch"))),
        ("get pods named web: hang", Fault(Hang(), Who("get", "pods", name="web"))),
        ("read: delay 200ms", Fault(Delay(0.2), Who("read"))),
        (
            "list deployments.apps in kube-system: answer 503 as html with retry-after 2, once",
            Fault(
                FailWith(503, "html", 2),
                Who("list", "deployments.apps", "kube-system"),
                how=How(times=1),
            ),
        ),
        ("update pods/status: answer 409", Fault(FailWith(409), Who("update", "pods/status"))),
        ("get /readyz: answer 500 as text", Fault(FailWith(500, "text"), Who("get", "/readyz"))),
        (
            "watch: error 410 after 10 seconds",
            Fault(ErrorEvent(410, Where(10, "seconds")), Who("watch")),
        ),
        ("watch: drop event", Fault(DropEvents(), Who("watch"))),
        (
            "watch: drop 3 events after 5 events",
            Fault(DropEvents(3, Where(5, "events")), Who("watch")),
        ),
        ("watch: garbage", Fault(Garbage(), Who("watch"))),
        ("watch: oversize 17MiB", Fault(Oversize(17 * 1024**2), Who("watch"))),
        ("watch: skip marker", Fault(Skip("marker"), Who("watch"))),
        ("watch nodes: skip bookmarks", Fault(Skip("bookmarks"), Who("watch", "nodes"))),
        ("compact now", Fault(Compact(), when=When("now"))),
        ("create: compact, once", Fault(Compact(), Who("create"), how=How(times=1))),
        ("restart", Fault(Restart(), when=When("now"))),
        (
            "after 10s: restart lost down 2s",
            Fault(Restart("lost", 2.0), when=When("after", 10.0)),
        ),
        (
            "every 1m: restart back, 2 times",
            Fault(Restart("back"), when=When("every", 60), how=How(times=2)),
        ),
        ("refuse", Fault(Refuse(), when=When("now"))),
        ("refuse for 5s", Fault(Refuse(5.0), when=When("now"))),
        ("every 30s watch pods: cut", Fault(Cut(), Who("watch", "pods"), When("every", 30.0))),
        ("rotate certificate", Fault(Rotate(), when=When("now"))),
        ("rotate authority", Fault(Rotate("authority"), when=When("now"))),
        ("expire tokens", Fault(ExpireToken(), when=When("now"))),
        ("expire token abc", Fault(ExpireToken("abc"), when=When("now"))),
        ("cut, every 3rd request", Fault(Cut(), how=How(first=3, every=3))),
        ("cut, from request 4", Fault(Cut(), how=How(first=4))),
        ("cut, request 2", Fault(Cut(), how=How(first=2, last=2))),
        ("cut, chance 5%", Fault(Cut(), how=How(chance=0.05))),
    ],
)
def test_a_line_says_what_whom_when_and_how_often(line: str, fault: Fault) -> None:
    assert parse_fault(line) == fault


amounts = st.one_of(
    st.builds(Where, st.integers(0, 10**9), st.sampled_from(["bytes", "events"])),
    st.builds(Where, st.integers(1, 10**6).map(lambda n: n / 1000), st.just("seconds")),
)
times = st.integers(0, 10**7).map(lambda number: number / 1000)
names = st.from_regex(r"[a-z]([a-z0-9-]{0,8}[a-z0-9])?", fullmatch=True).filter(
    lambda name: (
        name not in ("in", "named", "any", "read", "write", "get", "list", "watch")
        and name
        not in ("create", "update", "patch", "delete", "deletecollection", "after", "every")
    )
)
actions = st.one_of(
    st.builds(Cut, amounts, st.booleans()),
    st.builds(Cut, st.builds(Where, st.integers(0, 9999), st.just("wire bytes"))),
    st.builds(End, amounts),
    st.builds(Stall, amounts, st.none() | times),
    st.just(Hang()),
    st.builds(Delay, times),
    st.builds(
        FailWith,
        st.integers(200, 599),
        st.sampled_from(["status", "text", "html"]),
        st.none() | st.integers(0, 999),
    ),
    st.builds(ErrorEvent, st.integers(400, 599), amounts),
    st.builds(DropEvents, st.integers(1, 99), amounts),
    st.builds(Garbage, amounts),
    st.builds(Oversize, st.integers(1, 10**8), amounts),
    st.builds(Skip, st.sampled_from(["marker", "bookmarks"])),
    st.just(Compact()),
    st.builds(Restart, st.sampled_from(["kept", "lost", "back"]), times),
    st.builds(Refuse, times),
    st.builds(Rotate, st.sampled_from(["certificate", "authority"])),
    st.builds(ExpireToken, st.just("") | names),
)
limits = st.one_of(
    st.builds(
        How,
        times=st.none() | st.integers(1, 99),
        first=st.integers(1, 99),
        every=st.integers(1, 130),
        chance=st.integers(1, 10000).map(lambda n: n / 10000),
    ),
    st.integers(1, 99).map(lambda n: How(first=n, last=n)),
)


@given(
    what=actions,
    resource=st.just("") | names | st.builds("{}/{}".format, names, names),
    namespace=st.just("") | names,
    name=st.just("") | names,
    how=limits,
)
def test_a_fault_written_down_reads_as_itself(
    what: Cut, resource: str, namespace: str, name: str, how: How
) -> None:
    fault = Fault(what, Who("watch", resource, namespace, name), how=how)
    again = parse_fault(str(fault))
    assert (again.what, again.who, again.when) == (fault.what, fault.who, fault.when)
    assert (again.how.times, again.how.first, again.how.every, again.how.last) == (
        how.times,
        how.first,
        how.every,
        how.last,
    )
    assert again.how.chance == pytest.approx(how.chance)


@pytest.mark.parametrize(
    "line",
    [
        "every 30s watch pods: cut, 3 times",
        "after 1.5s: compact",
        "refuse for 5s",
        "restart lost down 2s",
        "watch: drop 1 event after 2 events, once",
        "any: cut, every 2nd request, from request 5",
    ],
)
def test_a_line_in_its_shortest_form_stays_as_it_is(line: str) -> None:
    assert str(parse_fault(line)) == line


@pytest.mark.parametrize(
    ("line", "position", "words"),
    [
        ("", 0, "what is to happen was expected"),
        ("watch pods: explode", 12, "'explode' is none of cut, reset, end"),
        ("watch pods: cut after", 21, "how far was expected"),
        ("watch pods: cut after 50 parsecs", 22, "'parsecs' is none of bytes"),
        ("watch pods: cut after 5000 bytes 3 times", 33, "a comma or the end was expected"),
        ("watch pods: cut, 3", 18, "'times' was expected"),
        ("watch pods: cut, 0 times", 17, "a limit was expected"),
        ("watch pods in: cut", 13, "a namespace was expected"),
        ("list: answer 99", 13, "a status code was expected"),
        ("list: answer 503 as xml", 20, "one of status, text, html"),
        ("list: error 410", 6, "only a watch has events"),
        ("watch: skip events", 12, "one of marker, bookmarks"),
        ("delay fast", 6, "a time was expected"),
        ("delay 5", 6, "'' is no unit of time"),
        ("watch: oversize 5 s", 16, "'s' is no unit of size"),
        ("every 5s: delay 1s", 10, "at a time only the server"),
        ("after 5s: cut after 3 bytes", 10, "leave the second 'after' out"),
        ("after 5s: compact, 2 times", 10, "say 'every' for more"),
        ("compact, 2 times", 0, "say 'every' for more"),
        ("every 5s: compact, every 2nd request", 10, "requests cannot be counted"),
        ("list: stall after 5 wire bytes", 6, "wire bytes are counted for cut and reset only"),
        ("watch: cut, chance 0%", 19, "a percentage above 0"),
        ("restart sideways", 8, "one of kept, lost, back"),
    ],
)
def test_a_line_that_is_none_is_refused_with_its_place(
    line: str, position: int, words: str
) -> None:
    with pytest.raises(FaultSyntaxError) as found:
        parse_fault(line)
    assert found.value.position == position
    assert words in str(found.value)
    assert f"at position {position}" in str(found.value)


def test_the_refusal_survives_pickling() -> None:
    with pytest.raises(FaultSyntaxError) as found:
        parse_fault("nonsense")
    again = pickle.loads(pickle.dumps(found.value))
    assert str(again) == str(found.value)


@given(st.text(max_size=40))
def test_no_text_is_anything_but_a_fault_or_refused(text: str) -> None:
    position, parsed = 0, None
    try:
        parsed = parse_fault(text)
    except FaultSyntaxError as error:
        position = error.position
    assert 0 <= position <= len(text)
    assert parsed is None or parse_fault(str(parsed)) == parsed
