"""The query parameters of POST, PUT and PATCH: CreateOptions, UpdateOptions and PatchOptions."""

from __future__ import annotations

from dataclasses import dataclass

from ..messages import ServerRequest
from ..validation.managers import MANAGER_BYTES, manager_problems
from ..validation.problems import (
    Problem,
    forbidden_field,
    invalid_options,
    required_field,
    unsupported_field,
)

__all__ = ["WriteOptions", "dry_run_problems", "write_options"]

_VALIDATIONS = ("", "Ignore", "Strict", "Warn")
_KINDS = {"POST": "CreateOptions", "PUT": "UpdateOptions", "PATCH": "PatchOptions"}


@dataclass(frozen=True, slots=True)
class WriteOptions:
    manager: str
    """Of managedFields: fieldManager, or the User-Agent up to its first `/` (K9)."""
    dry_run: bool = False
    validation: str = ""
    """`Strict`, `Warn`, `Ignore`, or empty: `Warn`."""
    force: bool = False
    """Of an apply: whether it takes what others own."""


def write_options(request: ServerRequest, *, apply: bool = False) -> WriteOptions:
    """Raises 422 where they are not valid. `apply`: of a server-side apply."""
    if not request.query and not apply:
        return WriteOptions(_manager_of(request))
    manager = request.parameter("fieldManager") or ""
    validation = request.parameter("fieldValidation") or ""
    dry_run = [value for name, value in request.query if name == "dryRun"]
    problems = []
    force = request.parameter("force")
    if apply:
        if not manager:
            problems.append(required_field("fieldManager", "is required for apply patch"))
    elif request.method == "PATCH" and force is not None:
        problems.append(forbidden_field("force", "may not be specified for non-apply patch"))
    problems += manager_problems("fieldManager", manager)
    problems += dry_run_problems(dry_run)
    if validation not in _VALIDATIONS:
        problems.append(unsupported_field("fieldValidation", validation, _VALIDATIONS, plain=True))
    if problems:
        raise invalid_options(_KINDS[request.method], problems)
    return WriteOptions(
        manager or _manager_of(request),
        bool(dry_run),
        validation,
        force=force is not None and force.lower() not in ("false", "0"),
    )


def dry_run_problems(values: list[str]) -> list[Problem]:
    if all(value == "All" for value in values):
        return []
    return [unsupported_field("dryRun", values, ["All"])]


def _manager_of(request: ServerRequest) -> str:
    prefix = request.headers.get("user-agent", "").partition("/")[0]
    kept = "".join(filter(str.isprintable, prefix))
    return kept.encode()[:MANAGER_BYTES].decode("utf-8", "ignore") or "unknown"
