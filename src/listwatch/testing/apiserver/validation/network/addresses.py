"""IP addresses and ranges of them: how Go reads them, and what is wrong with them.

Go's older reader, which the real server still asks first, takes leading zeros and does not tell an
IPv4 address from the IPv6 address that it is mapped to. Fields then refuse both, unless the object
had them before.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address

from ..problems import Problem, go_quoted, invalid_field

__all__ = [
    "Address",
    "Range",
    "address_of",
    "canonical_address_problems",
    "canonical_range_problems",
    "endpoint_address_problems",
    "interface_address",
    "is_ipv6",
    "legacy_address",
    "legacy_range",
    "range_of",
    "warnings_of_address",
    "warnings_of_range",
]

Address = IPv4Address | IPv6Address

_NO_ADDRESS = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
_NO_RANGE = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
_without_zeros = re.compile(r"(^|[.:])0+(?=[0-9a-fA-F])").sub
_MAX_PREFIX_DIGITS = 7
"""A longer number is none to Go."""
_MULTICAST = 0xFF02


class Range:
    """A CIDR: its address as it was written, the first one of its network, and its prefix."""

    __slots__ = ("address", "bits", "first", "width")

    def __init__(self, address: Address, bits: int, width: int) -> None:
        self.address = address
        self.bits = bits
        """The length of the prefix, as it was written."""
        self.width = width
        """32 or 128, as the address was written: of a mapped one 128."""
        own = address.max_prefixlen
        rest = min(own, width - bits)
        kind = type(address)
        self.first: Address = kind(int(address) >> rest << rest)

    def __contains__(self, address: Address) -> bool:
        if address.version != self.first.version:
            return False
        rest = min(address.max_prefixlen, self.width - self.bits)
        return int(address) >> rest == int(self.first) >> rest

    def __str__(self) -> str:
        return f"{self.first}/{self.bits}"


def address_of(text: str) -> Address | None:
    """An address as Go's older reader takes it; a mapped one is an IPv4 address."""
    return _read(text)[0]


def is_ipv6(text: str) -> bool:
    return isinstance(address_of(text), IPv6Address)


@lru_cache(maxsize=1024)
def _read(text: str) -> tuple[Address | None, str]:
    """The address, and what is wrong with how it is written."""
    problem = ""
    found = _strictly(text)
    if found is None:
        found = _strictly(_without_zeros(r"\1", text))
        problem = _NO_ADDRESS if found is None else "must not have leading 0s"
    if isinstance(found, IPv6Address) and found.ipv4_mapped is not None:
        found = found.ipv4_mapped
        problem = problem or "must not be an IPv4-mapped IPv6 address"
    return found, problem


def _strictly(text: str) -> Address | None:
    if "%" in text:
        return None
    try:
        return ip_address(text)
    except ValueError:
        return None


def range_of(text: str) -> Range | None:
    """A CIDR as Go's older reader takes it."""
    written, slash, prefix = text.partition("/")
    address = address_of(written)
    if not slash or address is None or not (prefix.isascii() and prefix.isdigit()):
        return None
    if len(prefix.lstrip("0")) > _MAX_PREFIX_DIGITS:
        return None
    width = 128 if ":" in written else 32
    bits = int(prefix)
    return None if bits > width else Range(address, bits, width)


def legacy_address(field: str, text: str, known: Collection[str] = ()) -> Iterator[Problem]:
    """Of a field that has long been there, which takes what the object had before (`known`)."""
    problem = _read(text)[1]
    if problem and text not in known:
        yield invalid_field(field, text, problem)


def canonical_address_problems(text: str) -> Iterator[str]:
    """What is wrong with an address that must be written as Go would write it."""
    address, problem = _read(text)
    if problem:
        yield problem
    elif str(address) != text:
        yield f"must be in canonical form ({go_quoted(str(address))})"


