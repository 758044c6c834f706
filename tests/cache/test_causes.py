"""Why a request failed, or a stream ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from listwatch.api import (
    Event,
    EventType,
    InvalidOptions,
    MalformedObject,
    Status,
    StatusCause,
    StatusDetails,
    error_for_response,
    error_for_status,
)
from listwatch.cache.causes import HOPELESS, UNREACHED, Cause, cause_of, cause_of_end
from listwatch.cache.pager import PagerError
from listwatch.rest import (
    ClientConfig,
    InvalidRequest,
    RESTClient,
    UnexpectedContent,
    UnknownResource,
)
from listwatch.rest.errors import (
    ConfigError,
    ConnectFailed,
    ConnectionLost,
    ConnectionRefused,
    CredentialsFailed,
    TLSFailed,
    TransportTimeout,
)
from listwatch.wire import ListDecodeError, UnexpectedEOF

from .scripted import error_event, failure, refusal, status, too_large, too_large_status


@pytest.mark.clause("A5", "H7")
@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (refusal(400), Cause.BAD_REQUEST),
        (refusal(401), Cause.UNAUTHORIZED),
        (refusal(403), Cause.FORBIDDEN),
        (refusal(404), Cause.NOT_FOUND),
        (refusal(405), Cause.UNSUPPORTED),
        (refusal(406), Cause.UNSUPPORTED),
        (refusal(409), Cause.SERVER),
        (refusal(410), Cause.EXPIRED),
        (refusal(415), Cause.UNSUPPORTED),
        (refusal(422), Cause.UNSUPPORTED),
        (refusal(429), Cause.TOO_MANY),
        (refusal(500), Cause.INTERNAL),
        (refusal(503), Cause.SERVER),
        (refusal(504), Cause.SERVER),
        (too_large(), Cause.TOO_LARGE),
        (UnknownResource("no such type", text="gizmos"), Cause.UNKNOWN),
        (ConnectionRefused("no"), Cause.REFUSED),
        (ConnectFailed("no"), Cause.UNREACHABLE),
        (TLSFailed("no"), Cause.TLS),
        (CredentialsFailed("no"), Cause.CREDENTIALS),
        (ConfigError("no such CA"), Cause.TLS),
        (ConnectionLost("no"), Cause.LOST),
        (TransportTimeout("no"), Cause.TIMED_OUT),
        (UnexpectedContent("text/html", "application/json", b"<html>"), Cause.UNREADABLE),
        (ListDecodeError("no list"), Cause.UNREADABLE),
        (MalformedObject("no name"), Cause.UNREADABLE),
        (PagerError("no end"), Cause.UNREADABLE),
        # Of somebody else's source
        (ConnectionRefusedError("no"), Cause.REFUSED),
        (ConnectionResetError("no"), Cause.LOST),
        (BrokenPipeError("no"), Cause.LOST),
        (TimeoutError("no"), Cause.TIMED_OUT),
        (UnexpectedEOF("no"), Cause.LOST),
        (EOFError("no"), Cause.LOST),
        (OSError("no route to host"), Cause.UNREACHABLE),
        (KeyError("what"), Cause.SOURCE),
    ],
    ids=lambda value: value.name if isinstance(value, Cause) else repr(value),
)
def test_each_error_stands_for_one_cause(error: Exception, cause: Cause) -> None:
    assert cause_of(error) is cause


@pytest.mark.clause("H8")
@pytest.mark.parametrize(
    "told",
    [
        Status(code=410),
        Status(reason="Expired"),
        Status(reason="Gone"),
        Status(code=410, reason="InternalError"),
        Status(code=410, reason="SomethingNew"),
    ],
    ids=repr,
)
def test_expired_is_known_in_every_form(told: Status) -> None:
    assert cause_of(error_for_status(told)) is Cause.EXPIRED
    assert cause_of_end(error_event(told))[0] is Cause.EXPIRED


@pytest.mark.clause("H1")
@pytest.mark.parametrize(
    "told",
    [
        too_large_status(),
        Status(code=504, reason="Timeout", message="Too large resource version: 9, current: 5"),
    ],
    ids=["by its cause", "of an old server, by its message"],
)
def test_too_large_an_rv_is_known_in_both_forms(told: Status) -> None:
    assert cause_of(error_for_status(told)) is Cause.TOO_LARGE
    assert cause_of_end(error_event(told))[0] is Cause.TOO_LARGE


@pytest.mark.clause("A5")
@pytest.mark.parametrize(
    ("code", "cause"),
    [(503, Cause.SERVER), (502, Cause.INTERNAL), (403, Cause.FORBIDDEN), (429, Cause.TOO_MANY)],
)
def test_an_answer_that_is_no_status_has_a_cause_by_its_code(code: int, cause: Cause) -> None:
    assert cause_of(error_for_response(code, "text/html", b"<h1>no</h1>")) is cause


@pytest.mark.clause("E2", "H10")
def test_what_the_watcher_could_not_read_is_no_internal_error_of_the_server() -> None:
    ours = Status(
        code=500,
        reason="InternalError",
        details=StatusDetails(causes=(StatusCause(reason="ClientWatchDecoding"),)),
    )
    assert cause_of_end(error_event(ours))[0] is Cause.UNREADABLE
    assert cause_of_end(failure(500))[0] is Cause.INTERNAL


def test_the_end_of_a_stream_comes_with_an_error_for_people() -> None:
    cause, error = cause_of_end(failure(429))
    assert cause is Cause.TOO_MANY
    assert str(error) == "429 TooManyRequests: a scripted 429"


@pytest.mark.clause("D3")
def test_an_error_event_without_a_status_is_an_internal_error() -> None:
    cause, error = cause_of_end(Event(EventType.ERROR, b"what"))
    assert (cause, error.code) == (Cause.INTERNAL, 500)


def test_each_cause_reads_as_words_and_no_two_alike() -> None:
    assert len({str(cause) for cause in Cause}) == len(Cause)
    assert all(str(cause) and not str(cause).isupper() for cause in Cause)


@pytest.mark.clause("A5", "N2")
async def test_certificates_that_cannot_be_used_are_hopeless_and_reach_nobody(
    tmp_path: Path,
) -> None:
    config = ClientConfig(server="https://127.0.0.1:1", ca_file=tmp_path / "missing")
    async with RESTClient(config) as client:
        with pytest.raises(ConfigError, match="missing cannot be read") as caught:
            await client.read("/version")
    assert cause_of(caught.value) in HOPELESS & UNREACHED


def test_what_is_hopeless_can_all_be_answered_in_the_first_place() -> None:
    assert {Cause.UNAUTHORIZED, Cause.FORBIDDEN, Cause.NOT_FOUND} <= HOPELESS
    assert {Cause.BAD_REQUEST, Cause.TLS} <= HOPELESS
    # A server that restarts does these: waiting mends them.
    assert not HOPELESS & {Cause.REFUSED, Cause.UNREACHABLE, Cause.LOST, Cause.SERVER}
    assert not UNREACHED & {Cause.CLEAN, Cause.IDLE, Cause.SERVER, Cause.TOO_MANY}


@pytest.mark.parametrize("error", [InvalidRequest("no"), InvalidOptions("no")])
def test_a_request_that_is_never_sent_is_nobodys_answer(error: Exception) -> None:
    assert cause_of(error) is Cause.UNREADABLE


def test_a_status_by_reason_only_is_known(  # as in an ERROR event, which needs no code
) -> None:
    assert cause_of_end(error_event(Status(reason="TooManyRequests")))[0] is Cause.TOO_MANY
    assert cause_of_end(error_event(Status(reason="InternalError")))[0] is Cause.INTERNAL
    assert cause_of_end(error_event(status(404)))[0] is Cause.NOT_FOUND
