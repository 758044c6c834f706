"""`listwatch api-resources`: what a server has, by the names that the other commands take."""

from __future__ import annotations

from listwatch.api import APIResource
from listwatch.rest import UnknownResource

from .asked import Access
from .failures import OK
from .notes import note
from .session import connect
from .sink import Sink
from .table import table_text

__all__ = ["api_resources"]

_RETRIES = 3
"""As `get` has it."""

_HEADERS = ("NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND")


async def api_resources(access: Access, sink: Sink, *, category: str = "") -> int:
    """Print each resource once, at the version that the server prefers, by group and name, as
    kubectl does; with a `category` those of it that can be listed. The exit code.

    Raises `UnknownResource` where there is no such category.
    """
    async with connect(access, max_retries=_RETRIES) as session:
        if category:
            found = await session.discovery.in_category(category)
        else:
            found = await session.discovery.preferred()
        failures = session.discovery.failures
    if category and not found:
        raise UnknownResource(
            f"the server has no category {category!r}: `all` is one, and custom types may bring"
            " others along",
            text=category,
        )
    rows = [_cells(each) for each in sorted(found, key=lambda each: (each.group, each.name))]
    sink.write(table_text(_HEADERS, rows).encode())
    for name, error in failures.items():
        note(f"{name} could not be looked at: {error or 'the server itself has no news of it'}")
    return OK


def _cells(resource: APIResource) -> tuple[str, ...]:
    return (
        resource.name,
        ",".join(resource.short_names),
        resource.api_version,
        "true" if resource.namespaced else "false",
        resource.kind,
    )
