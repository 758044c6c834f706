"""Informers over a script, and handlers that write down what they are told."""

from __future__ import annotations

import asyncio
from typing import Any

from listwatch.api import Unstructured
from listwatch.cache import SharedInformer, Tombstone
from tests.cache.scripted import Scripted, Still


class Handler:
    """Writes down what it is told: `+a1` added in the first set, `a1` added later, `a1>a2`, `-a2`,
    and `-a2?` where nobody saw the end.
    """

    def __init__(self) -> None:
        self.told: list[str] = []

    async def on_add(self, obj: Unstructured, in_initial_list: bool) -> None:
        self.told.append(("+" if in_initial_list else "") + said(obj))

    async def on_update(self, old: Unstructured, new: Unstructured) -> None:
        self.told.append(f"{said(old)}>{said(new)}")

    async def on_delete(self, gone: Unstructured | Tombstone[Unstructured]) -> None:
        unknown = isinstance(gone, Tombstone)
        self.told.append(f"-{said(gone.object if unknown else gone)}" + ("?" if unknown else ""))

    def take(self) -> list[str]:
        found, self.told = self.told, []
        return found


class Blocked(Handler):
    """One that does not come to the end of its first notification before it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.began = asyncio.Event()
        self.let = asyncio.Event()

    async def on_add(self, obj: Unstructured, in_initial_list: bool) -> None:
        self.began.set()
        await self.let.wait()
        await super().on_add(obj, in_initial_list)


def said(obj: Any) -> str:
    return f"{obj.name}{obj.resource_version}"


def make(*answers: Any, **arguments: Any) -> tuple[SharedInformer[Any], Scripted]:
    source = Scripted(*answers)
    return SharedInformer(source, rng=Still(), **arguments), source
