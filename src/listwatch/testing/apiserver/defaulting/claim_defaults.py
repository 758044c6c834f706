"""What a PersistentVolumeClaim is made of: two members say the same, and each is made of the
other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["with_sources"]

_NAMES = ("apiGroup", "kind", "name")
_KNOWN = {("", "PersistentVolumeClaim"), ("snapshot.storage.k8s.io", "VolumeSnapshot")}


def with_sources(spec: dict[str, Any], before: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """`spec` of a claim, before it is looked at. `before`: that of the claim that is there.

    What only `dataSourceRef` can say is not said by `dataSource`, and claims are not made of what
    is in other namespaces.
    """
    had = before or {}
    made = dict(spec)
    source, ref = made.get("dataSource"), made.get("dataSourceRef")
    if (ref or {}).get("namespace") and had.get("dataSourceRef") is None:
        ref = None
    in_use = had.get("dataSource") is not None or had.get("dataSourceRef") is not None
    if not in_use and ref is None and source is not None:
        group, kind = source.get("apiGroup") or "", source.get("kind") or ""
        if (group, kind) not in _KNOWN:
            source = None
    if ref is None and source is not None:
        ref = _copied(source)
    elif source is None and ref is not None and not ref.get("namespace"):
        source = _copied(ref)
    for name, found in (("dataSource", source), ("dataSourceRef", ref)):
        if found is None:
            made.pop(name, None)
        else:
            made[name] = found
    return made


def _copied(source: Mapping[str, Any]) -> dict[str, Any]:
    return {name: source[name] for name in _NAMES if source.get(name) is not None}
