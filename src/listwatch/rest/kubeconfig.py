"""Kubeconfig files: read, merged by kubectl's rules, and one context turned into a `ClientConfig`
(N1, N2)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from .config import ClientConfig, through_proxy, travels_in_the_clear
from .credentials import BasicAuth, Credentials, StaticToken
from .errors import ConfigError
from .impersonation import impersonation_of
from .kubeconfig_file import KubeconfigFile, Section, read_kubeconfig_file
from .overrides import Overrides, Trust
from .proxy import checked_proxy
from .token_file import TokenFile

if TYPE_CHECKING:
    from .exec.credential import ClusterInfo

__all__ = ["Kubeconfig", "default_files", "load_kubeconfig"]


def load_kubeconfig(path: str | os.PathLike[str], *, context: str | None = None) -> ClientConfig:
    """Read one kubeconfig file, and of it the context named, or else its current one.

    All files it points to are read now, and again while a client lives. A proxy is that of the
    cluster, else the environment's. Raises `ConfigError` naming file, context and field.

        config = load_kubeconfig("~/.kube/staging", context="admin")
    """
    merged = Kubeconfig.read([Path(path).expanduser()], must_exist=True)
    return through_proxy(merged.client_config(context), None, os.environ)


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

        What `overrides` replaces is not read, so a user whose `exec` cannot be run does not matter
        once there is a token.
        """
        overrides = overrides or Overrides()
        source, chosen = self._chosen(context, overrides)
        cluster = self._named("cluster", self.clusters, chosen, overrides.cluster)
        user = self._named("user", self.users, chosen, overrides.user, optional=True)
        config = _server_part(
            cluster,
            overrides,
            namespace=chosen.text("namespace") or "default",
            source=source,
        )
        if overrides.says_who:
            # Whom to act as is another question, as for kubectl.
            config = replace(config, impersonate=impersonation_of(user))
            return overrides.apply(config)
        proxy = config.proxy_url if overrides.proxy_url is None else overrides.proxy_url
        if travels_in_the_clear(config.server, proxy):
            if user.fields:
                note = "without its user, because the server is plain http"
                config = replace(config, source=f"{config.source} ({note})")
            return overrides.apply(config)
        certificate, key = _client_certificate(user)
        config = replace(
            config,
            client_cert_data=certificate,
            client_cert_file=_renewed(user, "client-certificate"),
            client_key_data=key,
            client_key_file=_renewed(user, "client-key"),
            impersonate=impersonation_of(user),
        )
        config = overrides.on_connection(config)  # a plugin is told of it
        config = replace(config, credentials=_credentials(user, cluster, config))
        return overrides.apply(config)

    def _chosen(self, wanted: str | None, overrides: Overrides) -> tuple[str, Section]:
        """The context, and what to call it."""
        if wanted is None and not self.current_context and overrides.cluster is not None:
            files = self.files[0] if self.files else Path()
            return f"cluster {overrides.cluster!r} of {files}", Section(
                file=files, where="no context", fields={}
            )
        name, chosen = self._context(wanted)
        return f"context {name!r} of {chosen.file}", chosen

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
        wanted: str | None,
        *,
        optional: bool = False,
    ) -> Section:
        name = context.text(kind) if wanted is None else wanted
        if not name and optional:
            return Section(file=context.file, where=f"no {kind}", fields={})
        if not name:
            raise context.error(kind, f"names no {kind}")
        if name not in entries:
            problem = (
                f"there is no {kind} {name!r}; there are: {', '.join(sorted(entries)) or 'none'}"
            )
            if wanted is not None:  # what the context says is not to blame
                raise ConfigError(f"{', '.join(map(str, self.files))}: {problem}")
            raise context.error(kind, problem)
        return entries[name].inside(context)


