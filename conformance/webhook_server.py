"""A webhook on this machine: a test tells it what to answer, and it remembers what it was asked."""

from __future__ import annotations

import base64
import json
import ssl
import threading
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

from conformance.certs import Authority
from conformance.requests import Json

__all__ = ["WebhookServer", "allowed", "denied", "patched"]

Answer = Callable[[Json], Json]
"""Makes the `response` of an AdmissionReview of its `request`."""


def allowed(request: Json, **more: Any) -> Json:
    return {"uid": request["uid"], "allowed": True, **more}


def denied(request: Json, **status: Any) -> Json:
    return {"uid": request["uid"], "allowed": False, **({"status": status} if status else {})}


def patched(request: Json, *operations: Mapping[str, Any]) -> Json:
    """A JSON patch."""
    patch = base64.b64encode(json.dumps(operations).encode()).decode()
    return allowed(request, patch=patch, patchType="JSONPatch")


class WebhookServer:
    """Listens on loopback with a certificate of an authority of its own."""

    def __init__(self, folder: Path) -> None:
        self._authority = Authority(folder, "webhook-ca")
        serving = self._authority.serving("webhook")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(serving.certificate, serving.key)
        self._answers: dict[str, Answer] = {}
        self.asked: list[tuple[str, Json]] = []
        """The path and the `request` of each question."""
        self._http = _Server(("127.0.0.1", 0), _Handler)
        self._http.owner = self
        self._http.socket = context.wrap_socket(self._http.socket, server_side=True)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,))
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def client_config(self, path: str) -> Json:
        """Where a configuration says that it is."""
        return {
            "url": f"https://127.0.0.1:{self._http.server_port}/{path}",
            "caBundle": base64.b64encode(self._authority.pem).decode(),
        }

    def answer(self, path: str, answer: Answer) -> None:
        """Answer so to questions at that path."""
        self._answers[f"/{path}"] = answer

    def asked_at(self, path: str) -> Sequence[Json]:
        return [request for at, request in self.asked if at == f"/{path}"]

    def respond(self, path: str, review: Json) -> tuple[int, bytes]:
        request = review["request"]
        self.asked.append((path, request))
        answer = self._answers.get(path)
        if answer is None:
            return 404, b"nobody is here"
        body = {"kind": review["kind"], "apiVersion": review["apiVersion"]}
        return 200, json.dumps({**body, "response": answer(request)}).encode()


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    owner: WebhookServer


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        path = self.path.partition("?")[0]
        status, answer = self.server.owner.respond(path, json.loads(body))
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: Any) -> None:
        """Tests look at `asked`."""
