"""What is wrong with a CustomResourceDefinition.

Where all versions have the same schema (subresources, columns, selectable fields), as one version
always has, the real server takes it for that of the whole definition, and tells its problems there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..validation.names import subdomain_problems
from ..validation.problems import Problem, invalid, invalid_field, required_field, unsupported_field
from .crd_parts import column_problems, scale_problems, selectable_problems, warning_texts
from .crd_schemas import openapi_problems, structural_problems
from .crd_shape import check_definition_shape
from .schema_props import schemas_in

__all__ = ["check_definition"]

_LABEL = re.compile("[a-z]([-a-z0-9]*[a-z0-9])?")
_LABEL_LENGTH = 63
_NO_LABEL = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
)
_MIXED_CASE = "may have mixed case, but should otherwise match: "
_IMMUTABLE = "field is immutable"
_SCOPES = ("Cluster", "Namespaced")
_NO_PRESERVE = (
    "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
    "spec.versions[*].schema instead"
)
_STRATEGIES = ("None", "Webhook")
_APPROVED = "api-approved.kubernetes.io"
_NO_SCHEMA = (
    "may only be set when `version.schema.openAPIV3Schema` is not included",
    "may only be set when validations.schema is included",
)
_ROOT_FIELDS = (
    *("Description", "Type", "Format", "Title", "Maximum", "ExclusiveMaximum", "Minimum"),
    *("ExclusiveMinimum", "MaxLength", "MinLength", "Pattern", "MaxItems", "MinItems"),
    *("UniqueItems", "MultipleOf", "Required", "Items", "Properties", "ExternalDocs", "Example"),
    *("XPreserveUnknownFields", "XValidations"),
)
_IN_JSON = {
    "XPreserveUnknownFields": "x-kubernetes-preserve-unknown-fields",
    "XValidations": "x-kubernetes-validations",
}
_UNSUPPORTED = (
    *("id", "$schema", "$ref", "patternProperties", "dependencies", "additionalItems"),
    "definitions",
)
_AT_ROOT = frozenset(_IN_JSON.get(name, name[0].lower() + name[1:]) for name in _ROOT_FIELDS)

Json = Mapping[str, Any]


def check_definition(
    definition: Json, before: Json | None = None, *, patched: bool = False
) -> None:
    """Raises `Refused` for one that cannot be served (400, 422). `before` is the established one
    whose place it is to take, and whose objects it has to go on serving.
    """
    check_definition_shape(definition, patched=patched)
    metadata, spec = definition.get("metadata") or {}, definition.get("spec") or {}
    problems: list[Problem] = []
    if before is None:
        problems += _name_problems(metadata, spec)
    problems += _spec_problems(spec)
    if before is not None:
        problems += _immutable_problems(before, spec)
    problems += _stored_version_problems(definition)
    problems += _approval_problems(metadata, spec)
    if spec.get("preserveUnknownFields"):
        problems.append(invalid_field("spec.preserveUnknownFields", True, _NO_PRESERVE))
    if problems:
        name = metadata.get("name") or ""
        raise invalid("CustomResourceDefinition", "apiextensions.k8s.io", name, problems)


def _name_problems(metadata: Json, spec: Json) -> Iterator[Problem]:
    name = metadata.get("name")
    if not name:
        if not metadata.get("generateName"):
            yield required_field("metadata.name", "name or generateName is required")
        return
    for text in subdomain_problems(name):
        yield invalid_field("metadata.name", name, text)
    if name != f"{(spec.get('names') or {}).get('plural') or ''}.{spec.get('group') or ''}":
        text = 'must be spec.names.plural+"."+spec.group'
        yield invalid_field("metadata.name", name, text)


def _spec_problems(spec: Json) -> Iterator[Problem]:
    group, scope = spec.get("group"), spec.get("scope")
    versions, names = spec.get("versions") or [], spec.get("names") or {}
    if not group:
        yield required_field("spec.group")
    elif texts := list(subdomain_problems(group)):
        yield invalid_field("spec.group", group, ",".join(texts))
    elif "." not in group:
        yield invalid_field("spec.group", group, "should be a domain with at least one dot")
    if not scope:
        yield required_field("spec.scope")
    elif scope not in _SCOPES:
        yield unsupported_field("spec.scope", scope, _SCOPES, plain=True)
    for at, version in enumerate(versions):
        if _schema_of(version) is None:
            yield required_field(f"spec.versions[{at}].schema.openAPIV3Schema")
    parts = _Parts(versions)
    for at, version in enumerate(versions):
        yield from _version_problems(version, f"spec.versions[{at}]", parts)
    shown = [_as_go_shows(version) for version in versions] or spec.get("versions")
    if len({version["name"] for version in versions}) < len(versions):
        yield invalid_field("spec.versions", shown, "must contain unique version names")
    if sum(bool(version.get("storage")) for version in versions) != 1:
        wrong = "must have exactly one version marked as storage version"
        yield invalid_field("spec.versions", shown, wrong)
    if versions and versions[0]["name"] and (text := _label_text(versions[0]["name"])):
        yield invalid_field("spec.version", versions[0]["name"], text)
    for name in ("plural", "singular", "kind", "listKind"):
        if not names.get(name):
            yield required_field(f"spec.names.{name}")
    yield from _label_problems(names)
    if versions:
        yield from parts.problems(versions[0], "spec", shared=True)
    yield from _conversion_problems(spec.get("conversion") or {})


class _Parts:
    """What the versions have in common is the definition's."""

    def __init__(self, versions: Sequence[Json]) -> None:
        self._shared = {
            name
            for name in ("schema", "subresources", "additionalPrinterColumns", "selectableFields")
            if versions
            and all(
                (version.get(name) or None) == (versions[0].get(name) or None)
                for version in versions
            )
        }

    def is_shared(self, name: str) -> bool:
        return name in self._shared

    def problems(self, version: Json, path: str, *, shared: bool) -> Iterator[Problem]:
        """Those of the parts that the versions share, or of the others."""
        schema = _schema_of(version)
        subresources = version.get("subresources") or {}
        if self.is_shared("schema") == shared and schema is not None:
            name = "validation" if shared else "schema"
            has_status = subresources.get("status") is not None
            yield from _schema_problems(schema, f"{path}.{name}.openAPIV3Schema", has_status)
        if self.is_shared("subresources") == shared:
            scale = subresources.get("scale")
            if scale is not None:
                yield from scale_problems(scale, f"{path}.subresources.scale")
        if self.is_shared("additionalPrinterColumns") == shared:
            for at, column in enumerate(version.get("additionalPrinterColumns") or ()):
                yield from column_problems(column, f"{path}.additionalPrinterColumns[{at}]")
        fields = version.get("selectableFields") or ()
        if self.is_shared("selectableFields") == shared and fields:
            if schema is not None:
                yield from selectable_problems(fields, schema, f"{path}.selectableFields")
            else:
                yield invalid_field(f"{path}.selectableFields", "", _NO_SCHEMA[shared])


