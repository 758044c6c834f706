"""What a cluster in a kubeconfig says to plugins, with the types it has in YAML."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator
from typing import Any

from ..kubeconfig_file import Section

__all__ = ["exec_extension"]

_NAME = "client.authentication.k8s.io/exec"

_REPLACED = (":timestamp", ":int", ":float")
_INT = re.compile(r"[-+]?(0|[1-9][0-9_]*|0[0-7_]+|0x[0-9a-fA-F_]+|0b[01_]+)$")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+)$")


def exec_extension(cluster: Section) -> Any:
    """The extension `client.authentication.k8s.io/exec` of `cluster`, as JSON would have it; None
    where there is none.

    All else in a kubeconfig is read as text, but here a plugin decides what `ttl: 600` means, and
    gets a number, as from kubectl. The file is read once more for that, where there is such an
    extension. Raises `ConfigError` if its shape is not that of one.
    """
    found: Any = None
    for extension in cluster.sections("extensions"):
        if extension.text("name") == _NAME:
            found = extension.fields.get("extension")
    if found is None or isinstance(found, str):
        return found
    typed = _read_typed(cluster)
    if typed is None:
        return found
    try:
        json.dumps(typed, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise cluster.error("extensions", f"{_NAME} cannot be put into JSON: {error}") from error
    return typed


def _read_typed(cluster: Section) -> Any:
    """The extension of the cluster of that name; None where it is no longer as it was."""
    import yaml

    try:
        with cluster.file.open("rb") as stream:
            loader = _loader()(stream)
            try:
                for entry in _items(_value(loader.get_single_node(), "clusters")):
                    if not cluster.where.endswith(f"cluster {_text(entry, 'name')!r}"):
                        continue
                    for extension in _items(_value(_value(entry, "cluster"), "extensions")):
                        if _text(extension, "name") == _NAME:
                            node = _value(extension, "extension")
                            return loader.construct_document(node)
            finally:
                loader.dispose()
    except (OSError, yaml.YAMLError, ValueError):
        pass  # it was read as text a moment ago: somebody is writing it
    return None


def _value(node: Any, name: str) -> Any:
    """The node of one field of a mapping."""
    fields = node.value if getattr(node, "id", "") == "mapping" else []
    return next((value for key, value in fields if key.value == name), None)


def _items(node: Any) -> Iterator[Any]:
    return iter(node.value if getattr(node, "id", "") == "sequence" else [])


def _text(node: Any, name: str) -> str:
    value = _value(node, name)
    return value.value if getattr(value, "id", "") == "scalar" else ""


@functools.cache
def _loader() -> Any:
    """A loader of the types that JSON has: dates, and numbers such as `12:30`, stay text."""
    import yaml

    base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # that of Python stumbles over tabs

    class JSONLoader(base):  # type: ignore[misc, valid-type]  # the base depends on how PyYAML was built
        yaml_implicit_resolvers = {  # noqa: RUF012  # PyYAML's own name and form
            first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(_REPLACED)]
            for first, resolvers in base.yaml_implicit_resolvers.items()
        }

    JSONLoader.add_implicit_resolver("tag:yaml.org,2002:int", _INT, list("-+0123456789"))
    JSONLoader.add_implicit_resolver("tag:yaml.org,2002:float", _FLOAT, list("-+.0123456789"))
    return JSONLoader
