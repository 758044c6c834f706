"""The command line that asks for what a recording answers."""

from __future__ import annotations

import shlex

from listwatch.api.builtin import BUILTIN_RESOURCES
from listwatch.testing.recording import Recording

__all__ = ["command_for"]


_CLUSTER_SCOPED = {
    ("apis" if each.group else "api", each.name)
    for each in BUILTIN_RESOURCES
    if not each.namespaced
}


def command_for(recording: Recording, url: str) -> str | None:
    """The `listwatch` command for a recorded LIST or WATCH, asked of `url`; None for anything else.

    >>> request = b"GET /api/v1/namespaces/a/pods?watch=1 HTTP/1.1\\r\\n\\r\\n"
    >>> command_for(Recording("", request, b""), "http://127.0.0.1:8001")
    'listwatch watch pods -n a --raw --server http://127.0.0.1:8001'
    """
    if not (recording.is_list or recording.is_watch):
        return None
    root, *path = recording.path.strip("/").split("/")
    versions = 1 if root == "api" else 2
    names = path[versions:]
    if names[0] == "watch":
        names = names[1:]
    namespace, name = ("", names[0]) if len(names) < 3 else (names[1], names[2])
    resource = name if root == "api" else "/".join([*path[:versions], name])
    words = ["listwatch", "watch" if recording.is_watch else "get", resource]
    if namespace:
        words += ["-n", namespace]
    elif (root, name) not in _CLUSTER_SCOPED:
        words.append("-A")
    query = dict(recording.query)
    for option, parameter in (("-l", "labelSelector"), ("--field-selector", "fieldSelector")):
        words += [option, query[parameter]] if query.get(parameter) else []
    if recording.is_watch:
        words.append("--raw")  # one that goes on would ask for more than was recorded
    return shlex.join([*words, "--server", url])
