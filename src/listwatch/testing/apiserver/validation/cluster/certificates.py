"""The checks of CertificateSigningRequests.

Whoever approves may write the conditions `Approved` and `Denied`, and nobody else; whoever signs
may write the certificate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from ...types.go_texts import decoded
from ..basics import texts
from ..checks import Checks, Value
from ..names import byte_length, label_name_problems, subdomain_problems
from ..problems import (
    Problem,
    duplicate_field,
    forbidden_field,
    go_quoted,
    invalid_field,
    required_field,
    too_long,
    unsupported_field,
)
from .pem import certificate_problem, request_problem

__all__ = ["CHECKS"]

_APPROVED, _DENIED = "Approved", "Denied"
_FINAL = (_APPROVED, _DENIED, "Failed")
_STATES = ("False", "True", "Unknown")
_LEGACY_SIGNER = "kubernetes.io/legacy-unknown"
_USAGES = (
    *("any", "cert sign", "client auth", "code signing", "content commitment", "crl sign"),
    *("data encipherment", "decipher only", "digital signature", "email protection"),
    *("encipher only", "ipsec end system", "ipsec tunnel", "ipsec user", "key agreement"),
    *("key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime"),
    *("server auth", "signing", "timestamping"),
)
_CONDITIONS = "status.conditions"
_CERTIFICATE = "status.certificate"
_DOMAIN_LENGTH = 253
_NAME_LENGTH = 571


def _conditions(request: Value) -> Sequence[Value]:
    return (request.get("status") or {}).get("conditions") or ()


def _certificate(request: Value) -> str:
    return (request.get("status") or {}).get("certificate") or ""


def _create(new: Value) -> Iterator[Problem]:
    yield from _whole(new, {})


def _update(new: Value, old: Value, *, part: str = "") -> Iterator[Problem]:
    yield from _whole(new, old)
    before, now = _counts(old), _counts(new)
    for kind in _FINAL:
        if now[kind] < before[kind]:
            text = f'updates may not remove a condition of type "{kind}"'
            yield forbidden_field(_CONDITIONS, text)
    if part != "approval":
        for kind in (_APPROVED, _DENIED):
            if now[kind] > before[kind]:
                text = f'updates may not add a condition of type "{kind}"'
                yield forbidden_field(_CONDITIONS, text)
    if _certificate(new) != _certificate(old):
        if part != "status":
            yield forbidden_field(_CERTIFICATE, "updates may not set certificate content")
        elif _certificate(old):
            text = "updates may not modify existing certificate content"
            yield forbidden_field(_CERTIFICATE, text)


def _counts(request: Value) -> dict[str, int]:
    kinds = [found.get("type") for found in _conditions(request)]
    return {kind: kinds.count(kind) for kind in _FINAL}


def _whole(new: Value, old: Value) -> Iterator[Problem]:
    """What must be so of every request; what was not so in `old` need not be."""
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    request = spec.get("request") or ""
    problem = request_problem(decoded(request))
    if problem:
        yield invalid_field("spec.request", request or None, problem)
    yield from _usages(spec.get("usages") or (), before.get("usages") or ())
    signer = spec.get("signerName") or ""
    if signer == _LEGACY_SIGNER and before.get("signerName") != signer:
        text = "the legacy signerName is not allowed via this API version"
        yield invalid_field("spec.signerName", signer, text)
    else:
        yield from _signer("spec.signerName", signer)
    seconds = spec.get("expirationSeconds")
    if seconds is not None and seconds < 600:
        text = "may not specify a duration less than 600 seconds (10 minutes)"
        yield invalid_field("spec.expirationSeconds", seconds, text)
    yield from _condition_problems(new, old)
    certificate, was = _certificate(new), _certificate(old)
    if old and (certificate == was or certificate_problem(decoded(was))):
        return
    problem = certificate_problem(decoded(certificate))
    if problem:
        yield invalid_field(_CERTIFICATE, "<certificate data>", problem)


def _usages(usages: Sequence[str], before: Sequence[str]) -> Iterator[Problem]:
    if not usages:
        yield required_field("spec.usages")
    if all(usage in _USAGES for usage in before):
        for at, usage in enumerate(usages):
            if usage not in _USAGES:
                yield unsupported_field(f"spec.usages[{at}]", usage, _USAGES)
    if len(set(before)) == len(before):
        for at, usage in enumerate(usages):
            if usage in usages[:at]:
                yield duplicate_field(f"spec.usages[{at}]", usage)


def _signer(field: str, name: str) -> Iterator[Problem]:
    """A domain, a slash and a name."""
    if not name:
        yield required_field(field)
        return
    domain, slash, path = name.partition("/")
    if not slash or "/" in path:
        text = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
        yield invalid_field(field, name, text)
        return
    if byte_length(domain) > _DOMAIN_LENGTH:
        yield too_long(field, _DOMAIN_LENGTH)
    labels = domain.split(".")
    for whole, parts, problems in (
        (domain, labels, label_name_problems),
        (path, path.split("."), subdomain_problems),
    ):
        wrong = next((part for part in parts if any(problems(part))), None)
        if wrong is not None:
            told = (f"validating label {go_quoted(wrong)}: {text}" for text in problems(wrong))
            yield from texts(field, whole, told)
        if whole is domain and len(labels) < 2:
            text = "should be a domain with at least two segments separated by dots"
            yield invalid_field(field, domain, text)
    if byte_length(name) > _NAME_LENGTH:
        yield too_long(field, _NAME_LENGTH)


def _condition_problems(new: Value, old: Value) -> Iterator[Problem]:
    known = [found.get("type") or "" for found in _conditions(old)]
    both = _APPROVED in known and _DENIED in known
    seen: set[str] = set()
    for at, condition in enumerate(_conditions(new)):
        field = f"{_CONDITIONS}[{at}]"
        kind, status = condition.get("type") or "", condition.get("status") or ""
        if not kind and "" not in known:
            yield required_field(f"{field}.type")
        allowed = ("True",) if kind in _FINAL else _STATES
        if not status:
            yield required_field(f"{field}.status")
        elif status not in allowed:
            yield unsupported_field(f"{field}.status", status, allowed)
        other = {_APPROVED: _DENIED, _DENIED: _APPROVED}.get(kind)
        if other in seen and not both:
            text = "Approved and Denied conditions are mutually exclusive"
            yield invalid_field(_CONDITIONS, kind, text)
        if kind in seen and len(set(known)) == len(known):
            yield duplicate_field(f"{field}.type", kind)
        seen.add(kind)


CHECKS = {
    "certificates.k8s.io/certificatesigningrequests": Checks(
        create=_create,
        update=_update,
        metadata=2,
        status=partial(_update, part="status"),
        subresources={"approval": partial(_update, part="approval")},
    )
}
