"""Names: how a pod is called, and how it looks up others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..basics import texts
from ..checks import Value
from ..names import byte_length, subdomain_problems
from ..network.addresses import legacy_address
from ..problems import (
    Problem,
    forbidden_field,
    invalid_field,
    required_field,
    too_long,
    unsupported_field,
)

__all__ = [
    "dns_config_problems",
    "dns_policy_problems",
    "host_alias_problems",
    "hostname_override_problems",
]

_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_MOST_SERVERS = 3
_MOST_SEARCHES = 32
_LONGEST_SEARCHES = 2048
_LONGEST_HOSTNAME = 64
_LONGEST_DOMAIN = 253
_LABEL = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SEARCH = rf"{_LABEL}(\.{_LABEL})*"
_SEARCH_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' "
    "or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex "
    f"used for validation is '{_SEARCH}')"
)
_is_search = re.compile(_SEARCH).fullmatch


def dns_policy_problems(policy: str, field: str) -> Iterator[Problem]:
    if not policy:
        yield required_field(field)
    elif policy not in _POLICIES:
        yield unsupported_field(field, policy, _POLICIES)


def dns_config_problems(config: Value | None, policy: str, path: str) -> Iterator[Problem]:
    """`dnsConfig`, which must be there if it is all that there is."""
    if policy == "None":
        if config is None:
            yield required_field(path, "must provide `dnsConfig` when `dnsPolicy` is None")
            return
        if not config.get("nameservers"):
            text = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            yield required_field(f"{path}.nameservers", text)
            return
    if not config:
        return
    servers, searches = config.get("nameservers") or [], config.get("searches") or []
    if len(servers) > _MOST_SERVERS:
        text = f"must not have more than {_MOST_SERVERS} nameservers"
        yield invalid_field(f"{path}.nameservers", servers, text)
    for at, server in enumerate(servers):
        yield from legacy_address(f"{path}.nameservers[{at}]", server)
    if len(searches) > _MOST_SEARCHES:
        text = f"must not have more than {_MOST_SEARCHES} search paths"
        yield invalid_field(f"{path}.searches", searches, text)
    if len(" ".join(searches).encode()) > _LONGEST_SEARCHES:
        text = (
            f"must not have more than {_LONGEST_SEARCHES} characters (including spaces) in the "
            "search list"
        )
        yield invalid_field(f"{path}.searches", searches, text)
    for at, search in enumerate(searches):
        if search != ".":
            domain = search.removesuffix(".")
            yield from texts(f"{path}.searches[{at}]", domain, _search_problems(domain))
    for at, option in enumerate(config.get("options") or ()):
        if not option.get("name"):
            yield required_field(f"{path}.options[{at}]", "must not be empty")


def _search_problems(domain: str) -> Iterator[str]:
    if byte_length(domain) > _LONGEST_DOMAIN:
        yield f"must be no more than {_LONGEST_DOMAIN} characters"
    if not _is_search(domain):
        yield _SEARCH_TEXT


def host_alias_problems(aliases: Sequence[Value] | None, path: str) -> Iterator[Problem]:
    """Lines of the hosts file."""
    for at, alias in enumerate(aliases or ()):
        yield from legacy_address(f"{path}[{at}].ip", alias.get("ip") or "")
        for index, name in enumerate(alias.get("hostnames") or ()):
            field = f"{path}[{at}].hostnames[{index}]"
            yield from texts(field, name, subdomain_problems(name))


def hostname_override_problems(spec: Value, path: str) -> Iterator[Problem]:
    name = spec.get("hostnameOverride")
    if name is None:
        return
    field = f"{path}.hostnameOverride"
    if spec.get("setHostnameAsFQDN"):
        yield forbidden_field(field, "may not be specified when setHostnameAsFQDN is true")
    if spec.get("hostNetwork"):
        yield forbidden_field(field, "may not be specified when hostNetwork is true")
    if len(name.encode()) > _LONGEST_HOSTNAME:
        yield too_long(field, _LONGEST_HOSTNAME)
    yield from texts(field, name, subdomain_problems(name))
