"""ClusterRoles that are made of others are the same on both servers."""

from __future__ import annotations

from typing import Any

from conformance.controllers.manifests import Stages, both
from conformance.controllers.stage import Stage
from conformance.requests import Json

_ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"


def test_a_role_made_of_others(stages: Stages) -> None:
    """Each rule once, by the names of the roles; and again when one of them changes."""

    def play(stage: Stage) -> Any:
        mark = stage.namespace
        one = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
        other = {"nonResourceURLs": ["/metrics"], "verbs": ["get"]}
        server = stage.server
        for name, rules in (("b", [one, other]), ("a", [other]), ("c", [one])):
            metadata = {"name": f"{mark}-{name}", "labels": {"part-of": mark}}
            server.create(_ROLES, {"metadata": metadata, "rules": rules})
        path = f"{_ROLES}/{mark}-all"
        selector = {"matchLabels": {"part-of": mark}}
        rule = {"clusterRoleSelectors": [selector]}
        server.create(_ROLES, {"metadata": {"name": f"{mark}-all"}, "aggregationRule": rule})
        stage.until(lambda: len(server.get(path).get("rules") or ()) == 2, "its rules")
        first = server.get(path)
        server.patch(f"{_ROLES}/{mark}-b", {"rules": [{**one, "resourceNames": ["x"]}]})
        stage.until(lambda: len(server.get(path).get("rules") or ()) == 3, "another rule")
        second = server.get(path)
        for found in (first, second):
            for entry in found["metadata"]["managedFields"]:
                entry["time"] = ""
        parts = ("rules", "aggregationRule")
        return [
            [[found.get(part) for part in parts], found["metadata"]["managedFields"]]
            for found in (_plain(first, mark), _plain(second, mark))
        ]

    both(stages, play)


def _plain(role: Json, mark: str) -> Json:
    selector = {"matchLabels": {"part-of": mark}}
    assert role["aggregationRule"] == {"clusterRoleSelectors": [selector]}
    return {**role, "aggregationRule": None}
