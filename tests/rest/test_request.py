"""What travels for each verb, and what is refused before anything does."""

from __future__ import annotations

from typing import Any, assert_type

import msgspec
import pytest

from listwatch.api import (
    ListOptions,
    SelectorError,
    TooManyRequests,
    Unstructured,
)
from listwatch.rest.client import PatchType
from listwatch.rest.errors import InvalidRequest, UnexpectedContent
from listwatch.rest.request import Request
from listwatch.rest.transport import Timeouts
from listwatch.rest.user_agent import user_agent
from listwatch.testing import Reply, in_turn
from listwatch.wire import ObjectDecodeError, decode_dict
from tests.rest.scripted import PODS, WIDGETS, Pod, client_of, pod, pod_list

pytestmark = pytest.mark.virtual_time


class TestWhatTravels:
    @pytest.mark.clause("B2", "B10")
    async def test_a_list_is_one_get_that_accepts_json_and_gzip(self) -> None:
        client, transport = client_of(in_turn(Reply.json(pod_list())))
        await client.list(PODS)
        [sent] = transport.requests
        assert (sent.method, sent.request.target) == ("GET", "/api/v1/pods")
        assert sent.headers == {
            "Accept": "application/json",
            "Accept-Encoding": "gzip",
            "User-Agent": user_agent(),
        }
        assert sent.request.body is None

    @pytest.mark.clause("B2", "B10")
    async def test_a_watch_adds_watch_true_and_never_asks_for_gzip(self) -> None:
        client, transport = client_of(in_turn(Reply.json({})))
        async with await client.watch(PODS, namespace="a"):
            pass
        [sent] = transport.requests
        assert sent.request.target == "/api/v1/namespaces/a/pods?watch=true"
        assert sent.headers == {"Accept": "application/json", "User-Agent": user_agent()}

    @pytest.mark.clause("B11")
    async def test_the_time_limits_of_a_list_and_of_a_watch(self) -> None:
        client, transport = client_of(lambda request: Reply.json(pod_list()))
        await client.list(PODS)
        async with await client.watch(PODS):
            pass
        limits = [
            (r.connect_timeout, r.first_byte_timeout, r.silence_timeout)
            for r in (received.request for received in transport.requests)
        ]
        assert limits == [(10, 75, 30), (10, 30, None)]

    @pytest.mark.clause("B11")
    async def test_the_time_limits_can_be_set_for_a_client_and_for_one_request(self) -> None:
        mine = Timeouts(connect=1, first_byte=2, watch_first_byte=3, silence=4)
        client, transport = client_of(lambda request: Reply.json(pod_list()), timeouts=mine)
        await client.list(PODS)
        other = Timeouts(connect=5, first_byte=None, watch_first_byte=None, silence=None)
        await client.get().resource(PODS).timeouts(other).list()
        limits = [
            (r.connect_timeout, r.first_byte_timeout, r.silence_timeout)
            for r in (received.request for received in transport.requests)
        ]
        assert limits == [(1, 2, 4), (5, None, None)]

    @pytest.mark.clause("B2", "A1")
    async def test_list_sends_the_options_without_watch(self) -> None:
        client, transport = client_of(lambda request: Reply.json(pod_list()))
        options = ListOptions(limit=5, resource_version="7", watch=True)
        await client.list(PODS, options=options)
        await client.get().resource(PODS).options(options).list()
        for sent in transport.requests:
            assert sent.query == {"limit": "5", "resourceVersion": "7"}

    @pytest.mark.clause("B1")
    async def test_query_values_are_percent_encoded(self) -> None:
        client, transport = client_of(in_turn(Reply.json(pod_list())))
        request = client.get().resource(PODS).query("x y", "ü/&=+")
        await request.list(ListOptions(label_selector="app in (a,b),env!=prod"))
        assert transport.requests[0].request.target == (
            "/api/v1/pods?x%20y=%C3%BC%2F%26%3D%2B"
            "&labelSelector=app%20in%20%28a%2Cb%29%2Cenv%21%3Dprod"
        )

    @pytest.mark.clause("B1")
    @pytest.mark.parametrize(
        ("build", "target"),
        [
            (lambda r: r.resource(PODS).namespace("a").name("x"), "/api/v1/namespaces/a/pods/x"),
            (
                lambda r: r.resource(PODS).namespace("a").name("x").subresource("log"),
                "/api/v1/namespaces/a/pods/x/log",
            ),
            (
                lambda r: r.resource(WIDGETS).name("w"),
                "/apis/example.com/v1/widgets/w",
            ),
            (lambda r: r.path("/version"), "/version"),
            (
                lambda r: r.path("/livez?verbose").query("exclude", "etcd"),
                "/livez?verbose=&exclude=etcd",
            ),
            (lambda r: r.resource(PODS).namespace(""), "/api/v1/pods"),
        ],
    )
    async def test_what_was_built_is_what_is_asked_for(self, build: Any, target: str) -> None:
        client, transport = client_of(in_turn(Reply(200, b"raw")))
        assert await build(client.request("GET")).raw() == b"raw"
        assert transport.requests[0].request.target == target

    async def test_a_step_leaves_the_request_before_it_as_it_was(self) -> None:
        client, transport = client_of(lambda request: Reply(200, b""))
        common = client.get().resource(PODS).namespace("a")
        await common.name("x").header("X-Y", "1").query("q", "1").raw()
        await common.raw()
        assert transport.requests[1].request.target == "/api/v1/namespaces/a/pods"
        assert "X-Y" not in transport.requests[1].headers

    async def test_a_header_replaces_the_one_of_the_same_name_in_any_case(self) -> None:
        client, transport = client_of(in_turn(Reply(200, b"")))
        await client.request("GET").path("/x").header("accept", "text/plain").raw()
        headers = transport.requests[0].headers
        assert {name.lower(): text for name, text in headers.items()}["accept"] == "text/plain"
        assert len(headers) == 3

    async def test_a_header_cannot_bring_another_header(self) -> None:
        client, _ = client_of(in_turn())
        with pytest.raises(InvalidRequest, match="line break"):
            client.request("GET").header("X", "1\r\nHost: elsewhere")

    @pytest.mark.clause("B4", "H9")
    @pytest.mark.parametrize("verb", ["list", "watch", "raw"])
    async def test_how_often_it_is_repeated_can_be_set_for_one_request(self, verb: str) -> None:
        busy = Reply(429, b"", {"Retry-After": "1"})
        client, transport = client_of(lambda request: busy, max_retries=5)
        with pytest.raises(TooManyRequests):
            await getattr(client.get().resource(PODS).max_retries(0), verb)()
        assert len(transport.requests) == 1
        with pytest.raises(TooManyRequests):
            await getattr(client.get().resource(PODS), verb)()
        assert len(transport.requests) == 1 + 6
        with pytest.raises(InvalidRequest, match="max_retries"):
            client.get().max_retries(-1)

    @pytest.mark.parametrize(
        ("body", "bytes_sent"),
        [
            ({"a": 1}, b'{"a":1}'),
            ([1, "x"], b'[1,"x"]'),
            (b"as it is", b"as it is"),
            (Unstructured.from_dict(pod("x")), Unstructured.from_dict(pod("x")).raw),
            (Pod({"name": "x"}), b'{"metadata":{"name":"x"},"node":""}'),
        ],
    )
    async def test_a_body_travels_as_json(self, body: Any, bytes_sent: bytes) -> None:
        client, transport = client_of(in_turn(Reply(200, b"")))
        await client.request("POST").path("/x").body(body).raw()
        [sent] = transport.requests
        assert sent.request.body == bytes_sent
        assert sent.headers["Content-Type"] == "application/json"

    async def test_what_json_cannot_hold_is_refused(self) -> None:
        client, _ = client_of(in_turn())
        with pytest.raises(InvalidRequest, match="cannot be sent as JSON"):
            client.request("POST").body({"x": object()})


