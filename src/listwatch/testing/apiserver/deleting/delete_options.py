"""DeleteOptions: in the body of a DELETE, or else in its query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..messages import ServerRequest
from ..types.request_info import is_true
from ..validation.problems import (
    Problem,
    bad_request,
    invalid_field,
    invalid_options,
    unsupported_field,
)
from ..writing.go_syntax import go_kind
from ..writing.request_bodies import read_body
from ..writing.write_options import dry_run_problems

__all__ = ["DeleteOptions"]

_POLICIES = ("Foreground", "Background", "Orphan", "nil")
_KIND = "DeleteOptions"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteOptions:
    grace_period: int | None = None
    """Seconds; negative counts as 1."""
    uid: str | None = None
    """Precondition: None is none, the empty text one that nothing fulfils."""
    resource_version: str | None = None
    """Likewise."""
    propagation: str | None = None
    """`Foreground`, `Background` or `Orphan`."""
    orphan: bool | None = None
    """The old way to say `Orphan` or `Background`."""
    dry_run: bool = False

    @classmethod
    def of(cls, request: ServerRequest) -> DeleteOptions:
        """Raises `Refused`: 400, 415 or 422. Where there is a body, the query does not count."""
        if request.body:
            options, dry_run = _from_body(read_body(request))
        elif request.query:
            options, dry_run = _from_query(request)
        else:
            return cls()
        _validate(options, dry_run)
        return cls(**options, dry_run=bool(dry_run))

    @property
    def is_default(self) -> bool:
        """Whether it says nothing of what is to become of the dependents."""
        return self.propagation is None and self.orphan is None


def _from_query(request: ServerRequest) -> tuple[dict[str, Any], list[str]]:
    options: dict[str, Any] = {}
    grace = request.parameter("gracePeriodSeconds")
    if grace:
        try:
            if not grace.lstrip("+-").isdigit():
                raise ValueError
            options["grace_period"] = int(grace)
        except ValueError:
            text = f'strconv.ParseInt: parsing "{grace}": invalid syntax'
            raise bad_request(text) from None
    propagation = request.parameter("propagationPolicy")
    if propagation:
        options["propagation"] = propagation
    orphan = request.parameter("orphanDependents")
    if orphan is not None:
        options["orphan"] = is_true(orphan)
    return options, [value for name, value in request.query if name == "dryRun"]


def _from_body(body: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    kind = body.get("kind") or _KIND
    if kind != _KIND:
        version = body.get("apiVersion") or ""
        raise bad_request(
            f'no kind "{kind}" is registered for version "{version}" in scheme '
            '"pkg/runtime/scheme.go:111"'
        )
    options: dict[str, Any] = {}
    grace = body.get("gracePeriodSeconds")
    if grace is not None:
        if not isinstance(grace, int) or isinstance(grace, bool):
            raise _wrong(grace, "gracePeriodSeconds", "int64")
        options["grace_period"] = grace
    orphan = body.get("orphanDependents")
    if orphan is not None:
        if not isinstance(orphan, bool):
            raise _wrong(orphan, "orphanDependents", "bool")
        options["orphan"] = orphan
    propagation = body.get("propagationPolicy")
    if propagation is not None:
        if not isinstance(propagation, str):
            raise _wrong(propagation, "propagationPolicy", "v1.DeletionPropagation")
        options["propagation"] = propagation
    preconditions = body.get("preconditions")
    if preconditions is not None:
        if not isinstance(preconditions, dict):
            raise _wrong(preconditions, "preconditions", "v1.Preconditions")
        for name, option, go_type in (
            ("uid", "uid", "types.UID"),
            ("resourceVersion", "resource_version", "string"),
        ):
            value = preconditions.get(name)
            if value is not None:
                if not isinstance(value, str):
                    raise _wrong(value, f"preconditions.{name}", go_type, "Preconditions")
                options[option] = value
    dry_run = body.get("dryRun")
    if dry_run is None:
        dry_run = []
    if not isinstance(dry_run, list):
        raise _wrong(dry_run, "dryRun", "[]string")
    for value in dry_run:
        if not isinstance(value, str):
            raise _wrong(value, "dryRun", "string")
    return options, dry_run


def _wrong(value: Any, field: str, go_type: str, struct: str = _KIND) -> Exception:
    return bad_request(
        f"json: cannot unmarshal {go_kind(value)} into Go struct field {struct}.{field} of type "
        f"{go_type}"
    )


def _validate(options: Mapping[str, Any], dry_run: list[str]) -> None:
    problems: list[Problem] = []
    propagation = options.get("propagation")
    if propagation is not None:
        if options.get("orphan") is not None:
            text = "orphanDependents and deletionPropagation cannot be both set"
            problems.append(invalid_field("propagationPolicy", propagation, text))
        if propagation not in _POLICIES[:3]:
            problems.append(unsupported_field("propagationPolicy", propagation, _POLICIES))
    problems += dry_run_problems(dry_run)
    if problems:
        raise invalid_options(_KIND, problems)
