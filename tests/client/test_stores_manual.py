"""What the manual's page on stores shows is what happens."""

from __future__ import annotations

import pytest

from tests.support.manual import Page

PAGE = Page("stores.md")


@pytest.mark.clause("D6", "I4")
async def test_the_examples_run_one_after_another(capsys: pytest.CaptureFixture[str]) -> None:
    await PAGE.run()
    PAGE.check(capsys.readouterr().out)
    assert len(PAGE.shown) == 7


def test_the_page_shows_each_kind() -> None:
    shown = "\n".join(PAGE.blocks)
    for name in ("typed(", "metadata_only(", "compact(", "transforms=", ".read("):
        assert name in shown
