"""What kubectl and our command print of a real kube-apiserver and of the embedded server, for the
same objects (B9).
"""

from __future__ import annotations

import re
import subprocess
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from conformance.cluster import Cluster
from conformance.kubeconfig import cluster_entry, write_kubeconfig
from conformance.kubectl import Kubectl, find_kubectl
from conformance.objects import CustomResource, install_crd
from conformance.printed_objects import printed_objects
from conformance.requests import Requests
from conformance.test_command import Command
from conformance.test_tables import GAUGES, Following, gauge_crd
from conformance.two_servers import EmbeddedCluster
from conformance.users import ADMIN
from conformance.waiting import until

pytestmark = pytest.mark.clause("B9")

_AGE = re.compile(r"\b[0-9]+(s|m|m[0-9]+s)\b")
_UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")

_KINDS: dict[bool, dict[str, list[str]]] = {True: {}, False: {}}
"""By whether they are in namespaces: the types of the objects, and their names."""
for _each in printed_objects("any"):
    _KINDS[_each.is_namespaced].setdefault(_each.kind, []).append(_each.name)


@dataclass(frozen=True)
class Pair:
    """Both servers, with the same objects in a namespace of the same name."""

    namespace: str
    real: Requests
    embedded: Requests
    kubectls: tuple[Kubectl, Kubectl]
    commands: tuple[Command, Command]
    meters: CustomResource

    def do(self, work: Callable[[Requests], object]) -> None:
        for server in (self.real, self.embedded):
            work(server)


@pytest.fixture(scope="module")
def pair(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    namespace = f"printed-{uuid.uuid4().hex[:8]}"
    embedded = EmbeddedCluster()
    try:
        home = tmp_path_factory.mktemp("printed")
        entry = cluster_entry(embedded.server, embedded.ca_file, "token")
        config = write_kubeconfig(home, entry, {ADMIN: {"token": embedded.tokens[ADMIN]}})
        meters = [install_crd(server, _meter_crd()) for server in (cluster, embedded)]
        pair = Pair(
            namespace,
            cluster,
            embedded,
            (cluster.kubectl(), Kubectl(find_kubectl(), config, home)),
            (Command(cluster.kubeconfig(), home), Command(config, home)),
            meters[0],
        )
        pair.do(lambda server: _fill(server, namespace, meters[0]))
        yield pair
        for each in printed_objects(namespace):
            if not each.is_namespaced:
                cluster.request("DELETE", f"{each.path}/{each.name}")
        cluster.request("DELETE", f"/api/v1/namespaces/{namespace}")
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        cluster.request("DELETE", f"{path}/meters.printed.example.com")
    finally:
        embedded.stop()


def _meter_crd() -> dict[str, Any]:
    """With the columns of gauges, but of a name of its own."""
    definition = gauge_crd()
    definition["metadata"] = {"name": "meters.printed.example.com"}
    names = {"plural": "meters", "singular": "meter", "kind": "Meter", "shortNames": ["mt"]}
    definition["spec"] |= {"group": "printed.example.com", "names": names}
    return definition


def _fill(server: Requests, namespace: str, meters: CustomResource) -> None:
    server.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
    for each in printed_objects(namespace):
        server.create(each.path, each.obj)
        if each.status is not None:
            server.patch(f"{each.path}/{each.name}/status", {"status": each.status})
    for name, spec in GAUGES.items():
        server.create(meters.path(namespace), meters.object(name, **spec))


def _normal(printed: str) -> str:
    text = _UID.sub("<uid>", _TIME.sub("<time>", _AGE.sub("<age>", printed)))
    # A column is as wide as an age in it, which may have got a digit more.
    return re.sub(" +", " ", text)


def _same(*printers: Callable[[], str]) -> str:
    """What all of them print."""
    texts = [_normal(printer()) for printer in printers]
    for text in texts[1:]:
        assert text == texts[0]
    return texts[0]


@pytest.mark.parametrize("kind", _KINDS[True])
def test_both_servers_are_printed_alike(pair: Pair, kind: str) -> None:
    arguments = ("get", kind, "-n", pair.namespace, "-o", "wide")
    text = _same(*(lambda k=kubectl: k(*arguments).stdout for kubectl in pair.kubectls))
    assert len(text.splitlines()) >= 2


@pytest.mark.parametrize("kind", _KINDS[False])
def test_objects_outside_of_namespaces_are_too(pair: Pair, kind: str) -> None:
    arguments = ("get", kind, *_KINDS[False][kind], "-o", "wide")
    text = _same(*(lambda k=kubectl: k(*arguments).stdout for kubectl in pair.kubectls))
    assert len(text.splitlines()) == 1 + len(_KINDS[False][kind])


@pytest.mark.parametrize(
    "arguments",
    [
        ("pods",),
        ("pod/runs", "-o", "wide"),
        ("pods", "-l", "none"),
        ("deploy,rs,svc",),
        ("events",),
        ("meters",),
        ("mt", "-o", "wide"),
        ("meters.printed.example.com", "full"),
        ("meters", "-A"),
        ("all",),
        ("pods", "--sort-by=.metadata.name"),
        ("pods", "--show-labels"),
        ("rs", "-L", "a"),
        ("pods", "--no-headers"),
        ("pods", "--chunk-size=3"),
        ("namespaces", "default"),
        ("crds", "meters.printed.example.com"),
    ],
    ids=" ".join,
)
def test_kubectl_prints_both_alike(pair: Pair, arguments: tuple[str, ...]) -> None:
    where = () if "-A" in arguments else ("-n", pair.namespace)
    run = [lambda k=kubectl: _all_of(k("get", *arguments, *where)) for kubectl in pair.kubectls]
    _same(*run)


def _all_of(done: subprocess.CompletedProcess[str]) -> str:
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("pods",),
        ("pods", "-o", "wide"),
        ("deployments", "-o", "wide"),
        ("meters", "-A"),
        ("meters", "-o", "wide"),
        ("roles",),
        ("cm,pods,mt,deploy",),
    ],
    ids=" ".join,
)
def test_our_command_prints_the_embedded_server_as_kubectl_the_real_one(
    pair: Pair, arguments: tuple[str, ...]
) -> None:
    where = () if "-A" in arguments else ("-n", pair.namespace)
    full = ("get", *arguments, *where)
    _same(
        lambda: pair.kubectls[0](*full).stdout,
        lambda: pair.commands[0](*full).out,
        lambda: pair.commands[1](*full).out,
    )


