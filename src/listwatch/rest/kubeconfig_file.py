"""One kubeconfig file: its shape, and the sections in it with typed reads that name file and field
when they fail."""

from __future__ import annotations

import base64
import binascii
import functools
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .errors import ConfigError

__all__ = ["KubeconfigFile", "Section", "read_kubeconfig_file"]


_YES = ("true", "yes", "on", "y")
_NO = ("", "false", "no", "off", "n")
"""How YAML 1.1 writes them, and so kubectl reads them."""


@dataclass(frozen=True, kw_only=True)
class Section:
    """The fields of one cluster, user or context."""

    file: Path
    where: str
    """Such as `user "alice"`, for messages."""
    fields: Mapping[str, Any] = field(repr=False)  # tokens and keys are in there
    within: str = ""
    """Where these fields are inside the section, such as `exec.`."""

    def inside(self, context: Section) -> Section:
        """The same, whose messages also name the context that led here."""
        return replace(self, where=f"{context.where}, {self.where}")

    def error(self, name: str, problem: str) -> ConfigError:
        return ConfigError(f"{self.file}: {self.where}, field {self.within + name!r}: {problem}")

    def has(self, name: str) -> bool:
        """Whether the field is there with something in it."""
        return self.fields.get(name) not in (None, "", [], {})

    def text(self, name: str) -> str:
        """The field's text, empty if it is not there."""
        value = self.fields.get(name)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise self.error(name, "should be text")
        return value

    def flag(self, name: str) -> bool:
        """The field as true or false, false if it is not there."""
        value = self.text(name).lower()
        if value not in _YES and value not in _NO:
            raise self.error(name, "should be true or false")
        return value in _YES

    def texts(self, name: str) -> tuple[str, ...]:
        """The texts of a list, none if it is not there."""
        value = self.fields.get(name)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.error(name, "should be a list of texts")
        return tuple(value)

    def section(self, name: str) -> Section | None:
        """The mapping that the field is; None if it is not there."""
        value = self.fields.get(name)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self.error(name, "should be a mapping")
        return replace(self, fields=value, within=f"{self.within}{name}.")

    def sections(self, name: str) -> tuple[Section, ...]:
        """The mappings of a list, none if it is not there."""
        value = self.fields.get(name)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.error(name, "should be a list of mappings")
        return tuple(
            replace(self, fields=item, within=f"{self.within}{name}[{number}].")
            for number, item in enumerate(value)
        )

    def path(self, name: str) -> Path | None:
        """The file that the field points to; a relative one starts from the kubeconfig's own
        folder. None if it is not there.
        """
        value = self.text(name)
        return self.file.parent / value if value else None

    def pem(self, name: str) -> bytes | None:
        """What `name-data` holds in base64, or else the file that `name` points to.

        As in client-go the data wins where both are given, and a relative path starts from the
        kubeconfig's own folder.
        """
        if encoded := self.text(f"{name}-data"):
            name = f"{name}-data"
            try:
                data = base64.b64decode("".join(encoded.split()), validate=True)
            except (binascii.Error, ValueError) as error:
                raise self.error(name, "is not base64: was it cut off?") from error
        elif path := self.text(name):
            data = self.read_file(name, path)
        else:
            return None
        if b"-----BEGIN" not in data:
            raise self.error(name, "does not hold PEM text (-----BEGIN ...)")
        return data

    def read_file(self, name: str, path: str) -> bytes:
        """The bytes of the file that field `name` points to."""
        full = self.file.parent / path
        try:
            return full.read_bytes()
        except OSError as error:
            raise self.error(name, f"{full} cannot be read: {error.strerror}") from error


@dataclass(frozen=True, kw_only=True)
class KubeconfigFile:
    """What one file holds, by name."""

    path: Path
    clusters: Mapping[str, Section]
    users: Mapping[str, Section]
    contexts: Mapping[str, Section]
    current_context: str


def read_kubeconfig_file(path: Path) -> KubeconfigFile | None:
    """Read `path`; None if there is no such file. Raises `ConfigError` if it is not a
    kubeconfig."""
    path = Path(os.path.abspath(path))
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError(f"the kubeconfig {path} cannot be read: {error.strerror}") from error
    document = _parse(path, data)
    if document is None:
        document = {}
    if not isinstance(document, dict):
        raise ConfigError(f"{path} is not a kubeconfig: it should be a mapping at its top")
    top = Section(file=path, where="top level", fields=document)
    if (kind := top.text("kind")) not in ("", "Config"):
        raise top.error("kind", f"is {kind!r}: a kubeconfig has kind Config")
    if (version := top.text("apiVersion")) not in ("", "v1"):
        raise top.error("apiVersion", f"is {version!r}: only v1 is known")
    return KubeconfigFile(
        path=path,
        clusters=_named_sections(top, "clusters", "cluster"),
        users=_named_sections(top, "users", "user"),
        contexts=_named_sections(top, "contexts", "context"),
        current_context=top.text("current-context"),
    )


def _named_sections(top: Section, plural: str, singular: str) -> dict[str, Section]:
    entries = top.fields.get(plural)
    if entries is None:
        return {}
    if not isinstance(entries, list):
        raise top.error(plural, f"should be a list of entries with name and {singular}")
    sections: dict[str, Section] = {}
    for index, entry in enumerate(entries):
        if not isinstance(entry, dict):
            raise top.error(f"{plural}[{index}]", f"should be a mapping with name and {singular}")
        outer = Section(file=top.file, where=f"{plural}[{index}]", fields=entry)
        name = outer.text("name")
        if not name:
            continue  # nothing can mean it
        if name in sections:
            raise outer.error("name", f"{name!r} is there twice")
        fields = entry.get(singular)
        if fields is None:
            fields = {}
        if not isinstance(fields, dict):
            raise outer.error(singular, "should be a mapping")
        sections[name] = Section(file=top.file, where=f"{singular} {name!r}", fields=fields)
    return sections


def _parse(path: Path, data: bytes) -> Any:
    import yaml

    try:
        return yaml.load(data, _loader())
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f" at line {mark.line + 1}, column {mark.column + 1}" if mark is not None else ""
        problem = getattr(error, "problem", None) or "cannot be parsed"
        if "'" in problem:  # it quotes from the file, and what it quotes can be a secret
            problem = "cannot be parsed"
    # Outside the except clause: a traceback would show the parser's own text, with a piece of the
    # file.
    raise ConfigError(f"{path} is not YAML{place}: {problem}")


@functools.cache
def _loader() -> Any:
    """A loader that leaves scalars as the text they are written as.

    A token made of digits, a name such as `2024-01-01` or `on`, a password like `12:30` stay what
    they are.
    """
    import yaml

    base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    keep = ("tag:yaml.org,2002:null", "tag:yaml.org,2002:merge")

    class TextLoader(base):  # type: ignore[misc, valid-type]  # the base depends on how PyYAML was built
        yaml_implicit_resolvers = {  # noqa: RUF012  # PyYAML's own name and form
            first: [(tag, pattern) for tag, pattern in resolvers if tag in keep]
            for first, resolvers in base.yaml_implicit_resolvers.items()
        }

    return TextLoader
