"""What a program wrote on its standard error, fit for a message: no secret, no control
characters, not too long."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

__all__ = ["end_of", "printable", "secret_arguments", "secret_variables"]

_LIMIT = 2048
"""Bytes of it that a message shows."""

_READ = 128 * 1024
"""Bytes of it that are looked at: searching is done with the interpreter's lock held."""

_SHORTEST = 4
"""Letters of a secret that is worth hiding: of a `1` or `on` every other word would have a hole."""

_HIDDEN = "<hidden>"

_LIKE_SECRETS = re.compile(
    r"-----BEGIN [A-Z ]+-----.*?(-----END [A-Z ]+-----|\Z)"  # PEM
    r"|\beyJ[\w-]{5,}(\.[\w-]+)*"  # the JSON of a JSON Web Token
    r"|\bk8s-aws-v1\.[\w-]+"
    r"|\bya29\.[\w-]+"  # Google's access tokens
    r"|(?<=bearer )\S+"
    r"|(?<=basic )[A-Za-z0-9+/]{6,}=*"
    r"|(?<=://)[^/\s:@]*:[^/\s@]+(?=@)",  # user and password of a URL
    re.IGNORECASE | re.DOTALL,
)
_SECRET_OPTION = re.compile(r"-{0,2}[\w.-]*(secret|token|password|key|credential)[\w.-]*", re.I)
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(\x07|\x1b\\)")


def end_of(stderr: bytes, secrets: Iterable[str]) -> str:
    """The last 2 KiB of `stderr`, each of the `secrets` and what looks like one cut out."""
    if len(stderr) > _READ:
        stderr = stderr[-_READ:].partition(b"\n")[2].strip()
        if not stderr:  # half of it could begin in a secret
            return f"(a line of more than {_READ // 1024} KiB)"
    text = printable(stderr.decode("utf-8", "replace"))
    # By lines, for a key may be shown indented, or quoted. The longest first: one may be a part of
    # another.
    lines = {line.strip() for secret in secrets for line in printable(secret).splitlines()}
    for line in sorted(lines, key=len, reverse=True):
        if len(line) >= _SHORTEST and not line.startswith("-----"):
            text = text.replace(line, _HIDDEN)
    data = _LIKE_SECRETS.sub(_HIDDEN, text).strip().encode()
    # Cut now and not before: half a secret would not have been found.
    cut = "..." if len(data) > _LIMIT else ""
    return cut + data[-_LIMIT:].decode("utf-8", "ignore").lstrip()


def printable(text: str) -> str:
    """`text` without what could change the state of a terminal. Line feeds and tabs stay."""
    return "".join(char for char in _ESCAPE.sub("", text) if char.isprintable() or char in "\n\t")


def secret_variables(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The values of variables that are named like secrets: `AWS_SECRET_ACCESS_KEY`."""
    return tuple(value for name, value in environ.items() if _SECRET_OPTION.fullmatch(name))


def secret_arguments(args: Sequence[str]) -> tuple[str, ...]:
    """The values of options that are named like secrets: `--client-secret=X`, `--token X`."""
    found = []
    for arg, following in pairwise([*args, ""]):
        name, equals, value = arg.partition("=")
        if _SECRET_OPTION.fullmatch(name):
            if equals:
                found.append(value)
            elif name.startswith("-") and not following.startswith("-"):
                found.append(following)
    return tuple(found)
