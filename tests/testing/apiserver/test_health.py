"""Health (K26)."""

from __future__ import annotations

import pytest

from .asking import Asking


@pytest.mark.parametrize("endpoint", ["healthz", "livez", "readyz"])
def test_a_server_is_healthy_from_the_beginning(endpoint: str) -> None:
    answer = Asking().get(f"/{endpoint}")
    assert (answer.status, answer.body) == (200, b"ok")
    assert answer.content_type == "text/plain; charset=utf-8"


def test_verbose_lists_the_checks_and_those_that_are_left_out() -> None:
    lines = Asking().get("/readyz?verbose&exclude=etcd").body.decode().splitlines()
    assert lines[0] == "[+]ping ok"
    assert "[+]etcd excluded: ok" in lines
    assert lines[-1] == "readyz check passed"


def test_one_check_can_be_asked_alone() -> None:
    assert Asking().get("/livez/etcd").body == b"ok"
    assert Asking().get("/livez/nosuch").status == 404


def test_after_a_restart_it_lives_before_it_is_ready() -> None:
    ask = Asking()
    ask.server.restart(ready_after=1.3)
    late = ask.get("/readyz")
    assert late.status == 500
    assert b"[-]informer-sync failed: reason withheld\n" in late.body
    assert late.body.endswith(b"readyz check failed\n")
    assert ask.get("/readyz/informer-sync").status == 500
    assert ask.get("/readyz/ping").status == 200
    assert ask.get("/livez").status == 200
    assert ask.get("/api/v1/pods").status == 200
    ask.wait(1.3)
    assert ask.get("/readyz").status == 200
