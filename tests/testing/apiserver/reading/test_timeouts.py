"""The parameter `timeout`: looked at before anything else of a request."""

from __future__ import annotations

import pytest

from tests.testing.apiserver.asking import Asking, message

PODS = "/api/v1/namespaces/default/pods"


@pytest.mark.parametrize(
    ("timeout", "wrong"),
    [
        ("x", 'invalid duration "x"'),
        ("5", 'missing unit in duration "5"'),
        ("1s1", 'missing unit in duration "1s1"'),
        (".s", 'invalid duration ".s"'),
        ("-", 'invalid duration "-"'),
        ("1d", 'unknown unit "d" in duration "1d"'),
        ("1h-1m", 'unknown unit "h-" in duration "1h-1m"'),
        ("3000000h", 'invalid duration "3000000h"'),
        ("1" * 5000 + "s", f'invalid duration "{"1" * 5000}s"'),
    ],
)
def test_what_is_no_duration_is_refused(timeout: str, wrong: str) -> None:
    for path in (PODS, "/version", "/nosuch", "/healthz"):
        answer = Asking().get(f"{path}?timeout={timeout}")
        assert answer.status == 400
        assert message(answer) == f"invalid timeout specified in the request URL - time: {wrong}"


@pytest.mark.parametrize("timeout", ["", "0", "5s", "1.5h", ".5s", "1m1s", "-1s", "1us5ms"])
def test_a_duration_is_no_matter(timeout: str) -> None:
    assert Asking().get(f"{PODS}?timeout={timeout}").status == 200
