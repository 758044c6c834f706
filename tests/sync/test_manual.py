"""What the manual's page on programs without an event loop shows is what happens."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from .serving import Serving

PAGE = Path(__file__).parent.parent.parent / "docs" / "sync.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
SHOWN = re.findall(r"print\(.*\)  # (.+)$", "\n".join(BLOCKS), re.MULTILINE)
SERVED_AT = "http://127.0.0.1:8001"


def test_the_examples_run_one_after_another(
    serving: Serving, capsys: pytest.CaptureFixture[str]
) -> None:
    scope: dict[str, Any] = {}
    assert SERVED_AT in BLOCKS[0]
    try:
        for number, block in enumerate(BLOCKS):
            code = block.replace(SERVED_AT, serving.server.url)
            exec(compile(code, f"{PAGE.name}, block {number + 1}", "exec"), scope)  # our own manual
    finally:  # which its last block does, if it comes to that
        scope["client"].close()
    printed = iter(capsys.readouterr().out.splitlines())
    for line in SHOWN:  # in this order, perhaps with others in between
        assert line in printed, line
    assert len(SHOWN) >= 8


def test_the_page_shows_each_way_in() -> None:
    shown = "\n".join(BLOCKS)
    for verb in ("get", "list", "create", "patch", "watch", "mirror", "informer", "run"):
        assert f"client.{verb}(" in shown
