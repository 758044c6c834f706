"""One ClientConfig, and where load_config finds it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from listwatch.rest.config import ClientConfig, load_config, travels_in_the_clear
from listwatch.rest.credentials import BasicAuth, StaticToken
from listwatch.rest.errors import ConfigError
from listwatch.rest.exec.credential import ClusterInfo
from listwatch.rest.impersonation import Impersonation

SECRET = "s3cret-of-alice"
CA = b"-----BEGIN CERTIFICATE-----\nQ0E=\n-----END CERTIFICATE-----\n"
CERT = b"-----BEGIN CERTIFICATE-----\nQ0VSVA==\n-----END CERTIFICATE-----\n"
KEY = b"-----BEGIN PRIVATE KEY-----\nS0VZ\n-----END PRIVATE KEY-----\n"


def kubeconfig(
    path: Path,
    name: str,
    *,
    server: str | None = None,
    user: Mapping[str, Any] | None = None,
    current: bool = True,
    **cluster: Any,
) -> Path:
    """Write a kubeconfig whose cluster, user and context all have one name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    server = f"https://{name}.example" if server is None else server
    user = {"token": f"token-of-{name}"} if user is None else user
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {"server": server, **cluster}}],
        "users": [{"name": name, "user": dict(user)}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name if current else "",
    }
    path.write_text(json.dumps(document))
    return path


@pytest.fixture
def pod(tmp_path: Path) -> Path:
    """What is mounted into a pod."""
    folder = tmp_path / "serviceaccount"
    folder.mkdir()
    (folder / "token").write_text("token-of-pod\n")
    (folder / "ca.crt").write_bytes(CA)
    (folder / "namespace").write_text("podspace")
    return folder


def pod_environ(home: Path) -> dict[str, str]:
    return {
        "HOME": str(home),
        "KUBERNETES_SERVICE_HOST": "10.96.0.1",
        "KUBERNETES_SERVICE_PORT": "443",
    }


# --- one configuration -------------------------------------------------------------------------


@pytest.mark.clause("N2")
@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("https://10.0.0.1:6443", "https://10.0.0.1:6443"),
        ("https://10.0.0.1:6443/", "https://10.0.0.1:6443"),
        ("https://proxy.example/k8s/clusters/c-1/", "https://proxy.example/k8s/clusters/c-1"),
        ("HTTPS://Host.example", "https://Host.example"),
        ("http://localhost:8001", "http://localhost:8001"),
        ("https://[::1]:6443", "https://[::1]:6443"),
        ("localhost:8080", "http://localhost:8080"),
        ("10.0.0.1", "http://10.0.0.1"),
        ("[::1]:8080/", "http://[::1]:8080"),
        ("https://api.example.:6443", "https://api.example.:6443"),
        ("https://bücher.example:6443/k8s", "https://xn--bcher-kva.example:6443/k8s"),
        ("https://bücher.example", "https://xn--bcher-kva.example"),
    ],
)
def test_a_server_is_a_url_or_a_host_and_port(given: str, kept: str) -> None:
    assert ClientConfig(server=given).server == kept


@pytest.mark.clause("N2")
@pytest.mark.parametrize(
    "tls",
    [
        {"ca_data": CA},
        {"insecure_skip_tls_verify": True},
        {"client_cert_data": CERT, "client_key_data": KEY},
    ],
)
def test_without_a_scheme_it_is_https_once_anything_of_tls_is_given(tls: dict[str, Any]) -> None:
    assert ClientConfig(server="host:6443", **tls).server == "https://host:6443"
    assert ClientConfig(server="http://host:6443", **tls).server == "http://host:6443"


