"""``place``, as the tests of clients have it."""

from __future__ import annotations

from conformance.clients.conftest import _embedded, any_server, place

__all__ = ["_embedded", "any_server", "place"]
