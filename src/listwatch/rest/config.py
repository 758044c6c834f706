"""Which server to talk to, as whom, and how to be sure that it is the right one (N1, N2, N4)."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from .credentials import Credentials
from .errors import ConfigError
from .impersonation import Impersonation
from .proxy import checked_proxy, proxy_from_environment, without_password

__all__ = ["ClientConfig", "load_config"]

SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
"""Where a pod finds its token, CA and namespace."""


@dataclass(frozen=True, kw_only=True, repr=False)
class ClientConfig:
    """One server and what it takes to be let in. Immutable, checked when it is made, and its repr
    shows no secret.

    `load_config` makes one from the usual places; this is the form to give everything by hand:

        >>> from listwatch import StaticToken
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
    ca_file: Path | None = None
    """Where these are read again while the client lives, so that an authority can be renewed."""
    insecure_skip_tls_verify: bool = False
    """Do not look at the server's certificate at all. Anybody in between can then read and change
    everything."""
    tls_server_name: str | None = None
    """The name that the server's certificate must carry, where that is not the host in `server`."""
    client_cert_data: bytes | None = None
    client_key_data: bytes | None = None
    client_cert_file: Path | None = None
    client_key_file: Path | None = None
    """Where these two are read again while the client lives."""
    credentials: Credentials | None = None
    """None means none: the server sees `system:anonymous`, or whoever the client certificate
    names."""
    impersonate: Impersonation | None = None
    """Whom the server shall take us for, if those that we are may ask for that."""
    proxy_url: str | None = None
    """What the connections go through: `http://`, `https://` or `socks5://`. It may hold a user
    name and a password. None: no proxy."""
    disable_compression: bool = False
    """Never ask for gzip, which costs the server time and saves the network some."""
    namespace: str = "default"
    """The one to use where the caller names none."""
    source: str = "given by the program"
    """Where this came from, for messages."""

    def __post_init__(self) -> None:
        for name in (
            "ca_data",
            "client_cert_data",
            "client_key_data",
            "tls_server_name",
            "proxy_url",
        ):
            if not getattr(self, name):
                object.__setattr__(self, name, None)
        ca, certificate = (
            self.ca_data or self.ca_file,
            self.client_cert_data or self.client_cert_file,
        )
        key = self.client_key_data or self.client_key_file
        has_tls = bool(ca or certificate or self.insecure_skip_tls_verify)
        object.__setattr__(self, "server", _server_url(self.server, self.source, has_tls=has_tls))
        if self.proxy_url is not None:
            try:
                object.__setattr__(self, "proxy_url", checked_proxy(self.proxy_url))
            except ValueError as error:
                raise ConfigError(f"{self.source}: the proxy {error}") from error
        if self.insecure_skip_tls_verify and ca:
            raise ConfigError(
                f"{self.source}: a certificate authority and insecure-skip-tls-verify exclude each"
                " other: leave one out (better the latter)"
            )
        if (certificate is None) != (key is None):
            given, lacking = ("certificate", "key") if certificate else ("key", "certificate")
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
        if self.client_key_data is not None:
            shown.append("client_key_data=<hidden>")
        shown += [
            f"{name}={str(path)!r}"
            for name in ("ca_file", "client_cert_file", "client_key_file")
            if (path := getattr(self, name)) is not None
        ]
        if self.credentials is not None:
            # The type alone: the repr of somebody else's class may show what it holds.
            shown.append(f"credentials={type(self.credentials).__name__}(<hidden>)")
        if self.impersonate is not None:
            shown.append(f"impersonate={self.impersonate!r}")
        if self.proxy_url is not None:
            shown.append(f"proxy_url={without_password(self.proxy_url)!r}")
        if self.disable_compression:
            shown.append("disable_compression=True")
        shown += [f"namespace={self.namespace!r}", f"source={self.source!r}"]
        return f"ClientConfig({', '.join(shown)})"


