"""The `listwatch` command beside kubectl and a plain HTTP client, on a real kube-apiserver."""

from __future__ import annotations

import http.client
import json
import os
import signal
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest
import yaml

from conformance.certs import Authority
from conformance.cluster import Cluster
from conformance.objects import CustomResource, config_map, pod
from conformance.waiting import until

Change = Callable[[Cluster, str], None]


class Done(NamedTuple):
    code: int
    out: str
    err: str


class Command:
    """`python -m listwatch`, as a person runs it."""

    def __init__(self, kubeconfig: Path, home: Path) -> None:
        self._kubeconfig = kubeconfig
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("KUBE")},
            "HOME": str(home),
            "PYTHONWARNINGS": "error",
        }

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "listwatch", *arguments]
        if "--server" not in arguments and "--kubeconfig" not in arguments:
            command += ["--kubeconfig", str(self._kubeconfig)]
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self._environment,
        )

    def __call__(self, *arguments: str) -> Done:
        with self.start(*arguments) as process:
            out, err = process.communicate(timeout=60)
        assert "Traceback" not in err
        return Done(process.returncode, out, err)


@pytest.fixture
def listwatch(cluster: Cluster, tmp_path: Path) -> Command:
    return Command(cluster.kubeconfig(), tmp_path)


@pytest.fixture
def filled(cluster: Cluster, namespace: str, crd: CustomResource) -> str:
    """A namespace with something of each kind in it."""
    for name in ("web-0", "web-1"):
        cluster.create(f"/api/v1/namespaces/{namespace}/pods", pod(name, {"app": "web"}))
    cluster.create(f"/api/v1/namespaces/{namespace}/configmaps", config_map("one", a="<1>"))
    cluster.create(crd.path(namespace), crd.object("red", color="red"))
    return namespace


def path(namespace: str, name: str = "") -> str:
    return f"/api/v1/namespaces/{namespace}/configmaps" + (f"/{name}" if name else "")


def change(cluster: Cluster, namespace: str) -> None:
    for number in range(3):
        cluster.create(path(namespace), config_map(f"c-{number}", {"n": str(number)}, text="<é>"))
        cluster.patch(path(namespace, f"c-{number}"), {"data": {"more": "x" * 3000}})
        cluster.delete(path(namespace, f"c-{number}"))


def json_stream(text: str) -> list[Any]:
    """The values of a stream of JSON, in whatever layout."""
    found, position, decoder = [], 0, json.JSONDecoder()
    while position < len(text.rstrip()):
        value, position = decoder.raw_decode(text, position)
        found.append(value)
        while position < len(text) and text[position].isspace():
            position += 1
    return found


READERS: dict[str, Callable[[str], Any]] = {
    "json": json.loads,
    "yaml": yaml.safe_load,
    "name": str.splitlines,
}


@pytest.mark.parametrize("resource", ["pods", "po", "configmaps", "wd", "widgets.example.com"])
@pytest.mark.parametrize("form", READERS)
@pytest.mark.parametrize("more", [(), ("--show-managed-fields",)], ids=["", "managed"])
def test_get_prints_what_kubectl_prints(
    cluster: Cluster,
    filled: str,
    listwatch: Command,
    resource: str,
    form: str,
    more: tuple[str, ...],
) -> None:
    # kubectl sorts the keys; ours are in the order in which the server sends them.
    arguments = ("get", resource, "-n", filled, "-o", form, *more)
    ours, theirs = listwatch(*arguments), cluster.kubectl()(*arguments)
    assert (ours.code, ours.err) == (0, "")
    assert READERS[form](ours.out) == READERS[form](theirs.stdout)


@pytest.mark.parametrize(
    "arguments", [("nodes",), ("namespaces",), ("pods", "-A"), ("deploy", "-A"), ("wd", "-A")]
)
def test_get_takes_what_is_not_in_a_namespace_and_what_is_in_all(
    cluster: Cluster, filled: str, listwatch: Command, arguments: tuple[str, ...]
) -> None:
    ours = listwatch("get", *arguments, "-o", "json")
    theirs = cluster.kubectl()("get", *arguments, "-o", "json")
    assert ours.code == 0

    def here(text: str) -> list[tuple[str, str]]:
        # Other tests share the cluster, so only what is surely there is compared.
        names = (
            (item["metadata"].get("namespace", ""), item["metadata"]["name"])
            for item in json.loads(text)["items"]
        )
        return [key for key in names if key[0] in (filled, "") and not key[1].startswith("test-")]

    assert here(ours.out) == here(theirs.stdout)


