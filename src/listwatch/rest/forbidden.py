"""What to say where all namespaces together are refused, and one of them may not be."""

from __future__ import annotations

import re

from listwatch.api import APIResource, Forbidden, GroupVersionResource
from listwatch.api.builtin import BUILTIN_RESOURCES

__all__ = ["NamespaceHint", "explain_forbidden"]

_ALL_REFUSED = re.compile(r" cannot (?:list|watch) .* at the cluster scope", re.DOTALL)
"""How an API server says it, whatever authorizes its requests. (One may also not be allowed to
impersonate somebody at the cluster scope: no namespace is of any help there.)"""


class NamespaceHint(str):
    """A note that names the option of the library; `for_command` names that of the command."""

    __slots__ = ()

    @property
    def for_command(self) -> str:
        return self.replace(_FOR_PROGRAMS, _FOR_COMMAND)


_FOR_PROGRAMS = 'namespace="NAME" asks for one alone (to an informer: namespaces=["NAME", ...])'
_FOR_COMMAND = "-n NAME, in place of -A, asks for one alone"


def explain_forbidden(
    error: Forbidden, resource: APIResource | GroupVersionResource | None, namespace: str
) -> None:
    """Add a note to the refusal of a LIST or WATCH, if it was one of all namespaces: which option
    asks for a single one. Nothing is narrowed by itself: whether that would be allowed, only the
    server knows, and what is asked for is the caller's to say.

    Nothing is added to the refusal of a request within a namespace, or of what is in none.

    >>> from listwatch.api import Status
    >>> told = 'pods is forbidden: User "a" cannot list resource "pods" at the cluster scope'
    >>> error = Forbidden(Status(code=403, reason="Forbidden", message=told))
    >>> explain_forbidden(error, GroupVersionResource("", "v1", "pods"), "")
    >>> print(error.__notes__[0])  # doctest: +ELLIPSIS
    all namespaces were asked for: namespace="NAME" asks for one alone ...
    """
    if resource is None or namespace or not _ALL_REFUSED.search(error.message):
        return
    asked = "all namespaces were asked for"
    if isinstance(resource, GroupVersionResource):
        known = next((each for each in BUILTIN_RESOURCES if each.gvr == resource), None)
        if known is None:
            asked = f"if {resource.resource} are namespaced, {asked}"
    else:
        known = resource
    if known is not None and not known.namespaced:
        return
    if any(isinstance(note, NamespaceHint) for note in getattr(error, "__notes__", ())):
        return
    error.add_note(NamespaceHint(f"{asked}: {_FOR_PROGRAMS}"))
