"""What a server makes for itself when it first starts."""

from __future__ import annotations

from conformance.bootstrap import bootstrap_objects, recorded
from conformance.requests import Json
from conformance.two_servers import TestedServer

_AGGREGATED = ("admin", "edit", "view")


def _without_rules(objects: list[Json]) -> list[Json]:
    """Those that come from other roles are a controller's, which no server here has."""
    made = []
    for obj in objects:
        if obj["kind"] == "ClusterRole" and obj["metadata"]["name"] in _AGGREGATED:
            metadata = {**obj["metadata"], "managedFields": obj["metadata"]["managedFields"][-1:]}
            obj = {**obj, "metadata": metadata, "rules": None}
        made.append(obj)
    return sorted(made, key=lambda obj: (obj["kind"], obj["metadata"]["name"]))


def test_a_server_begins_with_roles_and_flow_schemas(server: TestedServer) -> None:
    """A new server has ClusterRoles, Roles, their bindings, FlowSchemas and
    PriorityLevelConfigurations of its own, each with its managedFields.
    """
    assert _without_rules([*bootstrap_objects(server)]) == _without_rules(recorded())