@pytest.mark.clause("N2", "N4")
@pytest.mark.parametrize(
    ("server", "problem"),
    [
        ("", "no host"),
        ("https://", "no host"),
        ("https:///path", "no host"),
        ("https://:6443", "no host"),
        ("ftp://host", "neither http nor https"),
        ("unix:///var/run/x.sock", "neither http nor https"),
        ("host/path", "no scheme"),
        ("https://host:port", "cannot be"),
        ("https://host:70000", "cannot be"),
        ("https://host:0", "port"),
        ("https://host:", "port"),
        ("https://[::1", "cannot be"),
        ("https://host ", "character"),
        ("https://a..example", "a host that can be no name"),
        (f"https://{'a' * 64}.example", "a host that can be no name"),
        (f"https://{'bü' * 40}.example", "a host that can be no name"),
        ("https://ho\nst", "character"),
        (f"https://alice:{SECRET}@host", "user name or password"),
        (f"https://{SECRET}@host", "user name or password"),
        (f"https://host?token={SECRET}", "query"),
        (f"https://host/#{SECRET}", "fragment"),
    ],
)
def test_what_is_no_server_is_refused_with_the_reason(server: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem) as caught:
        ClientConfig(server=server, source="over there")
    assert str(caught.value).startswith("over there: ")
    assert SECRET not in str(caught.value)


@pytest.mark.clause("N4")
def test_a_ca_and_no_verification_exclude_each_other() -> None:
    with pytest.raises(ConfigError, match="exclude each other"):
        ClientConfig(server="https://a", ca_data=CA, insecure_skip_tls_verify=True)


@pytest.mark.clause("N2")
@pytest.mark.parametrize(
    ("part", "lacking"),
    [({"client_cert_data": CERT}, "no client key"), ({"client_key_data": KEY}, "no client cert")],
)
def test_half_a_client_certificate_is_refused(part: dict[str, Any], lacking: str) -> None:
    with pytest.raises(ConfigError, match=lacking):
        ClientConfig(server="https://a", **part)


@pytest.mark.clause("N2")
def test_an_empty_namespace_is_refused_and_the_default_is_default() -> None:
    assert ClientConfig(server="https://a").namespace == "default"
    with pytest.raises(ConfigError, match="namespace is empty"):
        ClientConfig(server="https://a", namespace="")


class _Talkative:
    async def headers(self) -> Mapping[str, str]:
        return {}

    async def refresh(self) -> bool:
        return False

    def __repr__(self) -> str:
        return SECRET


@pytest.mark.clause("N4")
@pytest.mark.parametrize(
    "credentials", [StaticToken(SECRET), BasicAuth("a", SECRET), _Talkative(), None]
)
def test_repr_shows_no_secret_whoever_wrote_the_credentials(
    credentials: StaticToken | BasicAuth | _Talkative | None,
) -> None:
    config = ClientConfig(
        server="https://a",
        ca_data=CA,
        client_cert_data=CERT,
        client_key_data=KEY + SECRET.encode(),
        credentials=credentials,
        tls_server_name="kube",
    )
    shown = f"{config!r} {config}"
    assert SECRET not in shown
    assert "PRIVATE" not in shown
    assert f"ca_data=<{len(CA)} bytes>" in shown
    assert "https://a" in shown
    assert "'kube'" in shown


@pytest.mark.clause("N4")
def test_repr_says_when_nothing_is_verified() -> None:
    assert "insecure" in repr(ClientConfig(server="https://a", insecure_skip_tls_verify=True))
    assert "insecure" not in repr(ClientConfig(server="https://a"))


@pytest.mark.clause("N4")
@pytest.mark.parametrize(
    ("server", "clear"),
    [
        ("https://far.example", False),
        ("http://far.example", True),
        ("http://10.0.0.1:80", True),
        ("http://[2001:db8::1]", True),
        ("http://127.0.0.1:8001", False),
        ("http://127.9.9.9", False),
        ("http://[::1]:8001", False),
        ("http://localhost:8001", False),
        ("http://api.localhost", False),
        ("http://localhost.example", True),
        ("http://127.0.0.1.example", True),
    ],
)
def test_plain_http_is_in_the_clear_unless_it_stays_on_this_machine(
    server: str, clear: bool
) -> None:
    assert travels_in_the_clear(server, None) is clear


# --- the order of sources ----------------------------------------------------------------------


@pytest.mark.clause("N1")
def test_each_source_gives_way_to_the_one_before_it(tmp_path: Path, pod: Path) -> None:
    environ = pod_environ(tmp_path)
    found = [load_config(environ=environ, service_account=pod).server]

    kubeconfig(tmp_path / ".kube" / "config", "home")
    found.append(load_config(environ=environ, service_account=pod).server)

    environ["KUBECONFIG"] = str(kubeconfig(tmp_path / "env", "env"))
    found.append(load_config(environ=environ, service_account=pod).server)

    argument = kubeconfig(tmp_path / "argument", "argument")
    found.append(load_config(kubeconfig=argument, environ=environ, service_account=pod).server)

    explicit = load_config(server="https://explicit", environ=environ, service_account=pod)
    found.append(explicit.server)

    assert found == [
        "https://10.96.0.1:443",
        "https://home.example",
        "https://env.example",
        "https://argument.example",
        "https://explicit",
    ]


