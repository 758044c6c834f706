from __future__ import annotations

import json
import signal
import ssl
import subprocess
import urllib.request
from pathlib import Path

import pytest
import yaml

from listwatch.cli.embedded import Cluster, embedded, settled_load
from listwatch.cli.failures import CommandError
from listwatch.testing.apiserver.faults.language import parse_fault
from tests.cli.conftest import Run
from tests.cli.servers import in_thread
from tests.cli.test_process import SECONDS, running


def _said(process: subprocess.Popen[bytes]) -> list[str]:
    """What it says until it serves."""
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line.decode().rstrip())
        if "kubectl" in said[-1]:
            return said
    return said


def _end(process: subprocess.Popen[bytes]) -> int:
    process.send_signal(signal.SIGINT)
    return process.wait(SECONDS)


def test_it_serves_until_ctrl_c_and_says_what_to_try(run: Run) -> None:
    with running("serve", "--load", "pods=12,configmaps=20") as process:
        first, *rest = _said(process)
        url = first.split()[4].rstrip(",")
        assert first.startswith(f"An API server at {url}, until Ctrl-C. It holds 20 configmaps, ")
        assert "12 pods" in first
        assert rest == [
            "To try it:",
            f"  listwatch watch pods -A --server {url}",
            f"  kubectl --server {url} get pods -A --watch",
        ]
        ran = run("get", "pods", "-A", "-o", "name", "--server", url)
        assert (ran.code, len(ran.lines)) == (0, 12)
        assert _end(process) == 130


def test_it_has_the_roles_that_a_real_server_makes_for_itself(run: Run) -> None:
    with running("serve") as process:
        first = _said(process)[0]
        assert first.endswith("It holds nothing yet.")
        url = first.split()[4].rstrip(",")
        ran = run("get", "clusterroles", "-o", "name", "--server", url)
        assert (ran.code, len(ran.lines)) == (0, 69)
        assert any(line.endswith("/view") for line in ran.lines)
        _end(process)


def test_churn_faults_and_control_are_told(run: Run) -> None:
    line = "list pods: answer 503"
    with running(
        "serve", "--churn", "50/s", "--fault", line, "--control", "--seed", "3"
    ) as process:
        said = _said(process)
        url = said[0].split()[4].rstrip(",")
        assert "60 pods" in said[0]
        assert said[1:4] == [
            "Churn: 50/s, from seed 3.",
            f"Fault: {line}",
            f"Control: {url}/_listwatch/state",
        ]
        changed = run("watch", "pods", "-A", "--count", "65", "-o", "name", "--server", url)
        assert {found.split()[0] for found in changed.lines[60:]} <= {
            "ADDED",
            "MODIFIED",
            "DELETED",
        }
        refused = run("get", "pods", "--server", url)
        assert (refused.code, "503" in refused.notes) == (1, True)
        with urllib.request.urlopen(f"{url}/_listwatch/faults") as answer:
            assert line in json.dumps(json.load(answer))
        assert _end(process) == 130


