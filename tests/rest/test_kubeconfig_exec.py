"""The `exec` of a user: what each of its fields means, and what is said of a wrong one."""

from __future__ import annotations

import gc
import json
import os
import weakref
from pathlib import Path
from typing import Any

import pytest
import yaml

from listwatch.rest.errors import ConfigError
from listwatch.rest.exec.credential import ClusterInfo, ExecVersion
from listwatch.rest.exec.extension import exec_extension
from listwatch.rest.exec.plugin import ExecCredentials, ExecPlugin, InteractiveMode
from listwatch.rest.kubeconfig_exec import exec_credentials, exec_plugin
from listwatch.rest.kubeconfig_file import Section, read_kubeconfig_file
from tests.rest.exec.plugins import script

pytestmark = pytest.mark.clause("N2")

SECRET = "s3cret-of-alice"
V1 = "client.authentication.k8s.io/v1"
V1BETA1 = "client.authentication.k8s.io/v1beta1"
CLUSTER = ClusterInfo(server="https://prod:6443")


def write(path: Path, **document: Any) -> Path:
    path.write_text(yaml.safe_dump(document))
    return path


def user_of(path: Path, **exec_fields: Any) -> Section:
    """A user with these fields, as they come out of a file."""
    fields = {"apiVersion": V1, "command": "aws", "interactiveMode": "Never"} | exec_fields
    fields = {name: value for name, value in fields.items() if value is not None}
    write(path, users=[{"name": "alice", "user": {"exec": fields}}])
    file = read_kubeconfig_file(path)
    assert file is not None
    return file.users["alice"]


def plugin(tmp_path: Path, **exec_fields: Any) -> ExecPlugin:
    return exec_plugin(user_of(tmp_path / "config", **exec_fields), cluster=CLUSTER)


def test_every_field(tmp_path: Path) -> None:
    found = plugin(
        tmp_path,
        args=["eks", "get-token", 1, True],
        env=[
            {"name": "AWS_PROFILE", "value": "dev"},
            {"name": "EMPTY", "value": ""},
            {"name": "N"},
        ],
        installHint="brew install awscli",
        provideClusterInfo=True,
        interactiveMode="Always",
    )
    assert found == ExecPlugin(
        user=f"user 'alice' in {tmp_path / 'config'}",
        command="aws",
        args=("eks", "get-token", "1", "true"),
        env=(("AWS_PROFILE", "dev"), ("EMPTY", ""), ("N", "")),
        version=ExecVersion.V1,
        interactive_mode=InteractiveMode.ALWAYS,
        cluster=CLUSTER,
        install_hint="brew install awscli",
    )


def test_what_may_be_left_out(tmp_path: Path) -> None:
    found = plugin(tmp_path, apiVersion=V1BETA1, interactiveMode=None)
    assert (found.args, found.env, found.cluster, found.install_hint) == ((), (), None, "")
    assert found.interactive_mode is InteractiveMode.IF_AVAILABLE
    assert plugin(tmp_path, provideClusterInfo=False, args=[], env=[]).cluster is None


@pytest.mark.parametrize("version", [V1, V1BETA1])
@pytest.mark.parametrize("mode", ["Never", "IfAvailable", "Always"])
def test_versions_and_modes(tmp_path: Path, version: str, mode: str) -> None:
    found = plugin(tmp_path, apiVersion=version, interactiveMode=mode)
    assert (found.version.value, found.interactive_mode.value) == (version, mode)


@pytest.mark.parametrize(
    ("command", "starts"),
    [
        ("aws", "aws"),
        ("aws.exe", "aws.exe"),
        ("/opt/bin/aws", "/opt/bin/aws"),
        ("./aws", "{folder}/aws"),
        ("bin/aws", "{folder}/bin/aws"),
        ("../aws", "{above}/aws"),
    ],
)
def test_a_path_starts_from_the_folder_of_the_kubeconfig(
    tmp_path: Path, command: str, starts: str
) -> None:
    folder = tmp_path / "kube"
    folder.mkdir()
    expected = starts.format(folder=folder, above=tmp_path)
    assert plugin(folder, command=command).command == expected


