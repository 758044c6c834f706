"""The images of containers."""

from __future__ import annotations

from collections.abc import Iterator

from ..basics import one_of, required
from ..checks import Value
from ..problems import Problem, invalid_field

__all__ = ["image_problems", "padding_problems", "pull_policy_problems"]

_POLICIES = ("Always", "IfNotPresent", "Never")


def image_problems(container: Value, path: str) -> Iterator[Problem]:
    """A container has an image; what it is named is the business of the node."""
    yield from required(f"{path}.image", container.get("image"))


def padding_problems(container: Value, path: str) -> Iterator[Problem]:
    """What only pods are asked, not their templates."""
    image = container.get("image") or ""
    if image != image.strip():
        yield invalid_field(f"{path}.image", image, "must not have leading or trailing whitespace")


def pull_policy_problems(container: Value, path: str) -> Iterator[Problem]:
    """When the image is fetched."""
    policy = container.get("imagePullPolicy")
    yield from one_of(f"{path}.imagePullPolicy", policy, _POLICIES)
