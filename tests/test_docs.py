"""What is written about the library is true: examples run, exports are documented, names in the
manual exist.
"""

from __future__ import annotations

import ast
import asyncio
import doctest
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import listwatch
from listwatch import Client
from listwatch.testing.apiserver import EmbeddedServer

ROOT = Path(__file__).parent.parent
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(listwatch.__path__, "listwatch.")
    if not module.name.endswith("__main__")
)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_docstrings_run(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


EXPORTED = {name: getattr(listwatch, name) for name in listwatch.__all__}


@pytest.mark.parametrize(
    "name",
    [n for n, value in EXPORTED.items() if inspect.isclass(value) or inspect.isroutine(value)],
)
def test_what_is_exported_is_documented(name: str) -> None:
    value = EXPORTED[name]
    own = value.__dict__.get("__doc__") if inspect.isclass(value) else value.__doc__
    assert own, f"{name} has no docstring of its own"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_name_that_the_manual_imports_exists(page: Path) -> None:
    for block in blocks(page):
        tree = compile(block, page.name, "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("listwatch"):
                module = importlib.import_module(node.module or "")
                assert [name.name for name in node.names if not hasattr(module, name.name)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


async def test_the_readmes_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    example, _ = blocks(ROOT / "README.md")
    async with EmbeddedServer() as server:
        for name, app in (("web-0", "web"), ("db-0", "db")):
            async with Client(config=server.client_config()) as client:
                await client.create(
                    {
                        "apiVersion": "v1",
                        "kind": "Pod",
                        "metadata": {"name": name, "labels": {"app": app}},
                        "spec": {"containers": [{"name": "c", "image": "i"}]},
                    }
                )
        scope: dict[str, Any] = {}
        exec(example.replace("asyncio.run(main())", ""), scope)  # our own README
        scope["Client"] = lambda: Client(config=server.client_config())
        running = asyncio.create_task(scope["main"]())
        printed = ""
        async with asyncio.timeout(10):
            while not printed:
                await asyncio.sleep(0)
                printed += capsys.readouterr().out
        running.cancel()
        await asyncio.wait([running])
    assert printed == "ADDED default/web-0 Pending\n"


def test_the_readmes_program_is_the_one_among_the_examples() -> None:
    program = (ROOT / "examples" / "restarts.py").read_text("utf-8")
    assert blocks(ROOT / "README.md")[1].strip() in program


def test_importing_it_loads_no_http_library() -> None:
    code = (
        "import listwatch, sys; heavy = {'aiohttp', 'yaml', 'typer', 'rich'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
