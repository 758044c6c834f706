"""Objects that a server looks at before it stores others, and waiting until it knows of them.

A real server hears of what is written a moment later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from conformance.behaviour.space import Space
from conformance.requests import Json, Response
from conformance.waiting import until


def a_pod(name: str = "p", resources: Json | None = None, **spec: Any) -> Json:
    container: Json = {"name": "c", "image": "i"}
    if resources is not None:
        container["resources"] = resources
    return {"metadata": {"name": name}, "spec": {"containers": [container], **spec}}


def a_claim(name: str = "c", size: str = "1Gi", **spec: Any) -> Json:
    return {
        "metadata": {"name": name},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": size}},
            **spec,
        },
    }


def tried(space: Space, obj: Json, plural: str = "pods") -> Response:
    """What would come of creating something."""
    return space.ask("POST", space.path(plural, dryRun="All"), obj)


def known(space: Space, obj: Json, seen: Callable[[Response], bool], plural: str = "pods") -> None:
    """Wait until the server has heard of what was written."""
    until(lambda: seen(tried(space, obj, plural)), what="another object to be known")


def said(answer: Response) -> str:
    """What a 403 says, behind what is forbidden."""
    code, reason, message = answer.status, answer.json()["reason"], answer.json()["message"]
    assert (code, reason) == (403, "Forbidden")
    return str(message).partition(" is forbidden: ")[2]


@contextmanager
def while_there(space: Space, path: str, obj: Json) -> Iterator[Json]:
    """An object that is not of a namespace, for as long as the test needs it."""
    made = space.server.create(path, obj)
    try:
        yield made
    finally:
        space.server.delete(f"{path}/{obj['metadata']['name']}")
