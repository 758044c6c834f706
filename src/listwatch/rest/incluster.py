"""The configuration that every pod finds in itself: two variables and the mounted service account
(N3)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from .config import SERVICE_ACCOUNT, ClientConfig
from .credentials import StaticToken
from .errors import ConfigError
from .token_file import TokenFile

__all__ = ["NotInCluster", "load_in_cluster"]


class NotInCluster(ConfigError):
    """This process does not run in a pod with a service account: something `load_config` passes
    over."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"there is no in-cluster configuration: {reason}. Outside a pod use a kubeconfig."
        )
        self.reason = reason


def load_in_cluster(
    *,
    environ: Mapping[str, str] | None = None,
    root: str | os.PathLike[str] = SERVICE_ACCOUNT,
) -> ClientConfig:
    """Read KUBERNETES_SERVICE_HOST and _PORT, and `token`, `ca.crt` and `namespace` below the
    folder `root`.

    The namespace is POD_NAMESPACE if that is set, as in client-go. Without `ca.crt` the system's
    roots have to do. Token and CA are read again while a client lives: the kubelet renews them.

    Raises `NotInCluster` if the variables or the token are not there, `ConfigError` if they are but
    cannot be used.
    """
    environ = os.environ if environ is None else environ
    folder = Path(root)
    for name in ("KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"):
        if not environ.get(name):
            raise NotInCluster(f"{name} is not set")
    host, port = environ["KUBERNETES_SERVICE_HOST"], environ["KUBERNETES_SERVICE_PORT"]

    token = _read(folder / "token")
    if token is None:
        raise NotInCluster(
            f"KUBERNETES_SERVICE_HOST is set, but there is no {folder / 'token'}"
            " (does the pod have automountServiceAccountToken: false?)"
        )
    try:
        StaticToken(token.decode("ascii", "replace").strip())
    except ConfigError as error:
        raise ConfigError(f"{folder / 'token'}: {error}") from error
    ca_data = _read(folder / "ca.crt")
    if ca_data is not None and b"-----BEGIN" not in ca_data:
        raise ConfigError(f"{folder / 'ca.crt'}: holds no PEM text")
    mounted = _read(folder / "namespace") or b""
    namespace = environ.get("POD_NAMESPACE") or mounted.decode("utf-8", "replace").strip()
    return ClientConfig(
        server=f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}",
        ca_data=ca_data,
        ca_file=folder / "ca.crt" if ca_data is not None else None,
        credentials=TokenFile(folder / "token", description="the token of the service account"),
        namespace=namespace or "default",
        source=f"in-cluster, from {folder}" + (" (which has no ca.crt)" if not ca_data else ""),
    )


def _read(path: Path) -> bytes | None:
    """The bytes of `path`, None if there is no such file."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
