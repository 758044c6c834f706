"""Where the server binaries come from: a folder that is given, or a build into a cache.

``KUBEBUILDER_ASSETS`` names a folder that already holds them (the convention of envtest). Without
it, the two small Go modules beside this file are built once into a cache folder; their
``go.mod`` and ``go.sum`` pin every version, so the build is the same everywhere.

``python -m conformance.binaries`` finds or builds them and prints where they are.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ASSETS_VARIABLE = "KUBEBUILDER_ASSETS"
CACHE_VARIABLE = "LISTWATCH_CONFORMANCE_CACHE"

_MODULES = Path(__file__).parent / "go"
_STRIP = "-s -w"  # no debugger tables: a third off the size; panics still show their stack


class BinariesUnavailable(Exception):
    """The servers can neither be found nor built; the text is one line that says why."""


@dataclass(frozen=True, slots=True)
class Binaries:
    """The programs a cluster is made of."""

    etcd: Path
    kube_apiserver: Path
    kube_controller_manager: Path | None
    """None where nobody asked for it."""
    version: str | None
    """What ``/version`` will say, such as ``v1.36.3``; None for binaries that were given."""


@dataclass(frozen=True, slots=True)
class _Program:
    """One program to build: the package, and the module (ours) and requirement that pin it."""

    name: str
    module: str
    package: str
    requirement: str

    @property
    def version(self) -> str:
        return _pinned_version(_MODULES / self.module / "go.mod", self.requirement)

    @property
    def link_flags(self) -> str:
        if self.module != "kubernetes":
            return _STRIP
        # Kubernetes learns its version from the linker; unset, /version says v0.0.0-master.
        return f"{_STRIP} -X k8s.io/component-base/version.gitVersion={self.version}"


_ETCD = _Program("etcd", "etcd", "go.etcd.io/etcd/server/v3", "go.etcd.io/etcd/server/v3")
_APISERVER, _CONTROLLER_MANAGER = (
    _Program(name, "kubernetes", f"k8s.io/kubernetes/cmd/{name}", "k8s.io/kubernetes")
    for name in ("kube-apiserver", "kube-controller-manager")
)


def find_binaries(
    *,
    controller_manager: bool = False,
    environ: Mapping[str, str] = os.environ,
    say: Callable[[str], None] = lambda line: None,
) -> Binaries:
    """Return the binaries, building what is missing; ``say`` hears of each slow step.

    Raises BinariesUnavailable with the reason. Safe to call from many processes at once: one
    builds, the others wait for it.
    """
    programs = [_ETCD, _APISERVER, *([_CONTROLLER_MANAGER] if controller_manager else [])]
    if assets := environ.get(ASSETS_VARIABLE):
        version = None
        paths = {program.name: _given(Path(assets), program.name) for program in programs}
    else:
        version = _APISERVER.version
        folder = cache_folder(environ)
        paths = {program.name: _built(folder, program, environ, say) for program in programs}
    return Binaries(
        etcd=paths["etcd"],
        kube_apiserver=paths["kube-apiserver"],
        kube_controller_manager=paths.get("kube-controller-manager"),
        version=version,
    )


def cache_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Where binaries of the pinned versions are kept once built."""
    if chosen := environ.get(CACHE_VARIABLE):
        root = Path(chosen)
    else:
        base = environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        root = Path(base) / "listwatch" / "conformance"
    return root / f"kubernetes-{_APISERVER.version}-etcd-{_ETCD.version}"


def _given(assets: Path, name: str) -> Path:
    path = assets / name
    if not os.access(path, os.X_OK):
        raise BinariesUnavailable(f"{ASSETS_VARIABLE} is {assets}, which has no program {name}")
    return path.absolute()


def _built(
    folder: Path, program: _Program, environ: Mapping[str, str], say: Callable[[str], None]
) -> Path:
    path = folder / program.name
    if path.exists():
        return path
    go = shutil.which("go", path=environ.get("PATH"))
    if go is None:
        raise BinariesUnavailable(
            f"no {program.name}: {ASSETS_VARIABLE} is not set, and there is no Go to build it with"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder / ".lock"):
            if not path.exists():  # else: another process built it while we waited
                _build(go, program, path, environ, say)
    except OSError as error:
        raise BinariesUnavailable(f"cannot build {program.name} in {folder}: {error}") from error
    return path


def _build(
    go: str,
    program: _Program,
    target: Path,
    environ: Mapping[str, str],
    say: Callable[[str], None],
) -> None:
    # Built under another name and renamed when whole: a build that is cut off leaves no program
    # that looks finished.
    handle, name = tempfile.mkstemp(prefix=f".{program.name}-", dir=target.parent)
    os.close(handle)
    unfinished = Path(name)
    nice = ["nice"] if shutil.which("nice") else []
    command = [*nice, go, "build", "-trimpath", "-buildvcs=false"]
    command += ["-ldflags", program.link_flags, "-o", str(unfinished), program.package]
    # No C compiler, no enclosing workspace and no flags of the user's: nothing but go.mod decides.
    settings = {"CGO_ENABLED": "0", "GOWORK": "off", "GOFLAGS": ""}
    say(f"building {program.name} {program.version} (minutes when the Go caches are empty)")
    began = time.monotonic()
    try:
        done = subprocess.run(
            command,
            cwd=_MODULES / program.module,
            env={**environ, **settings},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
            reason = lines[-1] if lines else f"exit status {done.returncode}"
            raise BinariesUnavailable(f"go build of {program.name} failed: {reason}")
        unfinished.chmod(0o755)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
    say(f"built {program.name} in {time.monotonic() - began:.0f} s")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the only lock on a file; it goes with the process, however that ends."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _pinned_version(go_mod: Path, requirement: str) -> str:
    found = re.search(
        rf"^\s*(?:require )?{re.escape(requirement)} (v\S+)", go_mod.read_text(), re.M
    )
    if found is None:
        raise BinariesUnavailable(f"{go_mod} does not require {requirement}")
    return found[1]


def main(arguments: list[str] | None = None) -> int:
    """Find or build the binaries and print their paths, one ``name path`` a line."""
    parser = argparse.ArgumentParser(
        prog="python -m conformance.binaries", description=main.__doc__
    )
    parser.add_argument("--controller-manager", action="store_true", help="that program too")
    options = parser.parse_args(arguments)
    try:
        binaries = find_binaries(
            controller_manager=options.controller_manager,
            say=lambda line: print(line, file=sys.stderr, flush=True),
        )
    except BinariesUnavailable as unavailable:
        print(unavailable, file=sys.stderr)
        return 1
    print("etcd", binaries.etcd)
    print("kube-apiserver", binaries.kube_apiserver)
    if binaries.kube_controller_manager is not None:
        print("kube-controller-manager", binaries.kube_controller_manager)
    return 0


if __name__ == "__main__":
    sys.exit(main())
