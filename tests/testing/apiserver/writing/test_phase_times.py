"""Since when a PersistentVolume is in its phase."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.testing.apiserver.writing.status_writes import with_phase_time

OLD, TOLD, NOW = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z"


@pytest.mark.parametrize(
    ("new", "since"),
    [
        ({"phase": "Bound"}, NOW),
        ({"phase": "Bound", "lastPhaseTransitionTime": OLD}, NOW),
        ({"phase": "Bound", "lastPhaseTransitionTime": TOLD}, TOLD),
        ({"phase": "Pending"}, OLD),
        ({"phase": "Pending", "lastPhaseTransitionTime": TOLD}, TOLD),
    ],
)
def test_another_phase_begins_now_unless_that_is_told(new: dict[str, Any], since: str) -> None:
    old = {"status": {"phase": "Pending", "lastPhaseTransitionTime": OLD}}
    found = with_phase_time(old, {"status": new}, NOW)["status"]
    assert found == {"phase": new["phase"], "lastPhaseTransitionTime": since}
