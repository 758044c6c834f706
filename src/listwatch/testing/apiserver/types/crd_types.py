"""What a CustomResourceDefinition says: its defaults, and the types it makes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from listwatch.api import APIResource

from ..statuses import Refused
from .crd_shape import check_definition_shape
from .custom_schema import CustomSchema
from .schema_props import as_written, schemas_in, unknown_formats, unknown_in_schema
from .served import DEFAULT_FIELDS, ResourceType, Subresource

__all__ = [
    "completed",
    "completed_if_sound",
    "definition_warnings",
    "storage_of",
    "types_of",
    "unknown_members",
    "with_stored_version",
]

_VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
_SPEC_ORDER = ("group", "names", "scope", "versions", "conversion", "preserveUnknownFields")
_NAMES_ORDER = ("plural", "singular", "shortNames", "kind", "listKind", "categories")
_NOT_EVALUATED = (
    "this embedded server stores the rules in x-kubernetes-validations, but does not evaluate them "
    "unless the Python package common-expression-language is installed"
)
_COLUMN_ORDER = ("name", "type", "format", "description", "priority", "jsonPath")
_VERSION_ORDER = (
    "name",
    "served",
    "storage",
    "deprecated",
    "deprecationWarning",
    "schema",
    "subresources",
    "additionalPrinterColumns",
    "selectableFields",
)


def completed(definition: Mapping[str, Any]) -> dict[str, Any]:
    """A definition with its defaults, in order. Raises `Refused` for wrong types (400)."""
    check_definition_shape(definition)
    spec = definition.get("spec") or {}
    names = dict(spec.get("names") or {})
    kind = names.get("kind")
    if kind:
        names["singular"] = names.get("singular") or kind.lower()
        names["listKind"] = names.get("listKind") or f"{kind}List"
    spec = {**spec, "names": _in_order(names, _NAMES_ORDER)}
    if spec.get("conversion") is None:
        spec["conversion"] = {"strategy": "None"}
    if spec.get("versions"):
        spec["versions"] = [_version(version) for version in spec["versions"]]
    return {**definition, "spec": _in_order(spec, _SPEC_ORDER)}


def completed_if_sound(definition: dict[str, Any]) -> dict[str, Any]:
    """The same, but for one of wrong types, which comes back as it is: it will be refused."""
    try:
        return completed(definition)
    except Refused:
        return definition


def _version(version: Mapping[str, Any]) -> dict[str, Any]:
    whole = {"name": "", "served": False, "storage": False, **version}
    version = _in_order(whole, _VERSION_ORDER)
    columns = version.get("additionalPrinterColumns")
    if columns:
        version["additionalPrinterColumns"] = [_in_order(one, _COLUMN_ORDER) for one in columns]
    if _schema_in(version):
        written = as_written(version["schema"]["openAPIV3Schema"])
        version["schema"] = {**version["schema"], "openAPIV3Schema": written}
    return version


def _schema_in(version: Mapping[str, Any]) -> Mapping[str, Any] | None:
    return (version.get("schema") or {}).get("openAPIV3Schema")


def unknown_members(definition: Mapping[str, Any]) -> list[str]:
    """Paths of what the schemas in a definition have that no schema has."""
    return [
        path
        for at, version in enumerate((definition.get("spec") or {}).get("versions") or ())
        if (schema := _schema_in(version))
        for path in unknown_in_schema(schema, f"spec.versions[{at}].schema.openAPIV3Schema")
    ]


def definition_warnings(
    definition: Mapping[str, Any], before: Mapping[str, Any] | None = None
) -> list[str]:
    """What the client is warned of that was not so in `before`: formats and rules that nobody looks
    at.
    """
    known = set(_formats(before)) if before else set()
    warnings = [
        f'unrecognized format "{name}"' for name in _formats(definition) if name not in known
    ]
    if _has_rules(definition) and not (before and _has_rules(before)):
        from .structural_rules import evaluates_rules  # only here, where the checks are loaded

        if not evaluates_rules():
            warnings.append(_NOT_EVALUATED)
    return warnings


def _has_rules(definition: Mapping[str, Any]) -> bool:
    versions = (definition.get("spec") or {}).get("versions") or ()
    schemas = [schema for version in versions if (schema := _schema_in(version)) is not None]
    return any(
        found.get("x-kubernetes-validations") for schema in schemas for found in schemas_in(schema)
    )


def _formats(definition: Mapping[str, Any]) -> list[str]:
    """Of each schema once: the versions may share it."""
    schemas: list[Mapping[str, Any]] = []
    for version in (definition.get("spec") or {}).get("versions") or ():
        schema = _schema_in(version)
        if schema is not None:
            schemas.append(schema)
    if all(schema == schemas[0] for schema in schemas):
        schemas = schemas[:1]
    return [name for schema in schemas for name in unknown_formats(schema)]


def with_stored_version(definition: Mapping[str, Any]) -> dict[str, Any]:
    """Its status: the version that objects are stored in joins those that they were."""
    status = dict(definition.get("status") or {})
    stored = list(status.get("storedVersions") or ())
    versions = (definition.get("spec") or {}).get("versions") or ()
    for version in versions if isinstance(versions, list) else ():
        if not isinstance(version, dict):
            break  # it will be refused
        if version.get("storage") and version.get("name") not in stored:
            status["storedVersions"] = [*stored, version["name"]]
            break
    return status


def storage_of(spec: Mapping[str, Any]) -> str:
    """Which collection of the log holds the objects of a definition."""
    return f"{spec['group']}/{spec['names']['plural']}"


def types_of(definition: Mapping[str, Any], *, since: int = 0) -> Iterator[ResourceType]:
    """The types of the versions that are served. `since`: the revision of the store at which they
    begin to be, for `CustomSchema`.
    """
    spec = definition["spec"]
    schemas = {
        f"{spec['group']}/{version['name']}": CustomSchema(
            version["schema"]["openAPIV3Schema"], since=since
        )
        for version in spec["versions"]
        if (version.get("schema") or {}).get("openAPIV3Schema")
    }
    names = spec["names"]
    stored = next((v["name"] for v in spec["versions"] if v.get("storage")), "")
    for version in spec["versions"]:
        if not version.get("served"):
            continue
        group, name, kind = spec["group"], version["name"], names["kind"]
        subresources = version.get("subresources") or {}
        has_status, scale = subresources.get("status") is not None, subresources.get("scale") or {}
        warning = ""
        if version.get("deprecated"):
            default = f"{group}/{name} {kind} is deprecated"
            warning = version.get("deprecationWarning") or default
        yield ResourceType(
            resource=APIResource(
                group=group,
                version=name,
                name=names["plural"],
                kind=kind,
                namespaced=spec.get("scope") == "Namespaced",
                singular=names.get("singular") or kind.lower(),
                short_names=tuple(names.get("shortNames") or ()),
                categories=tuple(names.get("categories") or ()),
                verbs=_VERBS,
            ),
            storage=storage_of(spec),
            storage_version=f"{group}/{stored}",
            custom=True,
            custom_list_kind=names.get("listKind") or "",
            selectable=DEFAULT_FIELDS
            | {field["jsonPath"].lstrip(".") for field in version.get("selectableFields") or ()},
            generation=True,
            has_status=has_status,
            put_needs_rv=True,
            schemas=schemas,
            scale=scale,
            columns=version.get("additionalPrinterColumns") or (),
            warning=warning,
            subresources=(
                *((_status_of(group, name, kind),) if has_status else ()),
                *((_SCALE,) if scale else ()),
            ),
        )


_SCALE = Subresource("scale", "Scale", ("get", "patch", "update"), "autoscaling", "v1")


def _status_of(group: str, version: str, kind: str) -> Subresource:
    return Subresource("status", kind, ("get", "patch", "update"), group, version)


def _in_order(value: Mapping[str, Any], order: tuple[str, ...]) -> dict[str, Any]:
    known = {name: value[name] for name in order if name in value}
    return {**known, **value}
