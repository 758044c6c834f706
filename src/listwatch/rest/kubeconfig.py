"""Kubeconfig files: read, merged by kubectl's rules, and one context turned into a `ClientConfig`
(N1, N2)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from .config import ClientConfig, Overrides, travels_in_the_clear
from .credentials import BasicAuth, Credentials, StaticToken
from .errors import ConfigError
from .kubeconfig_file import KubeconfigFile, Section, read_kubeconfig_file

__all__ = ["Kubeconfig", "default_files", "load_kubeconfig"]

_MEANWHILE = (
    "Until then give a token (`kubectl create token SERVICEACCOUNT`), or run `kubectl proxy` and"
    " use its address as the server"
)
_NOT_YET = {
    "exec": "credentials from a program",
    "auth-provider": "credentials from an auth provider",
    "as": "impersonation",
    "as-uid": "impersonation",
    "as-groups": "impersonation",
    "as-user-extra": "impersonation",
}
_SUCCESSORS = {
    "gcp": "kubectl has dropped this provider for the exec plugin gke-gcloud-auth-plugin, and exec",
    "azure": "kubectl has dropped this provider for the exec plugin kubelogin, and exec",
}


def load_kubeconfig(path: str | os.PathLike[str], *, context: str | None = None) -> ClientConfig:
    """Read one kubeconfig file, and of it the context named, or else its current one.

    All files it points to are read now. Raises `ConfigError` naming file, context and field.

        config = load_kubeconfig("~/.kube/staging", context="admin")
    """
    return Kubeconfig.read([Path(path).expanduser()], must_exist=True).client_config(context)


def default_files(environ: Mapping[str, str]) -> tuple[str, list[Path]]:
    """Where kubectl looks when nobody says, with the name of that place: KUBECONFIG, else
    `~/.kube/config`."""
    if value := environ.get("KUBECONFIG"):
        names = dict.fromkeys(name for name in value.split(os.pathsep) if name)
        return "KUBECONFIG", [Path(name) for name in names]
    home = environ.get("HOME") or environ.get("USERPROFILE")
    if not home:
        return "~/.kube/config (KUBECONFIG is not set, and neither is HOME)", []
    return "~/.kube/config (KUBECONFIG is not set)", [Path(home, ".kube", "config")]


@dataclass(frozen=True, kw_only=True)
class Kubeconfig:
    """What several kubeconfig files say together.

    The first file that has a cluster, user or context of some name wins with the whole of it;
    nothing inside is mixed. The current context is that of the first file that has one.
    """

    clusters: Mapping[str, Section] = field(default_factory=dict)
    users: Mapping[str, Section] = field(default_factory=dict)
    contexts: Mapping[str, Section] = field(default_factory=dict)
    current_context: str = ""
    files: tuple[Path, ...] = ()
    """Those that were there."""
    tried: tuple[str, ...] = ()
    """Every path, with what became of it."""

    @classmethod
    def read(cls, paths: Iterable[Path], *, must_exist: bool = False) -> Kubeconfig:
        """Read and merge; a missing file is passed over unless it `must_exist`."""
        parts: list[KubeconfigFile] = []
        tried: list[str] = []
        for path in paths:
            part = read_kubeconfig_file(path)
            if part is not None:
                parts.append(part)
                tried.append(f"{path} has no content")
            elif must_exist:
                raise ConfigError(f"there is no kubeconfig file {path}")
            else:
                tried.append(f"there is no file {path}")
        parts.reverse()  # so that an earlier file writes over a later one
        return cls(
            clusters={name: entry for part in parts for name, entry in part.clusters.items()},
            users={name: entry for part in parts for name, entry in part.users.items()},
            contexts={name: entry for part in parts for name, entry in part.contexts.items()},
            current_context=next(
                (part.current_context for part in reversed(parts) if part.current_context), ""
            ),
            files=tuple(part.path for part in reversed(parts)),
            tried=tuple(tried),
        )

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing in it, so that kubectl would look elsewhere."""
        return not (self.clusters or self.users or self.contexts or self.current_context)

    def client_config(
        self, context: str | None = None, overrides: Overrides | None = None
    ) -> ClientConfig:
        """The configuration that one context stands for, `overrides` applied.

        What `overrides` replaces is not read, so a user whose `exec` we cannot run does not matter
        once there is a token.
        """
        overrides = overrides or Overrides()
        name, chosen = self._context(context)
        cluster = self._named("cluster", self.clusters, chosen).inside(chosen)
        user = self._named("user", self.users, chosen, optional=True).inside(chosen)
        config = _server_part(
            cluster,
            overrides,
            namespace=chosen.text("namespace") or "default",
            source=f"context {name!r} of {chosen.file}",
        )
        if overrides.token is not None:
            return overrides.on_identity(config)
        if travels_in_the_clear(config.server):
            if not user.fields:
                return config
            note = "without its user, because the server is plain http"
            return replace(config, source=f"{config.source} ({note})")
        certificate, key = _client_certificate(user)
        _refuse_unsupported(user)
        return replace(
            config,
            credentials=_credentials(user),
            client_cert_data=certificate,
            client_key_data=key,
        )

    def _context(self, wanted: str | None) -> tuple[str, Section]:
        name = self.current_context if wanted is None else wanted
        files = ", ".join(map(str, self.files))
        known = ", ".join(sorted(self.contexts)) or "none"
        if not name and wanted is None:
            raise ConfigError(
                f"{files}: no context was asked for and current-context is not set."
                f" Name one of its contexts: {known}"
            )
        if name not in self.contexts:
            which = "context" if wanted is not None else "current-context"
            raise ConfigError(f"{files}: there is no {which} {name!r}. Its contexts: {known}")
        return name, self.contexts[name]

    def _named(
        self,
        kind: str,
        entries: Mapping[str, Section],
        context: Section,
        *,
        optional: bool = False,
    ) -> Section:
        name = context.text(kind)
        if not name and optional:
            return Section(file=context.file, where=f"no {kind}", fields={})
        if not name:
            raise context.error(kind, f"names no {kind}")
        if name not in entries:
            known = ", ".join(sorted(entries)) or "none"
            raise context.error(kind, f"there is no {kind} {name!r}; there are: {known}")
        return entries[name]


