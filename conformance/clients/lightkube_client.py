"""What the tests of ``lightkube`` share: its client of a place, and its objects."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from conformance.clients.place import Place
from conformance.objects import WIDGET
from conformance.users import ADMIN

pytest.importorskip("lightkube", reason="the extra peers brings lightkube")

from lightkube import Client, KubeConfig
from lightkube.config.kubeconfig import SingleConfig
from lightkube.generic_resource import create_namespaced_resource, get_generic_resource
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import ConfigMap
from lightkube.types import PatchType

# Its patches are strategic merge patches unless told otherwise.
MERGE = PatchType.MERGE

generic_resource: Any = get_generic_resource  # it has no types
Widget: Any = create_namespaced_resource(WIDGET.group, WIDGET.version, WIDGET.kind, WIDGET.plural)


def configuration(place: Place, user: str = ADMIN, token: str | None = None) -> SingleConfig:
    found = KubeConfig.from_file(str(place.kubeconfig(user, token=token))).get()
    assert found is not None
    return found


# `Any` for a client here: its methods have types for each kind of object, and `Widget` is none.
@contextmanager
def connect(place: Place, user: str = ADMIN, token: str | None = None) -> Iterator[Any]:
    """A client of a place's server, as one of the users or with another token."""
    with Client(configuration(place, user, token), trust_env=False) as client:
        yield client


def a_config_map(name: str, app: str = "web", **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, labels={"app": app}), data=data)


def a_widget(name: str, app: str = "web", **spec: Any) -> Any:
    return Widget(metadata=ObjectMeta(name=name, labels={"app": app}), spec=spec)
