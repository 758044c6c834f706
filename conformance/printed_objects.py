"""Objects of all sorts and in all states, for what servers print of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from string import Template
from typing import NamedTuple

import yaml

from conformance.requests import Json

_FILE = Path(__file__).with_suffix(".yaml")


class Printed(NamedTuple):
    path: str
    """Of its collection."""
    obj: Json
    status: Json | None

    @property
    def name(self) -> str:
        name = self.obj["metadata"]["name"]
        assert isinstance(name, str)
        return name

    @property
    def is_namespaced(self) -> bool:
        return "/namespaces/" in self.path

    @property
    def kind(self) -> str:
        """Its type, as one tells it to kubectl."""
        parts = self.path.split("/")
        return parts[-1] + (f".{parts[3]}.{parts[2]}" if parts[1] == "apis" else "")


def printed_objects(namespace: str) -> Iterator[Printed]:
    """All of them, in the order in which they are to be created. Those that are in no namespace
    have names that nobody else gives.
    """
    text = Template(_FILE.read_text(encoding="utf-8")).safe_substitute(name=namespace)
    for each in yaml.safe_load(text):
        yield Printed(each["path"], each["object"], each.get("status"))
