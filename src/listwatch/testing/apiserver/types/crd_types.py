"""What a CustomResourceDefinition says: its defaults, what is wrong with it, the types it makes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from listwatch.api import APIResource

from ..validation.problems import Problem, invalid, invalid_field, required_field, unsupported_field
from .crd_shape import check_definition_shape
from .served import DEFAULT_FIELDS, ResourceType, Subresource

__all__ = ["check_definition", "completed", "storage_of", "types_of"]

_VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
_LABEL = re.compile("[a-z]([-a-z0-9]*[a-z0-9])?")
_NO_LABEL = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
)
_IMMUTABLE = "field is immutable"
_SCOPES = ("Cluster", "Namespaced")
_SPEC_ORDER = ("group", "names", "scope", "versions", "conversion", "preserveUnknownFields")
_NAMES_ORDER = ("plural", "singular", "shortNames", "kind", "listKind", "categories")
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
    spec["conversion"] = spec.get("conversion") or {"strategy": "None"}
    if spec.get("versions"):
        spec["versions"] = [_in_order(version, _VERSION_ORDER) for version in spec["versions"]]
    return {**definition, "spec": _in_order(spec, _SPEC_ORDER)}


def check_definition(
    definition: Mapping[str, Any], before: Mapping[str, Any] | None = None, *, patched: bool = False
) -> None:
    """Raises `Refused` for one that cannot be served (400, 422). `before` is the established one
    whose place it is to take, and whose objects it has to go on serving.
    """
    check_definition_shape(definition, patched=patched)
    name = (definition.get("metadata") or {}).get("name") or ""
    spec = definition.get("spec") or {}
    if before is None:
        problems = _name_problems(definition, spec)
    else:
        problems = _immutable_problems(before["spec"], spec)
    problems += _version_problems(spec.get("versions"))
    problems += [
        required_field(f"spec.names.{field}")
        for field in ("plural", "singular", "kind", "listKind")
        if not (spec.get("names") or {}).get(field)
    ]
    problems += _stored_version_problems(definition)
    if problems:
        raise invalid("CustomResourceDefinition", "apiextensions.k8s.io", name, problems)


def _name_problems(definition: Mapping[str, Any], spec: Mapping[str, Any]) -> list[Problem]:
    problems = []
    metadata, group, scope = definition.get("metadata") or {}, spec.get("group"), spec.get("scope")
    name = metadata.get("name")
    if not name:
        if not metadata.get("generateName"):
            problems.append(required_field("metadata.name", "name or generateName is required"))
    elif name != f"{(spec.get('names') or {}).get('plural', '')}.{group or ''}":
        problems.append(
            invalid_field("metadata.name", name, 'must be spec.names.plural+"."+spec.group')
        )
    if not group:
        problems.append(required_field("spec.group"))
    problems += _label_problems(spec.get("names") or {})
    if not scope:
        problems.append(required_field("spec.scope"))
    elif scope not in _SCOPES:
        problems.append(unsupported_field("spec.scope", scope, _SCOPES))
    return problems


def _label_problems(names: Mapping[str, Any]) -> list[Problem]:
    """Names that could not stand in a path; they may be absent."""
    found = [(name, names.get(name)) for name in ("plural", "singular")]
    found += [(f"shortNames[{at}]", name) for at, name in enumerate(names.get("shortNames") or ())]
    return [
        invalid_field(f"spec.names.{field}", name, _NO_LABEL)
        for field, name in found
        if isinstance(name, str) and name and not (_LABEL.fullmatch(name) and len(name) < 64)
    ]


def _immutable_problems(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Problem]:
    problems = [
        invalid_field(f"spec.{field}", new.get(field), _IMMUTABLE)
        for field in ("group", "scope")
        if new.get(field) != old.get(field)
    ]
    names = new.get("names") or {}
    problems += [
        invalid_field(f"spec.names.{field}", names[field], _IMMUTABLE)
        for field in ("plural", "kind")
        if names.get(field) and names[field] != old["names"].get(field)
    ]
    return problems


def _version_problems(versions: list[dict[str, Any]] | None) -> list[Problem]:
    problems = []
    if sum(bool(version.get("storage")) for version in versions or ()) != 1:
        shown = [_as_go_shows(version) for version in versions] if versions else versions
        wrong = "must have exactly one version marked as storage version"
        problems.append(invalid_field("spec.versions", shown, wrong))
    problems += [
        required_field(f"spec.versions[{place}].schema.openAPIV3Schema")
        for place, version in enumerate(versions or ())
        if not (version.get("schema") or {}).get("openAPIV3Schema")
    ]
    return problems


def _stored_version_problems(definition: Mapping[str, Any]) -> list[Problem]:
    versions = (definition.get("spec") or {}).get("versions") or ()
    stored = (definition.get("status") or {}).get("storedVersions") or [
        version["name"] for version in versions if version.get("storage")
    ]
    if not stored:
        wrong = "must have at least one stored version"
        return [invalid_field("status.storedVersions", None, wrong)]
    served = {version["name"] for version in versions}
    return [
        invalid_field(
            f"status.storedVersions[{place}]",
            name,
            f"missing from spec.versions; {name} was previously a storage version, and must remain "
            "in spec.versions until a storage migration ensures no data remains persisted in "
            f"{name} and removes {name} from status.storedVersions",
        )
        for place, name in enumerate(stored)
        if name not in served
    ]


def storage_of(spec: Mapping[str, Any]) -> str:
    """Which collection of the log holds the objects of a definition."""
    return f"{spec['group']}/{spec['names']['plural']}"


def types_of(definition: Mapping[str, Any]) -> Iterator[ResourceType]:
    """The types of the versions that are served."""
    spec = definition["spec"]
    names = spec["names"]
    stored = next((v["name"] for v in spec["versions"] if v.get("storage")), "")
    for version in spec["versions"]:
        if not version.get("served"):
            continue
        group, name, kind = spec["group"], version["name"], names["kind"]
        has_status = "status" in (version.get("subresources") or {})
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
            warning=warning,
            subresources=(_status_of(group, name, kind),) if has_status else (),
        )


def _status_of(group: str, version: str, kind: str) -> Subresource:
    return Subresource("status", kind, ("get", "patch", "update"), group, version)


def _in_order(value: Mapping[str, Any], order: tuple[str, ...]) -> dict[str, Any]:
    known = {name: value[name] for name in order if name in value}
    return {**known, **value}


def _as_go_shows(version: Mapping[str, Any]) -> dict[str, Any]:
    """A version as the server's own type prints it, but for what is deeper in it."""
    return {
        "Name": version["name"],
        "Served": bool(version.get("served")),
        "Storage": bool(version.get("storage")),
        "Deprecated": bool(version.get("deprecated")),
        "DeprecationWarning": version.get("deprecationWarning"),
        "Schema": None,
        "Subresources": None,
        "AdditionalPrinterColumns": None,
        "SelectableFields": None,
    }
