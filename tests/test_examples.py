"""The programs in `examples/` do what they say, on the embedded server."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from listwatch import Client
from listwatch.testing.apiserver import EmbeddedServer

EXAMPLES = Path(__file__).parent.parent / "examples"


def load(name: str, server: EmbeddedServer) -> dict[str, Any]:
    """What an example defines, with a client of that server for its own."""
    source = (EXAMPLES / name).read_text("utf-8").replace("asyncio.run(main())", "")
    scope: dict[str, Any] = {"__name__": "example"}
    exec(compile(source, name, "exec", dont_inherit=True), scope)  # our own example
    scope["Client"] = lambda: Client(config=server.client_config())
    return scope


@pytest.mark.clause("K1", "K12")
async def test_pods_that_restart_too_often_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    def status(restarts: int) -> dict[str, Any]:
        state = {"name": "c", "image": "i", "imageID": "i", "ready": True}
        return {"status": {"containerStatuses": [{**state, "restartCount": restarts}]}}

    async with EmbeddedServer() as server, Client(config=server.client_config()) as client:
        for name in ("calm", "crashing"):
            spec = {"containers": [{"name": "c", "image": "i"}]}
            await client.create({"metadata": {"name": name}, "spec": spec}, resource="pods")
            await client.patch("pods", name, status(7), subresource="status")
        running = asyncio.create_task(load("restarts.py", server)["main"]())
        printed, restarts = "", 7
        async with asyncio.timeout(20):
            while printed.count("\n") < 2:
                restarts += 1  # the first ones may be in the list that it begins with
                await client.patch("pods", "crashing", status(restarts), subresource="status")
                if restarts == 8:
                    await client.patch("pods", "calm", status(8), subresource="status")
                printed += capsys.readouterr().out
        running.cancel()
        await asyncio.wait([running])
    first, second, *_ = printed.splitlines()
    assert first.startswith("default/crashing: 3 restarts in 10 minutes, ")
    assert second.startswith("default/crashing: 4 restarts in 10 minutes, ")
    assert "calm" not in printed


def test_the_example_of_the_readme_has_30_lines_at_most() -> None:
    assert len((EXAMPLES / "restarts.py").read_text("utf-8").splitlines()) <= 30