class TestRefusals:
    """What is refused before anything is sent: the transport would object to any request."""

    pytestmark = pytest.mark.clause("B1")

    @pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a%2fb"])
    async def test_names_that_are_no_names(self, name: str) -> None:
        client, transport = client_of(in_turn())
        for attempt in (
            lambda: client.get(PODS, name, namespace="a"),
            lambda: client.delete(PODS, name, namespace="a"),
            lambda: client.patch(PODS, name, {}, patch_type=PatchType.MERGE, namespace="a"),
            lambda: client.replace(PODS, pod(name), namespace="a"),
        ):
            with pytest.raises(InvalidRequest):
                await attempt()
        assert transport.requests == []

    @pytest.mark.parametrize("namespace", [".", "..", "a/b", "%"])
    async def test_namespaces_that_are_none(self, namespace: str) -> None:
        client, transport = client_of(in_turn())
        with pytest.raises(InvalidRequest, match="namespace"):
            await client.list(PODS, namespace=namespace)
        assert transport.requests == []

    async def test_a_name_without_a_namespace(self) -> None:
        client, _ = client_of(in_turn())
        with pytest.raises(InvalidRequest, match="namespaced"):
            await client.get(PODS, "x")

    async def test_an_object_without_a_name(self) -> None:
        client, _ = client_of(in_turn())
        with pytest.raises(InvalidRequest, match="did you mean list"):
            await client.get(PODS, namespace="a")

    async def test_a_list_or_watch_of_one_name(self) -> None:
        client, _ = client_of(in_turn())
        request = client.get(PODS, "x", namespace="a")
        with pytest.raises(InvalidRequest, match=r"metadata\.name"):
            await request.list()
        with pytest.raises(InvalidRequest, match=r"metadata\.name"):
            await request.watch()

    async def test_neither_a_resource_nor_a_path_or_both(self) -> None:
        client, _ = client_of(in_turn())
        for request in (client.get(), client.get().resource(PODS).path("/x")):
            with pytest.raises(InvalidRequest, match="either a resource or a path"):
                await request.raw()

    @pytest.mark.clause("A4")
    async def test_a_selector_that_does_not_parse(self) -> None:
        client, _ = client_of(in_turn())
        with pytest.raises(SelectorError):
            await client.list(PODS, options=ListOptions(label_selector="a in b"))