def _server_part(
    cluster: Section, overrides: Overrides, *, namespace: str, source: str
) -> ClientConfig:
    server = cluster.text("server") if overrides.server is None else overrides.server
    if not server:
        raise cluster.error("server", "is missing: it should be the URL of the API server")
    trust = Trust()
    if not overrides.says_whom_to_trust:
        trust = Trust(
            cluster.pem("certificate-authority"),
            _renewed(cluster, "certificate-authority"),
            cluster.flag("insecure-skip-tls-verify"),
        )
        both = trust.ca_data is not None and trust.insecure
        if both and overrides.insecure_skip_tls_verify is None:
            raise cluster.error(
                "insecure-skip-tls-verify",
                "is true beside a certificate-authority: leave one out (better this one)",
            )
    trust = overrides.on_trust(trust)
    # The server's name in the file is that of another server than an overriding one.
    server_name = None if overrides.server else cluster.text("tls-server-name")
    return ClientConfig(
        server=server,
        ca_data=trust.ca_data,
        ca_file=trust.ca_file,
        insecure_skip_tls_verify=trust.insecure,
        tls_server_name=server_name,
        proxy_url=_proxy(cluster),
        disable_compression=cluster.flag("disable-compression"),
        namespace=namespace,
        source=source,
    )


def _proxy(cluster: Section) -> str | None:
    text = cluster.text("proxy-url")
    try:
        return checked_proxy(text) if text else None
    except ValueError as error:
        raise cluster.error("proxy-url", str(error)) from error


def _renewed(section: Section, name: str) -> Path | None:
    """The file that holds what `name` is, and may be renewed; None where it stands in the
    kubeconfig.
    """
    return None if section.text(f"{name}-data") else section.path(name)


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


def _credentials(user: Section, cluster: Section, config: ClientConfig) -> Credentials | None:
    """Token, token file, user name and password, a plugin or a provider. Of a token and a password
    only one can be sent, which is an error as in kubectl; these and a client certificate win over a
    plugin, as in client-go.
    """
    owner = f"{user.where} in {user.file}"
    token, file = user.text("token"), user.path("tokenFile")
    username, password = user.text("username"), user.text("password")
    if (token or file) and (username or password):
        raise user.error("username", "is given beside a token: only one of the two can be sent")
    if user.has("exec") and user.has("auth-provider"):
        raise user.error("exec", "is given beside an auth-provider: leave one out")
    if file is not None:
        return _token_file(user, file, token, f"the token file {file} of {owner}")
    try:
        if token:
            return StaticToken(token, f"the token of {owner}")
        if username or password:
            return BasicAuth(username, password, f"the user name and password of {owner}")
    except ConfigError as error:
        raise user.error("token" if token else "username", str(error)) from error
    # Imported by those who need it.
    if user.has("exec") and config.client_cert_data is None:
        from .kubeconfig_exec import exec_credentials

        return exec_credentials(user, cluster=_cluster_info(cluster, config))
    if user.has("auth-provider"):
        from .kubeconfig_oidc import auth_provider_credentials

        return auth_provider_credentials(user)
    return None


def _token_file(user: Section, file: Path, token: str, description: str) -> TokenFile:
    """A file wins over `token`, which then is what to use while there is no file."""
    if not token:
        found = user.read_file("tokenFile", str(file)).decode("utf-8", "replace").strip()
        if not found:
            raise user.error("tokenFile", f"{file} is empty")
        try:
            StaticToken(found)
        except ConfigError as error:
            raise user.error("tokenFile", str(error)) from error
    return TokenFile(file, fallback=token, description=description)


def _cluster_info(cluster: Section, config: ClientConfig) -> ClusterInfo:
    """What a plugin is told of the cluster, if it wants to know."""
    from .exec.credential import ClusterInfo
    from .exec.extension import exec_extension

    return ClusterInfo(
        server=config.server,
        tls_server_name=config.tls_server_name or "",
        insecure_skip_tls_verify=config.insecure_skip_tls_verify,
        certificate_authority_data=config.ca_data,
        proxy_url=config.proxy_url or "",
        disable_compression=config.disable_compression,
        config=exec_extension(cluster),
    )
