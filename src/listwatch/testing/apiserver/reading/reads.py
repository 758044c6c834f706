"""GET and LIST: which state is read, when it is there, and how much of it (K10 to K14, K21)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any

from ..messages import Answer, Reaction, ServerRequest
from ..statuses import Refused, failure
from ..storage.log import Compacted, Key, StoredObject
from ..storage.snapshot import Snapshot
from ..storage.state import State, Target
from ..storage.waiting import FutureRead, too_large
from ..validation.problems import bad_request, not_found
from .continue_token import BadToken, ContinueToken
from .list_options import ListOptions, parse_rv, rv_problem
from .object_negotiation import not_acceptable, view_of
from .selection import Selection
from .views import ListMetadata

__all__ = ["Reads"]

_LIST_TOO_OLD = "The resourceVersion for the provided list is too old."
_CONTINUE_TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. You can start "
    "a new list without the continue parameter, or use the continue token in this response to "
    "retrieve the remainder of the results. Continuing with the provided token results in an "
    "inconsistent list - objects that were created, modified, or deleted between the time the "
    "first chunk was returned and now may show up in the list."
)

_Objects = list[StoredObject]
_Page = tuple[_Objects, ListMetadata]


class Reads:
    """Answers GET and LIST from the state that is asked for."""

    def __init__(self, state: State) -> None:
        self._state = state

    def get(self, target: Target, request: ServerRequest) -> Reaction:
        """One object. Raises `Refused`; a `Later` for a revision that is not there yet (K13)."""
        state, of = self._state, target.type
        view = view_of(request, of, collection=False, wall=state.wall)
        rv = _get_rv(target, request.parameter("resourceVersion") or "")

        def answer() -> Answer:
            if of.watch_cache and rv:
                state.caches.refresh(of.storage, rv)
            found = state.log.get(of.storage, (target.namespace, target.name))
            if found is None:
                raise not_found(of, target.name)
            if view.list_not_one:
                raise not_acceptable(view.list_not_one)
            return Answer(status=200, body=view.one(found) + b"\n")

        if rv > state.log.revision:
            return self._later(target, rv, answer)
        return answer()

    def list(self, target: Target, request: ServerRequest) -> Reaction:
        """A list, or one page of it. Raises `Refused`; a `Later` for a revision that is not there
        yet.
        """
        state, of = self._state, target.type
        view = view_of(request, of, collection=True, wall=state.wall)
        options = ListOptions.of(request, watch_list=state.settings.watch_list)
        selection = Selection.of(target, options)
        plan = _Plan.of(selection, options)

        def answer() -> Answer:
            if view.one_not_list:
                self._page(plan)  # what is wrong with the list itself is told first
                raise not_acceptable(view.one_not_list)
            found, metadata = self._page(plan)
            return Answer(status=200, body=view.page(found, metadata))

        if plan.at_least > state.log.revision:
            return self._later(target, plan.at_least, answer)
        return answer()

    def _later(self, target: Target, rv: int, answer: Any) -> Reaction:
        state = self._state
        if not target.type.watch_cache:
            raise Refused(too_large(rv, state.log.revision))
        return FutureRead(state, rv, reached=answer)

    def _page(self, plan: _Plan) -> _Page:
        """What is on the page. Raises `Refused`: 410."""
        snapshot, rv, cached = self._snapshot(plan)
        selection = plan.selection
        if selection.name is not None and plan.token is None:
            one = snapshot.get((selection.namespace, selection.name))
            return [one] if one and selection.matches(one) else [], ListMetadata(rv)
        objects = snapshot.objects(selection.namespace, plan.after)
        if plan.token is not None and plan.token.is_inclusive and plan.after is not None:
            first = snapshot.get(plan.after)
            objects = chain([first] if first else [], objects)
        if not plan.limit:
            return selection.select(objects), ListMetadata(rv)
        page: _Objects = []
        for found in objects:
            if len(page) == plan.limit:
                break
            if selection.matches(found):
                page.append(found)
        else:
            return page, ListMetadata(rv)
        # There is more, whether or not it is selected.
        last = page[-1].key
        remaining = None
        if selection.is_everything:
            remaining = snapshot.count(selection.namespace, last)
        token = ContinueToken.behind(last, rv=rv, namespace=selection.namespace, cached=cached)
        return page, ListMetadata(rv, token.encode(), remaining)

    def _snapshot(self, plan: _Plan) -> tuple[Snapshot, int, bool]:
        """The state that is read, its revision, and whether it came from the watch cache."""
        state, of = self._state, plan.selection.type
        caches, storage = state.caches, of.storage
        if plan.exactly is None:
            rv = state.log.revision
            if of.watch_cache:
                rv = caches.refresh(storage, plan.at_least if plan.stale_is_fine else None).rv
            return caches.snapshot(storage, state.log.revision, cached=False), rv, of.watch_cache
        rv = plan.exactly
        cached = of.watch_cache and caches.of(storage).has_snapshot(rv)
        if of.watch_cache:
            caches.refresh(storage, rv)
        try:
            return caches.snapshot(storage, rv, cached=cached), rv, cached
        except Compacted:
            if plan.token is None:
                raise Refused(failure(410, "Expired", _LIST_TOO_OLD)) from None
            metadata = {"continue": plan.token.inconsistent.encode()}
            raise Refused(failure(410, "Expired", _CONTINUE_TOO_OLD, metadata=metadata)) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """Which state a list reads, and which part of it."""

    selection: Selection
    at_least: int = 0
    """The revision that must be there."""
    exactly: int | None = None
    """The revision that is read; None: the newest, or the cache's."""
    stale_is_fine: bool = False
    """Whether what the cache has serves, if it has got to `at_least`."""
    after: Key | None = None
    token: ContinueToken | None = None
    limit: int = 0

    @classmethod
    def of(cls, selection: Selection, options: ListOptions) -> _Plan:
        """Raises `Refused`: 400."""
        of, rv, limit = selection.type, options.resource_version, options.limit
        if rv == "0" and of.watch_cache:
            limit = 0
        if options.continue_:
            try:
                token = ContinueToken.decode(options.continue_)
            except BadToken as bad:
                raise bad_request(f"invalid continue token: {bad}") from None
            if rv not in ("", "0"):
                text = "specifying resource version is not allowed when using continue"
                raise bad_request(text)
            return cls(
                selection=selection,
                at_least=max(token.rv, 0),
                exactly=token.rv if token.rv > 0 else None,
                after=token.after(selection.namespace, namespaced=of.namespaced),
                token=token,
                limit=limit,
            )
        if rv and (problem := rv_problem(rv)):
            raise bad_request(f"invalid resource version: {problem}")
        number = parse_rv(rv)
        is_one = selection.name is not None
        if is_one:
            limit = 0
        exact = options.match == "Exact" or (not options.match and limit)
        return cls(
            selection=selection,
            at_least=number,
            exactly=number if exact and number else None,  # "00" is no revision
            stale_is_fine=bool(rv),
            limit=limit,
        )


def _get_rv(target: Target, text: str) -> int:
    problem = rv_problem(text) if text else ""
    if problem and not target.type.watch_cache:
        raise bad_request(f"invalid resource version: {problem}")
    return parse_rv(text)
