"""The harness itself: the servers are real, come up whole, and leave nothing behind."""

from __future__ import annotations

import os
import signal
import socket
import ssl
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

from conformance.binaries import Binaries
from conformance.certs import Authority
from conformance.cluster import Cluster, ClusterFactory, StartFailed
from conformance.kubeconfig import Form
from conformance.namespaces import create_namespace, delete_namespace
from conformance.objects import CustomResource, config_map, deployment, pod
from conformance.processes import free_port
from conformance.requests import RequestFailed, Session
from conformance.waiting import until

_ROOT = Path(__file__).parent.parent


def _names(listed: dict[str, Any]) -> list[str]:
    return [item["metadata"]["name"] for item in listed["items"]]


class TestServer:
    def test_is_ready(self, cluster: Cluster) -> None:
        answer = cluster.request("GET", "/readyz")
        assert (answer.status, answer.body) == (200, b"ok")

    def test_has_the_pinned_version(self, cluster: Cluster) -> None:
        version = cluster.get("/version")["gitVersion"]
        assert version == (cluster.binaries.version or version)
        assert version.startswith("v1.")

    def test_is_refused_by_a_client_with_another_authority(
        self, cluster: Cluster, tmp_path: Path
    ) -> None:
        other = ssl.create_default_context(cafile=str(Authority(tmp_path).file))
        with (
            Session(cluster.server, other, cluster.tokens["admin"]) as session,
            pytest.raises(ssl.SSLCertVerificationError),
        ):
            session.request("GET", "/version")

    def test_serves_a_custom_resource(
        self, cluster: Cluster, namespace: str, crd: CustomResource
    ) -> None:
        for name, color in (("one", "red"), ("two", "blue")):
            cluster.create(crd.path(namespace), crd.object(name, color=color))

        chosen = cluster.get(f"{crd.path(namespace)}?fieldSelector=spec.color%3Dblue")

        assert _names(chosen) == ["two"]

    def test_takes_flags_and_feature_gates(self, fresh_cluster: ClusterFactory) -> None:
        cluster = fresh_cluster(
            apiserver_args=["--runtime-config=batch/v1=false"],
            feature_gates={"CBORServingAndStorage": True},
        )

        cbor = cluster.request("GET", "/api/v1/namespaces", headers={"Accept": "application/cbor"})
        batch = cluster.request("GET", "/apis/batch/v1")

        assert cbor.headers["Content-Type"] == "application/cbor"
        assert batch.status == 404

    @pytest.mark.parametrize("taken", [0, 1], ids=["etcd", "kube-apiserver"])
    def test_takes_another_port_when_one_is_gone(
        self, fresh_cluster: ClusterFactory, monkeypatch: pytest.MonkeyPatch, taken: int
    ) -> None:
        with socket.create_server(("127.0.0.1", 0)) as somebody:
            ports = [free_port() for _ in range(3)]
            ports.insert(taken, somebody.getsockname()[1])
            monkeypatch.setattr("conformance.cluster.free_port", iter(ports).__next__)
            cluster = fresh_cluster()
        assert cluster.server.endswith(f":{ports[3]}")

    def test_that_does_not_start_tells_what_its_log_says(self, binaries: Binaries) -> None:
        cluster = Cluster(binaries=binaries, apiserver_args=["--no-such-flag"])
        with pytest.raises(StartFailed, match="unknown flag: --no-such-flag"):
            cluster.start()
        assert not cluster.folder.exists()


class TestUsers:
    def test_a_wrong_token_is_401(self, cluster: Cluster) -> None:
        assert cluster.request("GET", "/api/v1/pods", token="wrong").status == 401

    def test_nobody_may_do_nothing(self, cluster: Cluster) -> None:
        token = cluster.tokens["nobody"]
        path = "/api/v1/namespaces/default/pods"
        assert cluster.request("GET", path, token=token).status == 403

    @pytest.mark.parametrize(
        ("method", "path", "status"),
        [
            ("GET", "/api/v1/namespaces/default/pods", 200),
            ("GET", "/api/v1/namespaces/default/pods?watch=1&timeoutSeconds=1", 200),
            ("GET", "/api/v1/namespaces/kube-system/pods", 403),
            ("GET", "/api/v1/pods", 403),
            ("GET", "/api/v1/namespaces/default/configmaps", 403),
            ("DELETE", "/api/v1/namespaces/default/pods/none", 403),
        ],
    )
    def test_viewer_may_read_pods_of_one_namespace(
        self, cluster: Cluster, method: str, path: str, status: int
    ) -> None:
        assert cluster.request(method, path, token=cluster.tokens["viewer"]).status == status


