"""Claims for devices, and the devices (K28). The recorded answers of a real server
(`conformance/validation`) have the rest.
"""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.testing.apiserver.validation.checks import checks_of
from listwatch.testing.apiserver.validation.devices.device_names import pool_problems, uid_problems

from .hollows import bears_hollows

GROUP = "resource.k8s.io"
EXACT: dict[str, Any] = {
    "deviceClassName": "gpu",
    "allocationMode": "ExactCount",
    "count": 1,
    "selectors": [{"cel": {"expression": "true"}}],
    "tolerations": [{"key": "a", "operator": "Equal", "value": "b"}],
}
CONFIG = {"requests": ["a"], "opaque": {"driver": "example.com", "parameters": {}}}
SPEC: dict[str, Any] = {
    "devices": {
        "requests": [
            {"name": "a", "exactly": EXACT},
            {"name": "b", "firstAvailable": [{"name": "c", **EXACT}]},
        ],
        "constraints": [{"requests": ["a", "b/c"], "matchAttribute": "example.com/a"}],
        "config": [CONFIG],
    }
}
RESULT = {"request": "a", "driver": "example.com", "pool": "p", "device": "d"}
CLAIM: dict[str, Any] = {
    "metadata": {"name": "a"},
    "spec": SPEC,
    "status": {
        "allocation": {"devices": {"results": [RESULT], "config": [{"source": "FromClaim"}]}},
        "reservedFor": [{"resource": "pods", "name": "a", "uid": "u"}],
        "devices": [{**RESULT, "conditions": [{"type": "a"}], "data": {}}],
    },
}
CLASS = {"spec": {"selectors": EXACT["selectors"], "config": [CONFIG]}}
TEMPLATE = {"spec": {"metadata": {"labels": {"a": "b"}}, "spec": SPEC}}
SLICE: dict[str, Any] = {
    "spec": {
        "driver": "example.com",
        "pool": {"name": "p", "resourceSliceCount": 1},
        "nodeName": "n",
        "devices": [
            {
                "name": "a",
                "attributes": {"a": {"string": "b"}},
                "capacity": {
                    "m": {
                        "value": "10",
                        "requestPolicy": {"default": "2", "validRange": {"min": "2", "step": "2"}},
                    },
                    "n": {"value": "3", "requestPolicy": {"default": "1", "validValues": ["1"]}},
                },
                "allowMultipleAllocations": True,
                "taints": [{"key": "a", "effect": "None"}],
                "consumesCounters": [{"counterSet": "a", "counters": {"b": {"value": "1"}}}],
                "bindingConditions": ["a"],
                "bindingFailureConditions": ["b"],
            }
        ],
    }
}


def test_nothing_is_wrong_with_plain_ones() -> None:
    assert not list(checks_of(f"{GROUP}/resourceclaims").create(CLAIM))
    assert not list(checks_of(f"{GROUP}/resourceslices").create(SLICE))


def test_what_is_asked_for_stays() -> None:
    checks = checks_of(f"{GROUP}/resourceclaims")
    (problem,) = checks.of_update({**CLAIM, "spec": {"devices": {}}}, CLAIM)
    assert problem.message == (
        'Invalid value: {"Devices":{"Requests":null,"Constraints":null,"Config":null}}: field is '
        "immutable"
    )


def test_what_is_allocated_stays() -> None:
    checks = checks_of(f"{GROUP}/resourceclaims")
    other = {"devices": {"results": [{**RESULT, "device": "e"}]}}
    status = {**CLAIM["status"], "allocation": other, "devices": []}
    (problem,) = checks.status({**CLAIM, "status": status}, CLAIM)
    assert problem.field == "status.allocation"


def test_a_claim_that_goes_is_reserved_for_nobody_new() -> None:
    checks = checks_of(f"{GROUP}/resourceclaims")
    dying = {**CLAIM, "metadata": {"name": "a", "deletionTimestamp": "2026-01-01T00:00:00Z"}}
    more = [*CLAIM["status"]["reservedFor"], {"resource": "pods", "name": "b", "uid": "v"}]
    new = {**dying, "status": {**CLAIM["status"], "reservedFor": more}}
    assert "status.reservedFor" in {problem.field for problem in checks.status(new, dying)}
    assert "status.reservedFor" not in {problem.field for problem in checks.status(dying, dying)}


def test_pools_have_names_of_several_parts() -> None:
    assert not list(pool_problems("pool", "a/b.c"))
    assert list(pool_problems("pool", "a//b"))


@pytest.mark.parametrize(
    ("uid", "why"),
    [
        ("x", "error validating uid: invalid UUID length: 1"),
        ("x" * 36, "error validating uid: invalid UUID format"),
        ("A" * 32, "uid must be in RFC 4122 normalized form"),
        ("00000000-0000-0000-0000-00000000000a", ""),
    ],
)
def test_the_forms_of_a_uid(uid: str, why: str) -> None:
    found = [problem.message for problem in uid_problems("uid", uid)]
    assert len(found) == bool(why)
    assert all(why in text for text in found)


@pytest.mark.parametrize(
    ("storage", "obj"),
    [
        ("deviceclasses", CLASS),
        ("resourceclaims", {"spec": SPEC, "status": CLAIM["status"]}),
        ("resourceclaimtemplates", TEMPLATE),
        ("resourceslices", SLICE),
    ],
)
def test_anything_may_be_missing(storage: str, obj: dict[str, Any]) -> None:
    bears_hollows(checks_of(f"{GROUP}/{storage}"), obj)
