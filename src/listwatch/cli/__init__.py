"""The `listwatch` command. Needs the extra `listwatch[cli]`; nothing heavy is imported before it
runs.
"""

from .command import main

__all__ = ["main"]