class TestKubectl:
    def test_gets(self, cluster: Cluster, namespace: str) -> None:
        cluster.create(f"/api/v1/namespaces/{namespace}/pods", pod("web"))
        kubectl = cluster.kubectl(namespace=namespace)
        assert kubectl("get", "pods", "-o", "name").stdout == "pod/web\n"

    def test_is_refused_as_nobody(self, cluster: Cluster) -> None:
        done = cluster.kubectl("nobody")("get", "pods", check=False)
        assert done.returncode == 1
        assert 'User "nobody" cannot list resource "pods"' in done.stderr

    @pytest.mark.parametrize("user", ["admin", "viewer", "nobody"])
    @pytest.mark.parametrize("form", get_args(Form))
    def test_knows_the_user_by_every_form_of_kubeconfig(
        self, cluster: Cluster, user: str, form: Form
    ) -> None:
        kubectl = cluster.kubectl()
        chosen = f"--kubeconfig={cluster.kubeconfig(user, form)}"
        who = kubectl("auth", "whoami", "-o", "jsonpath={.status.userInfo.username}", chosen)
        assert who.stdout == user


class TestNamespaces:
    def test_are_apart(self, cluster: Cluster, namespace: str) -> None:
        other = create_namespace(cluster)
        cluster.create(f"/api/v1/namespaces/{other}/configmaps", config_map("elsewhere"))
        assert _names(cluster.get(f"/api/v1/namespaces/{namespace}/configmaps")) == []
        with cluster.session() as session:
            delete_namespace(session, other)

    def test_are_deleted_with_their_objects(self, cluster: Cluster, crd: CustomResource) -> None:
        name = create_namespace(cluster)
        cluster.create(f"/api/v1/namespaces/{name}/pods", pod("web"))
        cluster.create(crd.path(name), crd.object("one"))

        with cluster.session() as session:
            delete_namespace(session, name)

        assert cluster.request("GET", f"/api/v1/namespaces/{name}").status == 404
        for path in ("/api/v1/pods", crd.path()):
            left = [item["metadata"]["namespace"] for item in cluster.get(path)["items"]]
            assert name not in left


class TestVerbs:
    def test_change_objects(self, cluster: Cluster, namespace: str) -> None:
        collection = f"/api/v1/namespaces/{namespace}/configmaps"
        made = cluster.create(collection, config_map("one", a="1"))
        patched = cluster.patch(f"{collection}/one", {"data": {"b": "2"}})
        patched["data"] = {"c": "3"}
        replaced = cluster.replace(f"{collection}/one", patched)
        assert replaced["data"] == {"c": "3"}
        assert int(replaced["metadata"]["resourceVersion"]) > int(
            made["metadata"]["resourceVersion"]
        )
        assert cluster.delete(f"{collection}/one")["status"] == "Success"

    def test_raise_what_the_server_refused(self, cluster: Cluster, namespace: str) -> None:
        with pytest.raises(RequestFailed) as refused:
            cluster.get(f"/api/v1/namespaces/{namespace}/configmaps/none")
        assert refused.value.status == 404