class TestObject:
    async def test_awaiting_a_request_gives_the_object(self) -> None:
        client, _ = client_of(in_turn(Reply.json(pod("x"))))
        found = await client.get(PODS, "x", namespace="a")
        assert_type(found, Unstructured)
        assert found.key == "a/x"

    @pytest.mark.clause("D6")
    async def test_with_a_decoder_it_is_what_that_makes_of_it(self) -> None:
        client, _ = client_of(lambda request: Reply.json(pod("x", node="n1")))
        decoder = msgspec.json.Decoder(Pod).decode
        found = await client.get(PODS, "x", namespace="a", decoder=decoder)
        assert_type(found, Pod)
        assert found.node == "n1"
        request = client.get(PODS, "x", namespace="a").decoder(decode_dict)
        assert_type(request, Request[dict[str, Any]])
        assert (await request)["node"] == "n1"

    @pytest.mark.clause("D6")
    async def test_a_decoder_that_fails_names_the_object(self) -> None:
        client, transport = client_of(in_turn(Reply.json(pod("x", node=7))))
        with pytest.raises(ObjectDecodeError, match="a/x"):
            await client.get(PODS, "x", namespace="a", decoder=msgspec.json.Decoder(Pod).decode)
        assert transport.open_responses == 0

    @pytest.mark.clause("B6")
    async def test_a_proxys_page_with_200_is_an_error(self) -> None:
        client, transport = client_of(
            in_turn(Reply(200, b"<html>hello</html>", {"Content-Type": "text/html"}))
        )
        with pytest.raises(UnexpectedContent, match="text/html"):
            await client.get(PODS, "x", namespace="a")
        assert transport.open_responses == 0
