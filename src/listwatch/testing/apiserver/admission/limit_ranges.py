"""LimitRanger: what the LimitRanges of a namespace add to its pods, and what they allow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..storage.state import State, Target
from ..validation.problems import forbidden
from .amounts import Value, pod_amounts
from .asked_amounts import Asked

__all__ = ["add_limits", "check_limits"]

_ANNOTATION = "kubernetes.io/limit-ranger"
_KINDS = (("containers", "container"), ("initContainers", "init container"))


def _limits(state: State, target: Target) -> Iterator[Sequence[Value]]:
    """What each LimitRange of the namespace says."""
    for found in state.log.objects("limitranges", namespace=target.namespace):
        limits = (found.value.get("spec") or {}).get("limits") or ()
        yield [{name: _texts(member) for name, member in (limit or {}).items()} for limit in limits]


def _texts(member: Any) -> Any:
    """Amounts as texts, where the range was loaded with numbers."""
    if isinstance(member, dict):
        return {name: str(amount) for name, amount in member.items()}
    return member


def add_limits(state: State, target: Target, pod: dict[str, Any], named: str) -> None:
    """Complete what containers ask for and may have, where they do not say it themselves."""
    for limits in _limits(state, target):
        defaults: dict[str, dict[str, str]] = {"limits": {}, "requests": {}}
        for limit in limits:
            if limit.get("type") == "Container":
                defaults["limits"].update(limit.get("default") or {})
                defaults["requests"].update(limit.get("defaultRequest") or {})
        spec, said = dict(pod["spec"]), []
        for member, word in _KINDS:
            made = [_completed(each, defaults) for each in spec.get(member) or ()]
            if made:
                spec[member] = [each for each, _ in made]
            said += [
                f"{what} for {word} {each.get('name') or ''}"
                for each, added in made
                for what in added
            ]
        if said:
            pod["spec"] = spec
            text = f"LimitRanger plugin set: {'; '.join(said)}"
            annotations = pod["metadata"].get("annotations") or {}
            pod["metadata"]["annotations"] = {**annotations, _ANNOTATION: text}


def _completed(
    container: Value, defaults: Mapping[str, Mapping[str, str]]
) -> tuple[dict[str, Any], list[str]]:
    """A container with its defaults, and what these are."""
    resources, added = dict(container.get("resources") or {}), []
    for what in ("requests", "limits"):
        own = resources.get(what) or {}
        missing = {name: found for name, found in defaults[what].items() if name not in own}
        if missing:
            resources[what] = {**own, **missing}
            added.append(f"{', '.join(sorted(missing))} {what[:-1]}")
    return {**container, "resources": resources}, added


def check_limits(state: State, target: Target, new: Value, old: Value | None) -> None:
    """Refuse a pod or a claim that asks for more or less than it may. What pods ask for changes by
    their `resize` alone.
    """
    of_pod = target.type.storage == "pods"
    stays = of_pod and target.subresource != "resize"
    if old is not None and (stays or old["metadata"].get("deletionTimestamp") is not None):
        return
    for limits in _limits(state, target):
        problems = _pod_problems(limits, new) if of_pod else _claim_problems(limits, new)
        texts = list(dict.fromkeys(problems))
        if texts:
            text = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
            raise forbidden(target.type, new["metadata"].get("name") or "", text)


def _pod_problems(limits: Sequence[Value], pod: Value) -> Iterator[str]:
    spec = pod.get("spec") or {}
    for limit in limits:
        if limit.get("type") == "Container":
            for member, _ in _KINDS:
                for container in spec.get(member) or ():
                    resources = (container or {}).get("resources") or {}
                    requests, most = resources.get("requests") or {}, resources.get("limits") or {}
                    yield from Asked("Container", requests, most).problems(limit)
        elif limit.get("type") == "Pod":
            requests, most = pod_amounts(spec, "requests"), pod_amounts(spec, "limits")
            yield from Asked("Pod", requests, most).problems(limit)


def _claim_problems(limits: Sequence[Value], claim: Value) -> Iterator[str]:
    requests = ((claim.get("spec") or {}).get("resources") or {}).get("requests") or {}
    asked = Asked("PersistentVolumeClaim", requests, {})
    for limit in limits:
        if limit.get("type") == "PersistentVolumeClaim":
            for name, amount in sorted((limit.get("min") or {}).items()):
                yield from asked.below(name, amount)
            for name, amount in sorted((limit.get("max") or {}).items()):
                yield from asked.requested_above(name, amount)
