"""The tokens of ServiceAccounts, as TokenRequest gives them (K41).

They are JSON web tokens, with the claims of the real ones, signed with a key that nobody else has.
A token is good until it expires, and while its ServiceAccount (and the object that it is bound to)
is the one that it was made for.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..auth import User
from ..storage.log import StoredObject
from ..storage.state import State
from ..writing.metadata import new_uid

__all__ = ["AUDIENCE", "BOUND", "AccountTokens"]

AUDIENCE = "https://kubernetes.default.svc"
"""For whom a token is where nobody says otherwise: this server."""

BOUND = {"Pod": "pods", "Secret": "secrets", "Node": "nodes"}
"""The kinds that a token can be bound to, and where they are stored."""

_PREFIX = "system:serviceaccount:"


class AccountTokens:
    """Makes tokens and knows them again. They need no memory: a restart leaves them good."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._made_key: bytes | None = None

    @property
    def _key(self) -> bytes:
        # Not before somebody wants a token: the random numbers of all others stay the same.
        if self._made_key is None:
            self._made_key = self._state.rng.getrandbits(256).to_bytes(32, "big")
        return self._made_key

    def make(
        self,
        account: StoredObject,
        audiences: Sequence[str],
        seconds: int,
        bound: StoredObject | None = None,
    ) -> str:
        """A token for `account` that is good for so many seconds."""
        namespace, name = account.key
        now = int(self._state.wall().timestamp())
        private: dict[str, Any] = {
            "namespace": namespace,
            "serviceaccount": {"name": name, "uid": account.metadata["uid"]},
        }
        if bound is not None:
            kind = str(bound.value["kind"]).lower()
            private[kind] = {"name": bound.key[1], "uid": bound.metadata["uid"]}
        claims = {
            "aud": list(audiences),
            "exp": now + seconds,
            "iat": now,
            "iss": AUDIENCE,
            "jti": new_uid(self._state.rng),
            "kubernetes.io": dict(sorted(private.items())),
            "nbf": now,
            "sub": f"{_PREFIX}{namespace}:{name}",
        }
        header = {"alg": "HS256", "kid": _encoded(hashlib.sha256(self._key).digest()[:24])}
        signed = f"{_encoded(_json(header))}.{_encoded(_json(claims))}"
        return f"{signed}.{self._signature(signed)}"

    def is_own(self, token: str) -> bool:
        """Whether this server has made it, good or not."""
        if self._made_key is None or token.count(".") != 2:
            return False
        signed, _, signature = token.rpartition(".")
        return hmac.compare_digest(signature.encode(), self._signature(signed).encode())

    def audiences_of(self, token: str) -> list[str]:
        """Of one that is its own."""
        found: list[str] = self._claims(token)["aud"]
        return found

    def user_of(self, token: str, audiences: Sequence[str] = (AUDIENCE,)) -> User | None:
        """Whose it is; None where it is not good, or for none of these audiences."""
        if not self.is_own(token):
            return None
        claims = self._claims(token)
        if self._state.wall().timestamp() >= claims["exp"]:
            return None
        if not set(audiences) & set(claims["aud"]):
            return None
        private = claims["kubernetes.io"]
        namespace, named = private["namespace"], private["serviceaccount"]
        if not self._is_there("serviceaccounts", namespace, named):
            return None
        extra = {"authentication.kubernetes.io/credential-id": (f"JTI={claims['jti']}",)}
        for kind, storage in BOUND.items():
            bound = private.get(kind.lower())
            if bound is None:
                continue
            where = "" if kind == "Node" else namespace
            if not self._is_there(storage, where, bound):
                return None
            extra[f"authentication.kubernetes.io/{kind.lower()}-name"] = (bound["name"],)
            extra[f"authentication.kubernetes.io/{kind.lower()}-uid"] = (bound["uid"],)
        return User(
            name=claims["sub"],
            uid=named["uid"],
            groups=("system:serviceaccounts", f"system:serviceaccounts:{namespace}"),
            extra=dict(sorted(extra.items())),
        )

    def _is_there(self, storage: str, namespace: str, named: Mapping[str, str]) -> bool:
        found = self._state.log.get(storage, (namespace, named["name"]))
        return found is not None and found.metadata["uid"] == named["uid"]

    def _claims(self, token: str) -> dict[str, Any]:
        middle = token.split(".")[1]
        claims: dict[str, Any] = json.loads(base64.urlsafe_b64decode(middle + "==="))
        return claims

    def _signature(self, signed: str) -> str:
        return _encoded(hmac.new(self._key, signed.encode(), hashlib.sha256).digest())


def _json(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
