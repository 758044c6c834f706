from __future__ import annotations

import pickle

import pytest

from listwatch.api import ListWatchError
from listwatch.rest.errors import (
    ConnectFailed,
    ConnectionLost,
    ConnectionRefused,
    InvalidRequest,
    TLSFailed,
    TransportError,
    TransportTimeout,
    UnexpectedContent,
)
from listwatch.wire import UnsupportedContentType


@pytest.mark.clause("B5")
@pytest.mark.parametrize(
    ("ours", "builtin"),
    [
        (ConnectionRefused, ConnectionRefusedError),
        (ConnectFailed, ConnectionError),
        (TLSFailed, ConnectionError),
        (ConnectionLost, ConnectionResetError),
        (TransportTimeout, TimeoutError),
    ],
)
def test_each_failure_of_the_way_is_also_the_builtin_exception_a_reader_would_expect(
    ours: type[TransportError], builtin: type[Exception]
) -> None:
    error = ours("no luck", url="https://host:6443/api")
    assert isinstance(error, builtin)
    assert isinstance(error, ListWatchError)
    assert str(error) == "no luck"
    assert error.url == "https://host:6443/api"


@pytest.mark.clause("B6")
def test_unexpected_content_names_its_type_and_shows_how_it_begins() -> None:
    error = UnexpectedContent("text/html", "application/json", b"<h1>Sign in</h1>")
    assert isinstance(error, UnsupportedContentType)
    assert "'text/html'" in str(error)
    assert str(error).endswith("It begins: <h1>Sign in</h1>")


@pytest.mark.parametrize(
    "error",
    [
        ConnectionLost("gone", url="https://host/"),
        TransportTimeout("slow", url="https://host/"),
        InvalidRequest("no"),
        UnexpectedContent("text/html", "application/json", b"<html>"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_travel_between_processes(error: Exception) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)
