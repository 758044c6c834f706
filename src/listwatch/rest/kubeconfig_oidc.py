"""`auth-provider` of a kubeconfig: OpenID Connect, whose new tokens are written back (N2)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Hashable
from datetime import UTC, datetime
from pathlib import Path
from weakref import WeakValueDictionary

from .credentials import Credentials, StaticToken
from .errors import ConfigError
from .kubeconfig_edit import AUTH_PROVIDER_CONFIG, ChangedMeanwhile, Locked, edited, rewrite
from .kubeconfig_file import Section, read_kubeconfig_file
from .oidc.credentials import OIDCCredentials
from .oidc.provider import TransportFor, transport_for
from .oidc.tokens import OIDCTokens

__all__ = ["KubeconfigTokens", "auth_provider_credentials", "oidc_credentials"]

_log = logging.getLogger("listwatch.rest")

_SUCCESSORS = {
    "gcp": (
        "install the exec plugin gke-gcloud-auth-plugin and run"
        " `gcloud container clusters get-credentials CLUSTER`"
    ),
    "azure": "install the exec plugin kubelogin and run `kubelogin convert-kubeconfig`",
    "openstack": "use the exec plugin client-keystone-auth",
}
"""What to do instead with a provider that kubectl has dropped."""

_TRIES = 11
_PAUSE = 0.1
"""Seconds between two tries to take kubectl's lock: one second in all."""

_shared: WeakValueDictionary[Hashable, OIDCCredentials] = WeakValueDictionary()
"""What is in use, by all that it is made of but the tokens."""


def auth_provider_credentials(user: Section, *, persist: bool = True) -> Credentials:
    """What the `auth-provider` of `user` stands for.

    Raises `ConfigError` for every one but `oidc`, saying what to use instead.
    """
    provider = _required(user, "auth-provider")
    name = provider.text("name")
    if not name:
        raise provider.error("name", "is missing: the only provider there still is, is oidc")
    if name in _SUCCESSORS:
        raise provider.error(
            "name", f"kubectl has dropped the provider {name}: {_SUCCESSORS[name]}"
        )
    if name != "oidc":
        raise provider.error(
            "name", f"{name!r} is not known: use oidc, or an exec plugin in its place"
        )
    return oidc_credentials(user, persist=persist)


def oidc_credentials(
    user: Section,
    *,
    persist: bool = True,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    transport_for: TransportFor = transport_for,
) -> OIDCCredentials:
    """The OpenID Connect login of `user`.

    New tokens are written into the kubeconfig, as kubectl does, unless `persist` is false: a
    refresh token may be good for one time, and the next program needs the one after it. Where that
    cannot be done, it is logged, and they are kept in memory. What kubectl writes there is found
    when the token has to be renewed. Everybody who loads the same user of the same file gets the
    same credentials while they are in use, so that no two use one refresh token.

    `extra-scopes` is passed over, as in client-go: a refresh asks for what the login asked for.
    Raises `ConfigError` naming file and field.
    """
    config = _required(_required(user, "auth-provider"), "config")
    issuer, client_id = config.text("idp-issuer-url"), config.text("client-id")
    for field, value in (("idp-issuer-url", issuer), ("client-id", client_id)):
        if not value:
            raise config.error(field, "is missing: OpenID Connect does not work without it")
    client_secret = config.text("client-secret")
    tokens = OIDCTokens(config.text("id-token"), config.text("refresh-token"))
    if tokens == OIDCTokens():
        raise config.error("id-token", "is missing, and so is refresh-token: log in first")
    try:
        StaticToken(tokens.id_token or "none")
    except ConfigError as error:
        raise config.error("id-token", str(error)) from error
    if config.has("extra-scopes"):
        _log.debug("%s: extra-scopes is passed over: a refresh does not send it", user.where)
    # A file is read now, so that an error comes now, and again for each refresh.
    ca_data, ca_file = config.pem("idp-certificate-authority"), None
    if not config.has("idp-certificate-authority-data"):
        ca_data, ca_file = None, config.path("idp-certificate-authority")
    name = _name_of(user)
    key = (
        (user.file, name, persist, now, transport_for),
        (issuer, client_id, client_secret, ca_data, ca_file),
    )
    shared = _shared.get(key)
    if shared is not None and _is_of(shared, tokens):
        return shared
    try:
        credentials = OIDCCredentials(
            issuer=issuer,
            client_id=client_id,
            client_secret=client_secret,
            id_token=tokens.id_token,
            refresh_token=tokens.refresh_token,
            ca_data=ca_data,
            ca_file=ca_file,
            store=KubeconfigTokens(user.file, name, tokens, persist=persist) if name else None,
            description=f"the ID token of {user.where} in {user.file}",
            now=now,
            transport_for=transport_for,
        )
    except ConfigError as error:
        raise config.error("idp-issuer-url", str(error)) from error
    _shared[key] = credentials
    return credentials


