"""What the manual's page on the client shows is what happens."""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parent.parent.parent / "docs" / "client.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
SHOWN = re.findall(r"print\(.*\)  # (.+)$", "\n".join(BLOCKS), re.MULTILINE)


async def test_the_examples_run_one_after_another(capsys: pytest.CaptureFixture[str]) -> None:
    scope: dict[str, Any] = {}
    try:
        async with asyncio.timeout(30):
            for number, block in enumerate(BLOCKS):
                name = f"{PAGE.name}, block {number + 1}"
                code = compile(block, name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
                running = eval(code, scope)  # our own manual
                if inspect.isawaitable(running):
                    await running
    finally:  # which its last block does, if it comes to that
        await scope["client"].close()
        await scope["server"].stop()
    printed = iter(capsys.readouterr().out.splitlines())
    for line in SHOWN:  # in this order, perhaps with others in between
        pattern = re.escape(line).replace(r"\.\.\.", ".*")
        assert any(re.fullmatch(pattern, text) for text in printed), line
    assert len(SHOWN) >= 8


def test_the_page_shows_each_way_in() -> None:
    shown = "\n".join(BLOCKS)
    for verb in ("get", "list", "create", "replace", "patch", "delete", "watch", "mirror"):
        assert f"client.{verb}(" in shown