def legacy_range(field: str, text: str, known: Collection[str] = ()) -> Iterator[Problem]:
    """Likewise of a CIDR."""
    if text in known:
        return
    found = range_of(text)
    if found is None:
        yield invalid_field(field, text, _NO_RANGE)
        return
    problem = _strict_range_problem(text, found)
    if problem:
        yield invalid_field(field, text, problem)


def interface_address(field: str, text: str) -> Iterator[Problem]:
    """Of an address with the length of its network's prefix, written as Go would write it."""
    found = range_of(text)
    if found is None:
        why = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"
        yield invalid_field(field, text, why)
        return
    mapped = found.width - found.address.max_prefixlen
    bits = found.bits - mapped if found.bits > found.address.max_prefixlen else found.bits
    canonical = f"{found.address}/{bits}"
    if text != canonical:
        yield invalid_field(field, text, f"must be in canonical form ({go_quoted(canonical)})")


def canonical_range_problems(field: str, text: str) -> Iterator[Problem]:
    """Of a CIDR that must be written as Go would write it."""
    problem = None
    for problem in legacy_range(field, text):
        yield problem
    if problem is None and str(range_of(text)) != text:
        canonical = go_quoted(str(range_of(text)))
        yield invalid_field(field, text, f"must be in canonical form ({canonical})")


def _strict_range_problem(text: str, found: Range) -> str:
    written, _, prefix = text.partition("/")
    problem = _read(written)[1]
    if problem == "must not have leading 0s" or (prefix[0] == "0" and len(prefix) > 1):
        return "must not have leading 0s in IP or prefix length"
    if problem:
        return "must not have an IPv4-mapped IPv6 address"
    if found.address != found.first:
        return "must not have bits set beyond the prefix length"
    return ""


def endpoint_address_problems(field: str, text: str) -> Iterator[Problem]:
    """Addresses behind which nobody else can be."""
    address = address_of(text)
    if address is None:
        yield invalid_field(field, text, "must be a valid IP address")
        return
    if address.is_unspecified:
        yield invalid_field(field, text, f"may not be unspecified ({text})")
    if address.is_loopback:
        why = "may not be in the loopback range (127.0.0.0/8, ::1/128)"
        yield invalid_field(field, text, why)
    if address.is_link_local:
        why = "may not be in the link-local range (169.254.0.0/16, fe80::/10)"
        yield invalid_field(field, text, why)
    if _is_local_multicast(address):
        why = "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"
        yield invalid_field(field, text, why)


def _is_local_multicast(address: Address) -> bool:
    if address.version == 4:
        return int(address) >> 8 == 224 << 16
    return int(address) >> 112 & 0xFF0F == _MULTICAST


def warnings_of_address(field: str, text: str) -> Iterator[str]:
    """What is said of an accepted address that is not as it should be."""
    address, problem = _read(text)
    if address is None:
        return
    shown, better = go_quoted(text), go_quoted(str(address))
    if problem:
        yield f"{field}: non-standard IP address {shown} is invalid: use {better}"
    elif address.version == 6 and str(address) != text:
        yield (f"{field}: IPv6 address {shown} should be in RFC 5952 canonical format ({better})")


def warnings_of_range(field: str, text: str) -> Iterator[str]:
    """Likewise of a CIDR."""
    found = range_of(text)
    if found is None:
        return
    problem = _strict_range_problem(text, found)
    shown, better = go_quoted(text), go_quoted(str(found))
    plain = True
    if found.address != found.first:
        plain = False
        single = go_quoted(f"{found.address}/{found.width}")
        yield (
            f"{field}: CIDR value {shown} is ambiguous in this context "
            f"(should be {better} or {single}?)"
        )
    if problem and "beyond" not in problem:
        plain = False
        yield f"{field}: non-standard CIDR value {shown} is invalid: use {better}"
    if plain and found.first.version == 6 and str(found) != text:
        yield (
            f"{field}: IPv6 CIDR value {shown} should be in RFC 5952 canonical format ({better})"
        )
