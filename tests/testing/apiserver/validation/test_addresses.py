"""Addresses and ranges as Go's two readers take them (K28)."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.testing.apiserver.validation.network.addresses import (
    address_of,
    canonical_address_problems,
    canonical_range_problems,
    endpoint_address_problems,
    legacy_address,
    legacy_range,
    range_of,
    warnings_of_address,
    warnings_of_range,
)

NOTHING = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
ZEROS = "must not have leading 0s"
MAPPED = "must not be an IPv4-mapped IPv6 address"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("10.0.0.1", None),
        ("2001:db8::1", None),
        ("2001:DB8:0::1", None),
        ("", NOTHING),
        ("10.0.0", NOTHING),
        ("10.0.0.256", NOTHING),
        ("10.0.0.1\n", NOTHING),
        ("fe80::1%eth0", NOTHING),
        ("1:2:3:4:5:6:7:8:9", NOTHING),
        ("010.0.0.1", ZEROS),
        ("00001::", ZEROS),
        ("::ffff:10.0.0.1", MAPPED),
        ("::ffff:10.0.0.01", ZEROS),
    ],
)
def test_an_address_is_refused_for_the_first_thing_that_is_wrong_with_it(
    text: str, problem: str | None
) -> None:
    found = [each.message.partition(": ")[2] for each in legacy_address("ip", text)]
    assert found == ([f'"{text}": {problem}'.replace("\n", "\\n")] if problem else [])


def test_an_address_that_the_object_had_before_is_let_be() -> None:
    assert list(legacy_address("ip", "010.0.0.1", ["010.0.0.1"])) == []
    assert list(legacy_range("range", "10.0.0.1/8", ["10.0.0.1/8"])) == []


@given(st.integers(0, 2**32 - 1))
def test_every_ipv4_address_is_read_with_and_without_zeros(number: int) -> None:
    address = IPv4Address(number)
    padded = ".".join(f"{octet:03}" for octet in address.packed)
    assert address_of(str(address)) == address_of(padded) == address
    assert address_of(f"::ffff:{address}") == address
    assert list(canonical_address_problems(str(address))) == []


@given(st.integers(0, 2**128 - 1).map(IPv6Address))
def test_an_ipv6_address_has_one_canonical_form(address: IPv6Address) -> None:
    if address.ipv4_mapped is None:
        assert address_of(address.exploded) == address
        assert list(canonical_address_problems(str(address))) == []
        if address.exploded != str(address):
            found = list(canonical_address_problems(address.exploded))
            assert found == [f'must be in canonical form ("{address}")']


@given(st.text("0123456789abcdef.:/%x ", max_size=40))
def test_no_text_does_harm(text: str) -> None:
    address_of(text)
    range_of(text)
    for problems in (legacy_address, legacy_range, canonical_range_problems):
        list(problems("field", text))
    list(endpoint_address_problems("field", text))
    list(warnings_of_address("field", text))
    list(warnings_of_range("field", text))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("10.0.0.0/8", None),
        ("2001:db8::/32", None),
        ("10.0.0.0", "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"),
        ("10.0.0.0/33", "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"),
        ("10.0.0.0/08", "must not have leading 0s in IP or prefix length"),
        ("010.0.0.0/8", "must not have leading 0s in IP or prefix length"),
        ("::ffff:10.0.0.0/104", "must not have an IPv4-mapped IPv6 address"),
        ("10.0.0.1/8", "must not have bits set beyond the prefix length"),
    ],
)
def test_a_range_likewise(text: str, problem: str | None) -> None:
    found = [each.message.partition(f'"{text}": ')[2] for each in legacy_range("range", text)]
    assert found == ([problem] if problem else [])


def test_a_range_has_what_begins_like_it() -> None:
    ten = range_of("10.0.0.0/8")
    assert ten is not None
    assert IPv4Address("10.255.0.1") in ten
    assert IPv4Address("11.0.0.0") not in ten
    assert IPv6Address("a00::") not in ten


def test_what_is_accepted_may_still_be_odd() -> None:
    assert list(warnings_of_address("ip", "2001:DB8::1")) == [
        'ip: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")'
    ]
    assert list(warnings_of_address("ip", "010.0.0.1")) == [
        'ip: non-standard IP address "010.0.0.1" is invalid: use "10.0.0.1"'
    ]
    assert list(warnings_of_range("range", "10.0.0.1/8")) == [
        'range: CIDR value "10.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or '
        '"10.0.0.1/32"?)'
    ]
    assert list(warnings_of_range("range", "10.0.0.0/8")) == []