@pytest.mark.clause("N1")
def test_the_environment_of_the_process_is_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig(tmp_path / "env", "env")))
    assert load_config().server == "https://env.example"


@pytest.mark.clause("N1")
def test_kubeconfig_set_to_nothing_counts_as_unset(tmp_path: Path) -> None:
    kubeconfig(tmp_path / ".kube" / "config", "home")
    found = load_config(environ={"HOME": str(tmp_path), "KUBECONFIG": ""})
    assert found.server == "https://home.example"


@pytest.mark.clause("N1")
def test_the_home_file_is_not_read_once_kubeconfig_is_set(tmp_path: Path) -> None:
    kubeconfig(tmp_path / ".kube" / "config", "home")
    environ = {"HOME": str(tmp_path), "KUBECONFIG": str(tmp_path / "missing")}
    with pytest.raises(ConfigError, match="KUBECONFIG"):
        load_config(environ=environ)


@pytest.mark.clause("N1")
def test_an_empty_file_counts_as_missing(tmp_path: Path, pod: Path) -> None:
    (tmp_path / ".kube").mkdir()
    (tmp_path / ".kube" / "config").write_text("apiVersion: v1\nkind: Config\nclusters: []\n")
    found = load_config(environ=pod_environ(tmp_path), service_account=pod)
    assert found.server == "https://10.96.0.1:443"


@pytest.mark.clause("N1")
def test_several_files_are_merged_and_missing_ones_passed_over(tmp_path: Path) -> None:
    paths = [
        tmp_path / "missing",
        kubeconfig(tmp_path / "a" / "config", "one", current=False),
        kubeconfig(tmp_path / "b" / "config", "two"),
        kubeconfig(tmp_path / "c" / "config", "three"),
    ]
    environ = {"KUBECONFIG": os.pathsep.join(["", *map(str, paths), str(paths[1])])}
    assert load_config(environ=environ).server == "https://two.example"
    assert load_config(environ=environ, context="one").server == "https://one.example"
    assert load_config(environ=environ, context="three").credentials == StaticToken(
        "token-of-three"
    )


@pytest.mark.clause("N1")
def test_nothing_anywhere_is_an_error_that_lists_what_was_tried(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(environ={"HOME": str(tmp_path)}, service_account=tmp_path)
    text = str(caught.value)
    for part in (
        "explicit server",
        "explicit kubeconfig",
        "KUBECONFIG is not set",
        str(tmp_path / ".kube" / "config"),
        "in-cluster",
        "KUBERNETES_SERVICE_HOST is not set",
        "Name a server",
    ):
        assert part in text


@pytest.mark.clause("N1")
def test_without_a_home_the_error_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="neither is HOME"):
        load_config(environ={}, service_account=tmp_path)


@pytest.mark.clause("N1", "N3")
def test_a_pod_without_a_token_is_told_which_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="automountServiceAccountToken"):
        load_config(environ=pod_environ(tmp_path), service_account=tmp_path / "nothing")


@pytest.mark.clause("N1", "N3")
def test_a_damaged_service_account_is_an_error_of_its_own(tmp_path: Path, pod: Path) -> None:
    (pod / "token").write_text(" ")
    with pytest.raises(ConfigError, match="token is empty") as caught:
        load_config(environ=pod_environ(tmp_path), service_account=pod)
    assert "Tried" not in str(caught.value)


@pytest.mark.clause("N1")
def test_a_context_is_never_looked_for_in_a_pod(tmp_path: Path, pod: Path) -> None:
    with pytest.raises(ConfigError, match="'dev' was asked for"):
        load_config(context="dev", environ=pod_environ(tmp_path), service_account=pod)


