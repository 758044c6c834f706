"""What refusals of a path below an object name."""

from __future__ import annotations

from ..types.served import ResourceType

__all__ = ["SubresourceName"]


class SubresourceName:
    """A subresource as its type is named: `deployments/scale.apps`, `pods/binding`."""

    def __init__(self, of: ResourceType, subresource: str) -> None:
        self.group = of.group
        self.kind_group = of.kind_group
        self.kind = of.kind
        self.plural = f"{of.plural}/{subresource}"
        self.qualified_name = f"{self.plural}.{of.group}" if of.group else self.plural
