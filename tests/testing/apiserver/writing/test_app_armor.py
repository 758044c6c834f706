"""Profiles of AppArmor that only annotations of a new pod tell (K29)."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.testing.apiserver.writing.app_armor import copy_profiles

_PREFIX = "container.apparmor.security.beta.kubernetes.io/"


def copied(annotations: dict[str, str], **spec: Any) -> tuple[dict[str, Any], list[str]]:
    """The profiles by container, and what is warned of."""
    sent = {"containers": [{"name": "a"}, {"name": "b"}], "initContainers": [{"name": "i"}], **spec}
    marked = {f"{_PREFIX}{name}": profile for name, profile in annotations.items()}
    pod: dict[str, Any] = {"metadata": {"annotations": marked}, "spec": sent}
    warnings = copy_profiles(pod)
    told = [warning.partition("]")[0].removeprefix("metadata.annotations[") for warning in warnings]
    found = {
        container["name"]: container["securityContext"]["appArmorProfile"]
        for kind in ("initContainers", "containers")
        for container in pod["spec"][kind]
        if "securityContext" in container
    }
    assert sent["containers"][0] == spec.get("containers", [{"name": "a"}])[0]
    return found, [name.removeprefix(_PREFIX) for name in told]


@pytest.mark.parametrize(
    ("annotation", "profile"),
    [
        ("unconfined", {"type": "Unconfined"}),
        ("runtime/default", {"type": "RuntimeDefault"}),
        ("localhost/x", {"type": "Localhost", "localhostProfile": "x"}),
    ],
)
def test_the_container_of_that_name_has_the_profile(annotation: str, profile: Any) -> None:
    assert copied({"b": annotation}) == ({"b": profile}, ["b"])


@pytest.mark.parametrize("annotation", ["", "nope", "localhost/", "localhost/ x"])
def test_what_is_no_profile_is_only_warned_of(annotation: str) -> None:
    assert copied({"a": annotation}) == ({}, ["a"])


def test_nothing_is_done_where_the_pod_or_the_container_says_it() -> None:
    context = {"appArmorProfile": {"type": "Unconfined"}}
    assert copied({"a": "unconfined"}, securityContext=context) == ({}, [])
    own = {"containers": [{"name": "a", "securityContext": context}]}
    assert copied({"a": "runtime/default"}, **own) == ({"a": {"type": "Unconfined"}}, [])


def test_containers_of_other_names_and_of_windows_have_none() -> None:
    assert copied({"x": "unconfined"}) == ({}, [])
    assert copied({"a": "unconfined"}, os={"name": "windows"}) == ({}, [])


def test_warnings_are_in_the_order_of_the_containers() -> None:
    _, told = copied(dict.fromkeys(("b", "a", "i"), "unconfined"))
    assert told == ["i", "a", "b"]
