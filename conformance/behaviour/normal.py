"""Answers without what differs from server to server and from run to run: times, uids, RVs.

They are replaced by what they stand for, so that two answers can be compared as texts:

- RVs become the step that wrote them: ``<rv of make-a>``. An RV between two that were written, as a
  list may have, becomes the older one; one from before the group, ``<older rv>``.
- uids become the step that made their object: ``<uid of make-a>``.
- times become ``<time>``; made-up names and addresses lose what was made up; continue tokens are
  decoded.
- in a Table, the descriptions of columns, which are each server's own, become ``...``, and ages
  ``<age>``; since how long it is depends on them, one with a length counts as one chunk.
"""

from __future__ import annotations

import base64
import bisect
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from conformance.behaviour.scripted import Answered, Framing, GroupRun

_UID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_MEMBER = re.compile(r'("?resourceVersion\\*"?: ?\\*")(\d+)')  # in a text, quotes are escaped
_RV = re.compile(r"(?i)(resource ?version[^\"\d]{0,40})(\d+)(?: \((\d+)\))?")
_CURRENT = re.compile(r"(current: )(\d+)")
_LATER = re.compile(r'("retryAfterSeconds": ?)\d')  # in an ERROR event; it is made up there
_CONTINUE = re.compile(r'("continue": ?")([\w-]+=*)(")')
_MADE_UP = re.compile(r"\b([Mm]ade[-_])[a-z0-9]{5}\b")
_ADDRESS = re.compile(r'("serverAddress": ?"|serverAddress: )[^"\n]*|(")10\.0\.0\.\d+')
_HASH = re.compile(r"(\?hash=)[0-9A-F]{128}")
_VERSION = re.compile(
    r'("(?:gitCommit|buildDate|goVersion|gitVersion|platform|compiler)": ?")[^"]*'
)

_TABLE = re.compile(r'"kind": ?"Table"')
_DESCRIPTION = re.compile(r'("description": ?)"(?:\\.|[^"\\])*"')
_AGE = re.compile(r'"(?:\d+[smhdy]){1,2}"')

_VOLATILE = ("Date", "Etag", "Expires", "Last-Modified", "Content-Length")
_PROTOBUF = b"k8s\0"  # of such a body no more is compared than that it is one
_FAR = 10**8  # RVs that a script made up lie beyond this


@dataclass(frozen=True)
class Normal:
    """An answer that can be compared."""

    status: int
    headers: tuple[tuple[str, str], ...]
    framing: Framing
    body: str


def normalised(run: GroupRun) -> dict[str, Normal]:
    """The answers of a group, by the names of the steps."""
    names = _Names(run)
    return {step: names.normal(answer) for step, answer in run.answers.items()}


class _Names:
    """What the RVs and uids of one group on one server are called."""

    def __init__(self, run: GroupRun) -> None:
        self._base = run.base_rv
        self._uids: dict[str, str] = {}
        versions: dict[int, str] = {run.base_rv: "the namespace"}
        # What streams tell comes while later steps are made, so these are asked first.
        for step in sorted(run.answers, key=lambda step: step in run.streams):
            for metadata in _metadata(run.answers[step].documents()):
                version = metadata.get("resourceVersion", "")
                if "name" in metadata and version.isdigit() and int(version) > self._base:
                    versions.setdefault(int(version), _numbered(step, versions.values()))
                if uid := metadata.get("uid"):
                    self._uids.setdefault(uid, f"<uid of {_numbered(step, self._uids.values())}>")
        self._versions = sorted(versions)
        self._steps = [versions[version] for version in self._versions]

    def normal(self, answer: Answered) -> Normal:
        headers = tuple(
            (name, "..." if name in _VOLATILE else self.text(value))
            for name, value in answer.headers
        )
        if answer.body.startswith(_PROTOBUF):
            return Normal(answer.status, headers, answer.framing, "protobuf")
        body = self.text(answer.body.decode(errors="backslashreplace"))
        framing = answer.framing
        if _TABLE.search(body):
            body = _AGE.sub('"<age>"', _DESCRIPTION.sub(r'\1"..."', body))
            framing = "one chunk" if framing == "length" else framing
        if answer.status == 200:
            body = _LATER.sub(r"\1<seconds>", body)
        return Normal(answer.status, headers, framing, body)

    def text(self, text: str) -> str:
        text = _CONTINUE.sub(lambda found: found[1] + self._token(found[2]) + found[3], text)
        text = _UID.sub(lambda found: self._uids.get(found[0], _unknown(found[0])), text)
        text = _MEMBER.sub(self._member, text)
        text = _RV.sub(self._versions_in, text)
        text = _CURRENT.sub(lambda found: found[1] + self._version(found[2]), text)
        text = _TIME.sub(lambda found: "<time>" if not found[1] else "<time with fraction>", text)
        text = _HASH.sub(r"\1<hash>", text)
        text = _VERSION.sub(r"\1...", text)
        text = _ADDRESS.sub(lambda found: f"{found[1] or found[2]}<address>", text)
        return _MADE_UP.sub(r"\1#", text)

    def _member(self, found: re.Match[str]) -> str:
        older = 0 < int(found[2]) < self._base
        return found[1] + ("<older rv>" if older else self._version(found[2]))

    def _versions_in(self, found: re.Match[str]) -> str:
        second = f" ({self._version(found[3])})" if found[3] else ""
        return found[1] + self._version(found[2]) + second

    def _version(self, text: str) -> str:
        version = int(text)
        if version < self._base or version >= _FAR:
            return text
        return f"<rv of {self._steps[bisect.bisect_right(self._versions, version) - 1]}>"

    def _token(self, token: str) -> str:
        """A continue token, readable."""
        try:
            content = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
        except ValueError:
            return token
        if isinstance(content, dict) and content.get("rv", -1) > 0:
            content["rv"] = self._version(str(content["rv"]))
        return json.dumps(content).replace('"', "'")


def _metadata(values: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    """Every metadata in some JSON."""
    for value in values:
        if isinstance(value, dict):
            metadata = value.get("metadata")
            if isinstance(metadata, dict):
                yield metadata
            yield from _metadata(value.values())
        elif isinstance(value, list):
            yield from _metadata(value)


def _numbered(step: str, taken: Iterable[str]) -> str:
    """A step's name, with a number where it has named something already."""
    number = sum(step == name.removeprefix("<uid of ").split(" #")[0].rstrip(">") for name in taken)
    return f"{step} #{number + 1}" if number else step


def _unknown(uid: str) -> str:
    return uid if len(set(uid)) == 2 else "<uid>"  # a script's own has one digit again and again
