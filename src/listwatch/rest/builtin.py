"""Which resource a program means, where nobody need be asked."""

from __future__ import annotations

from listwatch.api import APIResource, GroupVersionResource
from listwatch.api.builtin import BUILTIN_RESOURCES

from .discovery import readings_of
from .resource_names import ResourceName, find_resource

__all__ = ["Resource", "builtin"]

Resource = str | APIResource | GroupVersionResource
"""A name such as `pods` or `deployments.apps`, an address, or a resource as discovery gives it."""


def builtin(resource: Resource) -> APIResource | None:
    """The resource, if it is a built-in type; what is an `APIResource` already is returned. Raises
    `UnknownResource` for what can be no name of one.
    """
    if isinstance(resource, APIResource):
        return resource
    if isinstance(resource, GroupVersionResource):
        address = ResourceName(resource.resource, resource.group, resource.version)
        found = find_resource(BUILTIN_RESOURCES, address)
        return found if found is not None and found.gvr == resource else None
    named = (find_resource(BUILTIN_RESOURCES, reading) for reading in readings_of(resource))
    return next((found for found in named if found is not None), None)
