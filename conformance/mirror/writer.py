"""Somebody who changes objects all the time, whatever the server does."""

from __future__ import annotations

import http.client
import random
import ssl
import threading
import time
from typing import Self

from conformance.cluster import Cluster
from conformance.objects import config_map
from conformance.requests import MERGE_PATCH, Session
from conformance.users import ADMIN

_PATIENCE = 3.0
"""Seconds that a request may take: a server without its etcd would hold it for a minute."""


class Writer:
    """Creates, changes and deletes ConfigMaps in one namespace, ``rate`` times a second, in a
    thread of its own, from entering it to leaving it.

    What fails is not repeated: nobody knows whether it was done, and that is as it should be.
    """

    def __init__(
        self, cluster: Cluster, namespace: str, *, rate: float = 20, names: int = 40, seed: int = 1
    ) -> None:
        self._cluster = cluster
        self._tls = ssl.create_default_context(cafile=str(cluster.ca_file))
        self._path = f"/api/v1/namespaces/{namespace}/configmaps"
        self._wait = 1 / rate
        self._names = [f"busy-{number:03}" for number in range(names)]
        self._there: set[str] = set()
        self._rng = random.Random(seed)
        self._may_write = threading.Event()
        self._idle = threading.Event()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self.writes = 0
        """That the server has acknowledged."""
        self.failures = 0

    def __enter__(self) -> Self:
        self._may_write.set()
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._ended.set()
        self._may_write.set()
        self._thread.join()

    def pause(self) -> None:
        """Write no more; returns when the last request has its answer."""
        self._may_write.clear()
        self._idle.wait()

    def resume(self) -> None:
        self._may_write.set()

    def _run(self) -> None:
        session: Session | None = None
        due = time.monotonic()
        while not self._ended.is_set():
            if not self._may_write.is_set():
                self._idle.set()
                self._may_write.wait()
                self._idle.clear()
                continue
            try:
                if session is None:
                    session = self._session()
                self._change(session)
            except (OSError, http.client.HTTPException):
                self.failures += 1
                if session is not None:
                    session.close()
                session = None
            due += self._wait
            time.sleep(max(0.0, due - time.monotonic()))
            due = max(due, time.monotonic() - self._wait)  # what could not be done is let go
        self._idle.set()
        if session is not None:
            session.close()

    def _session(self) -> Session:
        cluster = self._cluster
        return Session(cluster.server, self._tls, cluster.tokens[ADMIN], timeout=_PATIENCE)

    def _change(self, session: Session) -> None:
        """Create, change or delete, by what is believed to be there; who is wrong learns it."""
        name = self._rng.choice(self._names)
        turn = str(self.writes)
        if name not in self._there:
            answer = session.request("POST", self._path, config_map(name, turn=turn))
        elif self._rng.random() < 0.3:
            answer = session.request("DELETE", f"{self._path}/{name}")
        else:
            patch = {"data": {"turn": turn}}
            headers = {"Content-Type": MERGE_PATCH}
            answer = session.request("PATCH", f"{self._path}/{name}", patch, headers=headers)
        deleted = answer.status == 200 and b'"kind":"Status"' in answer.body
        if answer.status in (200, 201, 409) and not deleted:
            self._there.add(name)
        elif deleted or answer.status == 404:
            self._there.discard(name)
        self.writes += answer.status < 300
