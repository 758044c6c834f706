"""Objects from files, as kubectl takes them: YAML or JSON, several documents, Lists."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from .failures import CommandError

__all__ = ["read_manifests"]

STDIN = Path("-")


def read_manifests(files: Sequence[Path]) -> list[dict[str, Any]]:
    """All objects in the files, in order, but definitions before what they define. `-` is standard
    input.

    Raises `CommandError`, and `OSError` for a file that cannot be read.
    """
    found: list[dict[str, Any]] = []
    for file in files:
        name = "standard input" if file == STDIN else str(file)
        data = sys.stdin.buffer.read() if file == STDIN else file.read_bytes()
        documents = list(_documents(data, name))
        for document in documents:
            found += _objects(document, name)
    found.sort(key=lambda value: value["kind"] != "CustomResourceDefinition")
    return found


def _documents(data: bytes, name: str) -> Iterator[Any]:
    if data.lstrip()[:1] in (b"{", b"["):
        try:
            yield msgspec.json.decode(data)
            return
        except (msgspec.DecodeError, UnicodeDecodeError):
            pass  # several documents, or YAML that looks like JSON
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(base):  # type: ignore[misc]  # which of the two is known only now
        pass

    # JSON has no dates: in objects they are texts.
    Loader.yaml_implicit_resolvers = {
        first: [rule for rule in rules if rule[0] != "tag:yaml.org,2002:timestamp"]
        for first, rules in base.yaml_implicit_resolvers.items()
    }
    try:
        for document in yaml.load_all(data, Loader):
            if document is not None:
                yield document
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f", line {mark.line + 1}" if mark is not None else ""
        raise CommandError(f"{name}{where}: {error.problem}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise CommandError(f"{name}: {error}") from error


def _objects(document: Any, name: str) -> Iterator[dict[str, Any]]:
    if isinstance(document, list):
        for item in document:
            yield from _objects(item, name)
        return
    if not isinstance(document, Mapping) or not isinstance(document.get("kind"), str):
        raise CommandError(f"{name}: not an object: it has no kind")
    kind, items = document["kind"], document.get("items")
    if not kind.endswith("List") or not isinstance(items, list):
        yield dict(document)
        return
    # The items of a PodList say neither kind nor apiVersion.
    missing = {"apiVersion": document.get("apiVersion", ""), "kind": kind.removesuffix("List")}
    for item in items:
        if not isinstance(item, Mapping):
            raise CommandError(f"{name}: the items of a {kind} are not all objects")
        yield from _objects({**missing, **item} if kind != "List" else item, name)
