"""`python -m listwatch.testing.replay FILE.http...` plays recordings to whoever asks."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence

from listwatch.testing.recording import Recording
from listwatch.testing.recordings import demo_recordings

from .commands import command_for
from .playlist import Match
from .server import ReplayServer


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; its exit status."""
    options = _parser().parse_args(arguments)
    try:
        recordings = [Recording.load(path) for path in options.files] or demo_recordings()
        asyncio.run(_serve(recordings, options))
    except KeyboardInterrupt:
        return 0  # the way to end it
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


async def _serve(recordings: Sequence[Recording], options: argparse.Namespace) -> None:
    server = ReplayServer(
        recordings,
        speed=options.speed,
        match=Match(options.match),
        loop=options.loop,
        port=options.port,
    )
    async with server:
        sys.stdout.write(describe(recordings, server.url))
        sys.stdout.flush()
        await asyncio.get_running_loop().create_future()


def describe(recordings: Sequence[Recording], url: str) -> str:
    """What is played where, and how to ask for it."""
    number = f"{len(recordings)} recording{'s' if len(recordings) != 1 else ''}"
    lines = [f"{number} at {url} (Ctrl-C ends it)", ""]
    for recording in recordings:
        lines.append(f"  {recording.name}: {recording.method} {recording.target}")
        command = command_for(recording, url)
        lines += [f"    {command}"] if command is not None else []
    return "\n".join([*lines, ""])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m listwatch.testing.replay",
        description="Play recorded answers of Kubernetes API servers, in their own time.",
    )
    parser.add_argument(
        "files", nargs="*", metavar="FILE.http", help="without any: a small demo set"
    )
    parser.add_argument("--port", type=int, default=0, help="default: a free one")
    parser.add_argument(
        "--speed",
        type=_speed,
        default=1.0,
        help="how many times as fast as recorded (default: 1), or 'max'",
    )
    parser.add_argument(
        "--loop",
        action="store_true",
        help="begin again where a target's last recording would repeat",
    )
    parser.add_argument(
        "--match",
        choices=[each.value for each in Match],
        default=Match.PATH.value,
        help="how a request finds its recording (default: by path, whatever its query)",
    )
    return parser


def _speed(text: str) -> float | None:
    if text == "max":
        return None
    speed = float(text)
    if speed <= 0:
        raise argparse.ArgumentTypeError("must be more than 0, or 'max'")
    return speed


if __name__ == "__main__":
    sys.exit(main())
