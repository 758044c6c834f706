"""Whatever a store keeps, it is read from any thread."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Struct

from listwatch import compact, metadata_only, typed
from listwatch.sync import Client

from .serving import Serving, Worker


class Metadata(Struct, frozen=True, gc=False, rename="camel"):
    name: str
    namespace: str
    uid: str
    resource_version: str


class ConfigMap(Struct, frozen=True, gc=False):
    metadata: Metadata
    data: dict[str, str] = {}


@pytest.mark.clause("I1", "D6")
@pytest.mark.parametrize(
    "decoder",
    [typed(ConfigMap), typed(ConfigMap, share=True), compact("zlib"), compact(), metadata_only()],
    ids=repr,
)
def test_a_mirror_and_a_watch_take_any_of_our_decoders(
    client: Client, serving: Serving, decoder: Any
) -> None:
    serving.load("a", x="1")
    serving.load("b", x="2")
    with client.mirror("configmaps", decoder=decoder) as mirror:
        mirror.synced(timeout=20)
        read = [Worker(lambda: mirror.store["default/a"].metadata.name) for _ in range(3)]
        assert [worker.result() for worker in read] == ["a"] * 3
        made = client.create({"metadata": {"name": "c"}}, resource="configmaps")
        mirror.at_least(made.resource_version, timeout=20)
        assert sorted(mirror.store) == ["default/a", "default/b", "default/c"]
    with client.watch("configmaps", decoder=decoder) as changes:
        found = iter(changes)
        assert {next(found).key for _ in range(3)} == {"default/a", "default/b", "default/c"}
