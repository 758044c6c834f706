"""APIServices of what a server itself serves."""

from __future__ import annotations

from conformance.behaviour.admitting import while_there
from conformance.behaviour.space import Space
from conformance.waiting import until

_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"


def test_what_is_served_here_has_api_services(space: Space) -> None:
    """APIServices of the versions of groups that the server itself serves are there (K3)."""
    names = {found["metadata"]["name"] for found in space.server.get(_SERVICES)["items"]}
    assert {"v1.", "v1.apps", "v1.batch", "v2.autoscaling", "v1.apiextensions.k8s.io"} <= names
    found = space.server.get(f"{_SERVICES}/v1.apps")
    assert found["spec"] == {
        "group": "apps",
        "version": "v1",
        "groupPriorityMinimum": 17800,
        "versionPriority": 15,
    }
    (condition,) = found["status"]["conditions"]
    assert (condition["type"], condition["status"], condition["reason"]) == (
        "Available",
        "True",
        "Local",
    )
    assert found["metadata"]["labels"] == {"kube-aggregator.kubernetes.io/automanaged": "onstart"}


def test_the_api_services_of_custom_types_come_and_go(space: Space) -> None:
    """An APIService for each served version of custom types, as long as they are defined (K43)."""
    group = f"{space.name}.example.com"
    versions = [
        {
            "name": name,
            "served": name != "v1alpha1",
            "storage": name == "v1",
            "schema": {"openAPIV3Schema": {"type": "object"}},
        }
        for name in ("v1", "v1beta1", "v1alpha1")
    ]
    definition = {
        "metadata": {"name": f"ws.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": "ws", "kind": "W"},
            "versions": versions,
        },
    }

    def there() -> set[str]:
        found = space.server.get(_SERVICES)["items"]
        return {each["metadata"]["name"] for each in found if each["spec"].get("group") == group}

    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    with while_there(space, definitions, definition):
        until(lambda: there() == {f"v1.{group}", f"v1beta1.{group}"}, what="APIServices")
        found = space.server.get(f"{_SERVICES}/v1.{group}")
        assert (found["spec"]["groupPriorityMinimum"], found["spec"]["versionPriority"]) == (
            1000,
            100,
        )
    until(lambda: not there(), what="APIServices to go")
