"""How much is to be there at the start: `pods=200,nodes=5`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from random import Random
from typing import Any

from listwatch.api import BUILTIN_RESOURCES, ListWatchError

from .blueprints import SERVICES
from .model import App, Node

__all__ = ["LoadError", "fillers", "new_apps", "new_nodes", "parse_load", "service_addresses"]

_ALIASES = {name: resource.name for resource in BUILTIN_RESOURCES for name in resource.short_names}
_FILLERS = {
    "configmaps": "ConfigMap",
    "namespaces": "Namespace",
    "secrets": "Secret",
    "serviceaccounts": "ServiceAccount",
    "services": "Service",
}
_RUNNING = ("pods", "deployments", "nodes")
_MOST = 1_000_000
_PODS_PER_NODE = 30
_PODS_PER_APP = 12
_REGIONS = ("", "-eu", "-us", "-ap")


class LoadError(ListWatchError, ValueError):
    """A load that cannot be understood; the text says why."""


def parse_load(text: str) -> dict[str, int]:
    """How many of each kind. Raises `LoadError`.

    >>> parse_load("pods=200,cm=50")
    {'pods': 200, 'configmaps': 50}
    """
    counts: dict[str, int] = {}
    for part in text.split(","):
        name, equals, number = part.strip().partition("=")
        name = _ALIASES.get(name, name)
        if not equals or not number.isascii() or not number.isdigit():
            raise LoadError(f"{part.strip()!r} is no load: expected one such as pods=200")
        if name not in _FILLERS and name not in _RUNNING:
            known = ", ".join((*_RUNNING, *_FILLERS))
            raise LoadError(f"no {name!r} can be made up: only {known}")
        counts[name] = counts.get(name, 0) + int(number)
        if counts[name] > _MOST:
            raise LoadError(f"{counts[name]} {name} are too many: at most {_MOST}")
    return counts


def new_nodes(counts: Mapping[str, int]) -> list[Node]:
    """The nodes that so many pods need, unless their number is given."""
    pods = counts.get("pods", 0) or 3 * counts.get("deployments", 0)
    number = counts.get("nodes", max(3, -(-pods // _PODS_PER_NODE)) if pods else 0)
    return [Node(f"worker-{at + 1}", at) for at in range(number)]


def new_apps(counts: Mapping[str, int]) -> list[App]:
    """The apps that have so many pods together."""
    deployments = counts.get("deployments")
    pods = counts.get("pods", 3 * (deployments or 0))
    kinds = [found for found in SERVICES if deployments is None or found.kind == "Deployment"]
    usual = sum(found.replicas for found in kinds)
    if deployments is None:
        few = next(
            (n for n in range(len(kinds)) if sum(f.replicas for f in kinds[: n + 1]) > pods),
            len(kinds),
        )
        number = max(1, few) if pods < 2 * usual else max(len(kinds), pods // _PODS_PER_APP)
        number = min(number, pods)
    else:
        number = deployments
    apps = [App(kinds[at % len(kinds)], _name(kinds, at), 0) for at in range(number)]
    _share_out(apps, pods)
    return apps


def _name(kinds: list[Any], at: int) -> str:
    lap, which = divmod(at, len(kinds))
    number, region = divmod(lap, len(_REGIONS))
    return f"{kinds[which].name}{_REGIONS[region]}{f'-{number + 1}' if number else ''}"


def _share_out(apps: list[App], pods: int) -> None:
    """Give each app its share of the pods, all of which are given."""
    weights = sum(app.blueprint.replicas for app in apps)
    given = passed = 0
    for app in apps:
        passed += app.blueprint.replicas
        app.replicas = app.usual = pods * passed // weights - given
        given += app.replicas


def service_addresses() -> Iterator[str]:
    """Addresses for Services, no two the same for a long time."""
    for number in count():
        yield f"10.{96 + number // 62_500 % 16}.{number // 250 % 250}.{number % 250 + 2}"


def fillers(
    counts: Mapping[str, int], made: Mapping[str, int], rng: Random, addresses: Iterator[str]
) -> Iterator[dict[str, Any]]:
    """Objects of no importance, for as many of a kind as are still missing."""
    for plural, kind in _FILLERS.items():
        missing = counts.get(plural, 0) - made.get(plural, 0)
        spaces = sorted({found.namespace for found in SERVICES})
        for number in range(max(0, missing)):
            metadata = {"name": f"{kind.lower()}-{number:05}"}
            if kind != "Namespace":
                metadata["namespace"] = spaces[number % len(spaces)]
            value: dict[str, Any] = {"apiVersion": "v1", "kind": kind, "metadata": metadata}
            if kind == "ConfigMap":
                value["data"] = {"config.yaml": f"setting: {rng.getrandbits(64):x}\n" * 8}
            elif kind == "Secret":
                value |= {"data": {"token": f"{rng.getrandbits(128):032x}"}, "type": "Opaque"}
            elif kind == "Service":
                address = next(addresses)
                value["spec"] = {
                    "ports": [{"name": "main", "port": 80, "protocol": "TCP", "targetPort": 8080}],
                    "selector": {"app": metadata["name"]},
                    "clusterIP": address,
                    "clusterIPs": [address],
                    "type": "ClusterIP",
                }
            yield value
