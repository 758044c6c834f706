"""Two texts in a kubeconfig are changed, and nothing else."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from listwatch.rest.kubeconfig_edit import (
    ChangedMeanwhile,
    Locked,
    NotEditable,
    edited,
    rewrite,
)
from tests.rest.oidc.fake_idp import jwt

pytestmark = pytest.mark.clause("N2")

TEXT = """\
# Mine. Keep it.
apiVersion: v1
kind: Config
users:
- name: älice
  user:
    auth-provider:
      name: oidc
      config:
        client-id: old-id   # the same text as below
        id-token: old-id    # from the last login
        refresh-token: 'old-refresh'

        idp-issuer-url: https://idp.example
- name: bob
  user: {auth-provider: {name: oidc, config: {id-token: old-id, refresh-token: old-refresh}}}
- {name: json, user: {"auth-provider": {"config": {"refresh-token": "old-refresh"}}}}
current-context: dev
"""
JWT = jwt(1)
CHANGES = {"id-token": ("old-id", JWT), "refresh-token": ("old-refresh", "new: refresh")}


def test_only_the_two_texts_change() -> None:
    assert edited(TEXT, "älice", CHANGES) == TEXT.replace(
        "id-token: old-id    #", f"id-token: {JWT}    #"
    ).replace("'old-refresh'", '"new: refresh"')


def test_it_is_the_user_who_is_named() -> None:
    assert edited(TEXT, "bob", CHANGES) == TEXT.replace(
        "{id-token: old-id, refresh-token: old-refresh}",
        f'{{id-token: {JWT}, refresh-token: "new: refresh"}}',
    )


def test_a_text_that_stays_is_left_as_it_is() -> None:
    changes = {"id-token": ("old-id", JWT), "refresh-token": ("old-refresh", "old-refresh")}
    assert edited(TEXT, "älice", changes) == TEXT.replace(
        "id-token: old-id    #", f"id-token: {JWT}    #"
    )


def test_a_field_that_is_not_there_is_put_first_in_the_way_of_the_others() -> None:
    block = TEXT.replace("        id-token: old-id    # from the last login\n", "")
    changes = {"id-token": ("", JWT)}
    assert edited(block, "älice", changes) == block.replace(
        "        client-id:", f"        id-token: {JWT}\n        client-id:"
    )
    assert edited(TEXT, "json", changes) == TEXT.replace(
        '{"refresh-token"', f'{{"id-token": "{JWT}", "refresh-token"'
    )


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("old", "old"),
        ('"old"', "old"),
        ("'o''ld'", "o'ld"),
        ('"o\\tld"', "o\tld"),
        (">-\n          one\n          two", "one two"),
        ("|\n          one\n          two\n", "one\ntwo\n"),
        ("one\n          two", "one two"),
        ("", ""),
        ("null", ""),
        ("~", ""),
        ("!!str null", "null"),
        ("!!str old", "old"),
    ],
)
@pytest.mark.parametrize("new", ["plain", JWT, "007", "2030-01-01", "null", "a # b", "ü\n\0'\""])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_however_it_is_written(written: str, value: str, new: str, line_end: str) -> None:
    text = TEXT.replace("old-id    # from the last login", written).replace("\n", line_end)
    result = edited(text, "älice", {"id-token": (value, new)})
    config = yaml.safe_load(result)["users"][0]["user"]["auth-provider"]["config"]
    assert config["id-token"] == new
    assert config["refresh-token"] == "old-refresh"
    assert result.count("#") - new.count("#") == text.count("#")


_TEXTS = st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]))


@given(_TEXTS, _TEXTS)
def test_any_text_is_written_so_that_it_is_read_as_it_was(first: str, second: str) -> None:
    changes = {"id-token": ("old-id", first), "refresh-token": ("old-refresh", second)}
    result = edited(TEXT, "älice", changes)
    config = yaml.load(result, yaml.BaseLoader)["users"][0]["user"]["auth-provider"]["config"]
    assert (config["id-token"], config["refresh-token"]) == (first, second)


@pytest.mark.parametrize("name", ["id-token", "refresh-token"])
def test_what_somebody_else_has_changed_is_left_to_him(name: str) -> None:
    changes = CHANGES | {name: ("s3cret", "new")}
    with pytest.raises(ChangedMeanwhile, match=f"its {name} is another one now") as caught:
        edited(TEXT, "älice", changes)
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "user", "problem"),
    [
        (TEXT, "carol", "no auth-provider of user 'carol'"),
        ("", "älice", "no auth-provider of user"),
        ("users: hello", "älice", "no auth-provider of user"),
        ("users: [1, [name], {no: name}]", "älice", "no auth-provider of user"),
        ("[1", "älice", "cannot be parsed"),
        ("a: 1\n---\nb: 2\n", "älice", "cannot be parsed"),
        ("a: s3cret: b", "älice", "cannot be parsed"),
        (TEXT.replace("config:\n", "config: &it\n") + "again: *it\n", "älice", "aliases"),
        (TEXT.replace("id-token: old-id ", "id-token: [old-id] "), "älice", "id-token is no text"),
    ],
)
def test_what_cannot_be_changed_alone_is_not_changed(text: str, user: str, problem: str) -> None:
    with pytest.raises(NotEditable, match=problem) as caught:
        edited(text, user, CHANGES)
    assert "s3cret" not in str(caught.value)


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "config"
    path.write_text("before")
    yield path
    assert not (tmp_path / "config.lock").exists()
    assert [name for name in os.listdir(tmp_path) if name.startswith(".config.")] == []


def test_a_file_is_replaced_with_its_mode(path: Path) -> None:
    path.chmod(0o640)
    inode = path.stat().st_ino
    with path.open() as reader:
        rewrite(path, lambda text: text + " and after")
        assert reader.read() == "before"  # whoever reads it gets the one or the other
    assert path.read_text() == "before and after"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert path.stat().st_ino != inode


def test_a_file_that_stays_the_same_is_not_touched(path: Path) -> None:
    inode = path.stat().st_ino
    rewrite(path, lambda text: text)
    assert path.stat().st_ino == inode


def test_line_ends_and_a_byte_order_mark_stay(path: Path) -> None:
    path.write_bytes("\ufeffa\r\nb\r\n".encode())
    rewrite(path, lambda text: text.replace("a", "c"))
    assert path.read_bytes() == "\ufeffc\r\nb\r\n".encode()


def test_a_link_stays_one(path: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("config")
    rewrite(link, lambda text: "after")
    assert link.is_symlink()
    assert path.read_text() == "after"


def test_kubectls_lock_is_held_meanwhile(path: Path) -> None:
    def edit(text: str) -> str:
        assert (path.parent / "config.lock").exists()
        with pytest.raises(Locked):
            rewrite(path, lambda text: "somebody else's")
        return "after"

    rewrite(path, edit)
    assert path.read_text() == "after"


def test_a_lock_of_somebody_else_is_respected_and_named(path: Path) -> None:
    lock = path.parent / "config.lock"
    lock.touch(mode=0)
    with pytest.raises(Locked, match=r"config\.lock is there: remove it if no kubectl"):
        rewrite(path, lambda text: "after")
    assert path.read_text() == "before"
    assert lock.exists()
    lock.unlink()


def test_an_edit_that_fails_leaves_all_as_it_was(path: Path) -> None:
    def edit(text: str) -> str:
        raise NotEditable("no")

    with pytest.raises(NotEditable):
        rewrite(path, edit)
    assert path.read_text() == "before"


def test_a_file_that_cannot_be_replaced_leaves_nothing_behind(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(16, "Device or resource busy")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="busy"):
        rewrite(path, lambda text: "after")
    assert path.read_text() == "before"


def test_a_file_of_somebody_else_is_left_to_him_where_it_cannot_be_given_back(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Others:
        st_uid, st_gid, st_mode = 4711, 4712, 0o600

    def refuse(name: str, uid: int, gid: int) -> None:
        assert (uid, gid) == (4711, 4712)
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "stat", lambda self: Others)
    monkeypatch.setattr(os, "chown", refuse)
    with pytest.raises(PermissionError):
        rewrite(path, lambda text: "after")
    monkeypatch.undo()
    assert path.read_text() == "before"


def test_what_is_not_utf8_is_not_changed(path: Path) -> None:
    path.write_bytes(b"\xff")
    with pytest.raises(NotEditable, match="not UTF-8"):
        rewrite(path, lambda text: "after")
