"""`listwatch replay`: recordings, played over a socket until Ctrl-C."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from listwatch.testing import Match, Recording, ReplayServer, demo_recordings
from listwatch.testing.replay.commands import command_for

from .failures import CommandError
from .notes import say
from .speed import Speed

__all__ = ["replay"]


async def replay(files: Sequence[Path], *, port: int, speed: Speed, loop: bool) -> int:
    """Serve until cancelled. A request gets the recording of its path, whatever its query."""
    recordings = _load(files) if files else demo_recordings()
    server = ReplayServer(recordings, speed=speed.factor, match=Match.PATH, loop=loop, port=port)
    try:
        await server.start()
    except OSError as error:
        raise CommandError(f"cannot listen on port {port}: {error.strerror}") from error
    try:
        say(f"{len(recordings)} recordings at {server.url}, until Ctrl-C. To try them:")
        for command in dict.fromkeys(_command(recording, server.url) for recording in recordings):
            say(f"  {command}")
        await asyncio.get_running_loop().create_future()
        return 0
    finally:
        await server.stop()


def _load(files: Sequence[Path]) -> list[Recording]:
    recordings = []
    for file in files:
        try:
            recordings.append(Recording.load(file))
        except ValueError as error:
            raise CommandError(f"{file}: {error}") from error
    return recordings


def _command(recording: Recording, url: str) -> str:
    """How to ask for it."""
    curl = f"curl -si -X {recording.method or 'GET'} '{url}{recording.target}'"
    return command_for(recording, url) or curl
