"""Kubeconfig files, in the forms that they come in."""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import yaml

from conformance.certs import KeyPair

Form = Literal["token", "client-certificate", "inline-data", "insecure"]
"""How the user proves who it is, and how the server's authority is named:

- ``token``: a bearer token; the authority as a file
- ``client-certificate``: certificate and key as files; the authority as a file
- ``inline-data``: certificate, key and authority in the kubeconfig itself
- ``insecure``: a bearer token; the server's certificate is not verified
"""


def cluster_entry(server: str, ca_file: Path, form: Form) -> dict[str, Any]:
    """The ``cluster`` part of a kubeconfig."""
    if form == "insecure":
        return {"server": server, "insecure-skip-tls-verify": True}
    if form == "inline-data":
        return {"server": server, "certificate-authority-data": _data(ca_file)}
    return {"server": server, "certificate-authority": str(ca_file)}


def user_entry(token: str, pair: KeyPair, form: Form) -> dict[str, Any]:
    """The ``user`` part of a kubeconfig."""
    if form == "client-certificate":
        return {"client-certificate": str(pair.certificate), "client-key": str(pair.key)}
    if form == "inline-data":
        return {
            "client-certificate-data": _data(pair.certificate),
            "client-key-data": _data(pair.key),
        }
    return {"token": token}


def write_kubeconfig(
    folder: Path,
    cluster: Mapping[str, Any],
    users: Mapping[str, Mapping[str, Any]],
    namespace: str | None = None,
) -> Path:
    """Write a kubeconfig with a context for each user, the first being the current one."""
    scope = {} if namespace is None else {"namespace": namespace}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "conformance", "cluster": dict(cluster)}],
        "users": [{"name": user, "user": dict(entry)} for user, entry in users.items()],
        "contexts": [
            {"name": user, "context": {"cluster": "conformance", "user": user, **scope}}
            for user in users
        ],
        "current-context": next(iter(users)),
    }
    # A new file each time, since a test may edit the one that it got. Only its owner can read it.
    with tempfile.NamedTemporaryFile(
        "w", dir=folder, prefix="kubeconfig-", suffix=".yaml", delete=False
    ) as file:
        yaml.safe_dump(document, file, sort_keys=False)
    return Path(file.name)


def _data(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()
