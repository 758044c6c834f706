"""How tests get a client of PyPI ``kubernetes``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kubernetes import config

from conformance.clients.place import Place
from conformance.users import ADMIN

_new_client: Any = config.new_client_from_config  # it has no types


# `Any` for its clients and APIs: their types want models where dicts do as well.
@contextmanager
def connect(place: Place, user: str = ADMIN, token: str | None = None) -> Iterator[Any]:
    """A client of a place's server, as one of the users or with another token."""
    kubeconfig = str(place.kubeconfig(user, token=token))
    with _new_client(kubeconfig, persist_config=False) as api:
        yield api
    api.rest_client.pool_manager.clear()  # it would leave that to the garbage collector
