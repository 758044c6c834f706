"""What people type for a resource."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.api import APIResource
from listwatch.rest.resource_names import (
    ResourceName,
    find_resource,
    near_names,
    parse_resource_name,
)

pytestmark = pytest.mark.clause("B1")


def resource(
    name: str, kind: str, group: str = "", version: str = "v1", short: tuple[str, ...] = ()
) -> APIResource:
    return APIResource(
        group=group,
        version=version,
        name=name,
        kind=kind,
        namespaced=True,
        singular=kind.lower(),
        short_names=short,
    )


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        ("pods", [("pods", None, None)]),
        ("PODS", [("pods", None, None)]),
        ("Pod", [("pod", None, None)]),
        ("pods.", [("pods", "", None)]),
        ("deployments.apps", [("deployments", "apps", None)]),
        ("Deployment.v1.apps", [("deployment", "apps", "v1"), ("deployment", "v1.apps", None)]),
        (
            "w.v1beta2.ex.io",
            [("w", "ex.io", "v1beta2"), ("w", "v1beta2.ex.io", None)],
        ),
        ("widgets.example.com", [("widgets", "example.com", None)]),
        ("pods.v1", [("pods", "", "v1")]),
        ("pods.v1.", [("pods", "", "v1")]),
        ("v1", [("v1", None, None)]),
        ("v1/pods", [("pods", "", "v1")]),
        ("v1/Po", [("po", "", "v1")]),
        ("apps/v1/deployments", [("deployments", "apps", "v1")]),
        ("example.com/v1alpha1/widgets", [("widgets", "example.com", "v1alpha1")]),
    ],
)
def test_forms(text: str, readings: list[tuple[str, str | None, str | None]]) -> None:
    assert parse_resource_name(text) == tuple(ResourceName(*reading) for reading in readings)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "not the name"),
        (" pods", "not the name"),
        ("pods,services", "not the name"),
        ("-pods", "not the name"),
        ("pöds", "not the name"),
        ("pods.apps.", "dot at its end"),
        ("pods..apps", "not the name"),
        (".apps", "not the name"),
        ("pods/log", "no version before"),
        ("pod/web-0", "no version before"),
        ("apps/deployments", "no version before"),
        ("deployments/scale/v1", "no version before"),
        ("apps/v1", "no resource in it"),
        ("v1/pods/log", "goes on after"),
        ("apps/v1/deployments/scale", "goes on after"),
        ("/v1/pods", "empty part"),
        ("apps//deployments", "empty part"),
        ("apps/v1/", "empty part"),
        ("apps/v1/de ploy", "not the name"),
        ("../v1/pods", "not the name"),
        ("apps/v1/..", "not the name"),
    ],
)
def test_what_cannot_be_a_resource_is_refused_with_the_reason(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        parse_resource_name(text)


PART = st.from_regex(r"[a-z]([-a-z0-9]{0,5}[a-z0-9])?", fullmatch=True)
GROUP = st.lists(PART, min_size=2, max_size=3).map(".".join)
VERSION = st.from_regex(r"v[1-9]((alpha|beta)[1-9])?", fullmatch=True)


@given(name=PART, group=GROUP, version=VERSION)
def test_every_full_spelling_finds_just_its_resource(name: str, group: str, version: str) -> None:
    wanted = resource(name, "Thing", group, version)
    decoys = [
        resource(name, "Thing", "a" + group, version),
        resource(name, "Thing", group, version + "0"),
        resource(name + "s", "Thing", group, version),
    ]
    for text in (f"{group}/{version}/{name}", f"{name}.{version}.{group}"):
        found = find_resource([*decoys, wanted], parse_resource_name(text)[0])
        assert found == wanted


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    readings: tuple[ResourceName, ...] = ()
    with contextlib.suppress(ValueError):  # the one way to refuse
        readings = parse_resource_name(text)
    assert all(reading.name for reading in readings)


def test_plural_goes_before_short_name_before_singular_before_kind() -> None:
    by_kind = APIResource(
        group="", version="v1", name="as", kind="X", namespaced=True, singular="a"
    )
    by_singular = APIResource(
        group="", version="v1", name="bs", kind="B", namespaced=True, singular="x"
    )
    by_short = resource("cs", "C", short=("x",))
    by_plural = resource("x", "D")
    everything = [by_kind, by_singular, by_short, by_plural]
    for expected in (by_plural, by_short, by_singular, by_kind):
        assert find_resource(everything, ResourceName("x")) == expected
        everything.remove(expected)


def test_of_equals_the_first_is_meant() -> None:
    core, other = resource("events", "Event"), resource("events", "Event", "events.k8s.io")
    assert find_resource([core, other], ResourceName("events")) == core
    assert find_resource([core, other], ResourceName("events", "events.k8s.io")) == other
    assert find_resource([other, core], ResourceName("events", "")) == core


def test_the_beginning_of_a_group_is_enough_only_when_asked_for() -> None:
    resources = [resource("ingresses", "Ingress", "networking.k8s.io")]
    wanted = ResourceName("ingresses", "networking")
    assert find_resource(resources, wanted) is None
    assert find_resource(resources, wanted, group_prefix=True) == resources[0]
    # The core group is no beginning of anything.
    assert find_resource(resources, ResourceName("ingresses", ""), group_prefix=True) is None


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (ResourceName("pdos"), "pods"),
        (ResourceName("deploymnet"), "deployments.apps"),
        (ResourceName("deployments", "nope"), "deployments.apps"),
        (ResourceName("pods", "", "v2"), "pods"),
    ],
)
def test_near_names_are_spelled_so_that_they_are_found(typed: ResourceName, expected: str) -> None:
    resources = [resource("pods", "Pod"), resource("deployments", "Deployment", "apps")]
    assert near_names(resources, typed)[0] == expected
    assert find_resource(resources, parse_resource_name(expected)[0])


def test_nothing_is_near_what_is_far() -> None:
    assert near_names([resource("pods", "Pod")], ResourceName("zzzzzzzz")) == ()
