from __future__ import annotations

import pytest

from listwatch.api import APIResource, InvalidOptions, SelectorError
from listwatch.cli.asked import Access, Selection, split_name
from listwatch.cli.failures import UsageError

PODS = APIResource(group="", version="v1", name="pods", kind="Pod", namespaced=True)
NODES = APIResource(group="", version="v1", name="nodes", kind="Node", namespaced=False)


@pytest.mark.parametrize(
    ("text", "resource", "name"),
    [
        ("pods", "pods", ""),
        ("pods/web-0", "pods", "web-0"),
        ("deployments.apps/web", "deployments.apps", "web"),
        ("v1/pods", "v1/pods", ""),
        ("v1/pods/web-0", "v1/pods", "web-0"),
        ("apps/v1/deployments", "apps/v1/deployments", ""),
        ("apps/v1/deployments/web", "apps/v1/deployments", "web"),
        ("example.com/v1alpha1/widgets/w", "example.com/v1alpha1/widgets", "w"),
        ("pods/v1", "pods", "v1"),
        ("pods/", "pods/", ""),
        ("pods/web/log", "pods/web/log", ""),
    ],
)
def test_a_name_may_follow_the_resource(text: str, resource: str, name: str) -> None:
    assert split_name(text) == (resource, name)


def test_a_name_is_a_field_selector_of_a_watch() -> None:
    selection = Selection.of("pods", "web-0")
    assert selection.options(since="7").query() == (
        ("fieldSelector", "metadata.name=web-0"),
        ("resourceVersion", "7"),
    )


def test_only_what_was_asked_for_is_sent() -> None:
    assert Selection.of("pods", None).options().query() == ()
    assert Selection.of("pods", None, label_selector="a=b", limit=3).options().query() == (
        ("labelSelector", "a=b"),
        ("limit", "3"),
    )


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("pods/a", "b"), {}, "named twice"),
        (("pods,nodes", None), {}, "one resource at a time"),
        (("pods", "a"), {"all_namespaces": True}, "-A does not go with a name"),
        (("pods", "a"), {"label_selector": "x=y"}, "a selector does not go with a name"),
        (("pods", "a"), {"field_selector": "x=y"}, "a selector does not go with a name"),
    ],
)
def test_what_makes_no_sense_is_refused(
    arguments: tuple[str, str | None], options: dict[str, object], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        Selection.of(*arguments, **options)  # type: ignore[arg-type]


@pytest.mark.clause("A4")
def test_selectors_and_limits_are_checked_before_anything_is_sent() -> None:
    with pytest.raises(SelectorError, match="at position 3"):
        Selection.of("pods", None, label_selector="a ,=")
    with pytest.raises(InvalidOptions, match="limit"):
        Selection.of("pods", None, limit=-1)


def test_the_namespace_is_the_given_one_or_the_contexts() -> None:
    assert Selection.of("pods", None, namespace="a").namespace_in(PODS, "b") == "a"
    assert Selection.of("pods", None).namespace_in(PODS, "b") == "b"
    everywhere = Selection.of("pods", None, namespace="a", all_namespaces=True)
    assert everywhere.namespace_in(PODS, "b") == ""


def test_a_resource_outside_of_namespaces_ignores_them() -> None:
    assert Selection.of("nodes", None, namespace="a").namespace_in(NODES, "b") == ""


def test_the_way_to_the_server_shows_no_token() -> None:
    assert "secret" not in repr(Access(server="https://a", token="secret"))