def test_a_kubeconfig_has_all_that_a_client_needs(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "kube config.yaml"
    arguments = ("--load", "pods=6", "--tls", "--token", "made-up", "--kubeconfig-out", str(file))
    with running("serve", *arguments) as process:
        said = _said(process)
        assert f"Kubeconfig: {file}" in said
        assert said[-1] == f"  kubectl --kubeconfig '{file}' get pods -A --watch"
        assert "made-up" not in "".join(said)
        ran = run("get", "pods", "-o", "name", "--kubeconfig", file)
        assert (ran.code, len(ran.lines)) == (0, 6)
        config = yaml.safe_load(file.read_text())
        assert config["contexts"][0]["context"]["namespace"] == "shop"
        url = config["clusters"][0]["cluster"]["server"]
        assert url.startswith("https://")
        stranger = run("get", "pods", "--server", url, "--insecure-skip-tls-verify")
        assert (stranger.code, "403" in stranger.note) == (1, True)
        with pytest.raises(OSError, match="CERTIFICATE_VERIFY_FAILED"):
            urllib.request.urlopen(url, context=ssl.create_default_context())
        assert _end(process) == 130


def test_a_token_without_tls_is_not_for_kubectl(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "kubeconfig"
    with running("serve", "--token", "made-up", "--kubeconfig-out", str(file)) as process:
        said = _said(process)
        assert said[-2:] == [
            f"  listwatch watch pods -A --kubeconfig {file}",
            "  (kubectl sends a token over TLS alone: for it, add --tls)",
        ]
        assert run("get", "ns", "-o", "name", "--kubeconfig", file).code == 0
        assert _end(process) == 130


def test_manifests_are_what_it_holds(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "objects.yaml"
    file.write_text(
        "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, namespace: new}\n"
        "---\n"
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
        "metadata: {name: widgets.example.com}\n"
        "spec:\n"
        "  group: example.com\n  scope: Namespaced\n"
        "  names: {plural: widgets, singular: widget, kind: Widget}\n"
        "  versions:\n"
        "  - name: v1\n    served: true\n    storage: true\n"
        "    schema:\n      openAPIV3Schema:\n        type: object\n"
        "        x-kubernetes-preserve-unknown-fields: true\n"
    )
    with running("serve", "--manifest", str(file)) as process:
        first, *_ = _said(process)
        assert "1 customresourcedefinitions, 1 widgets" in first
        url = first.split()[4].rstrip(",")
        ran = run("get", "widgets", "-n", "new", "-o", "name", "--server", url)
        assert ran.lines == ["widget.example.com/w"]
        assert _end(process) == 130


def test_with_controllers_a_manifest_comes_to_life(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "web.yaml"
    file.write_text(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n"
        "spec:\n"
        "  replicas: 2\n"
        "  selector: {matchLabels: {app: web}}\n"
        "  template:\n"
        "    metadata: {labels: {app: web}}\n"
        "    spec: {containers: [{name: c, image: app}]}\n"
    )
    names = "deployment,replicaset,kubelet"
    with running("serve", "--controllers", names, "--manifest", str(file)) as process:
        first, second, *_ = _said(process)
        assert second == "Controllers: deployment, replicaset, kubelet"
        url = first.split()[4].rstrip(",")
        waited = run("wait", "deploy/web", "--for", "condition=Available", "--server", url)
        assert waited.code == 0
        ran = run("get", "pods", "-o", "name", "--server", url)
        assert len(ran.lines) == 2
        assert _end(process) == 130


def test_churn_and_controllers_do_not_go_together(run: Run) -> None:
    ran = run("serve", "--churn", "5/s", "--controllers", "all")
    assert (ran.code, "leave it out, or --controllers" in ran.note) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--load", "rabbits=2"], "no 'rabbits' can be made up"),
        (["--load", "pods"], "expected one such as pods=200"),
        (["--churn", "often"], "is no rate"),
        (["--fault", "watch pods: explode"], "'explode' is none of"),
        (["--port", "70000"], "65535"),
        (["--controllers", "job,magic"], "there is no controller 'magic'; there are"),
    ],
)
def test_what_makes_no_sense_is_bad_usage(arguments: list[str], problem: str, run: Run) -> None:
    ran = run("serve", *arguments)
    assert (ran.code, ran.data) == (2, b"")
    assert problem in ran.note


def test_what_cannot_be_done_is_one_line(run: Run, tmp_path: Path) -> None:
    missing = run("serve", "--manifest", tmp_path / "none.yaml")
    assert (missing.code, "No such file" in missing.note) == (1, True)
    (tmp_path / "odd.yaml").write_text("apiVersion: example.com/v1\nkind: Widget\n")
    odd = run("serve", "--manifest", tmp_path / "odd.yaml")
    assert (odd.code, "nothing of kind 'Widget'" in odd.note) == (1, True)
    nodes = run("serve", "--load", "pods=3,nodes=0")
    assert (nodes.code, "pods need a node" in nodes.note) == (1, True)
    host = run("serve", "--host", "192.0.2.1")
    assert (host.code, host.note.startswith("listwatch: cannot listen on 192.0.2.1")) == (1, True)


def test_a_port_that_is_taken_is_one_line(run: Run) -> None:
    with in_thread(lambda: embedded(Cluster())) as taken:
        port = str(taken.server.port)
        ran = run("serve", "--port", port)
    assert ran.code == 1
    assert ran.note.startswith(f"listwatch: cannot listen on 127.0.0.1 port {port}: ")


def test_churn_without_pods_gets_some() -> None:
    assert settled_load(None, churn=None) == {}
    assert settled_load(None, churn=5.0) == {"pods": 60}
    assert settled_load({"configmaps": 5}, churn=5.0) == {"pods": 60, "configmaps": 5}
    assert settled_load({"pods": 2}, churn=5.0) == {"pods": 2}
    assert settled_load({"deployments": 2}, churn=5.0) == {"deployments": 2}


async def test_an_embedded_cluster_is_there_while_inside_and_leaves_nothing() -> None:
    cluster = Cluster(load={"pods": 5}, churn=100.0, faults=[parse_fault("delete: delay 1s")])
    async with embedded(cluster) as contents:
        assert contents.counts["pods"] == 5
        assert (contents.namespace, len(contents.server.faults)) == ("shop", 1)
    async with embedded(Cluster()) as contents:
        assert (str(contents), contents.namespace) == ("nothing yet", "default")


async def test_a_manifest_that_cannot_be_loaded_is_told() -> None:
    with pytest.raises(CommandError, match="the manifest cannot be loaded: nothing of kind"):
        async with embedded(Cluster(objects=[{"apiVersion": "x/v1", "kind": "Rabbit"}])):
            pass
