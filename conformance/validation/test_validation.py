"""What is refused, and in which words, is what a real server refuses, in its words (K28, K29)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.cluster import Cluster
from conformance.requests import Json
from conformance.two_servers import EmbeddedCluster
from conformance.validation.asking import Asker
from conformance.validation.cases import AREAS, Case, bases, read_answers

LONGEST = 120  # of an id


def short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


CASES = [
    pytest.param(case, id=short(f"{area}: {case.title}"))
    for area in AREAS
    for base in bases(area)
    for case in base.cases
]


@pytest.fixture(scope="module")
def embedded_asker() -> Iterator[Asker]:
    server = EmbeddedCluster()
    with server.session() as session:
        yield Asker(session)
    server.stop()


@pytest.fixture(scope="module")
def real_asker(cluster: Cluster) -> Iterator[Asker]:
    with cluster.session() as session:
        yield Asker(session, is_real=True)


@pytest.fixture(scope="module", params=("embedded", "real"))
def asker(request: pytest.FixtureRequest) -> Asker:
    """One of the embedded server, and one of the real one."""
    found = request.getfixturevalue(f"{request.param}_asker")
    assert isinstance(found, Asker)
    return found


@pytest.mark.parametrize("case", CASES)
def test_an_object_is_taken_or_refused_as_by_a_real_server(asker: Asker, case: Case) -> None:
    answer, recorded = asker.answer(case), read_answers(case.base.area)[case.title]
    if asker.is_real:  # Go walks maps in any order
        answer, recorded = _sorted(answer), _sorted(recorded)
    assert answer == recorded


def _sorted(answer: Json) -> Json:
    lists = {name: sorted(answer[name]) for name in ("causes", "warnings") if name in answer}
    return {**answer, **lists}


@pytest.mark.parametrize("area", AREAS)
def test_every_answer_belongs_to_a_case(area: str) -> None:
    assert [case.title for base in bases(area) for case in base.cases] == list(read_answers(area))
