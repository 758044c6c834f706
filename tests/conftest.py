"""What every test runs under: nothing may leak, time may be virtual, and clauses are counted."""

from __future__ import annotations

import signal

from hypothesis import HealthCheck, settings

# How long an example takes says something of the machine, not of the library.
settings.register_profile("listwatch", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("listwatch")

# A shell that runs this in the background ignores Ctrl-C for it, and for every program that a test
# starts: tests of Ctrl-C would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

pytest_plugins = [
    "tests.support.clauses",
    "tests.support.leaks",
    "tests.support.virtual_time",
]