def _server_part(
    cluster: Section, overrides: Overrides, *, namespace: str, source: str
) -> ClientConfig:
    if cluster.has("proxy-url"):
        raise cluster.error("proxy-url", f"a proxy is not supported yet. {_MEANWHILE}")
    server = cluster.text("server") if overrides.server is None else overrides.server
    if not server:
        raise cluster.error("server", "is missing: it should be the URL of the API server")
    ca_data: bytes | None = None
    insecure = False
    if overrides.ca_data is None and not overrides.insecure_skip_tls_verify:
        ca_data = cluster.pem("certificate-authority")
        insecure = cluster.flag("insecure-skip-tls-verify")
        if ca_data is not None and insecure and overrides.insecure_skip_tls_verify is None:
            raise cluster.error(
                "insecure-skip-tls-verify",
                "is true beside a certificate-authority: leave one out (better this one)",
            )
    ca_data, insecure = overrides.on_trust(ca_data, insecure)
    # The server's name in the file is that of another server than an overriding one.
    server_name = None if overrides.server else cluster.text("tls-server-name")
    return ClientConfig(
        server=server,
        ca_data=ca_data,
        insecure_skip_tls_verify=insecure,
        tls_server_name=server_name,
        namespace=namespace,
        source=source,
    )


def _client_certificate(user: Section) -> tuple[bytes | None, bytes | None]:
    certificate, key = user.pem("client-certificate"), user.pem("client-key")
    if certificate is not None and key is None:
        raise user.error("client-key", "is missing: a certificate needs its key")
    if key is not None and certificate is None:
        raise user.error(
            "client-certificate",
            "is missing: a key needs its certificate",
        )
    return certificate, key


def _refuse_unsupported(user: Section) -> None:
    for name, what in _NOT_YET.items():
        if not user.has(name):
            continue
        provider = user.fields[name].get("name") if isinstance(user.fields[name], dict) else None
        if name == "auth-provider" and provider in _SUCCESSORS:
            what = _SUCCESSORS[provider]
        raise user.error(name, f"{what} is not supported yet. {_MEANWHILE}")


def _credentials(user: Section) -> Credentials | None:
    """Token, token file or user name and password; a second kind beside the first is an error, as
    in kubectl."""
    token = user.text("token")
    if file := user.text("tokenFile"):
        # A place for reading it again (N2). It wins over `token`, which then is only what to use
        # while there is no file.
        try:
            token = user.read_file("tokenFile", file).decode("ascii", "replace").strip()
        except ConfigError:
            if not token:
                raise
        else:
            if not token:
                raise user.error("tokenFile", f"{file} is empty")
    username, password = user.text("username"), user.text("password")
    if token and (username or password):
        raise user.error("username", "is given beside a token: only one of the two can be sent")
    try:
        if token:
            return StaticToken(token)
        if username or password:
            return BasicAuth(username, password)
    except ConfigError as error:
        raise user.error("token" if token else "username", str(error)) from error
    return None