def test_get_of_one_object_is_that_object(
    cluster: Cluster, filled: str, listwatch: Command
) -> None:
    for arguments in (["pods", "web-0"], ["pods/web-0"], ["widget", "red"]):
        ours = listwatch("get", *arguments, "-n", filled, "-o", "json")
        theirs = cluster.kubectl()("get", *arguments, "-n", filled, "-o", "json")
        assert json.loads(ours.out) == json.loads(theirs.stdout)


def test_get_as_a_table_has_the_columns_that_kubectl_has(
    cluster: Cluster, filled: str, listwatch: Command
) -> None:
    def cells(text: str) -> list[list[str]]:
        rows = [line.split() for line in text.splitlines()]
        age = rows[0].index("AGE")
        return [[cell for column, cell in enumerate(row) if column != age] for row in rows]

    for resource in ("configmaps", "namespaces"):
        ours = listwatch("get", resource, "-n", filled)
        theirs = cluster.kubectl()("get", resource, "-n", filled)
        found, expected = cells(ours.out), cells(theirs.stdout)
        assert found[0] == expected[0]
        assert [row for row in expected if filled in row or "one" in row] == [
            row for row in found if filled in row or "one" in row
        ]
    pods = cells(listwatch("get", "pods", "-n", filled).out)
    assert [row[:4] for row in pods] == [
        ["NAME", "READY", "STATUS", "RESTARTS"],
        ["web-0", "0/1", "Pending", "0"],
        ["web-1", "0/1", "Pending", "0"],
    ]


def test_get_chooses_and_limits(filled: str, listwatch: Command) -> None:
    chosen = listwatch(
        "get",
        "pods",
        "-n",
        filled,
        "-l",
        "app=web",
        "--field-selector",
        "metadata.name=web-1",
        "-o",
        "name",
    )
    assert (chosen.code, chosen.out) == (0, "pod/web-1\n")
    page = listwatch("get", "pods", "-n", filled, "--limit", "1", "-o", "name")
    assert (page.code, page.out) == (0, "pod/web-0\n")
    assert "1 of 2" in page.err


def test_watch_prints_what_kubectl_prints(
    cluster: Cluster, namespace: str, listwatch: Command
) -> None:
    arguments = ("configmaps", "-A", "-l", "n", "-o", "json")
    kubectl = cluster.kubectl().start(
        "get", *arguments, "--watch", "--output-watch-events", "--show-managed-fields"
    )
    printed: list[str] = []
    reading = threading.Thread(target=lambda: printed.extend(kubectl.stdout or ()))
    reading.start()

    def shown(name: str) -> bool:
        cluster.create(path(namespace), config_map(name, {"n": "mark"}))
        cluster.delete(path(namespace, name))
        return any(f'"{name}"' in line for line in printed)

    until(lambda: shown("begin"), what="kubectl to watch")
    ours = listwatch.start("watch", *arguments, "--count", "9")
    while ours.poll() is None:  # nobody knows when it began to watch
        change(cluster, namespace)
    out, err = ours.communicate(timeout=60)
    until(lambda: shown("end"), what="kubectl to have printed it all")
    kubectl.terminate()
    kubectl.wait()
    reading.join()
    if kubectl.stdout:
        kubectl.stdout.close()

    found = [json.loads(line) for line in out.splitlines()]
    expected = json_stream("".join(printed))
    assert (ours.returncode, len(found)) == (0, 9)
    assert "Traceback" not in err
    if found[0] not in expected:
        # In the set that it began with: an ADDED here, a change to who has watched for longer.
        assert found.pop(0)["type"] == "ADDED"
    position = expected.index(found[0])
    assert expected[position : position + len(found)] == found


