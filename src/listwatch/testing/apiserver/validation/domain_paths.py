"""Names such as `acme.io/foo`: a domain, and a path in it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .basics import texts
from .names import subdomain_problems
from .problems import Problem, invalid_field, required_field

__all__ = ["domain_path_problems"]

_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"
_is_path = re.compile(_PATH).fullmatch


def domain_path_problems(field: str, value: str) -> Iterator[Problem]:
    """A name that must be there, and be of both parts."""
    domain, _, path = value.partition("/")
    if not value:
        yield required_field(field)
    elif not domain or not path:
        text = 'must be a domain-prefixed path (such as "acme.io/foo")'
        yield invalid_field(field, value, text)
    else:
        yield from texts(field, domain, subdomain_problems(domain))
        if not _is_path(path):
            text = f"Invalid path (regex used for validation is '{_PATH}')"
            yield invalid_field(field, path, text)
