"""What a real server makes for itself when it first starts: its roles and who has them, its flow
schemas and priority levels. `Settings.bootstrap` asks for it.

`bootstrap.json` was recorded from a real one (`python -m conformance.bootstrap` writes it).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from ..writing.metadata import new_uid, timestamp
from .state import State

__all__ = ["bootstrap_objects"]


def bootstrap_objects(state: State) -> Iterator[dict[str, Any]]:
    """To be loaded. They take nothing of the server's randomness, so that a run that is repeated
    with them has the same names.
    """
    now = timestamp(state.wall())
    data = Path(__file__).with_name("bootstrap.json").read_bytes()
    data = data.replace(b'"$now"', f'"{now}"'.encode())
    data = data.replace(b'"$today"', f'"{now[:10]}"'.encode())
    for value in msgspec.json.decode(data, type=list[dict[str, Any]]):
        metadata = value["metadata"]
        metadata["uid"] = new_uid(Random(f"{value['kind']} {metadata['name']}"))
        yield value
