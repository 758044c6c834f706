"""The exception for a Status: by its cause, its reason, its code."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from listwatch import api
from listwatch.api import (
    APIError,
    BadRequest,
    Conflict,
    Expired,
    Gone,
    InternalError,
    InvalidOptions,
    ListWatchError,
    MalformedObject,
    NotFound,
    ResourceVersionTooLarge,
    SelectorError,
    ServiceUnavailable,
    Status,
    StatusCause,
    StatusDetails,
    Timeout,
    TooManyRequests,
    Unauthorized,
    error_for_status,
)

pytestmark = pytest.mark.clause("A5")

TOO_LARGE = StatusDetails(causes=(StatusCause(reason="ResourceVersionTooLarge"),))
API_ERRORS = [
    cls
    for name in api.__all__
    if isinstance(cls := getattr(api, name), type) and issubclass(cls, APIError)
]


@pytest.mark.parametrize(
    ("reason", "name"),
    [
        *(
            (word, word)
            for word in (
                "Unauthorized",
                "Forbidden",
                "NotFound",
                "AlreadyExists",
                "Conflict",
                "Expired",
                "Gone",
                "Invalid",
                "BadRequest",
                "TooManyRequests",
                "InternalError",
                "ServerTimeout",
                "Timeout",
                "ServiceUnavailable",
                "NotAcceptable",
                "UnsupportedMediaType",
                "MethodNotAllowed",
                "RequestEntityTooLarge",
            )
        ),
        ("StorageReadError", "StorageReadFailed"),
        ("SomethingNew", "APIError"),
    ],
)
def test_there_is_one_class_per_reason(reason: str, name: str) -> None:
    error = error_for_status(Status(reason=reason, message="m"))
    assert type(error).__name__ == name
    assert isinstance(error, APIError)
    assert isinstance(error, ListWatchError)
    assert (error.reason, error.message, error.code) == (reason, "m", 0)


@pytest.mark.parametrize(
    ("code", "cls"),
    [
        (400, BadRequest),
        (401, Unauthorized),
        (404, NotFound),
        (409, Conflict),
        (410, Expired),
        (429, TooManyRequests),
        (500, InternalError),
        (502, InternalError),
        (503, ServiceUnavailable),
        (504, Timeout),
        (418, APIError),
        (0, APIError),
    ],
)
@pytest.mark.parametrize("reason", ["", "Unknown"])
def test_without_a_reason_the_code_decides(code: int, cls: type[APIError], reason: str) -> None:
    assert type(error_for_status(Status(code=code, reason=reason))) is cls


@pytest.mark.parametrize(
    ("code", "cls"), [(404, NotFound), (503, ServiceUnavailable), (500, APIError)]
)
def test_a_reason_of_a_newer_server_leaves_it_to_the_code(code: int, cls: type[APIError]) -> None:
    error = error_for_status(Status(code=code, reason="SomethingNew"))
    assert type(error) is cls
    assert error.reason == "SomethingNew"


@pytest.mark.parametrize(
    ("status", "cls"),
    [
        (Status(code=410, reason="Expired"), Expired),
        (Status(code=410, reason="Gone"), Gone),
        (Status(code=410), Expired),
        (Status(code=410, reason="Unknown"), Expired),
        (Status(code=410, reason="SomethingNew"), Expired),
        (Status(code=410, reason="InternalError"), Expired),
        (Status(reason="Expired"), Expired),
        (Status(code=500, reason="Expired"), Expired),
        (Status(reason="Gone"), Gone),
    ],
)
def test_expired_is_recognised_in_every_form(status: Status, cls: type[APIError]) -> None:
    error = error_for_status(status)
    assert type(error) is cls
    assert isinstance(error, Expired)
    assert error.is_expired


@pytest.mark.parametrize(
    ("status", "too_large"),
    [
        (Status(code=504, reason="Timeout", details=TOO_LARGE), True),
        (Status(details=TOO_LARGE), True),
        (Status(reason="Timeout", message="Too large resource version: 9, current: 5"), True),
        (Status(reason="Timeout", message="Timeout: Too large resource version: 9"), True),
        (Status(code=504, reason="Timeout", message="request did not complete"), False),
        (Status(code=500, reason="InternalError", message="Too large resource version"), False),
    ],
)
def test_an_rv_too_large_is_recognised_by_its_cause_or_by_what_older_servers_say(
    status: Status, too_large: bool
) -> None:
    error = error_for_status(status)
    assert isinstance(error, ResourceVersionTooLarge) is too_large
    assert not error.is_expired
    assert isinstance(error, Timeout) or not too_large


@pytest.mark.parametrize(
    ("header", "details", "seconds"),
    [(None, 0, None), (None, 3, 3.0), (5.0, 3, 5.0), (0.0, 3, 0.0), (2.5, 0, 2.5)],
)
def test_the_header_goes_before_the_details_in_what_the_server_asks_to_wait(
    header: float | None, details: int, seconds: float | None
) -> None:
    status = Status(code=429, details=StatusDetails(retry_after_seconds=details))
    assert error_for_status(status, retry_after=header).retry_after == seconds


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (Status(), "an error without any description"),
        (Status(code=418), "418"),
        (Status(code=404), "404 NotFound"),
        (Status(message="boom"), "boom"),
        (Status(reason="Expired", message="too old"), "Expired: too old"),
        (Status(code=500, message="boom"), "500 InternalError: boom"),
        (Status(code=401, reason="Unauthorized", message="Unauthorized"), "401 Unauthorized"),
        (Status(code=504, reason="Timeout", message="Timeout: slow"), "504 Timeout: slow"),
        (
            Status(code=409, reason="Conflict", message="two\n- lines\t."),
            "409 Conflict: two - lines .",
        ),
    ],
)
def test_its_text_is_one_clear_line(status: Status, text: str) -> None:
    assert str(error_for_status(status)) == text


def test_causes_are_told_unless_the_message_tells_them() -> None:
    told = StatusCause("FieldValueRequired", "Required value", "spec.image")
    untold = StatusCause("FieldValueInvalid", "must be positive", "spec.replicas")
    word = StatusCause("DisruptionBudget")
    field_only = StatusCause("FieldValueInvalid", "", "spec.other")
    status = Status(
        code=422,
        reason="Invalid",
        message='Pod "a" is invalid: spec.image: Required value',
        details=StatusDetails(causes=(told, untold, word, field_only)),
    )
    error = error_for_status(status)
    assert str(error) == (
        '422 Invalid: Pod "a" is invalid: spec.image: Required value '
        "(spec.replicas: must be positive; spec.other: FieldValueInvalid)"
    )
    assert error.causes == (told, untold, word, field_only)
    assert error.details is status.details


@pytest.mark.parametrize("cls", API_ERRORS, ids=lambda cls: cls.__name__)
def test_every_class_pickles_with_all_it_carries(cls: type[APIError]) -> None:
    status = Status(code=418, reason="X", message="m", details=StatusDetails(name="n"))
    loaded = pickle.loads(pickle.dumps(cls(status, retry_after=2.0)))
    assert type(loaded) is cls
    assert (loaded.status, loaded.retry_after) == (status, 2.0)
    assert str(loaded) == "418 X: m"


@pytest.mark.parametrize(
    "error",
    [SelectorError("bad", "a b", 2), MalformedObject("bad"), InvalidOptions("bad")],
)
def test_the_other_exceptions_pickle_and_are_value_errors(error: Any) -> None:
    loaded = pickle.loads(pickle.dumps(error))
    assert type(loaded) is type(error)
    assert str(loaded) == str(error)
    assert isinstance(error, ListWatchError)
    assert isinstance(error, ValueError)
