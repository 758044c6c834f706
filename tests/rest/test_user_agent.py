from __future__ import annotations

import re

import pytest

from listwatch._version import __version__
from listwatch.rest.user_agent import user_agent

pytestmark = pytest.mark.clause("B10")


def test_it_names_the_library_its_version_the_platform_and_python() -> None:
    assert re.fullmatch(
        rf"listwatch/{re.escape(__version__)} \([a-z]+; \S+\) python/3\.\d+\.\d+\S*", user_agent()
    )


def test_a_program_comes_first_because_the_server_names_field_managers_after_it() -> None:
    assert user_agent("my-operator/1.2") == f"my-operator/1.2 {user_agent()}"
