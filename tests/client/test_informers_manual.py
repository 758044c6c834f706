"""What the manual's page on informers shows is what happens."""

from __future__ import annotations

import pytest

from tests.support.manual import Page

PAGE = Page("informers.md")


async def test_the_examples_run_one_after_another(capsys: pytest.CaptureFixture[str]) -> None:
    await PAGE.run()
    output = capsys.readouterr().out
    PAGE.check(output)
    assert len(PAGE.shown) >= 8
    told = ["added a True", "added b False", "updated a red -> blue", "deleted b"]
    assert output.splitlines()[: len(told)] == told


def test_the_page_shows_each_way_in() -> None:
    shown = "\n".join(PAGE.blocks)
    for name in ("add_handler(", "ObjectLister(", "projection=", "InformerFactory(", "optional="):
        assert name in shown
