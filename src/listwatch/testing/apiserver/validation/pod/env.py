"""The environment of containers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..basics import config_key_problems, name_at, texts
from ..checks import Value
from ..names import subdomain_problems
from ..problems import Problem, invalid_field, not_found_field, required_field
from .downward import field_ref_problems, resource_ref_problems
from .paths import no_way_back

__all__ = ["env_from_problems", "env_problems", "file_volume_problems"]

_FIELDS = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
"""What a variable can tell."""
_NO_SOURCE = (
    "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or "
    "`fileKeyRef`"
)
_NO_VARIABLE = (
    "a valid environment variable name must consist only of printable ASCII characters other than "
    "'='"
)
_TWO_SOURCES = "may not have more than one field specified at a time"


def env_problems(variables: Sequence[Value], path: str) -> Iterator[Problem]:
    """The `env` of one container."""
    for at, variable in enumerate(variables):
        name = variable.get("name")
        if not name:
            yield required_field(f"{path}[{at}].name")
        elif not _is_variable(name):
            yield invalid_field(f"{path}[{at}].name", name, _NO_VARIABLE)
        source = variable.get("valueFrom")
        if source is not None:
            yield from _source_problems(
                source, f"{path}[{at}].valueFrom", has_value=bool(variable.get("value"))
            )


def _source_problems(source: Value, path: str, *, has_value: bool) -> Iterator[Problem]:
    count = 0
    field = source.get("fieldRef")
    if field is not None:
        count += 1
        yield from field_ref_problems(field, f"{path}.fieldRef", _FIELDS)
    resource = source.get("resourceFieldRef")
    if resource is not None:
        count += 1
        yield from resource_ref_problems(resource, f"{path}.resourceFieldRef", in_volume=False)
    for kind in ("configMapKeyRef", "secretKeyRef"):
        key = source.get(kind)
        if key is not None:
            count += 1
            yield from _key_problems(key, f"{path}.{kind}")
    file = source.get("fileKeyRef")
    if file is not None:
        count += 1
        yield from _file_problems(file, f"{path}.fileKeyRef")
    if not count:
        yield invalid_field(path, "", _NO_SOURCE)
    elif has_value:
        yield invalid_field(path, "", "may not be specified when `value` is not empty")
    elif count > 1:
        yield invalid_field(path, "", _TWO_SOURCES)


def _key_problems(key: Value, path: str) -> Iterator[Problem]:
    """One key of a ConfigMap or a Secret."""
    name = key.get("name") or ""
    yield from texts(f"{path}.name", name, subdomain_problems(name))
    yield from name_at(f"{path}.key", key.get("key"), config_key_problems)


def _file_problems(file: Value, path: str) -> Iterator[Problem]:
    """One line of a file in a volume."""
    key = file.get("key")
    if not key:
        yield required_field(f"{path}.key")
    elif not _is_variable(key):
        yield invalid_field(f"{path}.key", key, _NO_VARIABLE)
    yield from name_at(f"{path}.volumeName", file.get("volumeName"))
    where = file.get("path")
    if not where:
        yield required_field(f"{path}.path")
    else:
        yield from no_way_back(f"{path}.path", where)


def env_from_problems(sources: Sequence[Value], path: str) -> Iterator[Problem]:
    """The `envFrom` of one container."""
    for at, source in enumerate(sources):
        prefix = source.get("prefix")
        if prefix and not _is_variable(prefix):
            yield invalid_field(f"{path}[{at}].prefix", prefix, _NO_VARIABLE)
        count = 0
        for kind in ("configMapRef", "secretRef"):
            ref = source.get(kind)
            if ref is not None:
                count += 1
                yield from name_at(f"{path}[{at}].{kind}.name", ref.get("name"), _prefix_problems)
        if not count:
            yield invalid_field(path, "", "must specify one of: `configMapRef` or `secretRef`")
        elif count > 1:
            yield invalid_field(path, "", _TWO_SOURCES)


def _prefix_problems(name: str) -> Iterator[str]:
    """Those of a name that may go on: with a dash at its end."""
    if len(name) > 1 and name.endswith("-"):
        name = name[:-2] + "a"
    return subdomain_problems(name)


def _is_variable(name: str) -> bool:
    return name.isascii() and name.isprintable() and "=" not in name


def file_volume_problems(
    containers: Sequence[Value], path: str, volumes: Sequence[Value]
) -> Iterator[Problem]:
    """Variables of files in volumes that cannot have any. The real server looks at this last."""
    sources: dict[str, Value] | None = None
    for index, container in enumerate(containers):
        for at, variable in enumerate(container.get("env") or ()):
            file = (variable.get("valueFrom") or {}).get("fileKeyRef")
            if file is None:
                continue
            if sources is None:
                sources = {volume.get("name") or "": volume for volume in volumes}
            name = file.get("volumeName") or ""
            field = f"{path}[{index}].env[{at}].valueFrom.fileKeyRef.volumeName"
            if name not in sources:
                yield not_found_field(field, name)
            elif sources[name].get("emptyDir") is None:
                yield invalid_field(field, name, "referenced volume must be of type emptyDir")