class KubeconfigTokens:
    """A `TokenStore`: the `id-token` and `refresh-token` of one user in a kubeconfig."""

    def __init__(self, path: Path, user: str, seen: OIDCTokens, *, persist: bool = True) -> None:
        self.seen = seen
        """What the file had when we last looked or wrote."""
        self._path = path
        self._user = user
        self._persist = persist
        self._warned = False

    async def newer(self) -> OIDCTokens | None:
        """What somebody else has written since; None if nobody has, or the file cannot be read."""
        found = await asyncio.to_thread(self._read)
        if found is None or found == self.seen:
            return None
        self.seen = found
        return found

    async def keep(self, tokens: OIDCTokens) -> None:
        """Write them, unless somebody else was faster. That it cannot be done is logged once."""
        if not self._persist:
            return
        try:
            await self._write(tokens)
        except ChangedMeanwhile as error:
            # A new login: it is taken at the next renewal.
            _log.debug("%s is left as it is: %s", self._path, error)
        except (ConfigError, OSError) as error:
            self._warn(error.strerror if isinstance(error, OSError) else str(error))
        else:
            self.seen = tokens
            self._warned = False

    async def _write(self, tokens: OIDCTokens) -> None:
        for _ in range(_TRIES - 1):
            try:
                return await asyncio.to_thread(rewrite, self._path, self._edit(tokens))
            except Locked:
                await asyncio.sleep(_PAUSE)
        return await asyncio.to_thread(rewrite, self._path, self._edit(tokens))

    def _edit(self, tokens: OIDCTokens) -> Callable[[str], str]:
        changes = {
            "id-token": (self.seen.id_token, tokens.id_token),
            "refresh-token": (self.seen.refresh_token, tokens.refresh_token),
        }
        return lambda text: edited(text, self._user, changes)

    def _read(self) -> OIDCTokens | None:
        try:
            file = read_kubeconfig_file(self._path)
            config = None if file is None else file.users.get(self._user)
            for name in AUTH_PROVIDER_CONFIG[1:]:
                config = config and config.section(name)
            if config is None:
                return None
            return OIDCTokens(config.text("id-token"), config.text("refresh-token"))
        except ConfigError as error:  # perhaps in the middle of being written
            _log.debug("the tokens are not read again: %s", error)
            return None

    def _warn(self, problem: str | None) -> None:
        if self._warned:
            return
        self._warned = True
        _log.warning(
            "the new tokens of user %r could not be written into %s (%s). They are kept in memory;"
            " other programs find the old refresh token there, which may be used up: make the file"
            " writable, or log in again when this program has ended",
            self._user,
            self._path,
            problem,
        )

    def __repr__(self) -> str:
        return f"KubeconfigTokens({str(self._path)!r}, {self._user!r}, <hidden>)"


def _required(section: Section, name: str) -> Section:
    found = section.section(name)
    if found is None:
        raise section.error(name, "is missing")
    return found


def _is_of(credentials: OIDCCredentials, tokens: OIDCTokens) -> bool:
    """Whether they go back to these tokens, or have written them."""
    store = credentials.store
    return isinstance(store, KubeconfigTokens) and store.seen == tokens


def _name_of(user: Section) -> str:
    """The name of `user` in its file; empty if it is not there any more."""
    file = read_kubeconfig_file(user.file)
    users = {} if file is None else file.users
    same = [name for name, entry in users.items() if entry.fields == user.fields]
    # Two users may have the same login.
    return next((name for name in same if user.where.endswith(repr(name))), "")
