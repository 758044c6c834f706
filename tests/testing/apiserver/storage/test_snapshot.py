"""Snapshots: an older state is the newest one without the writes since."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from listwatch.testing.apiserver.storage.log import Key, WriteLog
from listwatch.testing.apiserver.storage.snapshot import Snapshot

_KEYS = st.tuples(st.sampled_from(["a", "a-b", "b"]), st.sampled_from(["x", "x-1", "y", "z"]))
_STEPS = st.lists(st.tuples(st.sampled_from(["put", "put", "delete"]), _KEYS), max_size=30)


def _apply(log: WriteLog, steps: list[tuple[str, Key]]) -> list[dict[Key, int]]:
    """The states after each write, as keys and RVs."""
    states: list[dict[Key, int]] = [{}]
    for action, key in steps:
        state = dict(states[-1])
        if action == "put":
            state[key] = log.put("things", key, {"metadata": {}}).rv
        elif key in state:
            log.delete("things", key)
            del state[key]
        else:
            continue
        log.put("others", key, {"metadata": {}})
        states.append(state)
    return states


@given(_STEPS, st.data())
def test_every_state_can_be_read_in_parts(
    steps: list[tuple[str, Key]], data: st.DataObject
) -> None:
    log = WriteLog(lambda: 0.0)
    states = _apply(log, steps)
    number = data.draw(st.integers(0, len(states) - 1))
    namespace = data.draw(st.sampled_from(["", "a", "a-b", "b", "c"]))
    after = data.draw(st.none() | _KEYS)
    snapshot = Snapshot(log, "things", log.writes_after(1 + 2 * number))
    expected = {
        key: rv
        for key, rv in states[number].items()
        if namespace in ("", key[0]) and (after is None or "/".join(key) > "/".join(after))
    }
    found = list(snapshot.objects(namespace, after))
    assert [each.key for each in found] == sorted(expected, key="/".join)
    assert {each.key: each.rv for each in found} == expected
    assert snapshot.count(namespace, after) == len(expected)
    for key in states[-1].keys() | states[number].keys():
        one = snapshot.get(key)
        assert (one.rv if one else None) == states[number].get(key)


@given(_STEPS, st.integers(0, 30))
def test_the_log_reads_the_same_states(steps: list[tuple[str, Key]], number: int) -> None:
    log = WriteLog(lambda: 0.0)
    states = _apply(log, steps)
    number = min(number, len(states) - 1)
    found = {each.key: each.rv for each in log.objects_at(1 + 2 * number, "things")}
    assert found == states[number]
    assert log.count("things", namespace="a") == sum(key[0] == "a" for key in states[-1])


def test_namespaces_are_sorted_as_etcd_sorts_them() -> None:
    """By the text `namespace/name`: a real server was asked."""
    log = WriteLog(lambda: 0.0)
    for key in [("ab", "z"), ("ab-c", "a"), ("ab", "a")]:
        log.put("things", key, {"metadata": {}})
    assert [found.key for found in log.objects("things")] == [
        ("ab-c", "a"),
        ("ab", "a"),
        ("ab", "z"),
    ]
