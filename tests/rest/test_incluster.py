"""What a pod finds in itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from listwatch.rest.config import ClientConfig
from listwatch.rest.errors import ConfigError
from listwatch.rest.incluster import NotInCluster, load_in_cluster

pytestmark = pytest.mark.clause("N3")

CA = b"-----BEGIN CERTIFICATE-----\nQ0E=\n-----END CERTIFICATE-----\n"
ENVIRON = {"KUBERNETES_SERVICE_HOST": "10.96.0.1", "KUBERNETES_SERVICE_PORT": "443"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "token").write_text("tok.en\n")
    (tmp_path / "ca.crt").write_bytes(CA)
    (tmp_path / "namespace").write_text("web\n")
    return tmp_path


async def test_variables_and_mounted_files_make_the_configuration(root: Path) -> None:
    found = load_in_cluster(environ=ENVIRON, root=root)
    assert found == ClientConfig(
        server="https://10.96.0.1:443",
        ca_data=CA,
        ca_file=root / "ca.crt",
        credentials=found.credentials,
        namespace="web",
        source=f"in-cluster, from {root}",
    )
    assert found.credentials is not None
    assert await found.credentials.headers() == {"Authorization": "Bearer tok.en"}
    (root / "token").write_text("renewed")
    assert await found.credentials.refresh()
    assert await found.credentials.headers() == {"Authorization": "Bearer renewed"}


def test_an_ipv6_host_is_put_in_brackets(root: Path) -> None:
    environ = ENVIRON | {"KUBERNETES_SERVICE_HOST": "fd00::1"}
    assert load_in_cluster(environ=environ, root=root).server == "https://[fd00::1]:443"


def test_the_environment_of_the_process_is_the_default(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in ENVIRON.items():
        monkeypatch.setenv(name, value)
    assert load_in_cluster(root=str(root)).server == "https://10.96.0.1:443"


def test_the_namespace_is_pod_namespace_then_the_file_then_default(root: Path) -> None:
    environ = ENVIRON | {"POD_NAMESPACE": "from-env"}
    assert load_in_cluster(environ=environ, root=root).namespace == "from-env"
    assert load_in_cluster(environ=ENVIRON, root=root).namespace == "web"
    (root / "namespace").unlink()
    assert load_in_cluster(environ=ENVIRON, root=root).namespace == "default"


def test_without_a_ca_the_systems_roots_have_to_do_and_the_source_says_so(root: Path) -> None:
    (root / "ca.crt").unlink()
    found = load_in_cluster(environ=ENVIRON, root=root)
    assert found.ca_data is None
    assert not found.insecure_skip_tls_verify
    assert "no ca.crt" in found.source


@pytest.mark.parametrize("name", sorted(ENVIRON))
@pytest.mark.parametrize("value", [None, ""])
def test_outside_a_pod_the_missing_variable_is_named(
    root: Path, name: str, value: str | None
) -> None:
    environ = {key: text for key, text in ENVIRON.items() if key != name}
    if value is not None:
        environ[name] = value
    with pytest.raises(NotInCluster, match=f"{name} is not set"):
        load_in_cluster(environ=environ, root=root)


def test_a_pod_without_a_token_is_no_pod_to_us(root: Path) -> None:
    (root / "token").unlink()
    with pytest.raises(NotInCluster, match="automountServiceAccountToken"):
        load_in_cluster(environ=ENVIRON, root=root)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("token", b"", "empty"),
        ("token", b"two words", "position 3"),
        ("token", b"\xff\xfe", "position 0"),
        ("ca.crt", b"hello", "no PEM"),
    ],
)
def test_a_damaged_file_is_named_and_is_not_the_same_as_no_pod(
    root: Path, name: str, content: bytes, problem: str
) -> None:
    (root / name).write_bytes(content)
    with pytest.raises(ConfigError, match=problem) as caught:
        load_in_cluster(environ=ENVIRON, root=root)
    assert str(root / name) in str(caught.value)
    assert not isinstance(caught.value, NotInCluster)


def test_a_file_that_cannot_be_read_is_named(root: Path) -> None:
    (root / "token").unlink()
    (root / "token").mkdir()
    with pytest.raises(ConfigError, match=r"token: cannot be read: Is a directory"):
        load_in_cluster(environ=ENVIRON, root=root)


@pytest.mark.clause("N4")
def test_the_token_is_not_in_the_repr(root: Path) -> None:
    assert "tok.en" not in repr(load_in_cluster(environ=ENVIRON, root=root))
