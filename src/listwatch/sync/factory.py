"""InformerFactory: informers that a program's parts share, for threads (K8)."""

from __future__ import annotations

from typing import Any

from listwatch.cache.factory import InformerFactory as AsyncInformerFactory
from listwatch.cache.factory import MakesInformers

from .blocking import Blocking, Running, blocking
from .informer import SharedInformer, informed

__all__ = ["InformerFactory"]


class InformerFactory(Running[AsyncInformerFactory]):
    """`listwatch.InformerFactory` for threads.

        factory = InformerFactory(client)
        pods = factory.informer("pods", namespaces=["default"])
        pods.add_handler(on_add=added)
        with factory:
            factory.synced(timeout=60)

    Who asks it for the same gets the same informer, in a wrapper of their own.
    """

    def __init__(self, client: Blocking[MakesInformers]) -> None:
        super().__init__(client, client._call(lambda: AsyncInformerFactory(client._inner)))

    @property
    def informers(self) -> tuple[SharedInformer[Any], ...]:
        """All that were made, in their order."""
        return tuple(SharedInformer(self, inner) for inner in self._inner.informers)

    informer = informed(AsyncInformerFactory.informer)
    synced = blocking(AsyncInformerFactory.synced)
    run = blocking(AsyncInformerFactory.run)

    def stop(self) -> None:
        """Stop every informer, from any thread. Idempotent."""
        for informer in self._inner.informers:
            informer.stop()
