"""The query parameters of POST, PUT and PATCH: CreateOptions, UpdateOptions and PatchOptions."""

from __future__ import annotations

from dataclasses import dataclass

from ..messages import ServerRequest
from ..validation.problems import (
    Problem,
    forbidden_field,
    invalid_field,
    invalid_options,
    too_long,
    unsupported_field,
)

__all__ = ["WriteOptions", "dry_run_problems", "write_options"]

_MANAGER_BYTES = 128
_VALIDATIONS = ("", "Ignore", "Strict", "Warn")
_KINDS = {"POST": "CreateOptions", "PUT": "UpdateOptions", "PATCH": "PatchOptions"}


@dataclass(frozen=True, slots=True)
class WriteOptions:
    manager: str
    """Of managedFields: fieldManager, or the User-Agent up to its first `/` (K9)."""
    dry_run: bool = False
    validation: str = ""
    """`Strict`, `Warn`, `Ignore`, or empty: `Warn` without the search for duplicates."""


def write_options(request: ServerRequest) -> WriteOptions:
    """Raises 422 where they are not valid."""
    if not request.query:
        return WriteOptions(_manager_of(request))
    manager = request.parameter("fieldManager") or ""
    validation = request.parameter("fieldValidation") or ""
    dry_run = [value for name, value in request.query if name == "dryRun" and value]
    problems = []
    if request.method == "PATCH" and request.parameter("force") is not None:
        problems.append(forbidden_field("force", "may not be specified for non-apply patch"))
    if len(manager.encode()) > _MANAGER_BYTES:
        problems.append(too_long("fieldManager", _MANAGER_BYTES))
    bad = next((at for at, char in enumerate(manager) if not char.isprintable()), None)
    if bad is not None:
        text = f"invalid character U+{ord(manager[bad]):04X} (at position {bad})"
        problems.append(invalid_field("fieldManager", manager, text))
    problems += dry_run_problems(dry_run)
    if validation not in _VALIDATIONS:
        problems.append(unsupported_field("fieldValidation", validation, _VALIDATIONS))
    if problems:
        raise invalid_options(_KINDS[request.method], problems)
    return WriteOptions(manager or _manager_of(request), bool(dry_run), validation)


def dry_run_problems(values: list[str]) -> list[Problem]:
    if all(value == "All" for value in values):
        return []
    return [unsupported_field("dryRun", values, ["All"])]


def _manager_of(request: ServerRequest) -> str:
    prefix = request.headers.get("user-agent", "").partition("/")[0]
    kept = "".join(filter(str.isprintable, prefix))
    return kept.encode()[:_MANAGER_BYTES].decode("utf-8", "ignore") or "unknown"
