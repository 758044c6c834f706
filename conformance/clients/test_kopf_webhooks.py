"""The admission webhooks of PyPI ``kopf``: the server asks an operator before it writes Widgets."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.certs import Authority
from conformance.clients.kopf_operator import Operator, kopf
from conformance.clients.place import Place
from conformance.objects import WIDGET
from conformance.requests import Json, Response
from conformance.waiting import until

_CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/{}webhookconfigurations/{}"
_WHERE = WIDGET.group, WIDGET.version, WIDGET.plural


class Gatekeeper(Operator):
    """Lets Widgets in, but none of mud, and gives each a label. It writes its configurations, of
    this name, by itself.
    """

    def __init__(self, place: Place, name: str, folder: Path) -> None:
        super().__init__(place)
        self._name = name
        authority = Authority(folder, "kopf-ca")
        serving = authority.serving("kopf")
        self._authority_file = folder / "kopf-ca-only.pem"
        self._authority_file.write_bytes(authority.pem)
        self._serving = serving

    def _settings(self) -> Any:
        settings = super()._settings()
        settings.admission.managed = self._name
        settings.admission.server = kopf.WebhookServer(
            addr="127.0.0.1",
            cafile=os.fspath(self._authority_file),
            certfile=os.fspath(self._serving.certificate),
            pkeyfile=os.fspath(self._serving.key),
        )
        return settings

    def _handle(self, registry: Any) -> None:
        @kopf.on.mutate(*_WHERE, registry=registry, id="label")
        def label(patch: Any, operation: str, **_: Any) -> None:
            patch.metadata.labels["operation"] = operation.lower()

        @kopf.on.validate(*_WHERE, registry=registry, id="color", operations=["CREATE", "UPDATE"])
        def color(spec: Any, warnings: list[str], **_: Any) -> None:
            if spec["color"] == "mud":
                raise kopf.AdmissionError("mud is no color", code=422)
            if spec["color"] == "beige":
                warnings.append("that is hardly a color")

        @kopf.on.validate(*_WHERE, registry=registry, id="keep", operations=["DELETE"])
        def keep(old: Any, **_: Any) -> None:
            if old["spec"]["color"] == "gold":
                raise kopf.AdmissionError("gold is kept", code=403)


@pytest.fixture
def here(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """A place whose Widgets an operator is asked about."""
    monkeypatch.setenv("KUBECONFIG", str(place.kubeconfig()))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    name = f"{place.namespace}.kopf.dev"
    with Gatekeeper(place, name, tmp_path):
        try:
            until(lambda: _is_asked(place), what="the server to know the operator's webhooks")
            yield place
        finally:
            for kind in ("validating", "mutating"):
                place.server.delete(_CONFIGURATIONS.format(kind, name))
            until(lambda: not _is_asked(place), what="the server to forget the webhooks")


def _is_asked(place: Place) -> bool:
    path = f"{place.path(WIDGET.plural)}?dryRun=All"
    bad = place.server.request("POST", path, WIDGET.object("probe", color="mud"))
    good = place.server.request("POST", path, WIDGET.object("probe", color="red"))
    return bad.status != 201 or bool(good.json()["metadata"].get("labels"))


def _paint(place: Place, name: str, color: str) -> Response:
    return place.server.request("POST", place.path(WIDGET.plural), WIDGET.object(name, color=color))


def _widget(place: Place, name: str) -> Json:
    return place.server.get(place.path(WIDGET.plural, name))


def test_a_mutating_handler_changes_what_is_written(here: Place) -> None:
    made = _paint(here, "a", "red").json()
    assert made["metadata"]["labels"] == {"operation": "create"}
    path = here.path(WIDGET.plural, "a")
    changed = here.server.patch(path, {"spec": {"color": "blue"}})
    assert changed["metadata"]["labels"] == {"operation": "update"}
    assert _widget(here, "a") == changed


def test_a_validating_handler_refuses_a_new_object(here: Place) -> None:
    answer = _paint(here, "a", "mud")
    assert answer.status == 422
    assert answer.json()["message"].endswith("denied the request: mud is no color")
    assert not here.exists("a", WIDGET.plural)


def test_a_validating_handler_refuses_a_change(here: Place) -> None:
    _paint(here, "a", "red")
    path = here.path(WIDGET.plural, "a")
    answer = here.server.request("PUT", path, {**_widget(here, "a"), "spec": {"color": "mud"}})
    assert answer.status == 422
    assert _widget(here, "a")["spec"]["color"] == "red"


def test_a_validating_handler_refuses_a_deletion(here: Place) -> None:
    for name, color in (("a", "gold"), ("b", "red")):
        _paint(here, name, color)
    answers = [
        here.server.request("DELETE", here.path(WIDGET.plural, name)).status for name in ("a", "b")
    ]
    assert answers == [403, 200]
    assert here.exists("a", WIDGET.plural)


def test_warnings_of_a_handler_reach_the_client(here: Place) -> None:
    answer = _paint(here, "a", "beige")
    assert answer.status == 201
    assert answer.headers.get_all("Warning") == ['299 - "that is hardly a color"']
