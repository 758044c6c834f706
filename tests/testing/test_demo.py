from __future__ import annotations

from listwatch.testing import demo_recordings


def test_the_demo_lists_and_watches_the_same_namespace() -> None:
    recordings = demo_recordings()
    lists = {each.path for each in recordings if each.is_list}
    watches = {each.path for each in recordings if each.is_watch}
    assert lists == watches
    assert "/api/v1/namespaces/rec/pods" in lists
    assert all(each.status == 200 and each.complete for each in recordings)


def test_the_demo_is_short_and_small() -> None:
    recordings = demo_recordings()
    assert max(each.seconds for each in recordings) < 10
    assert sum(len(each.request) + len(each.response) for each in recordings) < 300_000