@pytest.mark.parametrize(
    ("fields", "name", "words"),
    [
        ({"apiVersion": None}, "exec.apiVersion", ["is missing", V1, V1BETA1]),
        (
            {"apiVersion": "client.authentication.k8s.io/v1alpha1"},
            "exec.apiVersion",
            ["v1alpha1", "1.24", "aws eks update-kubeconfig"],
        ),
        ({"apiVersion": "v1"}, "exec.apiVersion", ["is 'v1'", V1, V1BETA1]),
        ({"apiVersion": [V1]}, "exec.apiVersion", ["should be text"]),
        ({"command": None}, "exec.command", ["is missing"]),
        ({"command": ""}, "exec.command", ["is missing"]),
        ({"command": "a\0b"}, "exec.command", ["zero byte"]),
        ({"command": ["aws", "eks"]}, "exec.command", ["should be text"]),
        ({"args": SECRET}, "exec.args", ["should be a list"]),
        ({"args": [{"a": SECRET}]}, "exec.args", ["should be a list of texts"]),
        ({"args": ["a", f"{SECRET}\0"]}, "exec.args[1]", ["zero byte"]),
        ({"env": {"A": SECRET}}, "exec.env", ["should be a list"]),
        ({"env": [SECRET]}, "exec.env", ["should be a list of mappings"]),
        ({"env": [{"value": SECRET}]}, "exec.env[0].name", ["is missing"]),
        ({"env": [{"name": "A"}, {"name": ""}]}, "exec.env[1].name", ["is missing"]),
        ({"env": [{"name": "A=B"}]}, "exec.env[0].name", ["has an ="]),
        ({"env": [{"name": "A\0"}]}, "exec.env[0].name", ["zero byte"]),
        ({"env": [{"name": "A", "value": f"{SECRET}\0"}]}, "exec.env[0].value", ["zero byte"]),
        ({"env": [{"name": "A", "value": [SECRET]}]}, "exec.env[0].value", ["should be text"]),
        ({"installHint": ["x"]}, "exec.installHint", ["should be text"]),
        ({"provideClusterInfo": "maybe"}, "exec.provideClusterInfo", ["true or false"]),
        ({"interactiveMode": None}, "exec.interactiveMode", ["is missing", "Never, IfAvailable"]),
        ({"interactiveMode": "never"}, "exec.interactiveMode", ["'never'", "Never, IfAvailable"]),
    ],
)
def test_an_error_names_file_user_and_field(
    tmp_path: Path, fields: dict[str, Any], name: str, words: list[str]
) -> None:
    with pytest.raises(ConfigError) as caught:
        plugin(tmp_path, **fields)
    said = str(caught.value)
    for word in [str(tmp_path / "config"), "user 'alice'", f"field {name!r}", *words]:
        assert word in said
    assert SECRET not in said


def test_a_user_without_one(tmp_path: Path) -> None:
    user = Section(file=tmp_path / "config", where="user 'alice'", fields={})
    with pytest.raises(ConfigError, match="'exec': is missing"):
        exec_credentials(user, cluster=CLUSTER)


@pytest.mark.clause("N4")
def test_arguments_and_variables_are_not_shown(tmp_path: Path) -> None:
    user = user_of(
        tmp_path / "config",
        args=[SECRET],
        env=[{"name": "A", "value": SECRET}],
        provideClusterInfo=True,
    )
    made = exec_credentials(user, cluster=ClusterInfo(server="https://a", config={"a": SECRET}))
    assert SECRET not in repr(made) + repr(exec_plugin(user, cluster=CLUSTER)) + repr(vars(made))
    plugin = f"the exec plugin 'aws' of user 'alice' in {tmp_path / 'config'}"
    assert made.description == f"the credential that came from {plugin}"


def test_the_same_user_has_the_same_credentials_as_long_as_they_are_in_use(tmp_path: Path) -> None:
    def made(env: str = "1", cluster: ClusterInfo = CLUSTER) -> ExecCredentials:
        user = user_of(
            tmp_path / "config", env=[{"name": "A", "value": env}], provideClusterInfo=True
        )
        return exec_credentials(user, cluster=cluster)

    first = made()
    assert made() is first
    assert made(env="2") is not first
    assert made(cluster=ClusterInfo(server="https://b", config={"a": 1})) is not first
    gone = weakref.ref(first)
    del first
    gc.collect()
    assert gone() is None
    assert made() is not None


