"""What the server itself writes into CertificateSigningRequests: who asks, and when what was said.

Nobody changes what is asked for once it is. Whoever approves writes conditions; whoever signs
writes those and the certificate, but not what the other one said.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..auth import User

__all__ = ["CERTIFICATE_REQUESTS", "asked_by", "with_answer"]

Value = Mapping[str, Any]

CERTIFICATE_REQUESTS = "certificates.k8s.io/certificatesigningrequests"
_AUTHENTICATED = "system:authenticated"
_KEPT = ("Approved", "Denied")


def asked_by(user: User, spec: Value) -> dict[str, Any]:
    """The spec of a new request, with who asks."""
    asked = {
        name: item
        for name, item in spec.items()
        if name not in ("username", "uid", "groups", "extra")
    }
    groups = list(user.groups)
    if _AUTHENTICATED not in groups and "system:unauthenticated" not in groups:
        groups.append(_AUTHENTICATED)
    asked["username"] = user.name
    if user.uid:
        asked["uid"] = user.uid
    asked["groups"] = groups
    if user.extra:
        asked["extra"] = {name: list(texts) for name, texts in user.extra.items()}
    return asked


def with_answer(part: str, old: Value, new: Value, now: str) -> dict[str, Any]:
    """`new`, a write of the subresource `part`, with what that may not change as it is in `old`.
    `now`: what is said of the time where a condition says nothing.
    """
    before: Value = old.get("status") or {}
    status: Value = new.get("status") or {}
    known = before.get("conditions") or []
    conditions = [
        _timed(found, known, now) for found in _own(part, status.get("conditions") or [], known)
    ]
    if part == "approval":
        status = before
    made = {name: item for name, item in status.items() if name != "conditions"}
    if conditions:
        made = {"conditions": conditions, **made}
    return {**new, "spec": old.get("spec"), "status": made}


def _own(part: str, conditions: list[Value], known: list[Value]) -> list[Value]:
    """The conditions that are sent, but for those that only others may change."""
    if part == "approval":
        return conditions
    for kind in _KEPT:
        kept = [found for found in known if found.get("type") == kind]
        if len(kept) == sum(found.get("type") == kind for found in conditions):
            rest = iter(kept)
            conditions = [
                next(rest) if found.get("type") == kind else found for found in conditions
            ]
    return conditions


def _timed(condition: Value, known: list[Value], now: str) -> dict[str, Any]:
    timed = dict(condition)
    timed["lastUpdateTime"] = condition.get("lastUpdateTime") or now
    if not condition.get("lastTransitionTime"):
        same = (
            found.get("lastTransitionTime")
            for found in known
            if all(found.get(name) == condition.get(name) for name in ("type", "status"))
        )
        timed["lastTransitionTime"] = next((moment for moment in same if moment), now)
    return timed
