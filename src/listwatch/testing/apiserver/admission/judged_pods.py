"""A pod before the Pod Security Standards, and what several of them look at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .amounts import Value
from .standard_texts import containers_text, joined

__all__ = [
    "LATEST",
    "PROFILES",
    "Finding",
    "JudgedPod",
    "added_capabilities",
    "any_proc_mount",
    "setters",
    "wrong_seccomp",
]

LATEST = 35
"""The minor version of the last change to any of them."""
PROFILES = ("RuntimeDefault", "Localhost")
"""Of AppArmor and seccomp: those that are profiles at all."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What speaks against a pod: in short, and which part of it does what."""

    reason: str
    detail: str

    def __str__(self) -> str:
        return f"{self.reason} ({self.detail})" if self.detail else self.reason


@dataclass(frozen=True, slots=True)
class JudgedPod:
    """A pod, or what one is to be made of."""

    metadata: Value
    spec: Value
    minor: int
    """Of the version of the standards."""

    @property
    def context(self) -> Value:
        return self.spec.get("securityContext") or {}

    @property
    def is_windows(self) -> bool:
        return self.minor >= 25 and (self.spec.get("os") or {}).get("name") == "windows"

    @property
    def has_own_users(self) -> bool:
        """Whether its root is nobody outside."""
        return self.minor >= 35 and self.spec.get("hostUsers") is False

    def containers(self) -> Iterator[tuple[str, Value, Value]]:
        """Name, container, and its securityContext."""
        for member in ("initContainers", "containers", "ephemeralContainers"):
            for container in self.spec.get(member) or ():
                yield (
                    container.get("name") or "",
                    container,
                    container.get("securityContext") or {},
                )

    def those(self, is_bad: Callable[[Value], Any]) -> list[str]:
        """The containers with such a securityContext."""
        return [name for name, _, context in self.containers() if is_bad(context)]


def setters(pod: JudgedPod, is_bad: Callable[[Value], Any]) -> str:
    """Who has such a securityContext: the pod and containers, in words; empty: nobody."""
    said = ["pod"] if is_bad(pod.context) else []
    containers = pod.those(is_bad)
    if containers:
        said.append(containers_text(containers))
    return " and ".join(said)


def added_capabilities(pod: JudgedPod, allowed: Iterable[str]) -> str:
    """Which containers add capabilities that they may not add."""
    values: set[str] = set()

    def is_bad(context: Value) -> bool:
        more = set((context.get("capabilities") or {}).get("add") or ()) - set(allowed)
        values.update(more)
        return bool(more)

    containers = pod.those(is_bad)
    if not containers:
        return ""
    shown = joined(sorted(values))
    text = containers_text(containers)
    return f"{text} must not include {shown} in securityContext.capabilities.add"


def any_proc_mount(pod: JudgedPod) -> Iterator[Finding]:
    """That containers see more of `/proc` than usual."""
    values: set[str] = set()

    def is_bad(context: Value) -> bool:
        mount = context.get("procMount")
        if mount in (None, "Default"):
            return False
        values.add(str(mount))
        return True

    names = pod.those(is_bad)
    if names:
        text = f"must not set securityContext.procMount to {joined(sorted(values))}"
        yield Finding("procMount", f"{containers_text(names)} {text}")


def wrong_seccomp(pod: JudgedPod) -> Iterator[Finding]:
    """That somebody is without seccomp, and says so."""
    values: set[str] = set()

    def is_bad(context: Value) -> bool:
        profile = context.get("seccompProfile")
        kind = (profile or {}).get("type") or ""
        if profile is None or kind in PROFILES:
            return False
        values.add(kind)
        return True

    who = setters(pod, is_bad)
    if who:
        shown = joined(sorted(values))
        text = f"{who} must not set securityContext.seccompProfile.type to {shown}"
        yield Finding("seccompProfile", text)
