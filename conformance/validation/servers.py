"""The real server of the programs of this folder."""

from __future__ import annotations

import base64
import ssl
from argparse import ArgumentParser, Namespace
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import yaml

from conformance.cluster import Cluster
from conformance.requests import Session

__all__ = ["add_option", "real_session"]


def add_option(parser: ArgumentParser) -> None:
    """The option that `real_session` looks at."""
    parser.add_argument("--kubeconfig", type=Path, metavar="FILE", help="of a running cluster")


def real_session(options: Namespace, stack: ExitStack) -> Session:
    """A connection to the cluster of that kubeconfig, or to one that is started, until `stack`
    closes.
    """
    if options.kubeconfig is not None:
        return stack.enter_context(_session_of(options.kubeconfig))
    return stack.enter_context(stack.enter_context(Cluster()).session())


def _session_of(kubeconfig: Path) -> Session:
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
