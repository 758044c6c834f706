"""What a reflector can be told, and what makes no sense."""

from __future__ import annotations

import math
from typing import Any

import pytest

from listwatch.cache import ReflectorOptions

pytestmark = pytest.mark.clause("H3")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"page_size": 0}, "page_size"),
        ({"page_size": 2.5}, "page_size"),
        ({"resync_period": 0}, "resync_period"),
        ({"resync_period": math.nan}, "resync_period"),
        ({"internal_error_budget": -1}, "internal_error_budget"),
        ({"internal_error_budget": math.nan}, "internal_error_budget"),
        ({"timeout_seconds": (0, 5)}, "timeout_seconds"),
        ({"timeout_seconds": (6, 5)}, "timeout_seconds"),
        ({"timeout_seconds": (1.5, 2.5)}, "timeout_seconds"),
        ({"timeout_seconds": (300,)}, "timeout_seconds"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused_where_it_is_said(given: dict[str, Any], said: str) -> None:
    # Not when it is first used, which would end a reflector that runs.
    with pytest.raises(ValueError, match=said):
        ReflectorOptions(**given)


def test_equal_bounds_are_fine() -> None:
    assert ReflectorOptions(timeout_seconds=(5, 5), page_size=1).timeout_seconds == (5, 5)
