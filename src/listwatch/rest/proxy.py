"""Which proxy stands between us and the server: from a URL, or from the environment (N2)."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias
from urllib.parse import SplitResult, unquote, urlsplit

from .errors import ConfigError

__all__ = ["Proxy", "checked_proxy", "proxy_from_environment", "without_password"]

_DEFAULT_PORTS = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}
_LONGEST_FOR_SOCKS = 255
"""Bytes of a user or password that SOCKS5 can send (RFC 1929)."""

_Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True, slots=True)
class Proxy:
    """One proxy. Its repr shows no user and no password."""

    scheme: str
    """`http`, `https`, `socks5` or `socks5h`: the last two mean the same, as in Go. The proxy
    resolves the server's name, not we."""
    host: str
    port: int
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)

    @classmethod
    def parse(cls, text: str) -> Proxy:
        """Raises ValueError, whose message has no user and no password in it."""
        url, port = _split(text)
        if url.scheme not in _DEFAULT_PORTS:
            raise ValueError(
                f"has the scheme {url.scheme!r}: it should be http, https, socks5 or"
                " socks5h, as in http://proxy.example:3128"
            )
        if not url.hostname:
            raise ValueError(_unusable("has no host"))
        # Whatever bytes they are, as in Go: `encoded` gives them back.
        user = unquote(url.username or "", errors="surrogateescape")
        password = unquote(url.password or "", errors="surrogateescape")
        if any(ord(char) < 0x20 or ord(char) == 0x7F for char in user + password):
            raise ValueError(_unusable("has a user or password with a control character"))
        if url.scheme.startswith("socks5"):
            _check_for_socks(user, password)
        elif ":" in user:
            raise ValueError(_unusable("has a user with a colon, which HTTP cannot send"))
        return cls(
            scheme=url.scheme,
            host=url.hostname,
            port=_DEFAULT_PORTS[url.scheme] if port is None else port,
            user=user,
            password=password,
        )

    @property
    def is_socks(self) -> bool:
        return self.scheme.startswith("socks5")

    @property
    def url(self) -> str:
        """Without user and password, for messages."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    def __str__(self) -> str:
        return self.url


def checked_proxy(text: str) -> str:
    """`text`, if it is the URL of a proxy that can be used: http, https, socks5 or socks5h, with a
    user and password if it needs them.

    >>> checked_proxy(" http://user:secret@proxy.example:3128 ")
    'http://user:secret@proxy.example:3128'

    Raises ValueError, whose message (such as `has no host; ...`) has no user and no password in it.
    """
    text = text.strip()
    Proxy.parse(text)
    return text


def without_password(url: str) -> str:
    """The URL of a proxy as it may be shown: without user, password and whatever follows the port.

    >>> without_password("http://user:secret@proxy.example:3128/")
    'http://proxy.example:3128'
    """
    try:
        return Proxy.parse(url.strip()).url
    except ValueError:
        return "<unusable>"


def proxy_from_environment(server: str, environ: Mapping[str, str]) -> str | None:
    """The proxy that `environ` wants for this server, by the rules of Go's `http.Transport` and so
    of kubectl; None for none.

    `HTTPS_PROXY` is for https servers and `HTTP_PROXY` for http ones (not where `REQUEST_METHOD` is
    set: in a CGI program anybody can set `HTTP_PROXY` by a header). Without a scheme it is an http
    proxy. `NO_PROXY` names servers that are reached without, separated by commas: `example.com`
    with all names below it, `.example.com` or `*.example.com` for those below alone, an IP address,
    a range such as `10.0.0.0/8`, each of the names and addresses also with `:port`, or `*` for all.
    Of each variable the upper-case form wins over the lower-case one. `localhost` and loopback
    addresses are never reached by a proxy.

    >>> environ = {"https_proxy": "proxy:3128", "no_proxy": "10.0.0.0/8,.internal"}
    >>> proxy_from_environment("https://api.example.com:6443", environ)
    'http://proxy:3128'
    >>> proxy_from_environment("https://10.1.2.3", environ) is None
    True

    Raises `ConfigError`, which names the variable, where that holds no usable proxy. (Go takes none
    then. A server that is to be reached by a proxy is better not asked without.)
    """
    url = urlsplit(server)
    if url.scheme == "https":
        names = ("HTTPS_PROXY", "https_proxy")
    elif url.scheme == "http" and not environ.get("REQUEST_METHOD"):
        names = ("HTTP_PROXY", "http_proxy")
    else:
        return None
    name = next((name for name in names if environ.get(name)), None)
    if name is None:
        return None
    port = str(url.port or _DEFAULT_PORTS[url.scheme])
    no_proxy = environ.get("NO_PROXY") or environ.get("no_proxy") or ""
    if _goes_directly(url.hostname or "", port, no_proxy):
        return None
    text = environ[name].strip()
    try:
        return checked_proxy(text if "://" in text else f"http://{text}")
    except ValueError as error:
        problem = str(error)
    raise ConfigError(f"the proxy in the environment variable {name} {problem}")


def _goes_directly(host: str, port: str, no_proxy: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    address = _address(host.partition("%")[0])
    if address is not None and address.is_loopback:
        return True
    name = "" if address is not None else _ascii(host)
    return any(
        _matches(entry.strip().lower(), name, address, port) for entry in no_proxy.split(",")
    )


def _matches(entry: str, name: str, address: _Address | None, port: str) -> bool:
    """Whether one entry of NO_PROXY means this server, which has a `name` or an `address`."""
    if entry == "*":
        return True
    if (network := _network(entry)) is not None:
        return address is not None and address in network
    host, wanted_port = _host_and_port(entry)
    if not host or (wanted_port and wanted_port != port):
        return False
    if (other := _address(host)) is not None:
        return address == other
    if address is not None:
        return False
    host = _ascii(host.removeprefix("*") if host.startswith("*.") else host)
    if host.startswith("."):
        return name.endswith(host)
    return name == host or name.endswith(f".{host}")


def _host_and_port(entry: str) -> tuple[str, str]:
    host, colon, port = entry.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        return host[1:-1], port
    if not colon or ":" in host or entry.endswith("]"):  # a plain name, or an IPv6 address
        return entry.strip("[]"), ""
    return host, port


def _address(text: str) -> _Address | None:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    # Go takes ::ffff:10.0.0.1 for 10.0.0.1.
    return getattr(address, "ipv4_mapped", None) or address


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    if not text.partition("/")[2].isdigit():
        return None
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


def _ascii(name: str) -> str:
    """The form of a name that travels, if it has one."""
    try:
        return name if name.isascii() else name.encode("idna").decode("ascii")
    except UnicodeError:
        return name


def _split(text: str) -> tuple[SplitResult, int | None]:
    if any(char <= " " or char in '\x7f\\"<>' for char in text):
        raise ValueError(_unusable("has a space or another character that no URL has"))
    if "://" not in text:
        raise ValueError(_unusable("has no scheme"))
    after_scheme = text.partition("://")[2]
    if "@" in after_scheme[len(re.split("[/?#]", after_scheme, maxsplit=1)[0]) :]:
        raise ValueError(_unusable("has a user or password with a sign that must be %-escaped"))
    problem = ""
    try:
        url = urlsplit(text)
        port = url.port
    except ValueError:
        problem = "has a host or port that cannot be"
    # Out here, so that the parser's error, which quotes the text, is not the context of ours.
    if not problem and (port == 0 or url.netloc.endswith(":")):
        problem = "has no usable port after the colon"
    if problem:
        raise ValueError(_unusable(problem))
    return url, port


def _unusable(problem: str) -> str:
    return f"{problem}; expected something like http://proxy.example:3128"


def encoded(text: str) -> bytes:
    """User or password as they travel."""
    return text.encode("utf-8", "surrogateescape")


def _check_for_socks(user: str, password: str) -> None:
    if max(len(encoded(user)), len(encoded(password))) > _LONGEST_FOR_SOCKS:
        raise ValueError(_unusable("has a user or password too long for SOCKS5 (255 bytes)"))
    if password and not user:
        raise ValueError(_unusable("has a password but no user"))
