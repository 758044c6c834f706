"""Who asks, and what they may do (K41).

A server without an `Auth` is open for everybody. With one, a request needs a bearer token that is
known; without any it comes from `system:anonymous`, who may see the version and the health.

>>> reader = User(name="reader", token="made-up", rules=(Rule(verbs=("get", "list", "watch")),))
>>> auth = Auth([reader])
>>> auth.expire("made-up")
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from .messages import Answer, ServerRequest
from .plain import NOSNIFF
from .statuses import Refused, failure
from .types.request_info import RequestInfo

__all__ = ["ADMIN", "OPEN", "ROLES", "Auth", "Rule", "User", "bearer_token", "impersonated"]


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
    paths=(
        *("/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi", "/openapi/*"),
        *("/readyz", "/version", "/version/"),
    ),
)


_REVIEWS = Rule(
    verbs=("create",),
    groups=("authorization.k8s.io",),
    resources=("selfsubjectaccessreviews", "selfsubjectrulesreviews"),
)
_WHO_AM_I = Rule(
    verbs=("create",), groups=("authentication.k8s.io",), resources=("selfsubjectreviews",)
)


ROLES: Mapping[Rule, str] = {
    _REVIEWS: "system:basic-user",
    _WHO_AM_I: "system:basic-user",
    _DISCOVERY: "system:discovery",
    _PUBLIC: "system:public-info-viewer",
}
"""What everybody may do, with the role that allows it on a real server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """Somebody with a token; without one, what a user of that name may do: a ServiceAccount's is
    `system:serviceaccount:NAMESPACE:NAME`.
    """

    name: str
    token: str = field(default="", repr=False)
    rules: tuple[Rule, ...] = ()
    """Besides discovery, version, health and questions about oneself, which everybody with a token
    may ask.
    """
    uid: str = ""
    groups: tuple[str, ...] = ()
    """Besides `system:authenticated`. Those in `system:masters` may do everything."""
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


_ANONYMOUS = User(name="system:anonymous", groups=("system:unauthenticated",))
_MASTERS = "system:masters"
OPEN = User(name="admin", groups=(_MASTERS,))
"""Who everybody is on a server without an `Auth`."""


class Auth:
    """The tokens that are good and what their owners may do."""

    def __init__(self, users: Iterable[User]) -> None:
        self._users: dict[str, User] = {}
        self._named: dict[str, User] = {}
        for user in users:
            self.add(user)

    def add(self, user: User) -> None:
        """Let a token in; a user may have several."""
        self._named[user.name] = user
        if user.token:
            self._users[user.token] = user

    def expire(self, token: str | None = None) -> None:
        """Accept a token no longer; None: none of those known now. Open watches stay open."""
        if token is None:
            self._users.clear()
        else:
            self._users.pop(token, None)

    def check(
        self,
        request: ServerRequest,
        info: RequestInfo,
        find: Callable[[str], User | None] = lambda token: None,
    ) -> User:
        """Whose request it is. Raises `Refused` with 401 or 403.

        `find` knows the owners of tokens that are not known here. Who may `impersonate` another
        user (`kubectl --as`) is that user then.
        """
        user = self._user(request, find)
        other = impersonated(request)
        if other is not None:
            asked = replace(info, verb="impersonate", group="", resource="users", name=other.name)
            if not any(rule.allows(asked) for rule in self.rules_of(user)):
                verb = f"impersonate-on:user-info:{info.verb}"
                raise Refused(_forbidden(user.name, replace(info, verb=verb)))
            user = replace(self.named(other.name), groups=other.groups)
        if not any(rule.allows(info) for rule in self.rules_of(user)):
            raise Refused(_forbidden(user.name, info))
        return user

    def user_of(self, token: str) -> User | None:
        """The owner of a token; None: it is not known."""
        return self._users.get(token)

    def named(self, name: str) -> User:
        """The user of a name, whether anybody knows them or not."""
        return self._named.get(name) or User(name=name)

    def rules_of(self, user: User) -> tuple[Rule, ...]:
        """All of what they may do."""
        if user is _ANONYMOUS:
            return (_PUBLIC,)
        own = user.rules or self.named(user.name).rules
        masters = ADMIN if _MASTERS in user.groups else ()
        return tuple(dict.fromkeys((*masters, *own, *ROLES)))

    def _user(self, request: ServerRequest, find: Callable[[str], User | None]) -> User:
        token = bearer_token(request)
        if not token:
            return _ANONYMOUS  # basic authentication is not known either
        user = self._users.get(token) or find(token)
        if user is None:
            raise Refused(failure(401, "Unauthorized", "Unauthorized"))
        return user

    def __repr__(self) -> str:
        return f"Auth({sorted({user.name for user in self._users.values()})})"


def impersonated(request: ServerRequest) -> User | None:
    """As whom a request wants to be taken; None: as its own sender. Raises `Refused`: 400."""
    name = request.headers.get("impersonate-user", "")
    listed = request.headers.get("impersonate-group", "")
    groups = tuple(filter(None, (group.strip() for group in listed.split(","))))
    if name:
        return User(name=name, groups=groups)
    if not groups:
        return None
    shown = ", ".join(map(json.dumps, groups))
    message = (
        f'requested &user.DefaultInfo{{Name:"", UID:"", Groups:[]string{{{shown}}}, '
        "Extra:map[string][]string(nil)} without impersonating a user name"
    )
    raise Refused(failure(400, "BadRequest", message, headers=(NOSNIFF,)))


def bearer_token(request: ServerRequest) -> str:
    """The token of a request; empty: it has none."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


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