def _schema_of(version: Json) -> Json | None:
    return (version.get("schema") or {}).get("openAPIV3Schema")


def _version_problems(version: Json, path: str, parts: _Parts) -> Iterator[Problem]:
    if text := _label_text(version["name"]):
        yield invalid_field(f"{path}.name", version["name"], text)
    warning = version.get("deprecationWarning")
    if warning is not None:
        for wrong in warning_texts(warning, deprecated=bool(version.get("deprecated"))):
            yield invalid_field(f"{path}.deprecationWarning", warning, wrong)
    yield from parts.problems(version, path, shared=False)


def _label_text(name: str) -> str:
    texts = []
    if len(name) > _LABEL_LENGTH:
        texts.append(f"must be no more than {_LABEL_LENGTH} characters")
    if not _LABEL.fullmatch(name):
        texts.append(_NO_LABEL)
    return ",".join(texts)


def _label_problems(names: Json) -> Iterator[Problem]:
    """Names that could not stand in a path; they may be absent."""
    path = "spec.names"
    for name in ("plural", "singular", "kind", "listKind"):
        value = names.get(name) or ""
        kind = name in ("kind", "listKind")
        if value and (text := _label_text(value.lower() if kind else value)):
            yield invalid_field(f"{path}.{name}", value, f"{_MIXED_CASE}{text}" if kind else text)
    for at, value in enumerate(names.get("shortNames") or ()):
        if text := _label_text(value):
            yield invalid_field(f"{path}.shortNames[{at}]", value, text)
    if names.get("kind") and names.get("kind") == names.get("listKind"):
        text = "kind and listKind may not be the same"
        yield invalid_field(f"{path}.listKind", names["listKind"], text)
    for at, value in enumerate(names.get("categories") or ()):
        if text := _label_text(value):
            yield invalid_field(f"{path}.categories[{at}]", value, text)


def _schema_problems(schema: Json, path: str, has_status: bool) -> Iterator[Problem]:
    if has_status:
        # The status is checked by its own part of the schema; nothing else may speak of it.
        if schema.get("type") and schema["type"] != "object":
            text = (
                'only "object" is allowed as the type at the root of the schema if the status '
                "subresource is enabled"
            )
            yield invalid_field(f"{path}.type", schema["type"], text)
        elif any(value and name not in _AT_ROOT for name, value in schema.items()):
            text = (
                f"only [{' '.join(_ROOT_FIELDS)}] fields are allowed at the root of the schema if "
                "the status subresource is enabled"
            )
            yield invalid_field(path, schema, text)
    if schema.get("nullable"):
        yield Problem(
            f"{path}.nullable",
            "FieldValueForbidden",
            "Forbidden: nullable cannot be true at the root",
        )
    unreadable = next(_unreadable(schema), "")
    found = [] if unreadable else structural_problems(schema, path)
    found += openapi_problems(schema, path)
    yield from found
    if unreadable and not found:
        yield invalid_field(path, "", unreadable)