@pytest.mark.clause("N1")
def test_an_explicit_kubeconfig_must_exist(tmp_path: Path, pod: Path) -> None:
    missing = tmp_path / "missing"
    with pytest.raises(ConfigError, match=f"no kubeconfig file {missing}"):
        load_config(kubeconfig=missing, environ=pod_environ(tmp_path), service_account=pod)


# --- what the caller insists on ----------------------------------------------------------------


@pytest.mark.clause("N1", "N4")
def test_a_server_alone_takes_nothing_from_any_file(tmp_path: Path, pod: Path) -> None:
    environ = pod_environ(tmp_path)
    kubeconfig(tmp_path / ".kube" / "config", "home")
    environ["KUBECONFIG"] = str(
        kubeconfig(tmp_path / "env", "env", **{"insecure-skip-tls-verify": True})
    )
    found = load_config(server="https://other", environ=environ, service_account=pod)
    assert found == ClientConfig(server="https://other", source=found.source)


@pytest.mark.clause("N1")
def test_a_server_alone_does_not_even_need_readable_files(tmp_path: Path) -> None:
    (tmp_path / "broken").write_text("{")
    environ = {"KUBECONFIG": str(tmp_path / "broken")}
    assert load_config(server="https://other", environ=environ).server == "https://other"


@pytest.mark.clause("N1")
def test_a_server_comes_with_the_token_and_ca_given_beside_it(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_bytes(CA)
    found = load_config(server="host:6443", token=SECRET, ca_file=tmp_path / "ca.pem", environ={})
    assert found.server == "https://host:6443"
    assert found.ca_data == CA
    assert found.credentials == StaticToken(SECRET)


@pytest.mark.clause("N1")
@pytest.mark.parametrize("how", ["kubeconfig", "context"])
def test_a_server_with_a_kubeconfig_or_context_takes_their_credentials(
    tmp_path: Path, how: str
) -> None:
    path = kubeconfig(tmp_path / "file", "dev", **{"tls-server-name": "dev.internal"})
    named: dict[str, Any] = {"kubeconfig": path} if how == "kubeconfig" else {"context": "dev"}
    found = load_config(server="https://tunnel:1", environ={"KUBECONFIG": str(path)}, **named)
    assert found.server == "https://tunnel:1"
    assert found.credentials == StaticToken("token-of-dev")
    assert found.tls_server_name is None, "it was the name of the other server"


@pytest.mark.clause("N1")
def test_a_server_makes_up_for_a_cluster_without_one(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path / "file", "dev", server="")
    assert load_config(server="https://a", kubeconfig=path, environ={}).server == "https://a"


@pytest.mark.clause("N1")
def test_a_token_replaces_all_that_says_who_we_are(tmp_path: Path) -> None:
    (tmp_path / "crt").write_bytes(CERT)
    (tmp_path / "key").write_bytes(KEY)
    user = {"client-certificate": "crt", "client-key": "key", "username": "a", "password": "b"}
    path = kubeconfig(tmp_path / "file", "dev", user=user)
    found = load_config(kubeconfig=path, token=SECRET, environ={})
    assert found.credentials == StaticToken(SECRET)
    assert found.client_cert_data is found.client_key_data is None


@pytest.mark.clause("N1", "N2")
def test_a_token_makes_a_user_usable_whose_exec_is_not(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path / "file", "dev", user={"exec": {"command": "aws"}})
    found = load_config(kubeconfig=path, token=SECRET, environ={})
    assert found.credentials == StaticToken(SECRET)


@pytest.mark.clause("N1", "N2", "N4")
@pytest.mark.parametrize("who", [{"token": SECRET}, {"username": "a", "password": SECRET}])
def test_whoever_asks_goes_on_acting_as_whom_the_file_says(
    tmp_path: Path, who: dict[str, Any]
) -> None:
    user = {"token": "of-file", "as": "jane", "as-groups": ["guests"]}
    path = kubeconfig(tmp_path / "file", "dev", user=user)
    found = load_config(kubeconfig=path, environ={}, **who)
    assert found.impersonate == Impersonation(user="jane", groups=("guests",))
    bob = Impersonation(user="bob")
    found = load_config(kubeconfig=path, environ={}, impersonate=bob, **who)
    assert found.impersonate == bob


@pytest.mark.clause("N2")
def test_a_plugin_is_told_of_the_cluster_as_the_caller_wants_it(tmp_path: Path) -> None:
    plugin = {
        "command": "aws",
        "apiVersion": "client.authentication.k8s.io/v1",
        "interactiveMode": "Never",
        "provideClusterInfo": True,
    }
    cluster: dict[str, Any] = {"tls-server-name": "of-file", "proxy-url": "http://of-file:1"}
    path = kubeconfig(tmp_path / "file", "dev", user={"exec": plugin}, **cluster)
    found = load_config(
        kubeconfig=path,
        tls_server_name="kubernetes",
        proxy_url="http://proxy:3128",
        disable_compression=True,
        environ={},
    )
    assert vars(found.credentials)["_plugin"].cluster == ClusterInfo(
        server="https://dev.example",
        tls_server_name="kubernetes",
        proxy_url="http://proxy:3128",
        disable_compression=True,
    )


@pytest.mark.clause("N1")
def test_a_ca_ends_the_files_own_ca_and_its_insecure(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_bytes(CA)
    for cluster in ({"insecure-skip-tls-verify": True}, {"certificate-authority": "missing"}):
        path = kubeconfig(tmp_path / "file", "dev", **cluster)
        found = load_config(kubeconfig=path, ca_file=tmp_path / "ca.pem", environ={})
        assert found.ca_data == CA
        assert not found.insecure_skip_tls_verify


@pytest.mark.clause("N1", "N4")
def test_insecure_ends_the_files_ca_and_false_ends_the_files_insecure(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path / "ca", "dev", **{"certificate-authority": "missing"})
    found = load_config(kubeconfig=path, insecure_skip_tls_verify=True, environ={})
    assert found.insecure_skip_tls_verify
    assert found.ca_data is None

    path = kubeconfig(tmp_path / "open", "dev", **{"insecure-skip-tls-verify": True})
    found = load_config(kubeconfig=path, insecure_skip_tls_verify=False, environ={})
    assert not found.insecure_skip_tls_verify


@pytest.mark.clause("N1", "N4")
def test_a_ca_and_insecure_together_are_refused(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_bytes(CA)
    with pytest.raises(ConfigError, match="exclude each other"):
        load_config(
            server="https://a",
            ca_file=tmp_path / "ca.pem",
            insecure_skip_tls_verify=True,
            environ={},
        )


@pytest.mark.clause("N1", "N3")
def test_in_a_pod_too_the_caller_wins(tmp_path: Path, pod: Path) -> None:
    found = load_config(
        token=SECRET,
        insecure_skip_tls_verify=True,
        environ=pod_environ(tmp_path),
        service_account=pod,
    )
    assert found.credentials == StaticToken(SECRET)
    assert found.ca_data is None
    assert found.insecure_skip_tls_verify
    assert found.namespace == "podspace"


@pytest.mark.clause("N1")
def test_a_ca_file_that_is_not_one_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=rf"{tmp_path}/none cannot be read: No such file"):
        load_config(server="https://a", ca_file=tmp_path / "none", environ={})
    (tmp_path / "text").write_text("hello")
    with pytest.raises(ConfigError, match=rf"{tmp_path}/text holds no PEM"):
        load_config(server="https://a", ca_file=tmp_path / "text", environ={})


@pytest.mark.clause("N1")
@pytest.mark.parametrize("given", [{"server": ""}, {"server": "https://a", "token": ""}])
def test_an_empty_text_is_not_taken_for_nothing_given(given: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"no host|token is empty"):
        load_config(environ={}, **given)


# --- in the clear ------------------------------------------------------------------------------


@pytest.mark.clause("N4")
def test_an_explicit_token_does_not_go_out_in_the_clear(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="plain http") as caught:
        load_config(server="http://far.example", token=SECRET, environ={})
    assert SECRET not in str(caught.value)
    path = kubeconfig(tmp_path / "file", "dev", server="http://far.example")
    with pytest.raises(ConfigError, match="plain http"):
        load_config(kubeconfig=path, token=SECRET, environ={})


@pytest.mark.clause("N4")
def test_a_token_may_go_to_this_very_machine() -> None:
    found = load_config(server="127.0.0.1:8001", token=SECRET, environ={})
    assert found.server == "http://127.0.0.1:8001"
    assert found.credentials == StaticToken(SECRET)


@pytest.mark.clause("N2", "N4")
def test_a_kubeconfigs_credentials_are_left_out_in_the_clear_and_the_source_says_so(
    tmp_path: Path,
) -> None:
    path = kubeconfig(tmp_path / "file", "dev", server="http://far.example")
    found = load_config(kubeconfig=path, environ={})
    assert found.credentials is None
    assert "without its user" in found.source
    path = kubeconfig(tmp_path / "anonymous", "dev", server="http://far.example", user={})
    assert "without" not in load_config(kubeconfig=path, environ={}).source


@pytest.mark.clause("N4")
def test_an_explicit_plain_http_server_gets_none_of_a_kubeconfigs_credentials(
    tmp_path: Path,
) -> None:
    path = kubeconfig(tmp_path / "file", "dev")
    found = load_config(kubeconfig=path, server="http://far.example", environ={})
    assert found.credentials is None


# --- what else wins over a file ---------------------------------------------------------------


@pytest.fixture
def two_of_each(tmp_path: Path) -> Path:
    """A kubeconfig with a second cluster and a second user, that no context joins."""
    path = kubeconfig(tmp_path / "file", "dev", user={"token": "of-dev"})
    content = json.loads(path.read_text())
    content["clusters"].append({"name": "far", "cluster": {"server": "https://far:6443"}})
    content["users"].append({"name": "bob", "user": {"token": SECRET}})
    path.write_text(json.dumps(content))
    return path


@pytest.mark.clause("N1")
def test_another_cluster_and_another_user_than_the_context_names(two_of_each: Path) -> None:
    found = load_config(kubeconfig=two_of_each, cluster="far", user="bob", environ={})
    assert found.server == "https://far:6443"
    assert found.credentials == StaticToken(SECRET)
    with pytest.raises(ConfigError, match="there is no user 'eve'; there are: bob, dev"):
        load_config(kubeconfig=two_of_each, user="eve", environ={})


@pytest.mark.clause("N1")
def test_a_cluster_and_a_user_need_no_context(two_of_each: Path) -> None:
    content = json.loads(two_of_each.read_text())
    del content["current-context"]
    two_of_each.write_text(json.dumps(content))
    found = load_config(kubeconfig=two_of_each, cluster="far", user="bob", environ={})
    assert (found.server, found.credentials) == ("https://far:6443", StaticToken(SECRET))
    anonymous = load_config(kubeconfig=two_of_each, cluster="far", environ={})
    assert (anonymous.credentials, anonymous.namespace) == (None, "default")
    with pytest.raises(ConfigError, match="current-context is not set"):
        load_config(kubeconfig=two_of_each, user="bob", environ={})


@pytest.mark.clause("N1", "N2")
def test_a_user_name_or_a_client_certificate_replaces_all_that_says_who_we_are(
    two_of_each: Path, tmp_path: Path
) -> None:
    (tmp_path / "crt").write_bytes(CERT)
    (tmp_path / "key").write_bytes(KEY)
    found = load_config(kubeconfig=two_of_each, username="a", password=SECRET, environ={})
    assert found.credentials == BasicAuth("a", SECRET)
    found = load_config(
        kubeconfig=two_of_each,
        client_certificate=tmp_path / "crt",
        client_key=tmp_path / "key",
        environ={},
    )
    assert found.credentials is None
    assert (found.client_cert_data, found.client_key_data) == (CERT, KEY)
    assert (found.client_cert_file, found.client_key_file) == (tmp_path / "crt", tmp_path / "key")


@pytest.mark.clause("N2", "N4")
@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"token": SECRET, "username": "a"}, "only one of the two"),
        ({"client_certificate": "crt"}, "needed both"),
        ({"client_key": "key"}, "needed both"),
        (
            {"client_certificate": "crt", "client_key": "none"},
            "client key file none cannot be read",
        ),
        ({"password": SECRET, "server": "http://far"}, "a password is not sent to http://far"),
        ({"proxy_url": f"ftp://u:{SECRET}@proxy"}, "proxy"),
    ],
)
def test_what_does_not_go_together_is_refused(
    two_of_each: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    given: dict[str, Any],
    problem: str,
) -> None:
    (tmp_path / "crt").write_bytes(CERT)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=problem) as caught:
        load_config(kubeconfig=two_of_each, environ={}, **given)
    assert SECRET not in str(caught.value)


