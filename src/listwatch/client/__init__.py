"""What most programs begin with: objects, watches and mirrors of one server."""

from .client import Client

__all__ = ["Client"]
