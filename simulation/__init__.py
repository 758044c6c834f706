"""Mirrors under faults, in virtual time: what must hold whatever happens, proved over many seeds.

`python -m simulation --seeds 1000`; the manual is `docs/simulation.md`.
"""
