from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from listwatch.cli.failures import CommandError
from listwatch.cli.manifests import read_manifests

POD: dict[str, Any] = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}


def _read(tmp_path: Path, text: str) -> list[dict[str, Any]]:
    file = tmp_path / "objects"
    file.write_text(text, "utf-8")
    return read_manifests([file])


def test_yaml_may_have_several_documents_and_empty_ones(tmp_path: Path) -> None:
    text = "# a comment\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\n---\n" + (
        "apiVersion: v1\nkind: Node\nmetadata:\n  name: b\n"
    )
    assert [found["kind"] for found in _read(tmp_path, text)] == ["Pod", "Node"]


def test_json_is_read_too(tmp_path: Path) -> None:
    assert _read(tmp_path, json.dumps(POD)) == [POD]
    assert _read(tmp_path, json.dumps([POD, POD])) == [POD, POD]


def test_a_list_is_its_items(tmp_path: Path) -> None:
    nested = {"kind": "List", "apiVersion": "v1", "items": [POD, {"kind": "List", "items": [POD]}]}
    assert _read(tmp_path, json.dumps(nested)) == [POD, POD]


def test_the_items_of_a_typed_list_get_its_type(tmp_path: Path) -> None:
    listed = {
        "kind": "DeploymentList",
        "apiVersion": "apps/v1",
        "items": [{"metadata": {"name": "web"}}],
    }
    assert _read(tmp_path, json.dumps(listed)) == [
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}}
    ]


def test_times_stay_texts(tmp_path: Path) -> None:
    text = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a, creationTimestamp: 2026-01-01T00:00:00Z}\n"
    )
    [found] = _read(tmp_path, text)
    assert found["metadata"]["creationTimestamp"] == "2026-01-01T00:00:00Z"


def test_definitions_come_before_what_they_define(tmp_path: Path) -> None:
    kinds = ("Widget", "Pod", "CustomResourceDefinition", "Widget")
    text = json.dumps([{"apiVersion": "x/v1", "kind": kind} for kind in kinds])
    assert [found["kind"] for found in _read(tmp_path, text)] == [
        *("CustomResourceDefinition", "Widget", "Pod", "Widget")
    ]


def test_several_files_and_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.json"
    file.write_text(json.dumps(POD))
    stdin = io.TextIOWrapper(io.BytesIO(b"kind: Node\napiVersion: v1\n"))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert [found["kind"] for found in read_manifests([file, Path("-")])] == ["Pod", "Node"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("kind: [", r"objects, line 2: "),
        ("a: b: c", r"objects, line 1: "),
        ("just text", "not an object: it has no kind"),
        ("metadata: {}", "not an object: it has no kind"),
        ("kind: 7", "not an object: it has no kind"),
        ('{"kind":"PodList","items":[1]}', "not all objects"),
        ('{"kind":"List","items":[1]}', "not all objects"),
        ("a: \x00", "objects: "),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(
    text: str, problem: str, tmp_path: Path
) -> None:
    with pytest.raises(CommandError, match=problem):
        _read(tmp_path, text)
