"""The library against a real kube-apiserver: our own servers prove nothing before this does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from conformance.certs import Authority
from conformance.cluster import Cluster, ClusterFactory
from conformance.objects import CustomResource, config_map, pod
from listwatch import (
    AlreadyExists,
    BadRequest,
    CollectWarnings,
    Conflict,
    Discovery,
    Event,
    EventType,
    Expired,
    FieldSelector,
    Forbidden,
    GroupVersionResource,
    Invalid,
    LabelSelector,
    ListOptions,
    ListWatch,
    NotFound,
    PatchType,
    ResourceVersionTooLarge,
    RESTClient,
    Status,
    TLSFailed,
    Unauthorized,
    Unstructured,
    UnsupportedMediaType,
    Watch,
    decode_dict,
    decode_partial_metadata,
    load_config,
)

CONFIG_MAPS = GroupVersionResource.parse("v1/configmaps")
PODS = GroupVersionResource.parse("v1/pods")
SECRETS = GroupVersionResource.parse("v1/secrets")

Connect = Callable[..., AbstractAsyncContextManager[RESTClient]]


@pytest.fixture
def connect(cluster: Cluster) -> Connect:
    """Makes clients of the shared cluster, as one of its users."""

    @asynccontextmanager
    async def connected(
        user: str = "admin", form: Any = "token", **options: Any
    ) -> AsyncIterator[RESTClient]:
        config = load_config(kubeconfig=cluster.kubeconfig(user=user, form=form))
        async with RESTClient(config, **options) as client:
            yield client

    return connected


def path(namespace: str, name: str = "") -> str:
    return f"/api/v1/namespaces/{namespace}/configmaps" + (f"/{name}" if name else "")


async def taken(watch: Watch[Any], count: int) -> list[Event[Any]]:
    events: list[Event[Any]] = []
    async with asyncio.timeout(30):
        async for event in watch:
            events.append(event)
            if len(events) == count:
                break
    watch.stop()
    return events


@pytest.mark.parametrize("form", ["token", "client-certificate", "inline-data", "insecure"])
async def test_each_form_of_kubeconfig_connects(connect: Connect, form: str) -> None:
    async with connect(form=form) as client:
        assert json.loads(await client.read("/version"))["gitVersion"].startswith("v1.")


async def test_an_object_is_created_read_changed_and_deleted(
    connect: Connect, namespace: str
) -> None:
    async with connect() as client:
        made = await client.create(CONFIG_MAPS, config_map("one", a="1"), namespace=namespace)
        assert (made.kind, made.api_version, made.key) == ("ConfigMap", "v1", f"{namespace}/one")
        with pytest.raises(AlreadyExists):
            await client.create(CONFIG_MAPS, config_map("one"), namespace=namespace)

        changed = made.edit()
        changed["data"]["a"] = "2"
        replaced = await client.replace(CONFIG_MAPS, changed)
        assert replaced["data"] == {"a": "2"}
        with pytest.raises(Conflict):
            await client.replace(CONFIG_MAPS, changed)  # its RV is the old one now

        where = {"namespace": namespace}
        merged = await client.patch(
            CONFIG_MAPS, "one", {"data": {"b": "3"}}, patch_type=PatchType.MERGE, **where
        )
        assert merged["data"] == {"a": "2", "b": "3"}
        steps = [{"op": "remove", "path": "/data/a"}]
        assert (await client.patch(CONFIG_MAPS, "one", steps, patch_type=PatchType.JSON, **where))[
            "data"
        ] == {"b": "3"}
        applied = await client.patch(
            CONFIG_MAPS,
            "one",
            {"apiVersion": "v1", "kind": "ConfigMap", "data": {"c": "4"}},
            patch_type=PatchType.APPLY,
            field_manager="conformance",
            **where,
        )
        assert applied["data"] == {"b": "3", "c": "4"}

        assert await client.get(CONFIG_MAPS, "one", namespace=namespace) == applied
        with pytest.raises(Conflict):
            await client.delete(CONFIG_MAPS, "one", uid="another", **where)
        gone = await client.delete(CONFIG_MAPS, "one", uid=applied.uid, **where)
        assert isinstance(gone, Status)
        assert gone.status == "Success"
        with pytest.raises(NotFound, match="one"):
            await client.get(CONFIG_MAPS, "one", namespace=namespace)


async def test_dry_run_and_strict_validation_are_passed_on(
    connect: Connect, namespace: str
) -> None:
    async with connect() as client:
        await client.create(CONFIG_MAPS, config_map("dry"), namespace=namespace, dry_run=True)
        assert (
            len(await client.list(CONFIG_MAPS, namespace=namespace, options=ListOptions(limit=5)))
            == 0
        )
        wrong = {**config_map("wrong"), "bogus": 1}
        with pytest.raises(BadRequest, match="bogus"):
            await client.create(CONFIG_MAPS, wrong, namespace=namespace, field_validation="Strict")
        with pytest.raises(Invalid):
            await client.create(CONFIG_MAPS, config_map("UPPER"), namespace=namespace)


async def test_what_a_server_warns_of_reaches_the_handler(connect: Connect, namespace: str) -> None:
    warnings = CollectWarnings()
    async with connect(warnings=warnings) as client:
        await client.create(CONFIG_MAPS, {**config_map("warned"), "bogus": 1}, namespace=namespace)
        await client.list(GroupVersionResource.parse("v1/endpoints"))
    texts = [warning.text for warning in warnings.warnings]
    assert texts[0] == 'unknown field "bogus"'
    assert "Endpoints is deprecated" in texts[1]


async def test_a_list_and_a_watch_show_the_same_objects(
    connect: Connect, cluster: Cluster, namespace: str
) -> None:
    for name in ("a", "b", "c"):
        cluster.create(path(namespace), config_map(name, text='<&> "\u2028" é'))
    async with connect() as client:
        listed = await client.list(CONFIG_MAPS, namespace=namespace)
        async with await client.watch(CONFIG_MAPS, namespace=namespace) as watch:
            watched = await taken(watch, 3)
    assert {event.type for event in watched} == {EventType.ADDED}
    assert [event.object for event in watched] == listed.items
    assert [event.object.to_dict() for event in watched] == [item.to_dict() for item in listed]
    assert listed.items[0]["data"]["text"] == '<&> "\u2028" é'


async def test_a_watch_tells_of_each_change_in_order(
    connect: Connect, cluster: Cluster, namespace: str
) -> None:
    async with connect() as client:
        start = (await client.list(CONFIG_MAPS, namespace=namespace)).resource_version
        async with await client.watch(
            CONFIG_MAPS, namespace=namespace, options=ListOptions(resource_version=start)
        ) as watch:

            def change() -> None:
                for number in range(3):
                    cluster.create(path(namespace), config_map(f"w-{number}", n="0"))
                    cluster.patch(path(namespace, f"w-{number}"), {"data": {"n": "1"}})
                    cluster.delete(path(namespace, f"w-{number}"))

            changing = asyncio.create_task(asyncio.to_thread(change))
            events = await taken(watch, 9)
            await changing
    assert [(event.type, event.object.name, event.object["data"]["n"]) for event in events] == [
        (kind, f"w-{number}", n)
        for number in range(3)
        for kind, n in ((EventType.ADDED, "0"), (EventType.MODIFIED, "1"), (EventType.DELETED, "1"))
    ]
    versions = [int(event.object.resource_version) for event in events]
    assert versions == sorted(set(versions))


async def test_watch_list_ends_its_initial_events_with_a_marked_bookmark(
    connect: Connect, cluster: Cluster, namespace: str
) -> None:
    for name in ("a", "b"):
        cluster.create(path(namespace), config_map(name))
    options = ListOptions(
        send_initial_events=True, resource_version_match="NotOlderThan", allow_watch_bookmarks=True
    )
    async with (
        connect() as client,
        await client.watch(CONFIG_MAPS, namespace=namespace, options=options) as watch,
    ):
        first, second, marker = await taken(watch, 3)
    assert [first.object.name, second.object.name] == ["a", "b"]
    assert marker.is_initial_events_end
    assert int(marker.object.resource_version) >= int(second.object.resource_version)


async def test_pages_hold_together(connect: Connect, cluster: Cluster, namespace: str) -> None:
    with cluster.session() as session:
        for number in range(25):
            session.create(path(namespace), config_map(f"p-{number:02}"))
    names, options = [], ListOptions(limit=10)
    async with connect() as client:
        while True:
            page = await client.list(CONFIG_MAPS, namespace=namespace, options=options)
            names += [item.name for item in page]
            if not page.continue_:
                break
            assert page.remaining_item_count == 25 - len(names)
            options = options.replace(continue_=page.continue_)
    assert names == [f"p-{number:02}" for number in range(25)]


async def test_a_big_list_comes_compressed_and_whole(
    connect: Connect, cluster: Cluster, namespace: str
) -> None:
    with cluster.session() as session:
        for number in range(20):
            session.create(
                path(namespace), config_map(f"big-{number:02}", text=f"{number}" * 10_000)
            )
    async with connect() as client:
        found = await client.list(CONFIG_MAPS, namespace=namespace)
    assert [len(item["data"]["text"]) for item in found] == [10_000] * 10 + [20_000] * 10


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (ListOptions(label_selector="app in (web, db),tier!=back"), ["db", "web"]),
        (ListOptions(label_selector="!app"), ["bare"]),
        (ListOptions(field_selector="metadata.name!=bare,metadata.name!=web"), ["back", "db"]),
    ],
)
async def test_selectors_mean_here_what_they_mean_there(
    connect: Connect, cluster: Cluster, namespace: str, options: ListOptions, names: list[str]
) -> None:
    made = {
        "web": {"app": "web"},
        "db": {"app": "db", "tier": "front"},
        "back": {"app": "web", "tier": "back"},
        "bare": {},
    }
    for name, labels in made.items():
        cluster.create(path(namespace), config_map(name, labels))
    async with connect() as client:
        everything = await client.list(CONFIG_MAPS, namespace=namespace)
        chosen = await client.list(CONFIG_MAPS, namespace=namespace, options=options)
    assert [item.name for item in chosen] == names
    labels = LabelSelector.parse(str(options.label_selector))
    fields = FieldSelector.parse(str(options.field_selector))
    ours = [
        item.name
        for item in everything
        if labels.matches(item.metadata.labels) and fields.matches(item)
    ]
    assert ours == names


@pytest.mark.parametrize(
    ("user", "error", "said"),
    [("nobody", Forbidden, "cannot list"), ("viewer", Forbidden, "cannot list")],
)
async def test_a_refusal_is_an_error_of_its_own_class(
    connect: Connect, user: str, error: type[Exception], said: str
) -> None:
    async with connect(user) as client:
        with pytest.raises(error, match=said):
            await client.list(SECRETS)
        with pytest.raises(error, match="cannot watch"):
            await client.watch(SECRETS)


async def test_a_bad_token_is_unauthorized_and_not_shown(cluster: Cluster) -> None:
    config = load_config(server=cluster.server, ca_file=cluster.ca_file, token="wrong-and-secret")
    async with RESTClient(config) as client:
        with pytest.raises(Unauthorized) as caught:
            await client.list(PODS)
    assert "wrong-and-secret" not in f"{caught.value!r} {config!r} {client!r}"


async def test_a_wrong_authority_is_refused_before_anything_is_sent(
    cluster: Cluster, tmp_path: Path
) -> None:
    wrong = Authority(tmp_path).file
    async with RESTClient(load_config(server=cluster.server, ca_file=wrong, token="t")) as client:
        with pytest.raises(TLSFailed, match="certificate"):
            await client.list(PODS)


async def test_plain_http_to_the_tls_port_says_what_is_wrong(cluster: Cluster) -> None:
    server = cluster.server.replace("https://", "http://")
    async with RESTClient(load_config(server=server)) as client:
        with pytest.raises(TLSFailed, match="https"):
            await client.list(PODS)


async def test_an_unknown_resource_is_not_found_in_both_of_its_forms(connect: Connect) -> None:
    async with connect() as client:
        for text in ("v1/nothings", "nowhere.example.com/v1/nothings"):
            with pytest.raises(NotFound):
                await client.list(GroupVersionResource.parse(text))


async def test_versions_out_of_reach_are_told_apart(
    connect: Connect, fresh_cluster: ClusterFactory
) -> None:
    cluster = fresh_cluster()
    cluster.create("/api/v1/namespaces/default/configmaps", config_map("one"))
    async with RESTClient(load_config(kubeconfig=cluster.kubeconfig()), max_retries=0) as client:
        now = (await client.list(CONFIG_MAPS)).resource_version
        future = ListOptions(resource_version=str(int(now) + 1000))
        with pytest.raises(ResourceVersionTooLarge):
            await client.list(CONFIG_MAPS, options=future)
        for number in range(3):
            await client.patch(
                CONFIG_MAPS,
                "one",
                {"data": {"n": str(number)}},
                patch_type=PatchType.MERGE,
                namespace="default",
            )
        last = (await client.list(CONFIG_MAPS)).resource_version
        await asyncio.to_thread(cluster.compact_etcd, int(last))
        await asyncio.to_thread(cluster.restart_apiserver)
        old = ListOptions(resource_version=now, resource_version_match="Exact")
        with pytest.raises(Expired):
            await client.list(CONFIG_MAPS, options=old)
        async with await client.watch(
            CONFIG_MAPS, options=ListOptions(resource_version=now)
        ) as watch:
            [error] = await taken(watch, 1)
    assert error.type is EventType.ERROR
    assert error.status is not None
    assert (error.status.code, error.status.reason) == (410, "Expired")


async def test_a_killed_server_ends_the_watch_and_refuses_the_next(
    fresh_cluster: ClusterFactory,
) -> None:
    cluster = fresh_cluster()
    async with RESTClient(load_config(kubeconfig=cluster.kubeconfig())) as client:
        async with await client.watch(CONFIG_MAPS, namespace="default") as watch:
            reading = asyncio.create_task(taken(watch, 1))
            await asyncio.sleep(0)
            await asyncio.to_thread(cluster.kill_apiserver)
            async with asyncio.timeout(10):
                assert await reading == []
        with pytest.raises(ConnectionRefusedError):
            await client.watch(CONFIG_MAPS)


async def test_names_resolve_as_kubectl_resolves_them(
    connect: Connect, crd: CustomResource
) -> None:
    expected = {
        "po": "v1/pods",
        "Pod": "v1/pods",
        "deploy": "apps/v1/deployments",
        "deployments.apps": "apps/v1/deployments",
        "apps/v1/deployments": "apps/v1/deployments",
        "wd": "example.com/v1/widgets",
        "widget": "example.com/v1/widgets",
        "widgets.example.com": "example.com/v1/widgets",
        "widgets.v1.example.com": "example.com/v1/widgets",
    }
    async with connect() as client:
        discovery = Discovery(client)
        assert {text: str((await discovery.resolve(text)).gvr) for text in expected} == expected


async def test_custom_resources_are_like_any_other(
    connect: Connect, cluster: Cluster, namespace: str, crd: CustomResource
) -> None:
    cluster.create(crd.path(namespace), crd.object("red", color="red", size=3))
    cluster.create(crd.path(namespace), crd.object("blue", color="blue"))
    async with connect() as client:
        widgets = await Discovery(client).resolve("wd")
        found = await client.list(widgets, namespace=namespace)
        assert [(item.kind, item.name, item["spec"]["color"]) for item in found] == [
            ("Widget", "blue", "blue"),
            ("Widget", "red", "red"),
        ]
        async with await client.watch(widgets, namespace=namespace) as watch:
            assert [event.object for event in await taken(watch, 2)] == found.items
        with pytest.raises(UnsupportedMediaType):
            await client.patch(
                widgets,
                "red",
                {"spec": {"size": 4}},
                patch_type=PatchType.STRATEGIC,
                namespace=namespace,
            )


async def test_every_decoder_reads_what_a_real_server_sends(
    connect: Connect, cluster: Cluster, namespace: str
) -> None:
    cluster.create(f"/api/v1/namespaces/{namespace}/pods", pod("web", {"app": "web"}))
    async with connect() as client:
        [lazy] = await client.list(PODS, namespace=namespace)
        [plain] = await client.list(PODS, namespace=namespace, decoder=decode_dict)
        [partial] = await client.list(PODS, namespace=namespace, decoder=decode_partial_metadata)
    assert isinstance(lazy, Unstructured)
    assert lazy.to_dict() == plain
    assert partial.kind == "Pod"
    assert partial.metadata == lazy.metadata
    assert partial.metadata.labels == {"app": "web"}


async def test_a_listwatch_serves_async_and_blocking_callers(
    connect: Connect, cluster: Cluster, namespace: str
) -> None:
    cluster.create(path(namespace), config_map("one"))

    def blocking(source: ListWatch[Unstructured]) -> list[str]:
        names = [item.name for item in source.list(ListOptions())]
        watch = source.watch(ListOptions())
        for event in watch:
            names.append(event.object.name)
            break
        watch.close()
        return names

    async with connect() as client:
        source = ListWatch.from_client(client, CONFIG_MAPS, namespace)
        assert [item.name for item in await source.alist(ListOptions())] == ["one"]
        assert await asyncio.to_thread(blocking, source) == ["one", "one"]
