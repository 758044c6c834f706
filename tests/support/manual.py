"""Runs the examples of a page of the manual."""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent.parent.parent / "docs"


class Page:
    """A page whose Python blocks run one after another, and begin with a `server` and a `client`.

    What a line prints stands in a comment at its end; `...` stands for anything.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        text = (DOCS / name).read_text("utf-8")
        self.blocks: list[str] = re.findall(
            r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE
        )
        self.shown: list[str] = re.findall(r"print\(.*\)  # (.+)$", "\n".join(self.blocks), re.M)

    async def run(self) -> dict[str, Any]:
        """Run it; what it has defined."""
        scope: dict[str, Any] = {"asyncio": asyncio}  # as in `python -m asyncio`
        try:
            async with asyncio.timeout(30):
                for number, block in enumerate(self.blocks):
                    name = f"{self.name}, block {number + 1}"
                    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
                    code = compile(block, name, "exec", flags, dont_inherit=True)
                    running = eval(code, scope)  # our own manual
                    if inspect.isawaitable(running):
                        await running
        finally:  # which its last block does, if it comes to that
            await scope["client"].close()
            await scope["server"].stop()
        return scope

    def check(self, output: str) -> None:
        """All that it shows was printed, in this order, perhaps with others in between."""
        printed = iter(output.splitlines())
        for line in self.shown:
            pattern = re.escape(line).replace(r"\.\.\.", ".*")
            assert any(re.fullmatch(pattern, text) for text in printed), line
