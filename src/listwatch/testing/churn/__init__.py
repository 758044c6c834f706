"""Clusters to look at: pods by the thousand, and what happens to them, all from a seed.

`Churn` makes them up, without I/O or a clock; `carry_out` does its steps to a core;
`ChurnDriver` does so at a steady rate.
"""

from __future__ import annotations

from .carry_out import carry_out
from .churn import Churn
from .driver import ChurnDriver
from .load import LoadError, parse_load
from .steps import Step, Verb

__all__ = ["Churn", "ChurnDriver", "LoadError", "Step", "Verb", "carry_out", "parse_load"]
