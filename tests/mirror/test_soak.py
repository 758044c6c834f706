"""A small `python -m bench.mirror`: thousands of objects, changes without a pause, a connection
that is cut again and again.
"""

from __future__ import annotations

import pytest

from bench.mirror import Soak, run


@pytest.mark.clause("H6", "H9", "E3", "I1")
@pytest.mark.parametrize("watch_list", [True, False], ids=["watch-list", "list"])
async def test_a_mirror_of_thousands_is_exact_after_cuts_and_leaves_nothing_behind(
    watch_list: bool,
) -> None:
    soak = Soak(
        objects=2000, rate=200, seconds=5, watch_list=watch_list, recheck=1.0, pooled=1, check=True
    )
    result = await run(soak)
    assert result.writes >= 1000
    assert result.cuts >= 2
    assert result.problems == []
    assert result.relists == {}
    assert sum(result.told.values()) == result.writes
    assert result.requests <= 2 * 10
