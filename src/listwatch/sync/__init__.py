"""The same objects for programs without an event loop.

    from listwatch.sync import Client

    with Client() as client:
        for change in client.watch("pods"):
            print(change.type, change.key)

Every method here is one of the async objects, waited for: same arguments, same results, same
errors. Stores are the very same, since they may be read from any thread.
"""

from .changes import Changes
from .client import Client
from .factory import InformerFactory
from .informer import Registration, SharedInformer
from .mirror import Mirror
from .until import until, until_with_sync

__all__ = [
    "Changes",
    "Client",
    "InformerFactory",
    "Mirror",
    "Registration",
    "SharedInformer",
    "until",
    "until_with_sync",
]
