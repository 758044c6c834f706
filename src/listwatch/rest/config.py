"""Which server to talk to, as whom, and how to be sure that it is the right one (N1, N2, N4)."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from .credentials import Credentials, StaticToken
from .errors import ConfigError

__all__ = ["ClientConfig", "load_config"]

SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
"""Where a pod finds its token, CA and namespace."""


@dataclass(frozen=True, kw_only=True, repr=False)
class ClientConfig:
    """One server and what it takes to be let in. Immutable, checked when it is made, and its repr
    shows no secret.

    `load_config` makes one from the usual places; this is the form to give everything by hand:

        >>> ClientConfig(server="https://10.0.0.1:6443", credentials=StaticToken("abc"))
        ClientConfig(server='https://10.0.0.1:6443', credentials=StaticToken(<hidden>), \
namespace='default', source='given by the program')

    Raises `ConfigError` where the parts do not fit together. The files and PEM texts themselves are
    read by `ssl_context`.
    """

    server: str
    """`https://host:port/base/path`. Without a scheme it is https if there is a CA, a client
    certificate or `insecure_skip_tls_verify`, else http (client-go's rule). Kept without a slash at
    its end."""
    ca_data: bytes | None = None
    """PEM certificates that the server's own must chain to; None means the system's."""
    insecure_skip_tls_verify: bool = False
    """Do not look at the server's certificate at all. Anybody in between can then read and change
    everything."""
    tls_server_name: str | None = None
    """The name that the server's certificate must carry, where that is not the host in `server`."""
    client_cert_data: bytes | None = None
    client_key_data: bytes | None = None
    credentials: Credentials | None = None
    """None means none: the server sees `system:anonymous`, or whoever the client certificate
    names."""
    namespace: str = "default"
    """The one to use where the caller names none."""
    source: str = "given by the program"
    """Where this came from, for messages."""

    def __post_init__(self) -> None:
        for name in ("ca_data", "client_cert_data", "client_key_data", "tls_server_name"):
            if not getattr(self, name):
                object.__setattr__(self, name, None)
        has_tls = bool(self.ca_data or self.client_cert_data or self.insecure_skip_tls_verify)
        object.__setattr__(self, "server", _server_url(self.server, self.source, has_tls=has_tls))
        if self.insecure_skip_tls_verify and self.ca_data:
            raise ConfigError(
                f"{self.source}: a certificate authority and insecure-skip-tls-verify exclude each"
                " other: leave one out (better the latter)"
            )
        if (self.client_cert_data is None) != (self.client_key_data is None):
            given, lacking = (
                ("certificate", "key") if self.client_cert_data else ("key", "certificate")
            )
            raise ConfigError(f"{self.source}: there is a client {given} but no client {lacking}")
        if not self.namespace:
            raise ConfigError(f"{self.source}: the namespace is empty")

    def __repr__(self) -> str:
        shown = [f"server={self.server!r}"]
        if self.ca_data is not None:
            shown.append(f"ca_data=<{len(self.ca_data)} bytes>")
        if self.insecure_skip_tls_verify:
            shown.append("insecure_skip_tls_verify=True")
        if self.tls_server_name is not None:
            shown.append(f"tls_server_name={self.tls_server_name!r}")
        if self.client_cert_data is not None:
            shown.append(f"client_cert_data=<{len(self.client_cert_data)} bytes>")
            shown.append("client_key_data=<hidden>")
        if self.credentials is not None:
            # The type alone: the repr of somebody else's class may show what it holds.
            shown.append(f"credentials={type(self.credentials).__name__}(<hidden>)")
        shown += [f"namespace={self.namespace!r}", f"source={self.source!r}"]
        return f"ClientConfig({', '.join(shown)})"


@dataclass(frozen=True, kw_only=True)
class Overrides:
    """What the caller of `load_config` insists on, whatever a file says. None means no such
    wish."""

    server: str | None = None
    token: str | None = field(default=None, repr=False)
    ca_data: bytes | None = None
    insecure_skip_tls_verify: bool | None = None

    def on_trust(self, ca_data: bytes | None, insecure: bool) -> tuple[bytes | None, bool]:
        """A config's CA and `insecure_skip_tls_verify` with these in place of its own.

        Each of the two ends what the config says of the other.
        """
        if self.ca_data is not None:
            return self.ca_data, bool(self.insecure_skip_tls_verify)
        if self.insecure_skip_tls_verify is not None:
            return None if self.insecure_skip_tls_verify else ca_data, self.insecure_skip_tls_verify
        return ca_data, insecure

    def on_identity(self, config: ClientConfig) -> ClientConfig:
        """`config` with this token in place of its own credentials.

        A token replaces all that says who we are, client certificate included: a server that is
        shown both goes by the certificate. Raises `ConfigError` if the token would have to travel
        in the clear.
        """
        if self.token is None:
            return config
        if travels_in_the_clear(config.server):
            raise ConfigError(
                f"a token is not sent to {config.server} over plain http, where anybody in between"
                " can read it: use https:// or leave the token out"
            )
        return replace(
            config,
            credentials=StaticToken(self.token),
            client_cert_data=None,
            client_key_data=None,
        )


def load_config(
    *,
    server: str | None = None,
    kubeconfig: str | os.PathLike[str] | None = None,
    context: str | None = None,
    token: str | None = None,
    ca_file: str | os.PathLike[str] | None = None,
    insecure_skip_tls_verify: bool | None = None,
    environ: Mapping[str, str] | None = None,
    service_account: str | os.PathLike[str] = SERVICE_ACCOUNT,
) -> ClientConfig:
    """Find out how to reach the server, from the first of these that says so (N1).

    1. `server`, without `kubeconfig` and `context`: that server, and **nothing from any file**, not
       even from one named by KUBECONFIG. (kubectl would send the credentials of its current context
       there; a token must not go to a server it was not issued for.)
    2. `kubeconfig`: that file alone, which must exist.
    3. The files named by KUBECONFIG, merged: the first to name a cluster, user or context has it,
       the first with a current-context decides; a missing file is passed over. If it is set, 4 is
       not looked at.
    4. `~/.kube/config`.
    5. The service account of the pod we run in, below the folder `service_account`.

    Files without any content count as missing. `context` chooses a context of 2, 3 or 4, and rules
    5 out. `token`, `ca_file` and `insecure_skip_tls_verify` win over what is found, and so does
    `server` together with `kubeconfig` or `context`: saying both means that the credentials of the
    one are for the other.

    Credentials travel over TLS, or to this very machine, only: with a plain http server elsewhere
    those of a kubeconfig are left out, as in kubectl (`source` then says so), and an explicit
    `token` is an error.

    `environ` stands in for `os.environ`. Raises `ConfigError`, which names file, context and field,
    or all that was tried.

        config = load_config(context="staging")
    """
    # Both build on ClientConfig, which is here.
    from .incluster import NotInCluster, load_in_cluster
    from .kubeconfig import Kubeconfig, default_files

    environ = os.environ if environ is None else environ
    overrides = Overrides(
        server=server,
        token=token,
        ca_data=None if ca_file is None else _read_ca_file(ca_file),
        insecure_skip_tls_verify=insecure_skip_tls_verify,
    )
    if kubeconfig is not None:
        path = Path(kubeconfig).expanduser()
        return Kubeconfig.read([path], must_exist=True).client_config(context, overrides)
    if server is not None and context is None:
        bare = ClientConfig(
            server=server,
            ca_data=overrides.ca_data,
            insecure_skip_tls_verify=bool(insecure_skip_tls_verify),
            source="the server given explicitly",
        )
        return overrides.on_identity(bare)

    where, paths = default_files(environ)
    merged = Kubeconfig.read(paths)
    if not merged.is_empty:
        return merged.client_config(context, overrides)
    tried = [f"{where}: {', '.join(merged.tried) or 'names no file'}"]
    if context is None:
        try:
            found = load_in_cluster(environ=environ, root=service_account)
            ca_data, insecure = overrides.on_trust(found.ca_data, False)
            found = replace(found, ca_data=ca_data, insecure_skip_tls_verify=insecure)
            return overrides.on_identity(found)
        except NotInCluster as error:
            tried.append(f"in-cluster: {error.reason}")
    else:
        tried.append(f"in-cluster: has no contexts, and context {context!r} was asked for")
    raise ConfigError(
        "no configuration says how to reach a Kubernetes API server. Tried:\n"
        "  - an explicit server: none was given\n"
        "  - an explicit kubeconfig: none was given\n"
        + "".join(f"  - {line}\n" for line in tried)
        + "Name a server or a kubeconfig, set KUBECONFIG, or run in a pod with a service account."
    )


def travels_in_the_clear(server: str) -> bool:
    """Whether somebody in between could read what is sent to `server`: plain http, and not to this
    machine."""
    url = urlsplit(server)
    host = url.hostname or ""
    if url.scheme != "http" or host == "localhost" or host.endswith(".localhost"):
        return False
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name
        return True


def _read_ca_file(path: str | os.PathLike[str]) -> bytes:
    try:
        data = Path(path).expanduser().read_bytes()
    except OSError as error:
        raise ConfigError(
            f"the certificate authority file {os.fspath(path)} cannot be read: {error.strerror}"
        ) from error
    if b"-----BEGIN" not in data:
        raise ConfigError(f"the certificate authority file {os.fspath(path)} holds no PEM text")
    return data


def _server_url(text: str, source: str, *, has_tls: bool) -> str:
    """`text` as scheme://host[:port][/base]; client-go's rule for a missing scheme."""

    def refuse(problem: str) -> ConfigError:
        # The text itself may hold a password or a token, so only its harmless beginning is shown.
        shown = text.split("?")[0].split("#")[0].rpartition("@")[2]
        return ConfigError(
            f"{source}: the server {shown!r} {problem}; expected something like https://10.0.0.1:6443"
        )

    if any(char <= " " or char in '\x7f\\"<>' for char in text):
        raise refuse("has a space or another character that no URL has")
    if "://" not in text:
        text = f"{'https' if has_tls else 'http'}://{text}"
        if text.partition("://")[2].partition("/")[2]:
            raise refuse("has a path but no scheme (http:// or https://)")
    try:
        url: SplitResult = urlsplit(text)
        port = url.port
    except ValueError:
        raise refuse("has a host or port that cannot be") from None
    if url.scheme not in ("http", "https"):
        raise refuse(f"has the scheme {url.scheme!r}, which is neither http nor https")
    if "@" in url.netloc:
        raise refuse("has a user name or password before its host: give credentials apart from it")
    if not url.hostname:
        raise refuse("has no host")
    if url.query or url.fragment:
        raise refuse("has a query or fragment")
    if port == 0 or url.netloc.endswith(":"):
        raise refuse("has no usable port after the colon")
    return f"{url.scheme}://{url.netloc}{url.path.rstrip('/')}"
