"""ConfigMaps, Secrets and ServiceAccounts: sizes, seals and types (K28). The recorded answers of a
real server (`conformance/validation`) have the rest.
"""

from __future__ import annotations

import base64
from typing import Any

import pytest

from listwatch.testing.apiserver.validation.checks import checks_of

MAPS, SECRETS = checks_of("configmaps"), checks_of("secrets")
MIB = 1024 * 1024


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def secret(type: str, **data: bytes) -> dict[str, Any]:
    return {"type": type, "data": {name: encoded(value) for name, value in data.items()}}


@pytest.mark.parametrize("more", [0, 1])
def test_a_mebibyte_is_enough_for_all_values_together(more: int) -> None:
    half = MIB // 2
    value = {"data": {"a": "x" * half}, "binaryData": {"b": encoded(b"x" * (half + more))}}
    assert [problem.field for problem in MAPS.create(value)] == ["[]"] * more


def test_bytes_count_and_not_characters() -> None:
    assert [str(problem) for problem in MAPS.create({"data": {"a": "ä" * (MIB // 2 + 1)}})] == [
        "[]: Too long: may not be more than 1048576 bytes"
    ]


@pytest.mark.parametrize("more", [0, 1])
def test_a_secret_has_as_much_room(more: int) -> None:
    found = SECRETS.create(secret("Opaque", a=b"x" * (MIB + more)))
    assert [problem.field for problem in found] == ["data"] * more


def test_what_is_sealed_stays_so_with_all_that_is_in_it() -> None:
    sealed = {"immutable": True, "data": {"a": "1"}, "binaryData": {"b": "AA=="}}
    assert not list(MAPS.of_update(dict(sealed), sealed))
    found = MAPS.of_update({"data": {"a": "2"}}, sealed)
    assert [problem.field for problem in found] == ["immutable", "data", "binaryData"]


def test_what_is_not_sealed_may_be() -> None:
    assert not list(MAPS.of_update({"immutable": True, "data": {"a": "2"}}, {"data": {"a": "1"}}))


def test_the_type_of_a_secret_stays() -> None:
    found = SECRETS.of_update({"type": "b"}, {"type": "a"})
    assert [str(problem) for problem in found] == ['type: Invalid value: "b": field is immutable']


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{}", []),
        (b"null", []),
        (b'{"a": }', ["invalid character '}' looking for beginning of value"]),
        (b"", ["unexpected end of JSON input"]),
        (
            b"[1]",
            ["json: cannot unmarshal array into Go value of type map[string]interface {}"],
        ),
        (
            b'{"a": ' * 3000 + b"1" + b"}" * 3000,  # deeper than Python goes
            [],
        ),
    ],
)
def test_the_content_of_a_secret_is_never_shown(content: bytes, said: list[str]) -> None:
    value = secret("kubernetes.io/dockerconfigjson", **{".dockerconfigjson": content})
    shown = 'Invalid value: "<secret contents redacted>": '
    assert [problem.message for problem in SECRETS.create(value)] == [shown + text for text in said]


def test_a_certificate_that_is_none_is_only_warned_of() -> None:
    files = {"tls.crt": b"nothing", "tls.key": b"nothing"}
    value = secret("kubernetes.io/tls", **files)
    assert not list(SECRETS.create(value))
    assert list(SECRETS.warnings(value)) == [
        "tls: failed to find any PEM data in certificate input"
    ]
    value = secret("kubernetes.io/tls", **{**files, "tls.crt": b"-----BEGIN CERTIFICATE-----"})
    assert list(SECRETS.warnings(value)) == ["tls: failed to find any PEM data in key input"]
    assert not list(SECRETS.warnings(secret("Opaque", **files)))