def plain_watch(cluster: Cluster, target: str) -> Iterator[bytes]:
    """The lines of a watch as an HTTP client with nothing of ours gets them."""
    address = urlsplit(cluster.server)
    context = ssl.create_default_context(cafile=str(cluster.ca_file))
    connection = http.client.HTTPSConnection(
        address.hostname or "", address.port, context=context, timeout=30
    )
    headers = {"Authorization": f"Bearer {cluster.tokens['admin']}"}
    connection.request("GET", target, headers=headers)
    with connection.getresponse() as response:
        yield from response
    connection.close()


def test_a_raw_watch_is_the_api_s_own_lines(
    cluster: Cluster, namespace: str, listwatch: Command
) -> None:
    start = cluster.get(path(namespace))["metadata"]["resourceVersion"]
    change(cluster, namespace)
    target = f"/api/v1/configmaps?watch=1&resourceVersion={start}&timeoutSeconds=2"
    expected = b"".join(plain_watch(cluster, target)).decode()
    server = ("--server", cluster.server, "--certificate-authority", str(cluster.ca_file))
    token = ("--token", cluster.tokens["admin"])
    ours = listwatch(
        "watch",
        "configmaps",
        "-A",
        *server,
        *token,
        "--raw",
        "--since",
        start,
        "-o",
        "json",
        "--duration",
        "2s",
    )
    assert ours.code == 0
    assert ours.out == expected
    assert len(ours.out.splitlines()) >= 9


def test_a_version_too_old_is_an_error_event_and_exit_code_1(
    fresh_cluster: Callable[..., Cluster], tmp_path: Path
) -> None:
    cluster = fresh_cluster()
    start = cluster.get(path("default"))["metadata"]["resourceVersion"]
    change(cluster, "default")
    cluster.compact_etcd(int(cluster.get(path("default"))["metadata"]["resourceVersion"]))
    cluster.restart_apiserver()
    ours = Command(cluster.kubeconfig(), tmp_path)(
        "watch", "configmaps", "-A", "--raw", "--since", start, "-o", "json"
    )
    assert ours.code == 1
    event = json.loads(ours.out)
    assert (event["type"], event["object"]["code"], event["object"]["reason"]) == (
        "ERROR",
        410,
        "Expired",
    )


def test_what_is_refused_is_one_clear_line(cluster: Cluster, tmp_path: Path) -> None:
    wrong = Authority(tmp_path).file
    nobody = Command(cluster.kubeconfig(user="nobody"), tmp_path)
    server = ("--server", cluster.server)
    trusted = ("--certificate-authority", str(cluster.ca_file))
    refusals = {
        'secrets is forbidden: User "nobody" cannot list': nobody("get", "secrets", "-A"),
        'secrets is forbidden: User "nobody" cannot watch': nobody("watch", "secrets", "-A"),
        "Unauthorized": nobody("get", "pods", *server, *trusted, "--token", "a-wrong-token"),
        "certificate verify failed": nobody(
            "get", "pods", *server, "--certificate-authority", str(wrong), "--token", "t"
        ),
        "nothings": nobody("get", "nothings"),
        'pods "no-such" not found': Command(cluster.kubeconfig(), tmp_path)(
            "get", "pods", "no-such"
        ),
    }
    for said, done in refusals.items():
        assert done.code == 1, done
        assert done.out == ""
        assert said in done.err
        assert len(done.err.splitlines()) <= 2, done.err
        assert "a-wrong-token" not in done.err


def test_ctrl_c_ends_at_once_and_quietly(
    cluster: Cluster, namespace: str, listwatch: Command
) -> None:
    cluster.create(path(namespace), config_map("one"))
    with listwatch.start("watch", "configmaps", "-n", namespace, "-o", "name") as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("ADDED")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=10)
    assert process.returncode == 130
    assert "Traceback" not in err


def test_a_closed_pipe_is_a_success(cluster: Cluster, namespace: str, tmp_path: Path) -> None:
    with cluster.session() as session:
        for number in range(200):
            session.create(path(namespace), config_map(f"c-{number:03}", text="x" * 1000))
    arguments = f"get configmaps -n {namespace} -o json --kubeconfig {cluster.kubeconfig()}"
    command = f"{sys.executable} -m listwatch {arguments}"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} | head -n 3"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0] == "{"
