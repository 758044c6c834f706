"""The servers of the programs of this folder."""

from __future__ import annotations

import base64
import ssl
from pathlib import Path
from typing import Any

import yaml

from conformance.requests import Session

__all__ = ["session_of"]


def session_of(kubeconfig: Path) -> Session:
    """A connection to the server of a kubeconfig's current context, which has a token."""
    config = yaml.safe_load(kubeconfig.read_text(encoding="utf-8"))
    chosen = _named(config["contexts"], config["current-context"])["context"]
    cluster = _named(config["clusters"], chosen["cluster"])["cluster"]
    user = _named(config["users"], chosen["user"])["user"]
    authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
    context = ssl.create_default_context(cadata=authority)
    return Session(cluster["server"], context, user["token"])


def _named(entries: list[Any], name: str) -> Any:
    return next(entry for entry in entries if entry["name"] == name)
