"""Who may do what on a cluster: one who may do all, one who may do little, one nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

ADMIN, VIEWER, NOBODY = "admin", "viewer", "nobody"

USERS: Mapping[str, tuple[str, ...]] = {ADMIN: ("system:masters",), VIEWER: (), NOBODY: ()}
"""The users and their groups. ``viewer`` may get, list and watch pods in the namespace
``default``, and ``nobody`` may do nothing."""

_RBAC = "rbac.authorization.k8s.io"
_ROLE = "pod-viewer"

VIEWER_ROLE: Mapping[str, Mapping[str, Any]] = {
    f"/apis/{_RBAC}/v1/namespaces/default/roles": {
        "metadata": {"name": _ROLE},
        "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}],
    },
    f"/apis/{_RBAC}/v1/namespaces/default/rolebindings": {
        "metadata": {"name": _ROLE},
        "roleRef": {"apiGroup": _RBAC, "kind": "Role", "name": _ROLE},
        "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": VIEWER}],
    },
}
"""What to create, by collection, for ``viewer`` to have its rights."""


def write_tokens(folder: Path, tokens: Mapping[str, str]) -> Path:
    """Write the kube-apiserver's file of static tokens."""
    path = folder / "tokens.csv"
    path.touch(mode=0o600)
    path.write_text(
        "".join(
            f'{token},{user},{user},"{",".join(USERS[user])}"\n' for user, token in tokens.items()
        )
    )
    return path
