"""One event of a watch."""

from __future__ import annotations

import pytest

from listwatch.api import (
    INITIAL_EVENTS_END,
    Event,
    EventType,
    ObjectMeta,
    PartialObjectMetadata,
    Status,
    Unstructured,
)


def bookmark(**annotations: str) -> PartialObjectMetadata:
    return PartialObjectMetadata(metadata=ObjectMeta(resource_version="5", annotations=annotations))


@pytest.mark.clause("D2")
def test_the_types_are_the_words_on_the_wire() -> None:
    assert {kind.value for kind in EventType} == {
        "ADDED",
        "MODIFIED",
        "DELETED",
        "BOOKMARK",
        "ERROR",
    }
    assert EventType("ADDED") is EventType.ADDED


@pytest.mark.clause("D3")
def test_the_status_of_an_error_is_its_object_and_other_events_have_none() -> None:
    status = Status(code=410, reason="Expired")
    assert Event(EventType.ERROR, status).status is status
    pod = Unstructured.from_dict({"metadata": {"name": "a"}})
    assert Event(EventType.ADDED, pod).status is None
    # A watched kind may itself be called Status; only an ERROR says that something is wrong.
    assert Event(EventType.ADDED, status).status is None


@pytest.mark.clause("D4")
@pytest.mark.parametrize(
    ("event", "is_end"),
    [
        (Event(EventType.BOOKMARK, bookmark(**{INITIAL_EVENTS_END: "true"})), True),
        (Event(EventType.BOOKMARK, bookmark(**{INITIAL_EVENTS_END: "false"})), False),
        (Event(EventType.BOOKMARK, bookmark()), False),
        (Event(EventType.ADDED, bookmark(**{INITIAL_EVENTS_END: "true"})), False),
    ],
)
def test_only_an_annotated_bookmark_ends_the_initial_events(
    event: Event[PartialObjectMetadata], is_end: bool
) -> None:
    assert event.is_initial_events_end is is_end


@pytest.mark.clause("A6")
def test_an_event_cannot_be_changed() -> None:
    event = Event(EventType.ADDED, Unstructured.from_dict({"metadata": {"name": "a"}}))
    with pytest.raises(AttributeError):
        event.type = EventType.DELETED  # type: ignore[misc]
