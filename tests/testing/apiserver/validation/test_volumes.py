"""The volumes of pods (K28). The recorded answers of a real server (`conformance/validation`) have
the rest.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from listwatch.testing.apiserver.defaulting.volume_defaults import fill_volume
from listwatch.testing.apiserver.validation.pod.volume_warnings import volume_warnings
from listwatch.testing.apiserver.validation.pod.volumes import valid_volumes
from tests.testing.apiserver.validation.go_values import any_value, member_of

EMPTY = {"name": "a", "emptyDir": {}}
PATH = "spec.volumes"


def told(*volumes: dict[str, Any], pod: str = "") -> list[str]:
    metadata = {"name": pod} if pod else None
    return [str(problem) for problem in valid_volumes(volumes, PATH, metadata)[1]]


def test_a_volume_comes_from_one_place() -> None:
    assert told(EMPTY) == []
    assert told({"name": "a"}) == ["spec.volumes[0]: Required value: must specify a volume type"]
    both = {**EMPTY, "hostPath": {"path": "/a"}}
    text = "spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type"
    assert told(both) == [text]


def test_a_name_belongs_to_one_valid_volume() -> None:
    assert told(EMPTY, EMPTY) == ['spec.volumes[1].name: Duplicate value: "a"']
    wrong = {"name": "a", "hostPath": {}}
    assert told(wrong, EMPTY) == ["spec.volumes[0].hostPath.path: Required value"]


def test_containers_can_mount_what_is_valid() -> None:
    valid, problems = valid_volumes([{"name": "b"}, EMPTY], PATH)
    assert valid == [EMPTY]
    assert len(problems) == 1


def test_a_claim_that_is_made_for_the_pod_is_not_asked_for_by_name() -> None:
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1"}}}
    made = {"name": "data", "ephemeral": {"volumeClaimTemplate": {"spec": claim}}}
    asked = {"name": "other", "persistentVolumeClaim": {"claimName": "web-data"}}
    assert told(made, asked) == []
    (text,) = told(made, asked, pod="web")
    assert text.endswith("must not reference a PVC that gets created for an ephemeral volume")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/a", "must be a relative path"),
        ("a/../b", "must not contain '..'"),
        ("..a", "must not start with '..'"),
    ],
)
def test_a_file_stays_in_its_volume(path: str, text: str) -> None:
    source = {"secretName": "s", "items": [{"key": "k", "path": path}]}
    (problem,) = told({"name": "a", "secret": source})
    assert problem == f'spec.volumes[0].secret.items[0].path: Invalid value: "{path}": {text}'


def test_files_in_each_others_way_are_warned_of() -> None:
    items = [{"key": "a", "path": "a"}, {"key": "b", "path": "a/b/"}]
    volume = {"name": "v", "configMap": {"name": "c", "items": items}}
    assert list(volume_warnings([volume], PATH)) == [
        'volume "v" (ConfigMap "c"): overlapping paths: "a/b" with "a"'
    ]


def test_a_volume_from_nowhere_is_an_empty_directory() -> None:
    assert fill_volume({"name": "a"}) == EMPTY
    assert fill_volume({"name": "a", "hostPath": {"path": "/a"}})["hostPath"]["type"] == ""
    assert fill_volume({"name": "a", "secret": {}})["secret"] == {"defaultMode": 420}


def test_projections_that_are_not_served_are_left_out() -> None:
    sources = [{"clusterTrustBundle": {"path": "a"}}, {"serviceAccountToken": {"path": "b"}}]
    filled = fill_volume({"name": "a", "projected": {"sources": sources}})
    assert filled["projected"] == {
        "defaultMode": 420,
        "sources": [{}, {"serviceAccountToken": {"path": "b", "expirationSeconds": 3600}}],
    }


VOLUMES = member_of("v1", "Pod", "spec", "volumes")


@settings(max_examples=50, deadline=None)
@given(st.randoms(use_true_random=True))
def test_whatever_is_sent_is_told_of(rng: Random) -> None:
    volumes = any_value(VOLUMES, rng)
    _, problems = valid_volumes(volumes, PATH, {"name": "web"})
    assert all(problem.field.startswith(PATH) for problem in problems)
    assert all(isinstance(text, str) for text in volume_warnings(volumes or (), PATH))
