"""The shape of one kubeconfig file."""

from __future__ import annotations

from pathlib import Path

import pytest

from listwatch.rest.errors import ConfigError
from listwatch.rest.kubeconfig_file import Section, read_kubeconfig_file

pytestmark = pytest.mark.clause("N2")

SECRET = "s3cret"


def read(folder: Path, text: str | bytes) -> str:
    """Write and read; gives the error's text."""
    path = folder / "config"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ConfigError) as caught:
        read_kubeconfig_file(path)
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_a_missing_file_is_no_error_here(tmp_path: Path) -> None:
    assert read_kubeconfig_file(tmp_path / "none") is None
    (tmp_path / "file").touch()
    assert read_kubeconfig_file(tmp_path / "file" / "below") is None


def test_a_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        read_kubeconfig_file(tmp_path)


@pytest.mark.parametrize(
    "text", ["", "\n# nothing\n", "---\n", "{}", "null", "users:\nclusters: []"]
)
def test_an_empty_file_has_nothing_in_it(tmp_path: Path, text: str) -> None:
    (tmp_path / "config").write_text(text)
    found = read_kubeconfig_file(tmp_path / "config")
    assert found is not None
    assert not any((found.clusters, found.users, found.contexts, found.current_context))


@pytest.mark.parametrize(
    "written",
    ["12345", "0x1F", "1e3", "12:30:45", "2024-01-01", "yes", "on", "NO", "true", ".inf", "'q'"],
)
def test_scalars_stay_the_text_they_are_written_as(tmp_path: Path, written: str) -> None:
    path = tmp_path / "config"
    path.write_text(f"users:\n- name: {written}\n  user: {{token: {written}}}\n")
    found = read_kubeconfig_file(path)
    assert found is not None
    [(name, user)] = found.users.items()
    assert name == user.text("token") == written.strip("'")


def test_json_and_yaml_with_merge_keys_are_read_too(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text('{"users": [{"name": "a", "user": {"token": "x"}}]}')
    found = read_kubeconfig_file(path)
    assert found is not None
    assert found.users["a"].text("token") == "x"
    path.write_text("base: &b {token: y}\nusers:\n- name: a\n  user: {<<: *b}\n")
    found = read_kubeconfig_file(path)
    assert found is not None
    assert found.users["a"].text("token") == "y"


def test_what_is_not_yaml_is_told_with_its_place(tmp_path: Path) -> None:
    assert "is not YAML at line 2, column" in read(tmp_path, "users:\n- name: a: b\n")


@pytest.mark.clause("N4")
@pytest.mark.parametrize(
    "text",
    [
        f"password: !{SECRET}",
        f"password: *{SECRET}",
        f"password: !{SECRET}!x y",
        f"password: '{SECRET}",
        f"password: {SECRET}: {SECRET}",
        f"{SECRET}\n:",
        f"? [{SECRET}]\n: {SECRET}",
    ],
)
def test_an_error_about_yaml_quotes_nothing_of_the_file(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config"
    path.write_text(text)
    with pytest.raises(ConfigError, match="YAML") as caught:
        read_kubeconfig_file(path)
    error: BaseException | None = caught.value
    while error is not None:
        assert SECRET not in str(error)
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"\xff\xfe\x00", "not YAML"),
        (b"\x00\x01", "not YAML"),
        ("[" * 5000, "not YAML"),
        ("hello", "mapping at its top"),
        ("- a", "mapping at its top"),
        ("kind: Pod", "kind Config"),
        ("apiVersion: v2", "only v1 is known"),
        ("kind: [Config]", "should be text"),
        ("clusters: {a: b}", "field 'clusters': should be a list"),
        ("clusters: [a]", "field 'clusters[0]': should be a mapping"),
        ("users: [{name: [a]}]", "users[0], field 'name': should be text"),
        ("users: [{name: a, user: b}]", "users[0], field 'user': should be a mapping"),
        ("contexts: [{name: a}, {name: a}]", "contexts[1], field 'name': 'a' is there twice"),
        ("current-context: [a]", "field 'current-context': should be text"),
    ],
)
def test_a_wrong_shape_is_told_with_its_place(
    tmp_path: Path, text: str | bytes, problem: str
) -> None:
    assert problem in read(tmp_path, text)


def test_a_relative_path_is_made_absolute_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config").write_text("users: [{name: a, user: {tokenFile: tok}}]")
    (tmp_path / "tok").write_text("x")
    monkeypatch.chdir(tmp_path)
    found = read_kubeconfig_file(Path("config"))
    assert found is not None
    monkeypatch.chdir("/")
    assert found.users["a"].read_file("tokenFile", "tok") == b"x"


@pytest.mark.clause("N4")
def test_a_sections_repr_does_not_show_its_fields() -> None:
    assert SECRET not in repr(Section(file=Path("a"), where="user", fields={"token": SECRET}))
