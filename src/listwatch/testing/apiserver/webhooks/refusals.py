"""HTTP answers of webhooks that are none to the question, in the words of Go's client."""

from __future__ import annotations

import json

__all__ = ["unexpected"]

_SAID = {
    400: "the server rejected our request for an unknown reason",
    401: "the server has asked for the client to provide credentials",
    404: "the server could not find the requested resource",
    405: "the server does not allow this method on the requested resource",
    409: "the server reported a conflict",
    415: "the body of the request was in an unknown format",
    422: "the server rejected our request due to an error in our request",
    429: "the server has received too many requests and has asked us to try again later",
    503: "the server is currently unable to handle the request",
    504: (
        "the server was unable to return a response in the time allotted, but may still be "
        "processing the request"
    ),
}
_SHOWN = 2048
"""Bytes of a body that are repeated."""


def unexpected(status: int, body: bytes) -> str:
    """Why an answer with this status is none; empty: it may be one."""
    if 200 <= status <= 206:
        return ""
    told = _status_message(body)
    if told:
        return told
    text = body[:_SHOWN].decode("utf-8", "replace").strip()
    if status == 403 and text:
        return text
    if status in _SAID:
        return _SAID[status]
    if status >= 500:
        return f'an error on the server ("{text}") has prevented the request from succeeding'
    return f"the server responded with the status code {status} but did not return more information"


def _status_message(body: bytes) -> str:
    """Of a Status, as Kubernetes servers answer."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return ""  # it is none
    if not isinstance(value, dict) or value.get("kind") != "Status":
        return ""
    message = value.get("message")
    return message if isinstance(message, str) else ""