class TestFailures:
    def test_a_killed_apiserver_comes_back_whole(self, fresh_cluster: ClusterFactory) -> None:
        cluster = fresh_cluster()
        server = cluster.server
        cluster.create("/api/v1/namespaces/default/configmaps", config_map("kept"))

        cluster.kill_apiserver()
        with pytest.raises(ConnectionRefusedError):
            cluster.request("GET", "/version")
        cluster.start_apiserver()

        # The first request of a user who needs a role: it is not ready before this works.
        pods = "/api/v1/namespaces/default/pods"
        assert cluster.request("GET", pods, token=cluster.tokens["viewer"]).status == 200
        assert cluster.server == server
        cluster.get("/api/v1/namespaces/default/configmaps/kept")

    def test_a_killed_etcd_keeps_what_it_acknowledged(self, fresh_cluster: ClusterFactory) -> None:
        cluster = fresh_cluster()
        cluster.create("/api/v1/namespaces/default/configmaps", config_map("kept"))

        cluster.kill_etcd()
        cluster.start_etcd()
        cluster.restart_apiserver()

        cluster.get("/api/v1/namespaces/default/configmaps/kept")

    def test_compacted_history_is_expired_after_a_restart(
        self, fresh_cluster: ClusterFactory
    ) -> None:
        cluster = fresh_cluster()
        path = "/api/v1/namespaces/default/configmaps"
        old = cluster.create(path, config_map("one"))["metadata"]["resourceVersion"]
        new = cluster.create(path, config_map("two"))["metadata"]["resourceVersion"]

        cluster.compact_etcd(new)
        cluster.restart_apiserver()

        watch = cluster.request("GET", f"{path}?watch=1&resourceVersion={old}&timeoutSeconds=1")
        assert watch.json()["type"] == "ERROR"
        assert watch.json()["object"]["reason"] == "Expired"


class TestControllers:
    def test_make_pods_of_a_deployment(self, controller_cluster: Cluster) -> None:
        cluster = controller_cluster
        name = create_namespace(cluster)
        cluster.create(f"/apis/apps/v1/namespaces/{name}/deployments", deployment("web", 3))
        pods = f"/api/v1/namespaces/{name}/pods"
        until(lambda: len(cluster.get(pods)["items"]) == 3, what="three pods")
        # Here the namespace's own controller removes it, with all in it.
        cluster.delete(f"/api/v1/namespaces/{name}")
        gone = f"/api/v1/namespaces/{name}"
        until(lambda: cluster.request("GET", gone).status == 404, what="the namespace to go")


class TestNothingIsLeft:
    def test_after_stop(self, binaries: Binaries) -> None:
        with Cluster(binaries=binaries) as cluster:
            pids = [cluster.etcd.pid, cluster.apiserver.pid]
            assert all(pid is not None and not _gone(pid) for pid in pids)
        assert all(pid is None or _gone(pid) for pid in pids)
        assert not cluster.folder.exists()

    def test_after_the_program_was_killed(self, binaries: Binaries) -> None:
        program = (
            "from conformance.cluster import Cluster\n"
            "cluster = Cluster().start()\n"
            "print(cluster.etcd.pid, cluster.apiserver.pid, cluster.folder, flush=True)\n"
            "input()\n"
        )
        with _python("-c", program) as process:
            assert process.stdout is not None
            etcd, apiserver, folder = process.stdout.readline().split()
            process.kill()
            process.wait()
        until(lambda: _gone(int(etcd)) and _gone(int(apiserver)), what="the servers to end")
        until(lambda: not Path(folder).exists(), what="their folder to go")

    def test_after_one_in_the_foreground_was_interrupted(
        self, binaries: Binaries, tmp_path: Path
    ) -> None:
        kubeconfig = tmp_path / "kubeconfig"
        arguments = ("-m", "conformance.cluster", f"--kubeconfig-out={kubeconfig}")
        with _python(*arguments) as process:
            assert process.stdout is not None
            shown = ""
            while "Ctrl-C" not in shown:
                line = process.stdout.readline()
                assert line, f"it ended after: {shown}"
                shown += line
            children = _children(process.pid)
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 0
        assert len(children) == 3  # the two servers and their watchdog
        assert all(_gone(child) for child in children)
        assert str(kubeconfig) in shown
        assert "token:" in kubeconfig.read_text()
        assert "token:" not in shown


def _python(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=_ROOT,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _ps(*arguments: str) -> str:
    return subprocess.run(
        ["ps", *arguments], capture_output=True, text=True, check=False
    ).stdout.strip()


def _children(pid: int) -> list[int]:
    table = [line.split() for line in _ps("-A", "-o", "pid=,ppid=").splitlines()]
    return [int(child) for child, parent in table if int(parent) == pid]


def _gone(pid: int) -> bool:
    state = _ps("-o", "stat=", "-p", str(pid))
    # A zombie is dead; whoever runs this machine may take its time to collect it.
    return not state or state.startswith("Z")
