"""The verbs of RESTClient: what each sends, and what it gives."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from listwatch.api import APIResource, Conflict, GroupVersionResource, Status, Unstructured
from listwatch.rest.client import PatchType, RESTClient
from listwatch.rest.config import ClientConfig
from listwatch.rest.credentials import StaticToken
from listwatch.rest.errors import InvalidRequest
from listwatch.rest.rate_limit import TokenBucket
from listwatch.rest.warnings import CollectWarnings
from listwatch.testing import MemoryTransport, Reply, in_turn
from listwatch.testing.transport import Handler, ReceivedRequest

pytestmark = pytest.mark.virtual_time

PODS = APIResource(group="", version="v1", name="pods", kind="Pod", namespaced=True)
NODES = APIResource(group="", version="v1", name="nodes", kind="Node", namespaced=False)
WIDGETS = GroupVersionResource("example.com", "v1", "widgets")
CONFIG = ClientConfig(server="https://127.0.0.1:6443", credentials=StaticToken("secret-token"))
POD = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "x", "namespace": "a"}}
FRESH = {**POD, "metadata": {**POD["metadata"], "resourceVersion": "8"}}  # type: ignore[dict-item]


def client_of(handler: Handler, **kwargs: Any) -> tuple[RESTClient, MemoryTransport]:
    transport = MemoryTransport(handler)
    return RESTClient(CONFIG, transport=transport, **kwargs), transport


def sent_json(received: ReceivedRequest) -> Any:
    assert received.request.body is not None
    return json.loads(received.request.body)


class TestCreate:
    @pytest.mark.parametrize("obj", [POD, Unstructured.from_dict(POD), json.dumps(POD).encode()])
    async def test_it_posts_the_object_to_its_own_namespace(self, obj: Any) -> None:
        client, transport = client_of(in_turn(Reply.json(FRESH, status=201)))
        created = await client.create(PODS, obj)
        assert created.resource_version == "8"
        [sent] = transport.requests
        assert (sent.method, sent.request.target) == ("POST", "/api/v1/namespaces/a/pods")
        assert sent_json(sent) == POD
        assert sent.headers["Content-Type"] == "application/json"

    async def test_a_namespace_given_wins(self) -> None:
        client, transport = client_of(in_turn(Reply.json(FRESH, status=201)))
        await client.create(PODS, POD, namespace="b")
        assert transport.requests[0].path == "/api/v1/namespaces/b/pods"

    async def test_its_parameters_travel_in_the_query(self) -> None:
        client, transport = client_of(in_turn(Reply.json(FRESH, status=201)))
        await client.create(PODS, POD, dry_run=True, field_manager="me", field_validation="Strict")
        assert transport.requests[0].query == {
            "dryRun": "All",
            "fieldManager": "me",
            "fieldValidation": "Strict",
        }

    async def test_a_subresource_belongs_to_the_object_that_is_named(self) -> None:
        client, transport = client_of(lambda request: Reply.json({"kind": "Status"}, status=201))
        eviction = {"kind": "Eviction", "metadata": {"name": "x", "namespace": "a"}}
        await client.create(PODS, eviction, subresource="eviction")
        await client.create(PODS, {}, namespace="a", name="y", subresource="binding")
        assert [sent.path for sent in transport.requests] == [
            "/api/v1/namespaces/a/pods/x/eviction",
            "/api/v1/namespaces/a/pods/y/binding",
        ]

    @pytest.mark.clause("B1")
    async def test_a_namespaced_object_without_a_namespace_is_refused(self) -> None:
        client, _ = client_of(in_turn())
        with pytest.raises(InvalidRequest, match="in which one"):
            await client.create(PODS, {"metadata": {"generateName": "x-"}})

    async def test_a_cluster_scoped_one_needs_none(self) -> None:
        client, transport = client_of(in_turn(Reply.json(FRESH, status=201)))
        await client.create(NODES, {"metadata": {"name": "n"}})
        assert transport.requests[0].path == "/api/v1/nodes"


class TestReplace:
    async def test_it_puts_the_object_where_its_name_says(self) -> None:
        client, transport = client_of(in_turn(Reply.json(FRESH)))
        replaced = await client.replace(PODS, POD, field_manager="me", subresource="status")
        assert replaced.resource_version == "8"
        [sent] = transport.requests
        assert sent.method == "PUT"
        assert sent.request.target == "/api/v1/namespaces/a/pods/x/status?fieldManager=me"
        assert sent_json(sent) == POD

    @pytest.mark.clause("A6")
    async def test_what_edit_gives_can_be_sent_back_with_its_resource_version(self) -> None:
        client, transport = client_of(in_turn(Reply.json(FRESH)))
        changed = Unstructured.from_dict(FRESH).edit()
        changed["spec"] = {"nodeName": "n1"}
        await client.replace(PODS, changed)
        assert sent_json(transport.requests[0])["metadata"]["resourceVersion"] == "8"

    @pytest.mark.clause("A5")
    async def test_a_conflict_is_one(self) -> None:
        status = {"kind": "Status", "code": 409, "reason": "Conflict", "message": "changed"}
        client, _ = client_of(in_turn(Reply.json(status, status=409)))
        with pytest.raises(Conflict):
            await client.replace(PODS, POD)


class TestPatch:
    @pytest.mark.parametrize(
        ("patch_type", "content_type"),
        [
            (PatchType.JSON, "application/json-patch+json"),
            (PatchType.MERGE, "application/merge-patch+json"),
            (PatchType.STRATEGIC, "application/strategic-merge-patch+json"),
            (PatchType.APPLY, "application/apply-patch+yaml"),
        ],
    )
    async def test_the_type_is_the_content_type(
        self, patch_type: PatchType, content_type: str
    ) -> None:
        client, transport = client_of(in_turn(Reply.json(FRESH)))
        body = [{"op": "remove", "path": "/x"}] if patch_type is PatchType.JSON else {"x": None}
        await client.patch(PODS, "x", body, patch_type=patch_type, namespace="a")
        [sent] = transport.requests
        assert (sent.method, sent.path) == ("PATCH", "/api/v1/namespaces/a/pods/x")
        assert sent.headers["Content-Type"] == content_type
        assert sent_json(sent) == body

    async def test_apply_may_force_and_names_its_manager(self) -> None:
        client, transport = client_of(in_turn(Reply.json(FRESH)))
        await client.patch(
            PODS,
            "x",
            POD,
            patch_type=PatchType.APPLY,
            namespace="a",
            subresource="status",
            field_manager="me",
            force=True,
        )
        assert transport.requests[0].query == {"force": "true", "fieldManager": "me"}
        assert transport.requests[0].path.endswith("/x/status")


class TestDelete:
    async def test_it_sends_nothing_but_the_name_by_default(self) -> None:
        client, transport = client_of(in_turn(Reply.json({"kind": "Status", "status": "Success"})))
        await client.delete(PODS, "x", namespace="a")
        [sent] = transport.requests
        assert (sent.method, sent.request.target) == ("DELETE", "/api/v1/namespaces/a/pods/x")
        assert sent.request.body is None

    async def test_its_options_travel_as_delete_options(self) -> None:
        client, transport = client_of(in_turn(Reply.json(POD)))
        await client.delete(
            PODS,
            "x",
            namespace="a",
            uid="u1",
            resource_version="7",
            propagation_policy="Foreground",
            grace_period_seconds=0,
            dry_run=True,
            options={"orphanDependents": False},
        )
        assert sent_json(transport.requests[0]) == {
            "kind": "DeleteOptions",
            "apiVersion": "v1",
            "preconditions": {"uid": "u1", "resourceVersion": "7"},
            "propagationPolicy": "Foreground",
            "gracePeriodSeconds": 0,
            "dryRun": ["All"],
            "orphanDependents": False,
        }

    async def test_it_gives_the_status_or_the_object_whichever_came(self) -> None:
        status = {"kind": "Status", "status": "Success", "details": {"name": "x", "uid": "u"}}
        client, _ = client_of(in_turn(Reply.json(status), Reply.json(POD)))
        gone = await client.delete(WIDGETS, "x")
        assert isinstance(gone, Status)
        assert gone.details.name == "x"
        dying = await client.delete(PODS, "x", namespace="a")
        assert isinstance(dying, Unstructured)
        assert dying.name == "x"


class TestRead:
    async def test_it_gives_the_bytes_of_any_path(self) -> None:
        client, transport = client_of(in_turn(Reply(200, b"ok", {"Content-Type": "text/plain"})))
        body = await client.read("/livez?verbose", query=[("exclude", "etcd")], accept="text/plain")
        assert body == b"ok"
        [sent] = transport.requests
        assert sent.request.target == "/livez?verbose=&exclude=etcd"
        assert sent.headers["Accept"] == "text/plain"


@pytest.mark.clause("F3")
async def test_get_alone_starts_a_request() -> None:
    client, transport = client_of(in_turn(Reply.json({"kind": "PodList", "items": []})))
    await client.get().resource(PODS).namespace("a").list()
    assert transport.requests[0].path == "/api/v1/namespaces/a/pods"


@pytest.mark.clause("N4")
async def test_its_repr_shows_no_secret() -> None:
    client, _ = client_of(in_turn())
    assert "https://127.0.0.1:6443" in repr(client)
    assert "secret-token" not in repr(client)


@pytest.mark.clause("N2")
async def test_the_token_of_the_configuration_goes_with_each_request() -> None:
    client, transport = client_of(in_turn(Reply(200, b"")))
    await client.read("/version")
    assert transport.requests[0].headers["Authorization"] == "Bearer secret-token"
    assert "secret-token" not in repr(transport.requests[0].request)


async def test_what_it_was_given_is_used() -> None:
    warnings = CollectWarnings()
    busy = Reply(429, b"", [("Retry-After", "10"), ("Warning", '299 - "old"')])
    client, transport = client_of(
        in_turn(busy, Reply(200, b""), Reply(200, b"")),
        warnings=warnings,
        rate_limiter=TokenBucket(qps=0.01, burst=2),
        rng=random.Random(1),
        program="my-operator/1.2",
    )
    await client.read("/version")
    await client.read("/version")
    first, second, third = transport.requests
    assert first.headers["User-Agent"].startswith("my-operator/1.2 listwatch/")
    assert [warning.text for warning in warnings.warnings] == ["old"]
    assert 10 <= second.time < 11
    assert second.time != 10
    assert third.time == pytest.approx(100)


@pytest.mark.clause("B8")
async def test_leaving_it_closes_its_transport() -> None:
    transport = MemoryTransport(lambda request: Reply.json({}))
    async with RESTClient(CONFIG, transport=transport) as client:
        watch = await client.watch(PODS)
        assert transport.open_responses == 1
    assert transport.open_responses == 0
    assert [event async for event in watch] == []
