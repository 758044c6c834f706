"""POST of a review, and of a TokenRequest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from listwatch.api import APIResource

from ..auth import OPEN, Auth, User, bearer_token, impersonated
from ..messages import Answer, ServerRequest
from ..reading.object_answers import warning_headers
from ..reading.object_negotiation import view_of
from ..statuses import Refused, failure
from ..storage.log import StoredObject
from ..storage.state import State, Target
from ..types.request_info import RequestInfo
from ..types.served import ResourceType
from ..validation.problems import (
    bad_request,
    conflict,
    invalid,
    invalid_field,
    not_found,
)
from ..writing.managed_fields import Manager, after_create
from ..writing.metadata import timestamp
from ..writing.write_checks import read_sent
from ..writing.write_options import WriteOptions, write_options
from .access import access_status, check_access_review, rules_status
from .tokens import AUDIENCE, BOUND, AccountTokens

__all__ = ["Reviews"]

_TOKEN_REQUEST = ResourceType(
    resource=APIResource(
        group="authentication.k8s.io",
        version="v1",
        name="tokenrequests",
        kind="TokenRequest",
        namespaced=True,
        singular="tokenrequest",
        verbs=("create",),
    ),
    storage="",
    members={
        "spec": {"audiences": None, "expirationSeconds": None, "boundObjectRef": None},
        "status": {"token": "", "expirationTimestamp": None},
    },
)
_HOUR, _SHORTEST, _LONGEST = 3600, 600, 1 << 32


class Reviews:
    """Answers what is only asked; knows who asks."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._tokens = AccountTokens(state)

    def admit(self, auth: Auth | None, request: ServerRequest, info: RequestInfo) -> User:
        """Who sent a request. Raises `Refused` (401, 403) where it may not be."""
        if auth is not None:
            return auth.check(request, info, self._tokens.user_of)
        token = bearer_token(request)
        if token and self._tokens.is_own(token):
            user = self._tokens.user_of(token)
            if user is None:
                raise Refused(failure(401, "Unauthorized", "Unauthorized"))
            return user
        return impersonated(request) or OPEN

    def create(
        self, auth: Auth | None, target: Target, request: ServerRequest, user: User
    ) -> Answer:
        """Raises `Refused`."""
        if target.subresource == "token":
            return self._token_request(target, request)
        of = target.type
        view = view_of(request, of, collection=False)
        options = write_options(request)
        value, warnings = read_sent(target, request, options)
        metadata = value["metadata"]
        metadata.pop("namespace", None)
        if of.namespaced:
            metadata["namespace"] = target.namespace
        if of.kind not in ("SelfSubjectReview", "SelfSubjectRulesReview"):
            self._own(of, value, options)
        if self._state.consulting is not None:
            self._state.consulting.check_new(target, value)
        status = self._status(auth, of, value, user)
        spec = {} if of.kind == "SelfSubjectRulesReview" else _ordered(value.get("spec") or {})
        return _answer(
            view.one, of, {"metadata": value["metadata"], "spec": spec, "status": status}, warnings
        )

    def _status(
        self, auth: Auth | None, of: ResourceType, value: dict[str, Any], user: User
    ) -> dict[str, Any]:
        spec = value.get("spec") or {}
        match of.kind:
            case "SelfSubjectReview":
                value["metadata"] = {"creationTimestamp": timestamp(self._state.wall())}
                return {"userInfo": _user_info(user)}
            case "TokenReview":
                return self._token_status(auth, spec)
            case "SelfSubjectRulesReview":
                value["metadata"] = {}
                return rules_status(auth, user, spec.get("namespace") or "")
        check_access_review(of.kind, value)
        if of.kind != "SelfSubjectAccessReview":
            groups = tuple(spec.get("groups") or ())
            known = User(name="") if auth is None else auth.named(spec.get("user") or "")
            user = User(name=known.name, rules=known.rules, groups=(*known.groups, *groups))
        return access_status(auth, user, spec)

    def _token_status(self, auth: Auth | None, spec: Mapping[str, Any]) -> dict[str, Any]:
        token = spec.get("token") or ""
        if not token:
            raise bad_request("token is required for TokenReview in authentication")
        audiences = spec.get("audiences") or [AUDIENCE]
        user = None
        if auth is not None and AUDIENCE in audiences:
            user = auth.user_of(token)
        granted = [AUDIENCE]
        if user is None:
            user = self._tokens.user_of(token, audiences)
            if user is not None:
                meant = self._tokens.audiences_of(token)
                granted = [audience for audience in audiences if audience in meant]
        if user is None:
            return {"user": {}, "error": "invalid bearer token"}
        return {"authenticated": True, "user": _user_info(user), "audiences": granted}

    # Tokens

    def _token_request(self, target: Target, request: ServerRequest) -> Answer:
        state, accounts = self._state, target.type
        view = view_of(request, _TOKEN_REQUEST, collection=False)
        options = write_options(request)
        token_target = Target(type=_TOKEN_REQUEST, namespace=target.namespace, name=target.name)
        value, warnings = read_sent(token_target, request, options)
        account = state.log.get(accounts.storage, (target.namespace, target.name))
        if account is None:
            raise not_found(accounts, target.name)
        metadata, spec = value["metadata"], dict(value.get("spec") or {})
        sent_name = metadata.get("name")
        if sent_name and sent_name != target.name:
            text = "must match the service account name if specified"
            problem = invalid_field("metadata.name", sent_name, text)
            raise invalid("TokenRequest", _TOKEN_REQUEST.group, target.name, [problem])
        seconds = spec["expirationSeconds"] = spec.get("expirationSeconds") or _HOUR
        _check_duration(seconds)
        value["spec"] = spec
        value["metadata"] = {
            **metadata,
            "name": target.name,
            "namespace": target.namespace,
            "uid": account.metadata["uid"],
            "creationTimestamp": timestamp(state.wall()),
        }
        self._own(_TOKEN_REQUEST, value, options, "token")
        if state.consulting is not None:
            state.consulting.check_new(target, value)
        bound = self._bound(target.namespace, spec.get("boundObjectRef"))
        audiences = spec.get("audiences") or [AUDIENCE]
        answer = {
            "metadata": value["metadata"],
            "spec": {
                "audiences": audiences,
                "expirationSeconds": seconds,
                "boundObjectRef": spec.get("boundObjectRef"),
            },
            "status": {
                "token": self._tokens.make(account, audiences, seconds, bound),
                "expirationTimestamp": timestamp(state.wall(), later=seconds),
            },
        }
        return _answer(view.one, _TOKEN_REQUEST, answer, warnings)

    def _bound(self, namespace: str, reference: Mapping[str, Any] | None) -> StoredObject | None:
        if reference is None:
            return None
        kind, api_version = reference.get("kind") or "", reference.get("apiVersion") or ""
        storage = BOUND.get(kind)
        if storage is None or api_version != "v1":
            group, _, version = api_version.rpartition("/")
            raise bad_request(f"cannot bind token to object of type {group}/{version}, Kind={kind}")
        of = self._state.types.find("", "v1", storage)
        assert of is not None
        name = reference.get("name") or ""
        found = self._state.log.get(storage, (namespace if of.namespaced else "", name))
        if found is None:
            raise not_found(of, name)
        uid = reference.get("uid")
        if uid and uid != found.metadata["uid"]:
            text = (
                f"the UID in the bound object reference ({uid}) does not match the UID in record. "
                "The object might have been deleted and then recreated"
            )
            raise conflict(of, name, text, by_kind=True)
        return found

    def _own(
        self, of: ResourceType, value: dict[str, Any], options: WriteOptions, subresource: str = ""
    ) -> None:
        """Tell in managedFields who asks, as the real server does even here."""
        manager = Manager(options.manager, of.api_version, subresource, custom=False)
        now = timestamp(self._state.wall())
        value["metadata"].pop("managedFields", None)
        entries = after_create(manager, of.zero_members, value, now)
        if entries:
            value["metadata"] = {**value["metadata"], "managedFields": list(entries)}


