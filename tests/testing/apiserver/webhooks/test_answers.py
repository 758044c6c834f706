"""Answers of webhooks, whatever they are, and what is left of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.testing.apiserver.webhooks.answers import Failed
from listwatch.testing.apiserver.webhooks.refusals import unexpected
from listwatch.testing.apiserver.webhooks.reviews import verdict

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)
_MEMBERS = ("uid", "allowed", "status", "patch", "patchType", "auditAnnotations", "warnings")


def _answer(**response: Any) -> bytes:
    head = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
    return json.dumps({**head, "response": {"uid": "u", "allowed": True, **response}}).encode()


@given(st.dictionaries(st.sampled_from(_MEMBERS), _JSON), st.booleans())
def test_whatever_is_answered_is_a_verdict_or_a_failure(
    response: dict[str, Any], mutating: bool
) -> None:
    for version in ("v1", "v1beta1"):
        try:
            found = verdict(_answer(**response), "u", version, mutating=mutating)
        except Failed:
            continue
        assert all(isinstance(warning, str) for warning in found.warnings)


@given(st.binary() | _JSON.map(lambda value: json.dumps(value).encode()))
def test_what_is_no_review_has_failed(body: bytes) -> None:
    with pytest.raises(Failed):
        verdict(body, "u", "v1", mutating=False)


@pytest.mark.parametrize(
    ("response", "why"),
    [
        ({"warnings": 5}, "number into Go struct field AdmissionResponse.response.warnings"),
        ({"warnings": ["a", 5]}, "number into Go struct field"),
        ({"allowed": "true"}, "string into Go struct field AdmissionResponse.response.allowed"),
        ({"status": "x"}, "string into Go struct field"),
        ({"status": {"code": "x"}}, "string into Go struct field"),
        ({"uid": 5}, "number into Go struct field AdmissionResponse.response.uid"),
    ],
)
def test_members_have_their_types(response: dict[str, Any], why: str) -> None:
    with pytest.raises(Failed, match=why):
        verdict(_answer(**response), "u", "v1", mutating=False)


@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"response": ' + b"[" * 100_000])
def test_depth_is_no_trouble(body: bytes) -> None:
    with pytest.raises(Failed):
        verdict(body, "u", "v1", mutating=False)


@pytest.mark.parametrize(
    ("status", "body", "why"),
    [
        (200, b"", ""),
        (204, b"", ""),
        (404, b"x", "the server could not find the requested resource"),
        (403, b"not you", "not you"),
        (503, b"x", "the server is currently unable to handle the request"),
        (500, b"x", 'an error on the server ("x") has prevented the request from succeeding'),
        (302, b"", "the server responded with the status code 302 but did not return more"),
        (500, b'{"kind": "Status", "message": "mine"}', "mine"),
    ],
)
def test_other_statuses_are_told_in_the_words_of_a_real_server(
    status: int, body: bytes, why: str
) -> None:
    told = unexpected(status, body)
    assert told.startswith(why)
    assert bool(told) == bool(why)
