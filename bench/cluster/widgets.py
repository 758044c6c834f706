"""Custom resources, whose keys come in alphabetical order throughout."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from .forms import Form, between, digest, gap, number, stamp, suffix, uuid
from .managed_fields import entry, owned

__all__ = ["API_VERSION", "Widget", "WidgetDesign", "WidgetWriter", "make_design"]

API_VERSION = "bench.listwatch.dev/v1"

_PREFIXES = ("route", "cert", "rollout", "policy")
_CONDITIONS = ("Available", "Degraded", "Progressing", "Reconciled", "Stalled", "Synced")


@dataclass(frozen=True, slots=True)
class WidgetDesign:
    """What some widgets have in common."""

    namespace: str
    name: str
    labels: dict[str, str]
    annotations: dict[str, str]
    spec: dict[str, Any]
    conditions: tuple[str, ...]
    refs: tuple[str, ...]


@dataclass(slots=True)
class Widget:
    """One widget; `state` is pending, running, unready or ending."""

    design: WidgetDesign
    name: str
    uid: str
    created: int
    changed: int
    state: str
    version: int
    restarts: int = 0
    """How often its status was written."""

    @property
    def key(self) -> tuple[str, str]:
        return self.design.namespace, self.name

    @classmethod
    def born(
        cls,
        rng: random.Random,
        design: WidgetDesign,
        ordinal: int,
        at: int,
        state: str,
        version: int,
    ) -> Widget:
        name = f"{design.name}-{suffix(rng)}"
        return cls(design, name, uuid(rng), at, at, state, version)


def make_design(rng: random.Random, namespace: str, *, large: bool = False) -> WidgetDesign:
    scale = 16 if large else 1
    spec = rng.choice((_routes, _certificate, _rollout, _policy))(rng, scale)
    if large:
        spec["table"] = [
            [between(rng, 5, 30) for _ in range(6)] for _ in range(rng.randint(650, 1000))
        ]
    labels = {"app.kubernetes.io/name": between(rng, 4, 14), "shard": str(rng.randint(0, 9))}
    annotations = {"bench.listwatch.dev/hash": digest(rng)}
    if rng.random() < 0.4:
        annotations["kubectl.kubernetes.io/last-applied-configuration"] = (
            f'{{"apiVersion":"{API_VERSION}","kind":"Widget","spec":{{"size":{rng.randint(1, 9)},'
            f'"hosts":["{between(rng, 8, 40)}","<any>"],"note":"{between(rng, 40, 900)}"}}}}\n'
        )
    return WidgetDesign(
        namespace,
        f"{rng.choice(_PREFIXES)}-{suffix(rng, rng.randint(3, 9))}",
        labels,
        annotations,
        spec,
        tuple(rng.sample(_CONDITIONS, rng.randint(1, 5))),
        tuple(between(rng, 6, 24) for _ in range(rng.randint(0, 12))),
    )


def _routes(rng: random.Random, scale: int) -> dict[str, Any]:
    return {
        "hosts": [f"{between(rng, 3, 20)}.example.com" for _ in range(rng.randint(1, 5))],
        "rules": [
            {
                "backend": {"port": rng.randint(80, 9000), "service": between(rng, 5, 25)},
                "path": f"/{between(rng, 3, 30)}",
                "retries": {"attempts": rng.randint(1, 5), "perTryTimeout": "2s"},
                "weight": rng.randint(0, 100),
            }
            for _ in range(rng.randint(6, 30))
        ],
        "tls": {"mode": "Terminate", "secretName": between(rng, 6, 20)},
    }


def _certificate(rng: random.Random, scale: int) -> dict[str, Any]:
    return {
        "commonName": f"{between(rng, 5, 20)}.example.com",
        "dnsNames": [f"{between(rng, 5, 30)}.example.com" for _ in range(rng.randint(1, 8))],
        "duration": "2160h0m0s",
        "issuerRef": {"group": "cert-manager.io", "kind": "ClusterIssuer", "name": "letsencrypt"},
        "request": between(rng, 1200, 2200),
        "usages": ["digital signature", "key encipherment"],
    }


def _rollout(rng: random.Random, scale: int) -> dict[str, Any]:
    return {
        "replicas": rng.randint(1, 40),
        "strategy": {
            "canary": {"steps": [{"setWeight": w} for w in sorted(rng.sample(range(100), 4))]}
        },
        "template": {
            "spec": {
                "containers": [
                    {
                        "env": [
                            {"name": f"V_{n}", "value": between(rng, 3, 40)}
                            for n in range(rng.randint(5, 25))
                        ],
                        "image": f"registry.example.com/{between(rng, 4, 20)}@sha256:{digest(rng)}",
                        "name": f"c{number_of}",
                        "resources": {"limits": {"cpu": "1", "memory": "1Gi"}},
                    }
                    for number_of in range(rng.randint(1, 3))
                ]
            }
        },
    }


def _policy(rng: random.Random, scale: int) -> dict[str, Any]:
    return {
        "enforce": rng.random() < 0.5,
        "expressions": [
            f"object.spec.{between(rng, 3, 12)} <= {rng.randint(1, 99)}"
            f" && request.userInfo != '{between(rng, 3, 9)}'"
            for _ in range(rng.randint(5, 24))
        ],
        "match": {
            "kinds": [{"apiGroups": ["*"], "kinds": [between(rng, 4, 14)]} for _ in range(4)]
        },
        "parameters": {
            between(rng, 3, 12): rng.randint(0, 999) / 8 for _ in range(rng.randint(3, 20))
        },
    }


class WidgetWriter:
    """Metadata, and what follows it, of widgets."""

    def __init__(self) -> None:
        self._forms: dict[tuple[int, str], tuple[Form, Form]] = {}

    def write(self, widget: Widget) -> tuple[bytes, bytes]:
        """The object that is its metadata, and its other members without the braces around them."""
        key = (id(widget.design), widget.state)
        forms = self._forms.get(key)
        if forms is None:
            forms = self._forms[key] = _forms_of(widget.design, widget.state)
        values = {
            "name": widget.name,
            "uid": widget.uid,
            "version": str(widget.version),
            "created": stamp(widget.created),
            "changed": stamp(widget.changed),
            "restarts": str(widget.restarts),
        }
        metadata, rest = forms
        return metadata.fill(values), rest.fill(values)[1:-1]


def _forms_of(design: WidgetDesign, state: str) -> tuple[Form, Form]:
    metadata: dict[str, Any] = {
        "annotations": design.annotations,
        "creationTimestamp": gap("created"),
        "finalizers": ["bench.listwatch.dev/cleanup"],
        "generation": 3,
        "labels": design.labels,
        "name": gap("name"),
        "namespace": design.namespace,
        "resourceVersion": gap("version"),
        "uid": gap("uid"),
    }
    if state == "ending":
        metadata |= {"deletionTimestamp": gap("changed"), "deletionGracePeriodSeconds": 0}
    given = {"annotations": design.annotations, "labels": design.labels}
    entries = [
        entry(
            "widgetctl",
            gap("created"),
            owned({"metadata": given, "spec": design.spec}),
            api_version=API_VERSION,
        )
    ]
    rest: dict[str, Any] = {"spec": design.spec}
    if state != "pending":
        rest["status"] = {
            "conditions": [
                {
                    "lastTransitionTime": gap("changed"),
                    "message": f"{name} as of generation 3 & later",
                    "observedGeneration": 3,
                    "reason": "AsExpected" if state == "running" else "Waiting",
                    "status": "True" if state == "running" else "False",
                    "type": name,
                }
                for name in design.conditions
            ],
            "observedGeneration": 3,
            "phase": "Running" if state == "running" else "Waiting",
            "references": [{"kind": "ConfigMap", "name": name} for name in design.refs],
            "writes": number("restarts"),
        }
        fields = owned({"status": rest["status"]})
        entries.append(
            entry(
                "widget-controller",
                gap("changed"),
                fields,
                api_version=API_VERSION,
                subresource="status",
            )
        )
    metadata["managedFields"] = entries
    return Form(metadata, ordered=True), Form(rest, ordered=True)