def _check_duration(seconds: int) -> None:
    if seconds < _SHORTEST:
        text = "may not specify a duration less than 10 minutes"
    elif seconds > _LONGEST:
        text = "may not specify a duration larger than 2^32 seconds"
    else:
        return
    problem = invalid_field("spec.expirationSeconds", seconds, text)
    raise invalid("TokenRequest", _TOKEN_REQUEST.group, "", [problem])


def _user_info(user: User) -> dict[str, Any]:
    groups = user.groups
    if "system:unauthenticated" not in groups:
        groups = (*groups, "system:authenticated")
    info: dict[str, Any] = {"username": user.name}
    if user.uid:
        info["uid"] = user.uid
    info["groups"] = list(groups)
    if user.extra:
        info["extra"] = {name: list(values) for name, values in user.extra.items()}
    return info


_ORDER = (
    *("resourceAttributes", "nonResourceAttributes", "namespace", "verb", "group", "version"),
    *("resource", "subresource", "path", "name", "fieldSelector", "labelSelector"),
    *("token", "audiences", "user", "groups", "extra", "uid"),
)


def _ordered(value: Mapping[str, Any]) -> dict[str, Any]:
    """A spec as Go writes it: in order, without what is empty."""
    names = sorted(value, key=lambda name: _ORDER.index(name) if name in _ORDER else len(_ORDER))
    if "path" in value:
        names = [name for name in ("path", "verb") if name in value]
    found = {}
    for name in names:
        member = value[name]
        if name in ("resourceAttributes", "nonResourceAttributes") and isinstance(member, dict):
            found[name] = _ordered(member)
        elif member not in (None, "", [], {}):
            found[name] = member
    return found


def _answer(
    write: Callable[[StoredObject], bytes],
    of: ResourceType,
    value: dict[str, Any],
    warnings: list[str],
) -> Answer:
    kept = {
        name: member for name, member in value.items() if name == "metadata" or name in of.members
    }
    whole = of.ordered({**kept, "kind": of.kind, "apiVersion": of.api_version})
    body = write(StoredObject(("", ""), whole, 0))
    return Answer(status=201, body=body + b"\n", headers=warning_headers(warnings))
