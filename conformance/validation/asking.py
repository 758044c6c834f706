"""Asking a server what it says to a case."""

from __future__ import annotations

import json
import re
import uuid
from typing import Any

from conformance.requests import Json, Requests, Response
from conformance.validation.cases import Base, Case, filled

__all__ = ["Asker"]

_UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+]0000 UTC")


class Asker:
    """Puts cases to one server, in a namespace of its own."""

    def __init__(self, server: Requests, *, is_real: bool = False) -> None:
        self.is_real = is_real
        self._server = server
        self._namespace = f"validation-{uuid.uuid4().hex[:8]}"
        self._seen: set[tuple[str, str]] = set()
        server.create("/api/v1/namespaces", {"metadata": {"name": self._namespace}})

    def answer(self, case: Case) -> Json:
        """What the server says, without what differs each time."""
        names = self._names()
        path = filled(case.base.path, names)
        self._prepare(case.base, names)
        created = filled(case.created, names)
        if not case.is_update:
            return _said(self.post(path, created, dry_run=True), names)
        answer = self.post(path, created)
        if answer.status != 201:
            raise AssertionError(f"{case.title}: cannot be created: {answer.body.decode()}")
        at = f"{path}/{created['metadata']['name']}"
        try:
            changed = filled(case.updated(answer.json()), names)
            return _said(self._server.request("PUT", at + case.subresource, changed), names)
        finally:
            self.remove(at)

    def created(self, base: Base) -> tuple[str, Json]:
        """Create the base object; its path and what came back."""
        names = self._names()
        self._prepare(base, names)
        path = filled(base.path, names)
        made = self._server.create(path, filled(base.obj, names))
        return f"{path}/{made['metadata']['name']}", made

    def tried(self, base: Base, obj: Json) -> Json:
        """What is said to an object of the base's type, as a dry run."""
        names = self._names()
        self._prepare(base, names)
        answer = self.post(filled(base.path, names), filled(obj, names), dry_run=True)
        return _said(answer, names)

    def put(self, at: str, obj: Json) -> Json:
        """What is said to an update, as a dry run."""
        names = {"name": at.rpartition("/")[2], "namespace": self._namespace}
        return _said(self._server.request("PUT", f"{at}?dryRun=All", obj), names)

    def remove(self, at: str) -> None:
        """Delete an object, whatever holds it."""
        self._server.request("DELETE", at, {"gracePeriodSeconds": 0})
        if self._server.request("GET", at).status == 200:
            self._server.patch(at, {"metadata": {"finalizers": None}})

    def post(self, path: str, obj: Any, *, dry_run: bool = False) -> Response:
        return self._server.request("POST", path + ("?dryRun=All" if dry_run else ""), obj)

    def _names(self) -> dict[str, str]:
        name = f"valid-{uuid.uuid4().hex[:8]}"
        return {"name": name, "namespace": self._namespace}

    def _prepare(self, base: Base, names: dict[str, str]) -> None:
        if (base.area, base.name) in self._seen:
            return
        self._seen.add((base.area, base.name))
        for each in base.first:
            answer = self.post(filled(each["path"], names), filled(each["object"], names))
            if answer.status not in (201, 409):
                raise AssertionError(f"{base.name}: {answer.body.decode()}")


def _said(answer: Response, names: dict[str, str]) -> Json:
    """Status, causes or message, and warnings."""
    said: Json = {"code": answer.status}
    if answer.status >= 300:
        status = answer.json()
        causes = (status.get("details") or {}).get("causes")
        if causes:
            said["causes"] = [
                [cause.get("reason", ""), cause.get("field", ""), cause["message"]]
                for cause in causes
            ]
        else:
            said["message"] = status["message"]
    warnings = answer.headers.get_all("Warning")
    if warnings:
        said["warnings"] = warnings
    text = json.dumps(said, ensure_ascii=False)
    for stands_for, name in names.items():
        text = text.replace(name, f"${stands_for}")
    plain: Json = json.loads(_TIME.sub("TIME", _UID.sub("UID", text)))
    return plain
