"""What the manual's page on the client shows is what happens."""

from __future__ import annotations

import pytest

from tests.support.manual import Page

PAGE = Page("client.md")


async def test_the_examples_run_one_after_another(capsys: pytest.CaptureFixture[str]) -> None:
    await PAGE.run()
    PAGE.check(capsys.readouterr().out)
    assert len(PAGE.shown) >= 8


def test_the_page_shows_each_way_in() -> None:
    shown = "\n".join(PAGE.blocks)
    for verb in ("get", "list", "create", "replace", "patch", "delete", "watch", "mirror"):
        assert f"client.{verb}(" in shown
