"""What every test runs under: nothing may leak, time may be virtual, and clauses are counted."""

from __future__ import annotations

pytest_plugins = [
    "tests.support.clauses",
    "tests.support.leaks",
    "tests.support.virtual_time",
]
