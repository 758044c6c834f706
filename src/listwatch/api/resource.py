"""Resources: where objects of a kind live on a server, and what discovery says of them."""

from __future__ import annotations

from msgspec import Struct

from .faults import MalformedObject

__all__ = ["APIResource", "GroupVersionResource"]


class GroupVersionResource(Struct, frozen=True, order=True):
    """The address of a type: API group (empty for the core group), version, and plural name.

    >>> GroupVersionResource.parse("apps/v1/deployments")
    GroupVersionResource(group='apps', version='v1', resource='deployments')
    >>> str(GroupVersionResource("", "v1", "pods"))
    'v1/pods'
    """

    group: str
    version: str
    resource: str

    @classmethod
    def parse(cls, text: str) -> GroupVersionResource:
        """Read `group/version/resource`, or `version/resource` of the core group.

        Raises `MalformedObject`.
        """
        parts = text.split("/")
        if len(parts) == 2:
            parts.insert(0, "")
        if len(parts) != 3 or not all(parts[1:]) or (not parts[0] and text.startswith("/")):
            raise MalformedObject(
                f"{text!r} is no resource: expected 'group/version/resource' or "
                "'version/resource', such as 'apps/v1/deployments' or 'v1/pods'"
            )
        return cls(*parts)

    @property
    def group_version(self) -> str:
        """The `apiVersion` of its objects: `v1` in the core group, else such as `apps/v1`."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def __str__(self) -> str:
        return f"{self.group_version}/{self.resource}"


class APIResource(Struct, frozen=True, kw_only=True):
    """One type as discovery describes it."""

    group: str
    """Empty for the core group."""
    version: str
    name: str
    """The plural, as in paths: `pods`."""
    kind: str
    namespaced: bool
    singular: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    """Such as `all`, of `kubectl get all`."""
    verbs: tuple[str, ...] = ()
    """What can be done with it, such as `list` and `watch`."""

    @property
    def gvr(self) -> GroupVersionResource:
        """Its address."""
        return GroupVersionResource(self.group, self.version, self.name)

    @property
    def group_version(self) -> str:
        """`v1` in the core group, else such as `apps/v1`."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def api_version(self) -> str:
        """The `apiVersion` of its objects; the same as `group_version`."""
        return self.group_version

    def __str__(self) -> str:
        return f"{self.group_version}/{self.name}"
