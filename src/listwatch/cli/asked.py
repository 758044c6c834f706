"""What the user asks for, apart from how it is parsed and how it is done."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path

from listwatch.api import APIResource, FieldSelector, ListOptions
from listwatch.rest.impersonation import Impersonation

from .failures import UsageError

__all__ = ["Access", "Output", "Selection", "split_name"]

_VERSION = re.compile(r"v[0-9]+((alpha|beta)[0-9]+)?", re.ASCII)


class Output(StrEnum):
    """The form of what is printed."""

    TABLE = "table"
    WIDE = "wide"
    """A table with the columns that the server thinks less important."""
    NAME = "name"
    JSON = "json"
    YAML = "yaml"


@dataclass(frozen=True, kw_only=True)
class Access:
    """How to reach the server, and as whom; what is None or empty is found in the usual places."""

    server: str | None = None
    kubeconfig: Path | None = None
    context: str | None = None
    cluster: str | None = None
    user: str | None = None
    """The name of one in the kubeconfig."""
    token: str | None = None
    username: str = ""
    password: str = ""
    client_certificate: Path | None = None
    client_key: Path | None = None
    impersonate: Impersonation | None = None
    ca_file: Path | None = None
    tls_server_name: str = ""
    insecure_skip_tls_verify: bool = False
    proxy_url: str | None = None
    """Empty for none, whatever a kubeconfig or the environment says."""
    disable_compression: bool = False
    request_timeout: float | None = None
    """Seconds until an answer must have begun."""
    namespace: str = ""
    """In the place of the configuration's."""
    embedded: bool = False
    """A server of our own, instead of any."""

    def __post_init__(self) -> None:
        apart = ("embedded", "request_timeout", "namespace", "disable_compression")
        if self.embedded and any(
            getattr(self, field.name) for field in fields(self) if field.name not in apart
        ):
            raise UsageError(
                "--embedded is a server of its own: do not name another, or who you are"
            )
        if self.token is not None and (self.username or self.password):
            raise UsageError("--token and --username: only one of the two can be sent")
        if (self.client_certificate is None) != (self.client_key is None):
            raise UsageError("--client-certificate and --client-key are needed both, or neither")
        if self.ca_file is not None and self.insecure_skip_tls_verify:
            raise UsageError(
                "--certificate-authority and --insecure-skip-tls-verify exclude each other: leave"
                " one out (better the latter)"
            )

    def __repr__(self) -> str:
        return f"Access(server={self.server!r}, kubeconfig={self.kubeconfig!r})"  # no secrets


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Which objects."""

    resource: str
    name: str = ""
    namespace: str = ""
    """Empty for that of the configuration."""
    all_namespaces: bool = False
    label_selector: str = ""
    field_selector: str = ""
    limit: int | None = None

    @classmethod
    def of(
        cls,
        resource: str,
        name: str | None,
        *,
        namespace: str | None = None,
        all_namespaces: bool = False,
        label_selector: str | None = None,
        field_selector: str | None = None,
        limit: int | None = None,
    ) -> Selection:
        """Check and complete what was typed. Raises `UsageError`, and what `ListOptions` does."""
        if "," in resource:
            raise UsageError(f"{resource}: one resource at a time, please")
        resource, within = split_name(resource)
        if within and name:
            raise UsageError(f"the object is named twice: {within} and {name}")
        name = within or name or ""
        if name and all_namespaces:
            raise UsageError(f"{name} can be in one namespace only: -A does not go with a name")
        if name and (label_selector or field_selector):
            raise UsageError(f"{name} is one object already: a selector does not go with a name")
        found = cls(
            resource=resource,
            name=name,
            namespace=namespace or "",
            all_namespaces=all_namespaces,
            label_selector=label_selector or "",
            field_selector=field_selector or "",
            limit=limit,
        )
        found.options()
        return found

    @property
    def fields(self) -> str:
        """The field selector, which is what a name becomes."""
        if not self.name:
            return self.field_selector
        return str(FieldSelector.from_fields({"metadata.name": self.name}))

    def options(self, *, since: str = "") -> ListOptions:
        """The options of a LIST or WATCH."""
        return ListOptions(
            label_selector=self.label_selector,
            field_selector=self.fields,
            limit=self.limit,
            resource_version=since,
        )

    def namespace_in(self, resource: APIResource, default: str) -> str:
        """Where to ask; empty for everywhere. A resource outside of namespaces ignores them."""
        if self.all_namespaces or not resource.namespaced:
            return ""
        return self.namespace or default


def split_name(text: str) -> tuple[str, str]:
    """The resource and the object in `pods/web-0`; a path such as `apps/v1/deployments` is all
    resource.

    >>> split_name("pods/web-0"), split_name("apps/v1/deployments"), split_name("v1/pods/web-0")
    (('pods', 'web-0'), ('apps/v1/deployments', ''), ('v1/pods', 'web-0'))
    """
    parts = text.split("/")
    if _VERSION.fullmatch(parts[0]):
        in_resource = 2
    elif len(parts) > 2 and _VERSION.fullmatch(parts[1]):
        in_resource = 3
    else:
        in_resource = 1
    resource, rest = parts[:in_resource], parts[in_resource:]
    if len(rest) > 1 or rest == [""]:
        return text, ""  # nothing that we know: whoever resolves the name says so
    return "/".join(resource), "".join(rest)
