"""LIST in pages: limit, continue, remainingItemCount."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from conformance.behaviour.space import Space, names, refusal, rv, token_of
from conformance.objects import CustomResource
from conformance.requests import Json
from conformance.two_servers import TestedServer


@pytest.fixture
def filled(space: Space) -> Space:
    """Five ConfigMaps."""
    space.add(*(f"n{number}" for number in range(5)), labels={"app": "web"})
    return space


def _pages(space: Space, **query: Any) -> Iterator[Json]:
    page = space.list(**query)
    yield page
    while token := page["metadata"].get("continue"):
        page = space.list(limit=query["limit"], continue_=token)
        yield page


def test_pages_are_one_list(filled: Space) -> None:
    """Pages give every object once, in order."""
    found = [names(page) for page in _pages(filled, limit=2)]
    assert found == [["n0", "n1"], ["n2", "n3"], ["n4"]]


def test_pages_report_the_rv_of_the_first(filled: Space) -> None:
    """All pages have the RV of the first, and show the state at it, whatever is written since."""
    first = filled.list(limit=2)
    filled.add("n3-later")
    filled.remove("n4")
    second = filled.list(limit=10, continue_=first["metadata"]["continue"])
    assert names(second) == ["n2", "n3", "n4"]
    assert rv(second) == rv(first)


def test_a_page_tells_how_many_remain(filled: Space) -> None:
    """remainingItemCount counts what is behind the page; the last page has none."""
    counts = [page["metadata"].get("remainingItemCount") for page in _pages(filled, limit=2)]
    assert counts == [3, 1, None]


def test_the_last_page_has_no_token(filled: Space, widgets: CustomResource) -> None:
    """A typed last page leaves ``continue`` out, a CR's has an empty one."""
    *_, last = _pages(filled, limit=2)
    assert "continue" not in last["metadata"]
    for name in ("a", "b", "c"):
        filled.put(widgets.object(name), "widgets")
    *_, last = _pages(Space(filled.server, filled.name), limit=5)
    page = filled.list("widgets", limit=2)
    end = filled.list("widgets", limit=2, continue_=page["metadata"]["continue"])
    assert end["metadata"]["continue"] == ""


def test_a_limit_that_is_reached_exactly_has_no_token(filled: Space) -> None:
    """A page that holds the rest exactly is the last."""
    assert "continue" not in filled.list(limit=5)["metadata"]


def test_a_selector_leaves_the_count_out(filled: Space) -> None:
    """With a label or field selector there is never a remainingItemCount."""
    selectors: list[dict[str, Any]] = [
        {"labelSelector": "app=web"},
        {"fieldSelector": "metadata.name!=n0"},
    ]
    for selector in selectors:
        metadata = filled.list(limit=2, **selector)["metadata"]
        assert metadata["continue"]
        assert "remainingItemCount" not in metadata


def test_pages_go_on_with_a_selector(filled: Space) -> None:
    """A selector counts on every page; limit is of what is selected."""
    query: dict[str, Any] = {"limit": 2, "fieldSelector": "metadata.name!=n1"}
    first = filled.list(**query)
    second = filled.list(**query, continue_=first["metadata"]["continue"])
    assert [names(first), names(second)] == [["n0", "n2"], ["n3", "n4"]]


def test_rv_0_ignores_the_limit(filled: Space) -> None:
    """RV 0 with a limit gives everything, where there is a watch cache."""
    assert filled.list()["items"]  # the cache is as new as this
    listed = filled.list(limit=2, resourceVersion=0)
    assert len(listed["items"]) == 5
    assert "continue" not in listed["metadata"]


def test_events_honour_the_limit_at_rv_0(space: Space) -> None:
    """Events have no watch cache: RV 0 with a limit gives a page (K12)."""
    for name in ("a", "b", "c"):
        space.put(_event(space, name), "events")
    listed = space.list("events", limit=2, resourceVersion=0)
    assert names(listed) == ["a", "b"]
    assert listed["metadata"]["remainingItemCount"] == 1


def test_a_token_has_rv_and_key(filled: Space) -> None:
    """continue is base64 of JSON: version, RV, and the key where the next page starts (K11)."""
    page = filled.list(limit=2)
    assert token_of(page) == {"v": "meta.k8s.io/v1", "rv": rv(page), "start": "/n1\u0000"}


def test_a_token_over_all_namespaces_has_the_namespace(server: TestedServer) -> None:
    """Over all namespaces the key begins with the namespace (K11)."""
    space = Space.make(server)
    space.add("a", "b", labels={"in": space.name})
    page = server.get(f"/api/v1/configmaps?limit=1&labelSelector=in%3D{space.name}")
    assert token_of(page)["start"] == f"/{space.name}/a\u0000"


def test_a_token_without_cache_has_no_slash(space: Space) -> None:
    """Of a list served without a cache the key has no leading slash (K11)."""
    for name in ("a", "b"):
        space.put(_event(space, name), "events")
    assert token_of(space.list("events", limit=1))["start"] == "a\u0000"


def test_a_page_may_have_another_size(filled: Space) -> None:
    """The limit may change from page to page, and may be left out."""
    token = filled.list(limit=1)["metadata"]["continue"]
    assert names(filled.list(limit=3, continue_=token)) == ["n1", "n2", "n3"]
    assert names(filled.list(continue_=token)) == ["n1", "n2", "n3", "n4"]


def test_a_token_with_an_rv_is_refused(filled: Space) -> None:
    """continue with a resourceVersion is 400, but for RV 0; with a match 422."""
    token = filled.list(limit=1)["metadata"]["continue"]
    with_rv = filled.ask("GET", filled.path(continue_=token, resourceVersion=5))
    assert refusal(with_rv)[:2] == (400, "BadRequest")
    with_0 = filled.ask("GET", filled.path(continue_=token, resourceVersion=0))
    assert with_0.status == 200
    query: dict[str, Any] = {"resourceVersion": 5, "resourceVersionMatch": "Exact"}
    with_match = filled.ask("GET", filled.path(continue_=token, **query))
    assert refusal(with_match)[:2] == (422, "Invalid")


def test_exact_pages(filled: Space) -> None:
    """Exact with a limit gives a first page of that state."""
    at = rv(filled.list())
    filled.add("n0-later")
    first = filled.list(limit=2, resourceVersion=at, resourceVersionMatch="Exact")
    second = filled.list(limit=3, continue_=first["metadata"]["continue"])
    assert [names(first), names(second)] == [["n0", "n1"], ["n2", "n3", "n4"]]
    assert rv(first) == rv(second) == at


def _event(space: Space, name: str) -> Json:
    return {
        "metadata": {"name": name},
        "involvedObject": {"kind": "Pod", "namespace": space.name, "name": "web"},
    }
