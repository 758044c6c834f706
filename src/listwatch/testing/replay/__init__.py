"""Recorded exchanges, played over sockets, for tests and, as a program, for people."""

from .connection import ReplayedRequest
from .playlist import Match
from .server import ReplayServer

__all__ = ["Match", "ReplayServer", "ReplayedRequest"]