@pytest.mark.clause("N1", "N2")
def test_the_rest_wins_field_by_field(two_of_each: Path) -> None:
    bob = Impersonation(user="bob", groups=("admins",))
    found = load_config(
        kubeconfig=two_of_each,
        impersonate=bob,
        tls_server_name="kubernetes",
        disable_compression=True,
        environ={},
    )
    assert found.impersonate == bob
    assert found.tls_server_name == "kubernetes"
    assert found.disable_compression
    assert found.credentials == StaticToken("of-dev"), "who may impersonate is who it was"


@pytest.mark.clause("N2")
@pytest.mark.parametrize(
    ("cluster", "asked", "expected"),
    [
        ({}, None, "http://env:3128"),
        ({"proxy-url": "socks5://file:1080"}, None, "socks5://file:1080"),
        ({"proxy-url": "socks5://file:1080"}, "http://arg:80", "http://arg:80"),
        ({"proxy-url": "socks5://file:1080"}, "", None),
        ({}, "", None),
    ],
)
def test_a_proxy_is_that_of_the_caller_the_cluster_or_the_environment(
    tmp_path: Path, cluster: dict[str, Any], asked: str | None, expected: str | None
) -> None:
    path = kubeconfig(tmp_path / "file", "dev", **cluster)
    environ = {"HTTPS_PROXY": "http://env:3128"}
    assert load_config(kubeconfig=path, proxy_url=asked, environ=environ).proxy_url == expected
    aside = {**environ, "NO_PROXY": ".example"}
    found = load_config(kubeconfig=path, proxy_url=asked, environ=aside).proxy_url
    assert found == (None if expected == "http://env:3128" else expected)