async def test_the_plugin_beside_the_kubeconfig_is_run(tmp_path: Path) -> None:
    code = (
        "import json, os, sys\n"
        "info = json.loads(os.environ['KUBERNETES_EXEC_INFO'])\n"
        "server = info['spec']['cluster']['server']\n"
        "info['status'] = {'token': sys.argv[1] + os.environ['A'] + server}\n"
        "print(json.dumps(info))"
    )
    script(tmp_path / "plugin", code)
    user = user_of(
        tmp_path / "config",
        command="./plugin",
        args=["x"],
        env=[{"name": "A", "value": "y"}],
        provideClusterInfo=True,
    )
    made = exec_credentials(user, cluster=CLUSTER)
    assert await made.headers() == {"Authorization": "Bearer xyhttps://prod:6443"}


def cluster_of(path: Path, extensions: str) -> Section:
    text = "".join(f"    {line}\n" for line in extensions.splitlines())
    path.write_text(
        "clusters:\n"
        "- name: other\n  cluster: {server: a, extensions: [{name: x, extension: 1}]}\n"
        f"- name: 1\n  cluster:\n    server: b\n{text}"
    )
    file = read_kubeconfig_file(path)
    assert file is not None
    context = Section(file=path, where="context 'c'", fields={})
    return file.clusters["1"].inside(context)


def test_the_extension_of_a_cluster_keeps_the_types_it_has_in_yaml(tmp_path: Path) -> None:
    cluster = cluster_of(
        tmp_path / "config",
        """\
extensions:
- name: other
  extension: {a: 1}
- name: client.authentication.k8s.io/exec
  extension:
    audience: 06e3fbd18de8
    ttl: 600
    on: yes
    quoted: "600"
    date: 2024-01-01
    time: 12:30
    float: 1e3
    mode: 0777
    nothing: ~
    list: [1, -2.5, a, {b: false}]""",
    )
    found = exec_extension(cluster)
    assert json.loads(json.dumps(found)) == {
        "audience": "06e3fbd18de8",
        "ttl": 600,
        "true": True,
        "quoted": "600",
        "date": "2024-01-01",
        "time": "12:30",
        "float": 1000.0,
        "mode": 511,
        "nothing": None,
        "list": [1, -2.5, "a", {"b": False}],
    }


def test_so_it_does_in_json_that_is_indented_with_tabs(tmp_path: Path) -> None:
    path = tmp_path / "config"
    told = {"name": "client.authentication.k8s.io/exec", "extension": {"ttl": 600, "on": True}}
    cluster = {"server": "https://a", "extensions": [told]}
    document = {"clusters": [{"name": "1", "cluster": cluster}]}
    path.write_text(json.dumps(document, indent="\t"))
    file = read_kubeconfig_file(path)
    assert file is not None
    assert exec_extension(file.clusters["1"]) == {"ttl": 600, "on": True}


@pytest.mark.parametrize(
    "extensions",
    ["", "extensions:", "extensions: []", "extensions: [{name: x, extension: {a: 1}}]"],
)
def test_a_cluster_without_that_extension(tmp_path: Path, extensions: str) -> None:
    assert exec_extension(cluster_of(tmp_path / "config", extensions)) is None


@pytest.mark.parametrize("content", ["", "[]", "clusters: {", "clusters: [1, {name: 1}]", None])
def test_a_kubeconfig_that_is_just_being_written_gives_the_texts_that_were_read(
    tmp_path: Path, content: str | None
) -> None:
    path = tmp_path / "config"
    cluster = cluster_of(
        path, "extensions: [{name: client.authentication.k8s.io/exec, extension: {ttl: 600}}]"
    )
    if content is None:
        os.unlink(path)
    else:
        path.write_text(content)
    assert exec_extension(cluster) == {"ttl": "600"}


@pytest.mark.parametrize(
    ("extension", "words"),
    [
        ("!!binary aGVsbG8=", "cannot be put into JSON"),
        ("&a {b: *a}", "cannot be put into JSON"),
    ],
)
def test_an_extension_that_is_no_json(tmp_path: Path, extension: str, words: str) -> None:
    with pytest.raises(ConfigError, match=f"cluster '1', field 'extensions': .*{words}"):
        exec_extension(
            cluster_of(
                tmp_path / "config",
                "extensions:\n- name: client.authentication.k8s.io/exec\n"
                f"  extension: {{x: {extension}}}",
            )
        )
