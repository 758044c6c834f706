from __future__ import annotations

import pytest

from listwatch.testing.apiserver.reading.negotiation import accepts_plain, clauses


def test_the_highest_quality_comes_first_and_of_equals_the_first() -> None:
    # K6
    header = "application/yaml;q=0.5, application/json;as=Table, text/html;q=nonsense, */*;q=0.1"
    assert [clause.type for clause in clauses(header)] == [
        "application/json",
        "text/html",
        "application/yaml",
        "*/*",
    ]
    assert clauses(header)[0].parameter("as") == "Table"
    assert clauses(header)[0].parameter("nosuch") == ""


@pytest.mark.parametrize(
    ("accept", "accepted"),
    [
        ("", True),
        (" , ", True),
        ("application/json", True),
        ("application/json; charset=utf-8", True),
        ("Application/JSON", False),
        ("application/yaml", True),
        ("application/*", True),
        ("text/plain", False),
        ("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", False),
        ("text/plain, */*;q=0.1", True),
    ],
)
def test_plain_json_is_accepted_by(accept: str, accepted: bool) -> None:
    assert accepts_plain(accept) is accepted
