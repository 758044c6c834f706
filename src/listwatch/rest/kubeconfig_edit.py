"""A few texts in a kubeconfig changed, and nothing else in it: order, comments and layout stay."""

from __future__ import annotations

import contextlib
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from .errors import ConfigError

__all__ = ["AUTH_PROVIDER_CONFIG", "ChangedMeanwhile", "Locked", "NotEditable", "edited", "rewrite"]

AUTH_PROVIDER_CONFIG = ("user", "auth-provider", "config")
"""Where an auth provider's own fields are, in an entry of `users`."""

_NULL = "tag:yaml.org,2002:null"


class NotEditable(ConfigError):
    """This file is not changed, because nothing but the wanted texts should."""


class ChangedMeanwhile(ConfigError):
    """Somebody else has changed what was to be changed."""


class Locked(ConfigError):
    """kubectl, or who does as it does, is writing the file, or has died over it."""

    def __init__(self, lock: Path) -> None:
        super().__init__(f"{lock} is there: remove it if no kubectl is at work")


def edited(text: str, user: str, changes: Mapping[str, tuple[str, str]]) -> str:
    """The kubeconfig `text` with other texts in the auth provider's config of `user`.

    `changes` has the old and the new text of each field, the old one empty for a field that is not
    there. Raises `ChangedMeanwhile` if an old text is another one, `NotEditable` if there is no
    changing these and nothing else.
    """
    import yaml

    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, _loader())):
            raise NotEditable("it has YAML aliases")
        config = _config(yaml.compose(text, _loader()), user)
        result = text
        for start, end, new in sorted(_replacements(text, config, changes), reverse=True):
            result = result[:start] + new + result[end:]
        wanted, got = (yaml.load(each, _text_loader()) for each in (text, result))
    except (yaml.YAMLError, RecursionError):
        wanted = None
    if wanted is None:
        # Without the parser's own words: it quotes from the file, and that can be a secret.
        raise NotEditable("it cannot be parsed")
    config = next(
        entry
        for entry in reversed(wanted["users"])
        if isinstance(entry, dict) and entry.get("name") == user
    )
    for name in AUTH_PROVIDER_CONFIG:
        config = config[name]
    config |= {name: new for name, (old, new) in changes.items() if old != new}
    if wanted != got:
        raise NotEditable("its layout is unusual")
    return result


def rewrite(path: Path, edit: Callable[[str], str]) -> None:
    """Put `edit` of the file's text in its place, at once and under kubectl's lock. Blocks.

    A symbolic link stays one; mode and owner stay. Raises `Locked`, `OSError`, and what `edit`
    raises.
    """
    with _lock(path):
        target = Path(os.path.realpath(path))
        try:
            text = target.read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            text = None
        if text is None:
            raise NotEditable("it is not UTF-8")  # out here: that error holds the whole file
        new = edit(text)
        if new != text:
            _replace(target, new.encode("utf-8"))


@contextlib.contextmanager
def _lock(path: Path) -> Iterator[None]:
    lock = path.with_name(f"{path.name}.lock")
    try:
        os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        raise Locked(lock) from None
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)


def _replace(path: Path, data: bytes) -> None:
    was = path.stat()
    number, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(number, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(number)
        new = os.stat(name)
        if (new.st_uid, new.st_gid) != (was.st_uid, was.st_gid):
            os.chown(name, was.st_uid, was.st_gid)
        os.chmod(name, was.st_mode & 0o7777)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise


def _config(root: Any, user: str) -> Any:
    """The node of the auth provider's config."""
    for entry in reversed(getattr(_value(root, "users"), "value", ())):
        name = _value(entry, "name")
        if name is not None and name.value == user:
            for key in AUTH_PROVIDER_CONFIG:
                entry = _value(entry, key)
            if entry is not None:
                return entry
    raise NotEditable(f"it has no auth-provider of user {user!r} any more")


def _value(node: Any, key: str) -> Any:
    """The node under `key` of a mapping; None if there is none."""
    found = _pair(node, key)
    return None if found is None else found[1]


def _pair(node: Any, key: str) -> tuple[Any, Any] | None:
    import yaml

    if not isinstance(node, yaml.MappingNode):
        return None
    # The last one counts, should there be several.
    return next((pair for pair in reversed(node.value) if pair[0].value == key), None)


def _replacements(
    text: str, config: Any, changes: Mapping[str, tuple[str, str]]
) -> Iterator[tuple[int, int, str]]:
    """Start, end and new text, by position in `text`."""
    import yaml

    for name, (old, new) in changes.items():
        pair = _pair(config, name)
        if pair is not None and not isinstance(pair[1], yaml.ScalarNode):
            raise NotEditable(f"its {name} is no text")
        found = "" if pair is None or pair[1].tag == _NULL else pair[1].value
        if found != old:
            raise ChangedMeanwhile(f"its {name} is another one now")
        if old == new:
            continue
        if pair is None:
            yield _insertion(config, name, new)
            continue
        start, end = pair[1].start_mark.index, pair[1].end_mark.index
        end = start + len(text[start:end].rstrip())  # a block has its line end in it
        scalar = _scalar(new, plain=not pair[1].style)
        yield start, end, scalar if start < end else f" {scalar}"


def _insertion(config: Any, name: str, value: str) -> tuple[int, int, str]:
    """A new field before the first one."""
    if not getattr(config, "value", None):
        raise NotEditable("its auth-provider has no config")
    first = config.value[0][0]
    quoted = bool(first.style)  # as in a file that is JSON
    field = f'"{name}": ' if quoted else f"{name}: "
    field += _scalar(value, plain=not quoted)
    between = ", " if config.flow_style else "\n" + " " * first.start_mark.column
    return first.start_mark.index, first.start_mark.index, field + between


def _scalar(value: str, *, plain: bool) -> str:
    # Such as a JWT: nothing that YAML might take for a number, a date or a null.
    if plain and re.fullmatch(r"ey[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)+", value):
        return value
    return json.dumps(value)  # which is YAML, too


def _loader() -> Any:
    import yaml

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _text_loader() -> Any:
    import yaml

    return getattr(yaml, "CBaseLoader", yaml.BaseLoader)
