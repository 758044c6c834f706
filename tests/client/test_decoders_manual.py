"""What the manual's page on decoders shows is what happens, and so is the example with pydantic."""

from __future__ import annotations

import asyncio

import pytest

from listwatch import Client
from listwatch.testing.apiserver import EmbeddedServer
from tests.support.manual import Page
from tests.test_examples import load

pytestmark = pytest.mark.clause("D6")

PAGE = Page("decoders.md")


async def test_the_examples_run_one_after_another(capsys: pytest.CaptureFixture[str]) -> None:
    await PAGE.run()
    PAGE.check(capsys.readouterr().out)
    assert len(PAGE.shown) >= 13


def test_the_page_shows_each_kind() -> None:
    shown = "\n".join(PAGE.blocks)
    for name in ("@dataclass", "pydantic", "lightkube", "kubernetes.client", "decode_dict"):
        assert name in shown


async def test_images_that_are_not_pinned_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    pinned = f"nginx@sha256:{'0' * 64}"
    async with EmbeddedServer() as server, Client(config=server.client_config()) as client:
        for name, image in (("pinned", pinned), ("loose", "nginx:1.27")):
            spec = {"containers": [{"name": "c", "image": image}]}
            await client.create({"metadata": {"name": name}, "spec": spec}, resource="pods")
        running = asyncio.create_task(load("images.py", server)["main"]())
        printed = ""
        async with asyncio.timeout(20):
            while not printed:
                await asyncio.sleep(0)
                printed += capsys.readouterr().out
        running.cancel()
        await asyncio.wait([running])
    assert printed == "default/loose: nginx:1.27\n"
