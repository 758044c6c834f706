"""Where other people's clients live: one environment each, made once and kept in a cache folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["REPOSITORY", "Environments", "cache_folder"]

REPOSITORY = Path(__file__).resolve().parents[2]

PINNED = {
    "kubernetes": ("kubernetes==37.0.2",),
    "kubernetes_asyncio": ("kubernetes_asyncio==36.1.0",),
    "lightkube": ("lightkube==1.0.1", "lightkube-models==1.37.0.8"),
    "kopf": ("kopf==1.45.2",),
}
"""What is installed for each Python client."""

_BUILD_SECONDS = 1800


def cache_folder() -> Path:
    """`listwatch/bench` in the user's cache folder, which need not be there yet."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "listwatch" / "bench"


@dataclass
class Environments:
    """Makes what is missing. What cannot be made is None, and `missing` says why."""

    cache: Path = field(default_factory=cache_folder)
    missing: dict[str, str] = field(default_factory=dict)

    def command(self, name: str) -> tuple[str, ...] | None:
        """What starts a program there: an interpreter, or the player itself."""
        if name == "":
            return (sys.executable,)
        if name in PINNED:
            return self._python(name)
        return self._built(name)

    def _python(self, name: str) -> tuple[str, ...] | None:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        folder = self.cache / f"{name}-py{version}"
        interpreter = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        wanted = "\n".join(PINNED[name])
        mark = folder / "installed.txt"
        if not mark.exists() or mark.read_text() != wanted:
            print(f"making an environment for {wanted.splitlines()[0]} ...", file=sys.stderr)
            shutil.rmtree(folder, ignore_errors=True)
            install = (str(interpreter), "-m", "pip", "install", "--quiet", *PINNED[name])
            if not (
                self._ran(name, (sys.executable, "-m", "venv", str(folder)))
                and self._ran(name, (*install, "--disable-pip-version-check"))
            ):
                return None
            mark.write_text(wanted)
        return (str(interpreter),)

    def _built(self, name: str) -> tuple[str, ...] | None:
        """A player in Go or Rust. Their own build caches know what is up to date."""
        tool, folder = {"client-go": ("go", "go"), "kube-rs": ("cargo", "rust")}[name]
        if shutil.which(tool) is None:
            self.missing[name] = f"{tool} is not installed"
            return None
        script = REPOSITORY / "bench" / "peers" / folder / "build.sh"
        output = self.cache / "bin" / f"{name}-player"
        environment = {"CARGO_TARGET_DIR": str(self.cache / "rust"), **os.environ}
        if not output.exists():
            print(f"building the player of {name} ...", file=sys.stderr)
        if not self._ran(name, ("sh", str(script), str(output)), environment):
            return None
        return (str(output),)

    def _ran(
        self, name: str, command: tuple[str, ...], environment: dict[str, str] | None = None
    ) -> bool:
        try:
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=_BUILD_SECONDS
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            self.missing[name] = str(error)
            return False
        if done.returncode:
            lines = done.stderr.strip().splitlines() or ["no message"]
            self.missing[name] = f"`{' '.join(command[:3])}` failed: {lines[-1]}"
        return done.returncode == 0
