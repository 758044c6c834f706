"""The options of LIST and WATCH: read from the query, checked as the real server checks them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from listwatch.api import FieldSelector, LabelSelector

from ..messages import ServerRequest
from ..types.request_info import is_true
from ..validation.problems import (
    Problem,
    bad_request,
    forbidden_field,
    go_quoted,
    internal_error,
    invalid_options,
    unsupported_field,
)
from .field_grammar import read_field_selector
from .label_grammar import SelectorRefusal, read_label_selector

__all__ = ["ANY_FIELDS", "ANY_LABELS", "ListOptions", "parse_rv", "rv_problem"]

ANY_LABELS, ANY_FIELDS = LabelSelector(), FieldSelector()
_INTEGER = re.compile(r"[+-]?[0-9]+")
_UNSIGNED = re.compile(r"[0-9]+")
_NOT_OLDER = "NotOlderThan"
_EXACT = "Exact"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOptions:
    """What the query of one LIST or WATCH asks for."""

    watch: bool = False
    """Whether the query says so. False on the old `/watch/` paths, whose options are checked as
    those of a list.
    """
    labels: LabelSelector = ANY_LABELS
    fields: FieldSelector = ANY_FIELDS
    bookmarks: bool = False
    resource_version: str = ""
    match: str = ""
    timeout: int = 0
    """Seconds; 0 is none, negative is over already."""
    limit: int = 0
    """0 is none."""
    continue_: str = ""
    initial_events: bool | None = None

    @classmethod
    def of(cls, request: ServerRequest, *, watch_list: bool = True) -> ListOptions:
        """Raises `Refused`: 400 for what cannot be read, then 422 for what does not go together.

        `watch_list` is whether the server knows sendInitialEvents: then a watch from no RV or
        from 0 is the same as a WatchList (K14).
        """
        if not request.query:
            return cls()
        query = dict(reversed(request.query))  # of equal names the first counts
        timeout = _integer(query.get("timeoutSeconds"))
        limit = _integer(query.get("limit"))
        try:
            labels = read_label_selector(query.get("labelSelector", ""))
            fields = read_field_selector(query.get("fieldSelector", ""))
        except SelectorRefusal as refusal:
            raise bad_request(str(refusal)) from None
        watch = is_true(query.get("watch"))
        asked = query.get("sendInitialEvents")
        initial_events = None if asked is None else is_true(asked)
        rv, match = query.get("resourceVersion", ""), query.get("resourceVersionMatch", "")
        if watch_list and watch and initial_events is None and not match and rv in ("", "0"):
            initial_events, match = True, _NOT_OLDER
        options = cls(
            watch=watch,
            labels=labels,
            fields=fields,
            bookmarks=is_true(query.get("allowWatchBookmarks")),
            resource_version=rv,
            match=match,
            timeout=timeout,
            limit=max(limit, 0),
            continue_=query.get("continue", ""),
            initial_events=initial_events,
        )
        problems = options._watch_problems(watch_list) if watch else options._list_problems()
        if problems:
            raise invalid_options("ListOptions", problems)
        return options

    def _list_problems(self) -> list[Problem]:
        problems = []
        if match := self.match:
            if not self.resource_version:
                problems.append(_match("is forbidden unless resourceVersion is provided"))
            if self.continue_:
                problems.append(_match("is forbidden when continue is provided"))
            if match not in (_EXACT, _NOT_OLDER):
                supported = (_EXACT, _NOT_OLDER, "")
                problems.append(unsupported_field("resourceVersionMatch", match, supported))
            if match == _EXACT and self.resource_version == "0":
                problems.append(_match('"exact" is forbidden for resourceVersion "0"'))
        if self.initial_events is not None:
            text = "sendInitialEvents is forbidden for list"
            problems.append(forbidden_field("sendInitialEvents", text))
        return problems

    def _watch_problems(self, watch_list: bool) -> list[Problem]:
        problems = []
        asked = self.initial_events is not None
        if asked and self.match != _NOT_OLDER:
            text = f"sendInitialEvents requires setting resourceVersionMatch to {_NOT_OLDER}"
            problems.append(forbidden_field("resourceVersionMatch", text))
        if asked and not watch_list:
            text = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is "
            problems.append(forbidden_field("sendInitialEvents", f"{text}enabled"))
        if match := self.match:
            if not asked:
                problems.append(
                    _match("is forbidden for watch unless sendInitialEvents is provided")
                )
            if match != _NOT_OLDER:
                problems.append(unsupported_field("resourceVersionMatch", match, (_NOT_OLDER,)))
            if self.continue_:
                problems.append(_match("is forbidden when continue is provided"))
        return problems


def parse_rv(text: str) -> int:
    """A resourceVersion as a number; nothing is 0. Raises the `Refused` that WATCH answers, a 500;
    others look at `rv_problem` first.
    """
    if not text:
        return 0
    if problem := rv_problem(text):
        raise internal_error(problem)
    return int(text)


def rv_problem(text: str) -> str:
    """What is wrong with a resourceVersion, or nothing."""
    problem = ""
    if not _UNSIGNED.fullmatch(text):
        problem = "invalid syntax"
    elif len(digits := text.lstrip("0")) > 20 or int(digits or "0") >= 2**64:
        problem = "value out of range"
    if not problem:
        return ""
    quoted = go_quoted(text)
    return (
        f"resourceVersion: Invalid value: {quoted}: strconv.ParseUint: parsing {quoted}: {problem}"
    )


def _match(text: str) -> Problem:
    return forbidden_field("resourceVersionMatch", f"resourceVersionMatch {text}")


def _integer(text: str | None) -> int:
    if text is None:
        return 0
    problem = "value out of range"
    if not _INTEGER.fullmatch(text):
        problem = "invalid syntax"
    elif len(text) <= 40 and -(2**63) <= int(text) < 2**63:
        return int(text)
    raise bad_request(f"strconv.ParseInt: parsing {go_quoted(text)}: {problem}")