@pytest.mark.parametrize("arguments", [("meters", "-w"), ("meters", "-w", "-o", "wide")])
def test_changes_are_printed_alike(pair: Pair, arguments: tuple[str, ...]) -> None:
    meters, namespace = pair.meters, f"{pair.namespace}-{len(arguments)}"
    pair.do(lambda server: server.create("/api/v1/namespaces", {"metadata": {"name": namespace}}))

    def put(name: str, **spec: Any) -> None:
        obj = meters.object(name, **spec)
        pair.do(lambda server: server.create(meters.path(namespace), obj))

    def change(name: str, **spec: Any) -> None:
        path = meters.path(namespace, name)
        pair.do(lambda server: server.patch(path, {"spec": spec}))

    put("first", level=1)
    full = ("get", *arguments, "-n", namespace)
    following = [Following(found.start(*full)) for found in (*pair.kubectls, pair.commands[1])]
    with following[0], following[1], following[2]:
        marks = 0

        def all_watch() -> bool:
            nonlocal marks
            marks += 1
            put(f"mark-{marks}")
            return all(f"mark-{marks} " in found.text for found in following)

        until(all_watch, what="all to watch")
        change("first", level=100000, on=True)
        put("second-with-a-long-name", ratio=0.5)
        change("first", words="w" * 40)
        pair.do(lambda server: server.delete(meters.path(namespace, "second-with-a-long-name")))
        put("last-of-all")
        until(
            lambda: all("last-of-all" in found.text for found in following),
            what="all to print the last one",
        )
    before = f"mark-{marks} "
    shown = [_normal(found.text).split(before, 1)[1] for found in following]
    assert shown[1] == shown[0]
    assert shown[2] == shown[0]
