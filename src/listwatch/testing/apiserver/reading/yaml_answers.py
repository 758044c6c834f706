"""Answers in YAML, for those who ask for that first.

Everything is made as JSON; here the last step is another encoding of it.
"""

from __future__ import annotations

import json

from ..messages import Answer
from .negotiation import YAML
from .yaml_text import yaml_text

__all__ = ["in_yaml"]


def in_yaml(answer: Answer) -> Answer:
    """`answer`, JSON, in YAML, where it has a kind: what has none is served as JSON only."""
    value = json.loads(answer.body)
    if "kind" not in value:
        return answer
    return Answer(
        status=answer.status,
        body=yaml_text(value).encode(),
        content_type=YAML,
        headers=answer.headers,
    )
