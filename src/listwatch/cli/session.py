"""One connection to the API server, for one command."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from listwatch.api import APIResource, ListWatchError, Unstructured
from listwatch.cache import AsyncListerWatcher, ListWatch
from listwatch.cache.resolving import ResolvingListWatch
from listwatch.client.resources import Resources, builtin
from listwatch.rest import AiohttpTransport, ClientConfig, Discovery, RESTClient, load_config
from listwatch.wire import ObjectDecoder

from .asked import Access, Selection
from .failures import CommandError, describe
from .observed import ObservedTransport

__all__ = ["Session", "connect"]


class Session:
    """What a command needs of the server."""

    def __init__(self, rest: RESTClient) -> None:
        self.rest = rest
        self._resources = Resources(Discovery(rest))

    @property
    def config(self) -> ClientConfig:
        return self.rest.config

    @property
    def discovery(self) -> Discovery:
        """What the server has."""
        return self._resources.discovery

    async def resolve(self, text: str, *, afresh: bool = False) -> APIResource:
        """Which resource is meant. See `Resources.find`; it is taken for namespaced where the
        server lets nobody know.
        """
        found = await self._resources.find(text, afresh=afresh)
        if isinstance(found, APIResource):
            return found
        return APIResource(
            group=found.group, version=found.version, name=found.resource, kind="", namespaced=True
        )

    def source(
        self, selection: Selection, decoder: ObjectDecoder[Unstructured]
    ) -> AsyncListerWatcher[Unstructured]:
        """What lists and watches the selection. Only built-in types are known before the first
        request. Raises `UnknownResource` for what can be no name of one.
        """

        def source_of(resource: APIResource) -> ListWatch[Unstructured]:
            return ListWatch.from_client(
                self.rest,
                resource,
                selection.namespace_in(resource, self.config.namespace),
                selection.fields,
                label_selector=selection.label_selector,
                decoder=decoder,
            )

        async def find(afresh: bool) -> tuple[ListWatch[Unstructured], str]:
            found = await self.resolve(selection.resource, afresh=afresh)
            return source_of(found), str(found)

        known = builtin(selection.resource)
        return source_of(known) if known is not None else ResolvingListWatch(find)


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
        cluster=access.cluster,
        user=access.user,
        token=access.token,
        username=access.username,
        password=access.password,
        client_certificate=access.client_certificate,
        client_key=access.client_key,
        impersonate=access.impersonate,
        ca_file=access.ca_file,
        tls_server_name=access.tls_server_name,
        insecure_skip_tls_verify=True if access.insecure_skip_tls_verify else None,
        proxy_url=access.proxy_url,
        disable_compression=True if access.disable_compression else None,
    )
    if access.namespace:
        config = replace(config, namespace=access.namespace)
    transport = ObservedTransport(
        AiohttpTransport(config),
        config.server,
        timeout=access.request_timeout,
        repeats=max_retries,
    )
    async with RESTClient(config, transport=transport, max_retries=max_retries) as rest:
        try:
            yield Session(rest)
        except ListWatchError as error:
            told, told_with_server = describe(error), describe(error, config.server)
            if told == told_with_server:
                raise
            raise CommandError(told_with_server[0]) from error
