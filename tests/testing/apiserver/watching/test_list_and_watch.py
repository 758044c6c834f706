"""LIST and WATCH on whatever was written: pages, old states, and watches that resume."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.testing.apiserver.read_server import ReadServer, events

PODS = "/api/v1/namespaces/default/pods"
ALL = "allowWatchBookmarks=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
_SELECTORS = st.sampled_from(["", "&labelSelector=app%3Dx", "&fieldSelector=metadata.name!%3Dp1"])
_ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(["put", "put", "put", "delete"]),
        st.sampled_from(["x", "y"]),
        st.integers(0, 3),
    ),
    max_size=25,
)


@given(_ACTIONS, _ACTIONS, st.integers(1, 4))
def test_pages_make_up_the_list_they_began_with(
    before: list[tuple[str, str, int]], after: list[tuple[str, str, int]], limit: int
) -> None:
    """K11: whatever is written between them."""
    server = ReadServer()
    _act(server, before)
    whole = server.answer(PODS).body
    pages: list[dict[str, Any]] = []
    page = json.loads(server.answer(f"{PODS}?limit={limit}").body)
    while True:
        pages.append(page)
        token = page["metadata"].get("continue")
        if not token:
            break
        _act(server, after)
        page = json.loads(server.answer(f"{PODS}?limit={limit}&continue={token}").body)
    items = json.loads(whole)["items"]
    assert [item for page in pages for item in page["items"]] == items
    assert {page["metadata"]["resourceVersion"] for page in pages} == {
        json.loads(whole)["metadata"]["resourceVersion"]
    }
    left = len(items)
    for page in pages:
        left -= len(page["items"])
        assert page["metadata"].get("remainingItemCount", 0) == left


@given(_ACTIONS, st.data())
def test_every_old_state_can_be_listed(
    actions: list[tuple[str, str, int]], data: st.DataObject
) -> None:
    """K21: from the cache, and without it from the log."""
    server = ReadServer()
    states: dict[int, list[Any]] = {1: []}
    for action in actions:
        _act(server, [action])
        states[server.log.revision] = json.loads(server.answer(PODS).body)["items"]
    rv = data.draw(st.sampled_from(sorted(states)))
    if data.draw(st.booleans()):
        server.hub.restart()
    exact = server.answer(f"{PODS}?resourceVersion={rv}&resourceVersionMatch=Exact")
    assert json.loads(exact.body)["items"] == states[rv]


@given(_ACTIONS, _ACTIONS, _SELECTORS, st.sampled_from(["list", "watch list", "from 0"]))
def test_list_and_watch_together_give_every_later_list(
    before: list[tuple[str, str, int]],
    after: list[tuple[str, str, int]],
    selector: str,
    way: str,
) -> None:
    """However the state was got, and however it is selected."""
    server = ReadServer()
    _act(server, before)
    state: dict[str, Any] = {}
    if way == "list":
        listed = json.loads(server.answer(f"{PODS}?limit=999{selector}").body)
        state = {item["metadata"]["name"]: item for item in listed["items"]}
        rv = listed["metadata"]["resourceVersion"]
        stream = server.watch(f"{PODS}?watch=1&resourceVersion={rv}{selector}")
    elif way == "watch list":
        stream = server.watch(f"{PODS}?watch=1&{ALL}{selector}")
    else:
        stream = server.watch(f"{PODS}?watch=1&resourceVersion=0{selector}")
    _act(server, after)
    newest = 0
    for event in map(json.loads, stream.take()):
        found = event["object"]
        if event["type"] == "BOOKMARK":
            continue
        name = found["metadata"]["name"]
        assert (name in state) is (event["type"] != "ADDED")
        if event["type"] == "DELETED":
            del state[name]
        else:
            state[name] = {k: v for k, v in found.items() if k not in ("kind", "apiVersion")}
        newest = max(newest, int(found["metadata"]["resourceVersion"]))
    assert newest <= server.log.revision
    expected = json.loads(server.answer(f"{PODS}?{selector[1:]}").body)["items"]
    assert state == {item["metadata"]["name"]: item for item in expected}


@given(_ACTIONS, st.data(), _SELECTORS)
def test_a_watch_resumed_anywhere_gives_the_rest(
    actions: list[tuple[str, str, int]], data: st.DataObject, selector: str
) -> None:
    server = ReadServer()
    whole = server.watch(f"{PODS}?watch=1&resourceVersion=1{selector}")
    _act(server, actions)
    frames = whole.take()
    assert server.watch(f"{PODS}?watch=1&resourceVersion=1{selector}").take() == frames
    if frames:
        cut = data.draw(st.integers(0, len(frames) - 1))
        rv = events([frames[cut]])[0][2]
        rest = server.watch(f"{PODS}?watch=1&resourceVersion={rv}{selector}").take()
        assert rest == frames[cut + 1 :]


def _act(server: ReadServer, actions: list[tuple[str, str, int]]) -> None:
    for action, label, number in actions:
        name = f"p{number}"
        if action == "put":
            server.put("pods", name, labels={"app": label})
        elif server.log.get("pods", ("default", name)) is not None:
            server.delete("pods", name)
