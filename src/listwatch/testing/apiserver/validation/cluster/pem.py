"""What is in PEM files, as far as it must be known to refuse them.

Requests for certificates and certificates themselves are looked into where the Python package
`cryptography` is installed; without it their form alone is.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from ...types.go_texts import decoded

__all__ = ["blocks", "certificate_problem", "organizations", "request_problem"]

_BLOCK = re.compile(
    rb"(?:^|\n)-----BEGIN ([^\n-]*)-----[ \t\r]*\n((?:[^\n:]+:[^\n]*\n)*)"
    rb"([^-]*?)-----END \1-----[ \t\r]*(?=\n|$)"
)
_CERTIFICATE = "CERTIFICATE"
_REQUEST = "CERTIFICATE REQUEST"
_ECDSA_FAILURE = "x509: ECDSA verification failure"
_RSA_FAILURE = "crypto/rsa: verification error"

Block = tuple[str, bool, bytes]
"""A type, whether there are headers, and what is in it."""


def blocks(data: bytes) -> Iterator[Block]:
    for found in _BLOCK.finditer(data):
        kind, headers, body = found.groups()
        yield (
            kind.decode(errors="replace"),
            bool(headers.strip()),
            decoded(b"".join(body.split()).decode(errors="replace")),
        )


def request_problem(data: bytes) -> str:
    """Why nobody can sign this; nothing if somebody could."""
    found = next(blocks(data), None)
    if found is None or found[0] != _REQUEST:
        return f"PEM block type must be {_REQUEST}"
    library = _x509()
    if library is None:
        return ""
    try:
        request = library.load_der_x509_csr(found[2])
        if request.is_signature_valid:
            return ""
        return _ECDSA_FAILURE if hasattr(request.public_key(), "curve") else _RSA_FAILURE
    except Exception:
        # Whatever it does not like about bytes that anybody may send.
        return "asn1: structure error: tags don't match"


def organizations(data: bytes) -> tuple[str, ...]:
    """Those that a valid request names, which are groups of its user."""
    library = _x509()
    found = next(blocks(data), None)
    if library is None or found is None:
        return ()
    subject = library.load_der_x509_csr(found[2]).subject
    named = subject.get_attributes_for_oid(library.NameOID.ORGANIZATION_NAME)
    return tuple(str(attribute.value) for attribute in named)


def certificate_problem(data: bytes) -> str:
    """Why this is no chain of certificates; nothing if it is one, or empty."""
    if not data:
        return ""
    count = 0
    for kind, has_headers, der in blocks(data):
        if kind != _CERTIFICATE:
            return f'only CERTIFICATE PEM blocks are allowed, found "{kind}"'
        if has_headers:
            return "no PEM block headers are permitted"
        count += 1
        library = _x509()
        if library is not None:
            try:
                library.load_der_x509_certificate(der)
            except Exception:
                # As above.
                return "x509: malformed certificate"
    return "" if count else "must contain at least one CERTIFICATE PEM block"


@cache
def _x509() -> Any:
    """None where it is not installed."""
    try:
        return importlib.import_module("cryptography.x509")
    except ImportError:
        return None
