"""What a client is warned of in volumes: sources that are gone, and files in each other's way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..checks import Value
from ..problems import go_quoted

__all__ = ["volume_warnings"]

_GONE = {
    "photonPersistentDisk": "deprecated in v1.11, non-functional in v1.16+",
    "gitRepo": "deprecated in v1.11, and disabled by default in v1.33+",
    "scaleIO": "deprecated in v1.16, non-functional in v1.22+",
    "flocker": "deprecated in v1.22, non-functional in v1.25+",
    "storageos": "deprecated in v1.22, non-functional in v1.25+",
    "quobyte": "deprecated in v1.22, non-functional in v1.25+",
    "glusterfs": "deprecated in v1.25, non-functional in v1.26+",
    "ephemeral": "",
    "cephfs": "deprecated in v1.28, non-functional in v1.31+",
    "rbd": "deprecated in v1.28, non-functional in v1.31+",
}
"""In the order in which they are told."""
_TOLD = {"storageos": "storageOS"}


class _File(NamedTuple):
    path: str
    source: str

    def __str__(self) -> str:
        source = f" ({self.source})" if self.source else ""
        return f"{go_quoted(self.path)}{source}"


def volume_warnings(volumes: Sequence[Value], path: str) -> Iterator[str]:
    """The warnings of the volumes at `path`."""
    for at, volume in enumerate(volumes):
        for name, text in _GONE.items():
            source = volume.get(name)
            if source is not None:
                field = f"{path}[{at}].{_TOLD.get(name, name)}"
                if text:
                    yield f"{field}: {text}"
                else:
                    yield from _claim_warnings(source, f"{field}.volumeClaimTemplate.spec")
    for volume in volumes:
        yield from _overlaps(volume)


def _claim_warnings(source: Value, path: str) -> Iterator[str]:
    from ..storage.claims import claim_spec_warnings  # few pods have such volumes

    template = source.get("volumeClaimTemplate")
    if template is not None:
        yield from claim_spec_warnings(template.get("spec") or {}, path)


def _overlaps(volume: Value) -> Iterator[str]:
    name = go_quoted(volume.get("name") or "")
    for kind, member, title in (
        ("configMap", "name", "ConfigMap"),
        ("secret", "secretName", "Secret"),
        ("downwardAPI", "", "DownwardAPI"),
    ):
        source = volume.get(kind)
        if source and source.get("items"):
            told = f"{title} {go_quoted(source.get(member) or '')}" if member else title
            files: list[_File] = []
            for item in source["items"]:
                for text in _add(files, _File((item.get("path") or "").rstrip("/"), "")):
                    yield f"volume {name} ({told}): overlapping paths: {text}"
    projected = volume.get("projected")
    if projected is None:
        return
    files = []
    for source in projected.get("sources") or ():
        if not source:
            yield f"volume {name} (Projected) has no sources provided"
            continue
        for file in _projected(source):
            for text in _add(files, file):
                yield f"volume {name} (Projected): overlapping paths: {text}"


def _add(files: list[_File], file: _File) -> Iterator[str]:
    """Add a file to others, and tell with which of them it cannot be."""
    if file.path:
        own = f"{file.path}/"
        for other in files:
            that = f"{other.path}/"
            if other.path and (that.startswith(own) or own.startswith(that)):
                yield f"{file} with {other}"
    files.append(file)


def _projected(source: Value) -> Iterator[_File]:
    """The files of one source: of the first in it that there are any of."""
    for kind, title in (("configMap", "ConfigMap"), ("secret", "Secret")):
        found = source.get(kind)
        if found and found.get("items"):
            told = f"{title} {go_quoted(found.get('name') or '')}"
            yield from _files(found["items"], told)
            return
    downward = source.get("downwardAPI")
    if downward and downward.get("items"):
        yield from _files(downward["items"], "DownwardAPI")
        return
    token = source.get("serviceAccountToken")
    if token is not None:
        yield _File((token.get("path") or "").rstrip("/"), "ServiceAccountToken")


def _files(items: Sequence[Value], source: str) -> Iterator[_File]:
    for item in items:
        yield _File((item.get("path") or "").rstrip("/"), source)
