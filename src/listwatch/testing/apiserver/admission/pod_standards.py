"""The Pod Security Standards: what pods must not do that are `baseline` or `restricted`."""

from __future__ import annotations

from collections.abc import Iterator

from .amounts import Value
from .baseline_standard import BASELINE
from .judged_pods import LATEST, Finding, JudgedPod
from .restricted_standard import RESTRICTED

__all__ = ["LATEST", "Finding", "findings"]

_REPLACED = {
    "capabilities_baseline": 22,
    "hostPathVolumes": 0,
    "procMount": 35,
    "seccompProfile_baseline": 19,
}
"""Those that `restricted` says more of, and since which minor version."""


def findings(level: str, minor: int, metadata: Value, spec: Value) -> Iterator[Finding]:
    """What a pod does that the standard of that name forbids, in the order of the real server."""
    pod = JudgedPod(metadata, spec, min(minor, LATEST))
    for name, check in BASELINE.items():
        replaced = level == "restricted" and pod.minor >= _REPLACED.get(name, LATEST + 1)
        if not replaced:
            yield from check(pod)
    if level == "restricted":
        for check in RESTRICTED:
            yield from check(pod)
