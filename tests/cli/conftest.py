from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import pytest

from listwatch.cli import main


@dataclass(frozen=True)
class Ran:
    """What a run of the command left: its exit code, data and notes."""

    code: int
    data: bytes
    notes: str

    @property
    def text(self) -> str:
        return self.data.decode()

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @property
    def note(self) -> str:
        """The one line on standard error."""
        [line] = self.notes.splitlines()
        return line


Run: TypeAlias = Callable[..., Ran]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Runs the command in this process, far from any configuration of the machine."""
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))

    def run(*arguments: str | Path) -> Ran:
        data = io.BytesIO()
        with monkeypatch.context() as patch:
            out, err = io.TextIOWrapper(data, "utf-8", write_through=True), io.StringIO()
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            code = main([str(argument) for argument in arguments])
        assert "Traceback" not in err.getvalue()
        return Ran(code, data.getvalue(), err.getvalue())

    return run
