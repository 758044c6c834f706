"""Files that the kubelet makes for a pod: of secrets and config maps, of the pod itself, and
tokens, each as a volume of its own or together in a projected one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..checks import Value
from ..problems import Problem, forbidden_field, invalid_field, required_field
from .downward import VOLUME_FIELDS, field_ref_problems, resource_ref_problems
from .paths import local_path_problems, mode_problems

__all__ = ["config_map_problems", "downward_problems", "projected_problems", "secret_problems"]

_SHORTEST_TOKEN = 600
_LONGEST_TOKEN = 1 << 32
_TWICE = "conflicting duplicate paths"


def secret_problems(source: Value, path: str) -> Iterator[Problem]:
    """A volume of a Secret."""
    yield from _keys("secretName", source, path)


def config_map_problems(source: Value, path: str) -> Iterator[Problem]:
    """A volume of a ConfigMap."""
    yield from _keys("name", source, path)


def _keys(name: str, source: Value, path: str) -> Iterator[Problem]:
    if not source.get(name):
        yield required_field(f"{path}.{name}")
    yield from mode_problems(f"{path}.defaultMode", source.get("defaultMode"))
    for at, item in enumerate(source.get("items") or ()):
        yield from _item(item, f"{path}.items[{at}]")


def _item(item: Value, path: str) -> Iterator[Problem]:
    if not item.get("key"):
        yield required_field(f"{path}.key")
    yield from _file(item, path)
    yield from mode_problems(f"{path}.mode", item.get("mode"))


def _file(item: Value, path: str) -> Iterator[Problem]:
    place = item.get("path") or ""
    if not place:
        yield required_field(f"{path}.path")
    yield from local_path_problems(f"{path}.path", place)


def downward_problems(source: Value, path: str) -> Iterator[Problem]:
    """A volume that tells of the pod."""
    yield from mode_problems(f"{path}.defaultMode", source.get("defaultMode"))
    for item in source.get("items") or ():
        yield from _told(item, path)


def _told(item: Value, path: str) -> Iterator[Problem]:
    yield from _file(item, path)
    field, resource = item.get("fieldRef"), item.get("resourceFieldRef")
    if field is not None:
        yield from field_ref_problems(field, f"{path}.fieldRef", VOLUME_FIELDS)
        if resource is not None:
            text = "fieldRef and resourceFieldRef can not be specified simultaneously"
            yield invalid_field(path, "resource", text)
    elif resource is not None:
        yield from resource_ref_problems(resource, f"{path}.resourceFieldRef", in_volume=True)
    else:
        yield required_field(path, "one of fieldRef and resourceFieldRef is required")
    yield from mode_problems(f"{path}.mode", item.get("mode"))


def projected_problems(source: Value, path: str) -> Iterator[Problem]:
    """A volume that has several in it. No two files of it have one path, where that can be seen."""
    yield from mode_problems(f"{path}.defaultMode", source.get("defaultMode"))
    seen: set[str] = set()
    for at, projection in enumerate(source.get("sources") or ()):
        here = f"{path}.sources[{at}]"
        count = 0
        for name in ("secret", "configMap"):
            keys = projection.get(name)
            if keys is not None:
                count += 1
                yield from _projected_keys(keys, f"{here}.{name}", path, seen)
        told = projection.get("downwardAPI")
        if told is not None:
            count += 1
            for item in told.get("items") or ():
                yield from _told(item, f"{here}.downwardAPI")
                yield from _once(item.get("path"), item.get("path"), path, seen)
        token = projection.get("serviceAccountToken")
        if token is not None:
            count += 1
            yield from _token(token, f"{here}.serviceAccountToken", path)
        if count > 1:
            yield forbidden_field(here, "may not specify more than 1 volume type per source")


def _projected_keys(keys: Value, path: str, volume: str, seen: set[str]) -> Iterator[Problem]:
    if not keys.get("name"):
        yield required_field(f"{path}.name")
    for at, item in enumerate(keys.get("items") or ()):
        yield from _item(item, f"{path}.items[{at}]")
        yield from _once(item.get("path"), keys.get("name"), volume, seen)


def _once(place: str | None, shown: str | None, volume: str, seen: set[str]) -> Iterable[Problem]:
    if place:
        if place in seen:
            yield invalid_field(volume, shown or "", _TWICE)
        seen.add(place)


def _token(token: Value, path: str, volume: str) -> Iterator[Problem]:
    seconds = token.get("expirationSeconds") or 0
    field = f"{path}.expirationSeconds"
    if seconds < _SHORTEST_TOKEN:
        yield invalid_field(field, seconds, "may not specify a duration less than 10 minutes")
    if seconds > _LONGEST_TOKEN:
        yield invalid_field(field, seconds, "may not specify a duration larger than 2^32 seconds")
    place = token.get("path") or ""
    if not place:
        yield required_field(f"{volume}.path")
    else:
        yield from local_path_problems(f"{volume}.path", place)
