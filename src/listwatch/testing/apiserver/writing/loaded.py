"""Objects that were loaded, as a write takes them up: nobody has read them before.

A real server completes what it finds in its store each time that it reads it. Here objects are
stored as they are read, but for those that were loaded; they are told by that nobody owns anything
of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..allocating import allocated
from ..defaulting.claim_defaults import with_sources
from ..defaulting.defaults import fill
from ..defaulting.job_defaults import with_selector
from ..storage.state import State
from ..types.served import ResourceType
from ..validation.problems import internal_error
from .forms import in_form
from .shapes import ShapeError, check_shape

__all__ = ["taken_up"]


def taken_up(state: State, of: ResourceType, stored: Mapping[str, Any]) -> Mapping[str, Any]:
    """A stored object with its defaults, and with what a create would have given it; the same one
    where it lacks nothing. Raises 500 where a member has a JSON type that its type does not take.
    """
    if of.custom or stored["metadata"].get("managedFields"):
        return stored
    made: dict[str, Any] = dict(stored)
    try:
        check_shape(of, made)
    except ShapeError as error:
        raise internal_error(str(error)) from None
    made["metadata"] = {**stored["metadata"], **made["metadata"]}
    fill(of, made)
    if of.storage == "batch/jobs" and not made["spec"].get("selector"):
        with_selector(made)
    elif of.storage == "persistentvolumeclaims":
        made["spec"] = with_sources(made["spec"])
    elif of.storage == "services" and _lacks_all(made["spec"]):
        made = allocated(state, made, dry_run=False)
    made = in_form(of, made)
    return stored if made == stored else made


def _lacks_all(spec: Mapping[str, Any]) -> bool:
    """Whether a Service has nothing yet that only one can have."""
    return not (
        spec.get("clusterIPs")
        or spec.get("healthCheckNodePort")
        or any(port.get("nodePort") for port in spec.get("ports") or ())
    )