def load_config(
    *,
    server: str | None = None,
    kubeconfig: str | os.PathLike[str] | None = None,
    context: str | None = None,
    token: str | None = None,
    ca_file: str | os.PathLike[str] | None = None,
    insecure_skip_tls_verify: bool | None = None,
    cluster: str | None = None,
    user: str | None = None,
    username: str = "",
    password: str = "",
    client_certificate: str | os.PathLike[str] | None = None,
    client_key: str | os.PathLike[str] | None = None,
    tls_server_name: str = "",
    impersonate: Impersonation | None = None,
    proxy_url: str | None = None,
    disable_compression: bool | None = None,
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

    Files without any content count as missing. `context` chooses a context of 2, 3 or 4, and
    `cluster` and `user` others than it names; each rules 5 out. All else wins over what is found:
    `token`, `username` and `password`, or `client_certificate` and `client_key`, over all that says
    who we are; and `server` together with `kubeconfig`, `context`, `cluster` or `user`: saying both
    means that the credentials of the one are for the other.

    A proxy is, in this order, `proxy_url` (an empty text: none), that of the cluster, or what
    HTTPS_PROXY, HTTP_PROXY and NO_PROXY say, as in kubectl.

    Credentials travel over TLS, or to this very machine, only: with a plain http server elsewhere
    those of a kubeconfig are left out, as in kubectl (`source` then says so), and an explicit
    `token` is an error.

    `environ` stands in for `os.environ`. Raises `ConfigError`, which names file, context and field,
    or all that was tried.

        config = load_config(context="staging")
    """
    # These build on ClientConfig, which is here.
    from .incluster import NotInCluster, load_in_cluster
    from .kubeconfig import Kubeconfig, default_files
    from .overrides import Overrides, Trust

    environ = os.environ if environ is None else environ
    overrides = Overrides(
        server=server,
        cluster=cluster,
        user=user,
        token=token,
        username=username,
        password=password,
        client_certificate=_path(client_certificate),
        client_key=_path(client_key),
        ca_file=_path(ca_file),
        insecure_skip_tls_verify=insecure_skip_tls_verify,
        tls_server_name=tls_server_name,
        impersonate=impersonate,
        proxy_url=proxy_url,
        disable_compression=disable_compression,
    )
    chosen = [name for name in (context, cluster, user) if name is not None]
    if kubeconfig is not None:
        path = Path(kubeconfig).expanduser()
        merged = Kubeconfig.read([path], must_exist=True)
        return through_proxy(merged.client_config(context, overrides), proxy_url, environ)
    if server is not None and not chosen:
        return through_proxy(overrides.bare(server), proxy_url, environ)

    where, paths = default_files(environ)
    merged = Kubeconfig.read(paths)
    if not merged.is_empty:
        return through_proxy(merged.client_config(context, overrides), proxy_url, environ)
    tried = [f"{where}: {', '.join(merged.tried) or 'names no file'}"]
    if not chosen:
        try:
            found = load_in_cluster(environ=environ, root=service_account)
            trust = overrides.on_trust(Trust(found.ca_data, found.ca_file))
            found = replace(
                found,
                ca_data=trust.ca_data,
                ca_file=trust.ca_file,
                insecure_skip_tls_verify=trust.insecure,
            )
            return through_proxy(overrides.apply(found), proxy_url, environ)
        except NotInCluster as error:
            tried.append(f"in-cluster: {error.reason}")
    else:
        tried.append(f"in-cluster: has no contexts, and {chosen[0]!r} was asked for")
    raise ConfigError(
        "no configuration says how to reach a Kubernetes API server. Tried:\n"
        "  - an explicit server: none was given\n"
        "  - an explicit kubeconfig: none was given\n"
        + "".join(f"  - {line}\n" for line in tried)
        + "Name a server or a kubeconfig, set KUBECONFIG, or run in a pod with a service account."
    )


def through_proxy(
    config: ClientConfig, asked: str | None, environ: Mapping[str, str]
) -> ClientConfig:
    """`config` with the proxy of the environment, unless one was `asked` for or it has one."""
    if asked is not None or config.proxy_url is not None:
        return config
    return replace(config, proxy_url=proxy_from_environment(config.server, environ))


def travels_in_the_clear(server: str, proxy: str | None) -> bool:
    """Whether somebody in between could read what is sent to `server`: plain http, and not straight
    to this machine."""
    url = urlsplit(server)
    host = url.hostname or ""
    if url.scheme == "http" and proxy:
        return True
    if url.scheme != "http" or host == "localhost" or host.endswith(".localhost"):
        return False
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name
        return True


def _path(given: str | os.PathLike[str] | None) -> Path | None:
    return None if given is None else Path(given).expanduser()


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
    netloc = url.netloc
    if ":" not in url.hostname:
        try:
            # As it travels: to resolvers, proxies and in the server's certificate.
            name = url.hostname.encode("idna").decode("ascii")
        except UnicodeError:
            raise refuse("has a host that can be no name") from None
        if not url.hostname.isascii():
            netloc = name if port is None else f"{name}:{port}"
    return f"{url.scheme}://{netloc}{url.path.rstrip('/')}"