@pytest.mark.clause("N1", "N2")
def test_a_server_given_explicitly_and_a_pod_go_through_the_proxy_of_the_environment(
    tmp_path: Path, pod: Path
) -> None:
    environ = {"https_proxy": "http://env:3128"}
    assert load_config(server="https://far", environ=environ).proxy_url == "http://env:3128"
    found = load_config(environ=environ | pod_environ(tmp_path), service_account=pod)
    assert found.proxy_url == "http://env:3128"


@pytest.mark.clause("N4")
@pytest.mark.parametrize("host", ["localhost", "kube.localhost", "127.0.0.1", "[::1]"])
def test_what_is_shown_to_this_machine_in_the_clear_passes_by_the_proxy_of_the_environment(
    tmp_path: Path, host: str
) -> None:
    server, environ = f"http://{host}:8001", {"HTTP_PROXY": "http://env:3128"}
    path = kubeconfig(tmp_path / "file", "dev", server=server, user={"token": SECRET})
    for found in (
        load_config(server=server, token=SECRET, environ=environ),
        load_config(kubeconfig=path, environ=environ),
    ):
        assert found.credentials == StaticToken(SECRET)
        assert found.proxy_url is None


@pytest.mark.clause("N4")
def test_a_server_of_this_machine_is_not_so_near_behind_a_proxy(tmp_path: Path) -> None:
    user = {"token": SECRET}
    path = kubeconfig(tmp_path / "file", "dev", server="http://127.0.0.1:8001", user=user)
    assert load_config(kubeconfig=path, environ={}).credentials == StaticToken(SECRET)
    far = load_config(kubeconfig=path, proxy_url="http://proxy:3128", environ={})
    assert far.credentials is None
    with pytest.raises(ConfigError, match="a token is not sent to http://127"):
        load_config(kubeconfig=path, proxy_url="http://proxy:3128", token=SECRET, environ={})


@pytest.mark.clause("N4")
def test_nothing_secret_of_a_configuration_is_shown(tmp_path: Path) -> None:
    found = ClientConfig(
        server="https://a",
        credentials=BasicAuth("alice", SECRET),
        client_cert_file=tmp_path / "crt",
        client_key_file=tmp_path / "key",
        proxy_url=f"http://alice:{SECRET}@proxy:3128",
        impersonate=Impersonation(user="bob"),
    )
    shown = repr(found)
    assert SECRET not in shown
    assert "proxy:3128" in shown
    assert "bob" in shown
    assert str(tmp_path / "key") in shown
