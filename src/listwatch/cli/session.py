"""One connection to the API server, for one command."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from listwatch.api import APIResource, GroupVersionResource, ListWatchError, MalformedObject
from listwatch.rest import (
    AiohttpTransport,
    ClientConfig,
    Discovery,
    RESTClient,
    Timeouts,
    UnknownResource,
    load_config,
)

from .asked import Access
from .failures import CommandError, describe
from .observed import ObservedTransport

__all__ = ["Session", "connect"]


class Session:
    """What a command needs of the server."""

    def __init__(
        self, client: RESTClient, config: ClientConfig, transport: ObservedTransport
    ) -> None:
        self.client = client
        self.config = config
        self.transport = transport

    async def resolve(self, text: str) -> APIResource:
        """Which resource is meant. See `Discovery.resolve`.

        A whole path such as `example.com/v1/widgets` is believed where the server does not let us
        read what it has.
        """
        discovery = Discovery(self.client)
        try:
            return await discovery.resolve(text)
        except UnknownResource:
            try:
                path = GroupVersionResource.parse(text)
            except MalformedObject:
                path = None
            if path is None or not {"/api", "/apis"} <= discovery.failures.keys():
                raise
            return APIResource(
                group=path.group, version=path.version, name=path.resource, kind="", namespaced=True
            )


@asynccontextmanager
async def connect(access: Access, *, max_retries: int) -> AsyncIterator[Session]:
    """Find the configuration, and close the connection in the end.

    A failure that does not say who gave the answer is raised as a `CommandError` that does. Raises
    `ConfigError`.
    """
    config = load_config(
        server=access.server,
        kubeconfig=access.kubeconfig,
        context=access.context,
        token=access.token,
        ca_file=access.ca_file,
        insecure_skip_tls_verify=True if access.insecure_skip_tls_verify else None,
    )
    if access.namespace:
        config = replace(config, namespace=access.namespace)
    timeouts = Timeouts()
    if access.request_timeout is not None:
        limit = access.request_timeout
        timeouts = replace(
            timeouts,
            connect=min(limit, timeouts.connect or limit),
            first_byte=limit,
            watch_first_byte=limit,
            silence=limit,
        )
    transport = ObservedTransport(AiohttpTransport(config), config.server, repeats=max_retries)
    client = RESTClient(config, transport=transport, max_retries=max_retries, timeouts=timeouts)
    async with client:
        try:
            yield Session(client, config, transport)
        except ListWatchError as error:
            told, told_with_server = describe(error), describe(error, config.server)
            if told == told_with_server:
                raise
            raise CommandError(told_with_server[0]) from error
