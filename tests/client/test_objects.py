"""Objects through the client, over real sockets."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from listwatch import (
    AlreadyExists,
    APIResource,
    BadRequest,
    Conflict,
    GroupVersionResource,
    InvalidRequest,
    NotFound,
    PatchType,
    SelectorError,
    Status,
    UnknownResource,
    Unstructured,
    decode_dict,
)
from listwatch.api import BUILTIN_RESOURCES
from listwatch.client import Client
from listwatch.testing.apiserver import EmbeddedServer

from .conftest import config_map, widget, widget_definition

CONFIG_MAPS = next(item for item in BUILTIN_RESOURCES if item.name == "configmaps")
WIDGETS = GroupVersionResource.parse("example.com/v1/widgets")


class Meta(msgspec.Struct, rename="camel"):
    name: str
    namespace: str | None = None


class ConfigMap(msgspec.Struct, rename="camel"):
    metadata: Meta
    data: dict[str, str] = {}
    api_version: str = "v1"
    kind: str = "ConfigMap"


@pytest.fixture
async def client(server: EmbeddedServer) -> AsyncIterator[Client]:
    async with Client(config=server.client_config()) as client:
        yield client


async def names(client: Client, resource: Any, **selection: Any) -> list[str]:
    return [found.key for found in await client.list(resource, **selection)]


async def test_an_object_is_made_read_changed_and_deleted(client: Client) -> None:
    made = await client.create(config_map("a", x="1"))
    assert (await client.get("configmaps", "a")).raw == made.raw

    changed = made.edit()
    changed["data"]["x"] = "2"
    replaced = await client.replace(changed)
    assert replaced["data"]["x"] == "2"
    with pytest.raises(Conflict):
        await client.replace(changed)

    patched = await client.patch("cm", "a", {"data": {"x": None, "y": "3"}})
    assert patched["data"] == {"y": "3"}
    swap = [{"op": "move", "from": "/data/y", "path": "/data/z"}]
    patched = await client.patch("cm", "a", swap, patch_type=PatchType.JSON)
    assert patched["data"] == {"z": "3"}

    with pytest.raises(Conflict):
        await client.delete("cm", "a", uid="another")
    assert isinstance(await client.delete("cm", "a", uid=made.uid), Status)
    with pytest.raises(NotFound):
        await client.get("cm", "a")


@pytest.mark.parametrize("write", ["create", "replace"])
@pytest.mark.parametrize(
    "form",
    [
        dict,
        Unstructured.from_dict,
        msgspec.json.encode,
        lambda obj: msgspec.convert(obj, ConfigMap),
    ],
    ids=["dict", "Unstructured", "bytes", "Struct"],
)
async def test_an_object_is_sent_in_any_form_and_says_itself_what_it_is(
    client: Client, write: str, form: Any
) -> None:
    if write == "replace":
        await client.create(config_map("a", x="1"))
    written = await getattr(client, write)(form(config_map("a", x="2")))
    assert (written.kind, written.key, written["data"]["x"]) == ("ConfigMap", "default/a", "2")


async def test_an_object_that_does_not_say_what_it_is_needs_a_resource(client: Client) -> None:
    bare = {"metadata": {"name": "a"}}
    with pytest.raises(InvalidRequest, match="no apiVersion and kind: give it that, or say resour"):
        await client.create(bare)
    with pytest.raises(InvalidRequest, match="no kind"):
        await client.create({"apiVersion": "v1", **bare})
    made = await client.create(bare, resource="cm")
    assert (made.api_version, made.kind) == ("v1", "ConfigMap")


async def test_a_custom_object_gets_its_kind_from_the_resource(client: Client) -> None:
    await client.create(widget_definition())
    await client.list("widgets")  # whose first answers say 429, for a second
    made = await client.create({"metadata": {"name": "a"}}, resource="widgets")
    assert (made.api_version, made.kind) == ("example.com/v1", "Widget")


async def test_what_exists_already_is_not_made_again(client: Client) -> None:
    await client.create(config_map("a"))
    with pytest.raises(AlreadyExists):
        await client.create(config_map("a"))


async def test_a_dry_run_changes_nothing(client: Client) -> None:
    await client.create(config_map("a"), dry_run=True)
    assert await names(client, "cm") == []
    made = await client.create(config_map("a", x="1"))
    changed = {**made.to_dict(), "data": {"x": "2"}}
    assert (await client.replace(changed, dry_run=True))["data"]["x"] == "2"
    assert (await client.patch("cm", "a", {"data": {"x": "3"}}, dry_run=True))["data"]["x"] == "3"
    await client.delete("cm", "a", dry_run=True)
    assert (await client.get("cm", "a")).raw == made.raw


async def test_status_is_written_apart(client: Client) -> None:
    node = await client.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}})
    status = {"status": {"phase": "Running"}}
    assert "phase" not in (await client.patch("node", "n1", status)).get("status", {})
    patched = await client.patch("node", "n1", status, subresource="status")
    assert patched["status"]["phase"] == "Running"
    changed = patched.edit()
    changed["status"]["phase"] = "Terminated"
    replaced = await client.replace(changed, subresource="status")
    assert replaced["status"]["phase"] == "Terminated"
    assert (await client.get("node", "n1", subresource="status")).uid == node.uid


async def test_writes_name_their_manager(client: Client, server: EmbeddedServer) -> None:
    made = await client.create(config_map("a", x="1"), field_manager="me")
    assert made.metadata.managed_fields[0].manager == "me"
    async with Client(config=server.client_config(), program="my-operator/1.2") as other:
        made = await other.create(config_map("b", x="1"))
    assert made.metadata.managed_fields[0].manager == "my-operator"


# --- namespaces ------------------------------------------------------------------------------


@pytest.fixture
async def team(server: EmbeddedServer) -> Any:
    """A client whose configuration names a namespace."""
    server.core.load(
        [
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}},
            config_map("a", "team"),
            config_map("a", "default"),
        ]
    )
    async with Client(config=server.client_config(namespace="team")) as client:
        yield client


async def test_no_namespace_means_all_for_a_list(team: Client) -> None:
    assert await names(team, "cm") == ["default/a", "team/a"]
    assert await names(team, "cm", namespace="team") == ["team/a"]


async def test_one_object_is_looked_for_in_the_namespace_of_the_configuration(
    team: Client,
) -> None:
    assert (await team.get("cm", "a")).key == "team/a"
    assert (await team.get("cm", "a", namespace="default")).key == "default/a"
    assert (await team.patch("cm", "a", {"data": {"x": "1"}})).key == "team/a"
    await team.delete("cm", "a")
    assert await names(team, "cm") == ["default/a"]


async def test_an_object_is_written_to_its_own_namespace_else_to_that_of_the_configuration(
    team: Client,
) -> None:
    assert (await team.replace(config_map("a", "default", x="1"))).key == "default/a"
    assert (await team.create(config_map("b", "default"))).key == "default/b"
    bare = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
    assert (await team.create(bare)).key == "team/c"
    assert (await team.create(bare, namespace="default")).key == "default/c"
    assert (await team.replace({**bare, "data": {"x": "1"}})).key == "team/c"


async def test_two_namespaces_that_differ_are_for_the_server_to_refuse(team: Client) -> None:
    with pytest.raises(BadRequest, match="does not match the namespace"):
        await team.create(config_map("b", "default"), namespace="team")


async def test_what_has_no_namespace_takes_none(team: Client) -> None:
    assert (await team.get("ns", "team")).key == "team"
    with pytest.raises(InvalidRequest, match="namespaces are not namespaced"):
        await team.get("ns", "team", namespace="default")
    with pytest.raises(InvalidRequest, match="namespaces are not namespaced"):
        await team.list("ns", namespace="default")


@pytest.mark.clause("B1")
async def test_one_object_in_all_namespaces_is_refused(team: Client) -> None:
    with pytest.raises(InvalidRequest, match="not found without a namespace"):
        await team.get("cm", "a", namespace="")


# --- lists -----------------------------------------------------------------------------------


@pytest.mark.clause("G1")
async def test_a_list_has_the_objects_of_all_pages(client: Client, server: EmbeddedServer) -> None:
    server.core.load([config_map(f"c{number:03}") for number in range(25)])
    found = await client.list("cm", page_size=4)
    assert [item.name for item in found] == [f"c{number:03}" for number in range(25)]
    assert found.continue_ == ""
    whole = await client.list("cm", page_size=None)
    assert (whole.items, whole.resource_version) == (found.items, found.resource_version)


async def test_a_list_takes_selectors(client: Client, server: EmbeddedServer) -> None:
    labelled = config_map("b")
    labelled["metadata"]["labels"] = {"app": "web"}
    server.core.load([config_map("a"), labelled])
    assert await names(client, "cm", label_selector="app in (web, db)") == ["default/b"]
    assert await names(client, "cm", field_selector="metadata.name=a") == ["default/a"]
    with pytest.raises(SelectorError):
        await client.list("cm", label_selector="app in")


async def test_a_decoder_reads_the_objects(client: Client) -> None:
    await client.create(config_map("a", x="1"))
    decode = msgspec.json.Decoder(ConfigMap).decode
    assert (await client.get("cm", "a", decoder=decode)).data == {"x": "1"}
    assert [found.data for found in await client.list("cm", decoder=decode)] == [{"x": "1"}]
    assert (await client.get("cm", "a", decoder=decode_dict))["data"] == {"x": "1"}


# --- names -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "resource",
    ["configmaps", "cm", "configmap", "ConfigMap", "v1/configmaps", CONFIG_MAPS, CONFIG_MAPS.gvr],
    ids=str,
)
async def test_a_built_in_type_goes_by_all_its_names(
    client: Client, server: EmbeddedServer, resource: str | APIResource | GroupVersionResource
) -> None:
    server.core.load([config_map("a")])
    assert await names(client, resource) == ["default/a"]
    assert (await client.get(resource, "a")).name == "a"


@pytest.mark.parametrize(
    "resource",
    ["widgets", "wd", "Widget", "widgets.example.com", "example.com/v1/widgets", WIDGETS],
    ids=str,
)
async def test_a_custom_type_goes_by_all_its_names(
    client: Client, server: EmbeddedServer, resource: str | GroupVersionResource
) -> None:
    server.core.load([widget_definition(), widget("a")])
    assert (await client.get(resource, "a")).key == "default/a"
    assert await names(client, resource) == ["default/a"]


async def test_a_name_that_means_nothing_is_told_with_those_that_are_near(client: Client) -> None:
    with pytest.raises(UnknownResource, match="Did you mean deployments") as raised:
        await client.list("deploymnets")
    assert "deployments.apps" in raised.value.suggestions
    with pytest.raises(UnknownResource, match=r"no resource 'example.com/v1/Widget'"):
        await client.create(widget("a"))


async def test_a_kind_is_not_taken_for_another_of_nearly_its_name(
    client: Client, server: EmbeddedServer
) -> None:
    server.core.load([widget_definition()])
    with pytest.raises(UnknownResource, match="is it Widget"):
        await client.create({**widget("a"), "kind": "widget"})
