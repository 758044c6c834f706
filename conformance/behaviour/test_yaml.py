"""Answers in YAML (K6), byte by byte."""

from __future__ import annotations

import pytest

from conformance.behaviour.space import Space
from conformance.objects import config_map

YAML = "application/yaml"
_TEXTS = {
    "bool": "yes",
    "colon": "a: b",
    "empty": "",
    "face": "\N{GRINNING FACE}",
    "folded": "w" * 72 + " is cut behind the width of eighty",
    "lines": "a\n b\n\nc\n",
    "list": "- a",
    "number": "1e3",
    "plain": "it's v1.2",
    "spaced": " a ",
    "time": "2026-01-02T03:04:05Z",
    "unfinished": "a\nb",
}
_WRITTEN = """\
data:
  bool: "yes"
  colon: 'a: b'
  empty: ""
  face: "\\U0001F600"
  folded: wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww
    is cut behind the width of eighty
  lines: |
    a
     b

    c
  list: '- a'
  number: "1e3"
  plain: it's v1.2
  spaced: ' a '
  time: "2026-01-02T03:04:05Z"
  unfinished: |-
    a
    b
"""


def test_texts_are_quoted_and_folded_alike(space: Space) -> None:
    """What would read as another type is quoted; lines are literal; long texts are folded."""
    space.put({"metadata": {"name": "a"}, "data": _TEXTS})
    answer = space.ask("GET", space.path(name="a"), Accept=YAML)
    assert (answer.status, answer.headers["Content-Type"]) == (200, YAML)
    assert answer.body.decode().startswith(f"apiVersion: v1\n{_WRITTEN}kind: ConfigMap\n")


def test_a_refusal_is_yaml(space: Space) -> None:
    """So is a Status."""
    answer = space.ask("GET", space.path(name="none"), Accept=YAML)
    assert answer.body == (
        b"apiVersion: v1\ncode: 404\ndetails:\n  kind: configmaps\n  name: none\nkind: Status\n"
        b'message: configmaps "none" not found\nmetadata: {}\nreason: NotFound\nstatus: Failure\n'
    )


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        (f"{YAML},application/json", YAML),
        (f"application/json,{YAML}", "application/json"),
        (f"{YAML};as=Table;v=v1;g=meta.k8s.io", YAML),
        (f"{YAML};stream=watch", "application/json"),
        ("application/YAML", "application/json"),
    ],
)
def test_the_form_is_negotiated(space: Space, accept: str, wanted: str) -> None:
    """The first that can be had; a stream is never YAML, and case counts."""
    space.put(config_map("a"))
    answer = space.ask("GET", space.path(name="a"), Accept=accept)
    assert answer.headers["Content-Type"] == wanted


def test_a_watch_in_yaml_is_refused_in_yaml(space: Space) -> None:
    """406: no stream is YAML; the Status is (K18)."""
    answer = space.ask("GET", space.path(watch=1), Accept=YAML)
    assert (answer.status, answer.headers["Content-Type"]) == (406, YAML)


@pytest.mark.parametrize("path", ["/api", "/apis", "/apis/apps", "/apis/apps/v1"])
def test_discovery_comes_in_yaml(space: Space, path: str) -> None:
    """Its documents are objects too; /version is not, and is 406."""
    answer = space.ask("GET", path, Accept=YAML)
    assert (answer.status, answer.headers["Content-Type"]) == (200, YAML)
    assert b"\nkind: API" in answer.body or answer.body.startswith(b"kind: API")
    assert space.ask("GET", "/version", Accept=YAML).status == 406
