"""The resources that quotas limit, and how much of them."""

from __future__ import annotations

from collections.abc import Iterator

from ...types.quantities import is_whole, quantity_value
from ..basics import NOT_NEGATIVE
from ..pod.resource_names import is_counted, is_standard, resource_name_problems
from ..problems import Problem, invalid_field

__all__ = ["is_quota_resource", "quota_amount_problems", "quota_resource_problems"]


def is_quota_resource(name: str) -> bool:
    """Whether it is one of those that quotas have always known."""
    return name != "storage" and is_standard(name)


def quota_resource_problems(field: str, name: str) -> Iterator[Problem]:
    """What is wrong with the name of what a quota limits."""
    yield from resource_name_problems(field, name)
    if "/" not in name and not is_quota_resource(name):
        text = "must be a standard resource for quota"
        yield invalid_field(field, name, text, named=True)


def quota_amount_problems(field: str, name: str, amount: str) -> Iterator[Problem]:
    """What is wrong with how much there is of it: of some there are whole ones only."""
    value = quantity_value(amount)
    if value < 0:
        yield invalid_field(field, amount, NOT_NEGATIVE)
    if is_counted(name) and not is_whole(amount):
        yield invalid_field(field, amount, "must be an integer")
