"""The server that a command is to ask: that of the user, or an embedded one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from .asked import Access
from .notes import note

__all__ = ["at_hand"]


@asynccontextmanager
async def at_hand(access: Access, *, churning: bool = False) -> AsyncIterator[Access]:
    """How to reach it. An embedded one is there while inside, and things happen in it if it is
    `churning`.
    """
    if not access.embedded:
        yield access
        return
    from .embedded import Cluster, embedded

    cluster = Cluster.lively() if churning else Cluster.lively(churn=None)
    async with embedded(cluster) as contents:
        namespace = contents.namespace
        note(f"an embedded server with {contents}; its namespace is {namespace}")
        server = contents.server.url
        yield replace(access, server=server, namespace=namespace, embedded=False)
