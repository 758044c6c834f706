"""Who asks, and what they may do (K41).

A server without an `Auth` is open for everybody. With one, a request needs a bearer token that is
known; without any it comes from `system:anonymous`, who may see the version and the health.

>>> reader = User(name="reader", token="made-up", rules=(Rule(verbs=("get", "list", "watch")),))
>>> auth = Auth([reader])
>>> auth.expire("made-up")
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field

from .messages import Answer, ServerRequest
from .plain import NOSNIFF
from .statuses import Refused, failure
from .types.request_info import RequestInfo

__all__ = ["ADMIN", "Auth", "Rule", "User"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What is allowed; `*` stands for everything."""

    verbs: tuple[str, ...] = ("*",)
    groups: tuple[str, ...] = ("*",)
    """API groups; the core group is the empty text."""
    resources: tuple[str, ...] = ("*",)
    """Such as `pods` and, on its own, `pods/status`."""
    namespaces: tuple[str, ...] = ("*",)
    """`*` is every namespace and the cluster scope too."""
    names: tuple[str, ...] = ()
    """The objects it is confined to; empty: all."""
    paths: tuple[str, ...] = ()
    """Paths outside the resources, such as `/metrics`; one may end in `*`."""

    def allows(self, info: RequestInfo) -> bool:
        if not _has(self.verbs, info.verb):
            return False
        if not info.is_resource:
            return any(_path_matches(path, info.path) for path in self.paths)
        return (
            _has(self.groups, info.group)
            and _has(self.resources, info.resource_name)
            and _has(self.namespaces, info.namespace)
            and (not self.names or info.name in self.names)
        )


ADMIN = (Rule(paths=("*",)),)
"""The rules of those who may do everything."""

_PUBLIC = Rule(
    verbs=("get",), resources=(), paths=("/healthz", "/livez", "/readyz", "/version", "/version/")
)
_DISCOVERY = Rule(
    verbs=("get",),
    resources=(),
    paths=("/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """Somebody with a token."""

    name: str
    token: str = field(repr=False)
    rules: tuple[Rule, ...] = ()
    """Besides discovery, version and health, which everybody with a token may read."""


_ANONYMOUS = User(name="system:anonymous", token="")


class Auth:
    """The tokens that are good and what their owners may do."""

    def __init__(self, users: Iterable[User]) -> None:
        self._users = {user.token: user for user in users}

    def add(self, user: User) -> None:
        """Let a token in; a user may have several."""
        self._users[user.token] = user

    def expire(self, token: str | None = None) -> None:
        """Accept a token no longer; None: none of those known now. Open watches stay open."""
        if token is None:
            self._users.clear()
        else:
            self._users.pop(token, None)

    def check(self, request: ServerRequest, info: RequestInfo) -> None:
        """Raises `Refused` with 401 or 403."""
        user = self._user(request)
        rules = (_PUBLIC,) if user is _ANONYMOUS else (*user.rules, _DISCOVERY, _PUBLIC)
        if not any(rule.allows(info) for rule in rules):
            raise Refused(_forbidden(user.name, info))

    def _user(self, request: ServerRequest) -> User:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            return _ANONYMOUS  # basic authentication is not known either
        user = self._users.get(token.strip())
        if user is None:
            raise Refused(failure(401, "Unauthorized", "Unauthorized"))
        return user

    def __repr__(self) -> str:
        return f"Auth({sorted({user.name for user in self._users.values()})})"


def _has(allowed: tuple[str, ...], asked: str) -> bool:
    return asked in allowed or "*" in allowed


def _path_matches(pattern: str, path: str) -> bool:
    return path == pattern or (pattern.endswith("*") and path.startswith(pattern[:-1]))


def _forbidden(user: str, info: RequestInfo) -> Answer:
    who = json.dumps(user, ensure_ascii=False)
    if not info.is_resource:
        message = f'forbidden: User {who} cannot {info.verb} path "{info.path}"'
        return failure(403, "Forbidden", message, details={}, headers=(NOSNIFF,))
    what = info.qualified_name + (f' "{info.name}"' if info.name else "")
    where = f'in the namespace "{info.namespace}"' if info.namespace else "at the cluster scope"
    message = (
        f"{what} is forbidden: User {who} cannot {info.verb} resource "
        f'"{info.resource_name}" in API group "{info.group}" {where}'
    )
    details = {"name": info.name, "group": info.group, "kind": info.resource}
    return failure(
        403,
        "Forbidden",
        message,
        details={name: value for name, value in details.items() if value},
        headers=(NOSNIFF,),
    )