def _unreadable(schema: Json) -> Iterator[str]:
    """Why no structure can be found in a schema at all."""
    for one in schemas_in(schema):
        for name in _UNSUPPORTED:
            if one.get(name):
                shown = "schema" if name == "$schema" else name
                yield f"OpenAPIV3Schema '{shown}' is not supported"
        if one.get("x-kubernetes-preserve-unknown-fields") is False:
            yield "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined"
        if isinstance(one.get("items"), list):
            yield "OpenAPIV3Schema 'items' must be a schema, but is an array"


def _conversion_problems(conversion: Json) -> Iterator[Problem]:
    path, strategy = "spec.conversion", conversion.get("strategy")
    webhook, versions = conversion.get("webhook"), None
    if webhook:
        versions = webhook.get("conversionReviewVersions")
    if not strategy:
        yield required_field(f"{path}.strategy")
    elif strategy not in _STRATEGIES:
        yield unsupported_field(f"{path}.strategy", strategy, _STRATEGIES, plain=True)
    if strategy != "Webhook":
        unwanted = "should not be set when strategy is not set to Webhook"
        if webhook and webhook.get("clientConfig"):
            name = f"{path}.webhookClientConfig"
            yield Problem(name, "FieldValueForbidden", f"Forbidden: {unwanted}")
        if versions:
            name = f"{path}.conversionReviewVersions"
            yield Problem(name, "FieldValueForbidden", f"Forbidden: {unwanted}")
        return
    client = (webhook or {}).get("clientConfig")
    if client is None:
        text = "required when strategy is set to Webhook"
        yield required_field(f"{path}.webhookClientConfig", text)
    elif (client.get("url") is None) == (client.get("service") is None):
        text = "exactly one of url or service is required"
        yield required_field(f"{path}.webhookClientConfig", text)
    if not versions:
        yield required_field(f"{path}.conversionReviewVersions")
    elif not {"v1", "v1beta1"} & set(versions):
        text = "must include at least one of v1, v1beta1"
        yield invalid_field(f"{path}.conversionReviewVersions", versions, text)


def _immutable_problems(before: Json, new: Json) -> Iterator[Problem]:
    old = before["spec"]
    conditions = (before.get("status") or {}).get("conditions") or ()
    established = any(
        one.get("type") == "Established" and one.get("status") == "True" for one in conditions
    )
    old_names, names = old.get("names") or {}, new.get("names") or {}
    if established:
        if new.get("scope") != old.get("scope"):
            yield invalid_field("spec.scope", new.get("scope") or "", _IMMUTABLE)
        if names.get("kind") != old_names.get("kind"):
            yield invalid_field("spec.names.kind", names.get("kind") or "", _IMMUTABLE)
    if new.get("group") != old.get("group"):
        yield invalid_field("spec.group", new.get("group") or "", _IMMUTABLE)
    if names.get("plural") != old_names.get("plural"):
        yield invalid_field("spec.names.plural", names.get("plural") or "", _IMMUTABLE)


def _stored_version_problems(definition: Json) -> Iterator[Problem]:
    versions = (definition.get("spec") or {}).get("versions") or ()
    # The storage version joins those that were before.
    stored = list((definition.get("status") or {}).get("storedVersions") or ())
    stored += [
        version["name"]
        for version in versions
        if version.get("storage") and version["name"] not in stored
    ][:1]
    if not stored:
        yield invalid_field("status.storedVersions", None, "must have at least one stored version")
        return
    missing = dict.fromkeys(stored)
    for version in versions:
        name = version["name"]
        if version.get("storage") and name not in missing:
            yield invalid_field(
                "status.storedVersions", stored, f"must have the storage version {name}"
            )
        missing.pop(name, None)
    for at, name in enumerate(stored):
        if name in missing:
            yield invalid_field(
                f"status.storedVersions[{at}]",
                name,
                f"missing from spec.versions; {name} was previously a storage version, and must "
                "remain in spec.versions until a storage migration ensures no data remains "
                f"persisted in {name} and removes {name} from status.storedVersions",
            )


def _approval_problems(metadata: Json, spec: Json) -> Iterator[Problem]:
    group = spec.get("group") or ""
    if not group.endswith((".k8s.io", ".kubernetes.io")):
        return
    approved = (metadata.get("annotations") or {}).get(_APPROVED)
    where = f"metadata.annotations[{_APPROVED}]"
    see = "see https://github.com/kubernetes/enhancements/pull/1111"
    if not approved:
        text = f'protected groups must have approval annotation "{_APPROVED}", {see}'
        yield required_field(where, text)
    elif not approved.startswith(("https://", "http://", "unapproved")):
        text = (
            f'protected groups must have approval annotation "{_APPROVED}" with either a URL or '
            f'a reason starting with "unapproved", {see}'
        )
        yield invalid_field(where, approved, text)


def _as_go_shows(version: Json) -> dict[str, Any]:
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
