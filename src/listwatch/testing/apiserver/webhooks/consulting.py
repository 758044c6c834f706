"""The answers that the webhooks gave to one request, and what follows from them."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..auth import User
from ..messages import Answer, ServerRequest
from ..reading.encoding import go_json
from ..statuses import Refused
from ..storage.state import State, Target
from ..validation.problems import bad_request, go_quoted, unforeseen
from ..writing.json_patch import JSONPatchError, json_patch
from ..writing.metadata import new_uid
from .answers import Failed
from .attributes import Attributes, Operation, is_of_its_own
from .hooks import MUTATING, VALIDATING, Hook, hooks_for
from .questions import Question, place_of
from .reviews import Verdict, known_version, review, verdict

__all__ = ["AnswersMissing", "Consulting", "Outcome"]

Outcome = bytes | Failed
"""The body of an answer, or why there is none."""
_Key = tuple[str, ...]
_LAST_STATUS = 999
"""The greatest code that HTTP has room for."""


class AnswersMissing(Exception):
    """A write cannot go on before these questions are answered."""

    def __init__(self, questions: Mapping[_Key, Question]) -> None:
        super().__init__(f"{len(questions)} webhooks are to be asked")
        self.questions = questions


class Consulting:
    """Of one request. The write is tried again and again; what it has made up (uid, name, time)
    stays the same.
    """

    def __init__(self, state: State, user: User, request: ServerRequest) -> None:
        self._state = state
        self.user = user
        self._options = _options_of(request)
        self._uids: dict[_Key, str] = {}
        self._outcomes: dict[_Key, Outcome] = {}
        self._made: dict[str, Any] = {}
        self.warnings: list[str] = []
        """What the webhooks want the client to be warned of, of this attempt."""

    def begin(self) -> None:
        """A new attempt."""
        self.warnings.clear()

    def put(self, key: _Key, outcome: Outcome) -> None:
        """What became of a question."""
        self._outcomes[key] = outcome

    def keep(self, metadata: dict[str, Any]) -> None:
        """Give a new object the uid, name and time that it had when it was tried first."""
        if not self._made:
            names = ("name", "uid", "creationTimestamp")
            self._made = {name: metadata[name] for name in names if name in metadata}
        metadata.update(self._made)

    def about(
        self,
        operation: Operation,
        target: Target,
        new: Mapping[str, Any] | None,
        old: Mapping[str, Any] | None,
    ) -> Attributes:
        """What the webhooks are to be told. Whether it is a dry run is what the client said: the
        server itself makes some of what is none, to see what would be written.
        """
        metadata = (new or {}).get("metadata") or {}
        return Attributes(
            operation=operation,
            target=target,
            name=str(target.name or metadata.get("name") or ""),
            new=new if new is None or is_of_its_own(target) else target.type.ordered(new),
            old=old,
            options={**self._options, "kind": f"{operation.capitalize()}Options"},
            dry_run=bool(self._options.get("dryRun")),
        )

    def mutated(
        self, attributes: Attributes, read: Callable[[dict[str, Any]], dict[str, Any]] = dict
    ) -> dict[str, Any]:
        """`attributes.new` as the mutating webhooks want it: itself where they want nothing. What
        each of them has made is read by `read`, which may refuse it. Raises `AnswersMissing`,
        `Refused`.
        """
        before: Any = attributes.new
        after: Any = self._mutate(attributes, read).new
        return dict(after) if after != before else before

    def check_deletion(self, target: Target, old: Mapping[str, Any]) -> None:
        """Ask all of them whether an object may go. Raises `AnswersMissing`, `Refused`."""
        self.check_all(self.about("DELETE", target, None, old))

    def check_new(self, target: Target, new: Mapping[str, Any]) -> None:
        """Ask all of them about what comes of a POST and is no object to be stored. Raises
        `AnswersMissing`, `Refused`.
        """
        self.check_all(self.about("CREATE", target, new, None))

    def check_all(self, attributes: Attributes) -> None:
        """Ask all of them about what is no object to be stored. Raises `AnswersMissing`,
        `Refused`.
        """
        self._mutate(attributes)
        self.check(attributes)

    def _mutate(
        self, attributes: Attributes, read: Callable[[dict[str, Any]], dict[str, Any]] = dict
    ) -> Attributes:
        """Ask one after the other. Those with `reinvocationPolicy: IfNeeded` are asked once more
        where one after them changed the object.
        """
        last_change = -1
        asked = list(enumerate(hooks_for(self._state, MUTATING, attributes)))
        for at, hook in asked:
            attributes, changed = self._mutated_by(hook, attributes, "0", read)
            if changed:
                last_change = at
        for at, hook in asked:
            if at < last_change and hook.value.get("reinvocationPolicy") == "IfNeeded":
                attributes, _ = self._mutated_by(hook, attributes, "1", read)
        return attributes

    def check(self, attributes: Attributes) -> None:
        """Ask the validating webhooks, all at once. Raises `AnswersMissing`, `Refused`."""
        missing: dict[_Key, Question] = {}
        refusals: list[Refused] = []
        for hook in hooks_for(self._state, VALIDATING, attributes):
            try:
                found = self._ask(hook, attributes, "", mutating=False)
                if not found.allowed:
                    refusals.append(_denied(hook, found.status))
            except AnswersMissing as asking:
                missing.update(asking.questions)
            except Refused as refused:
                refusals.append(refused)
            except Failed as failed:
                if not hook.may_fail:
                    refusals.append(_failed(hook, failed))
        if missing:
            raise AnswersMissing(missing)
        if refusals:
            raise refusals[0]

    def _mutated_by(
        self,
        hook: Hook,
        attributes: Attributes,
        turn: str,
        read: Callable[[dict[str, Any]], dict[str, Any]],
    ) -> tuple[Attributes, bool]:
        try:
            found = self._ask(hook, attributes, turn, mutating=True)
        except Failed as failed:
            if hook.may_fail:
                return attributes, False
            raise _failed(hook, failed) from None
        if not found.allowed:
            raise _denied(hook, found.status)
        if not found.patch:
            return attributes, False
        if attributes.new is None:
            text = (
                f"admission webhook {go_quoted(hook.name)} attempted to modify the object, which "
                "is not supported for this operation"
            )
            raise unforeseen(text)
        try:
            new = json_patch(attributes.new, found.patch)
        except JSONPatchError as error:
            raise unforeseen(str(error)) from None
        if not isinstance(new, dict):
            raise unforeseen("the patch of a webhook makes something that is no object")
        changed = new != attributes.new
        if changed:
            new = read(new)
        return (replace(attributes, new=new) if changed else attributes), changed

    def _ask(self, hook: Hook, attributes: Attributes, turn: str, *, mutating: bool) -> Verdict:
        """What a webhook said. Raises `Failed`, `AnswersMissing`, and `Refused` for dry runs."""
        if attributes.dry_run and not hook.takes_dry_runs:
            raise bad_request(f"admission webhook {go_quoted(hook.name)} does not support dry run")
        seen = ((attributes.old or {}).get("metadata") or {}).get("resourceVersion") or ""
        key = (hook.configuration, hook.name, "mutating" if mutating else "", turn, str(seen))
        version = known_version(hook)
        uid = self._uids.setdefault(key, new_uid(self._state.rng))
        outcome = self._outcomes.get(key)
        if outcome is None:
            place = place_of(hook, self._state)
            body = review(hook, attributes, self.user, uid, version)
            raise AnswersMissing({key: Question(place=place, body=body, timeout=hook.timeout)})
        if isinstance(outcome, Failed):
            raise outcome
        found = verdict(outcome, uid, version, mutating=mutating)
        self.warnings += found.warnings
        return found


def _options_of(request: ServerRequest) -> dict[str, Any]:
    """The options of a request, as the query has them; those of a DELETE may be in its body."""
    options: dict[str, Any] = {"apiVersion": "meta.k8s.io/v1"}
    if request.method == "DELETE" and request.body:
        with contextlib.suppress(ValueError):  # which the deletion itself will complain of
            given = json.loads(request.body)
            options = {**(given if isinstance(given, dict) else {}), **options}
    dry_run = [value for name, value in request.query if name == "dryRun" and value]
    if dry_run:
        options["dryRun"] = dry_run
    for name in ("fieldManager", "fieldValidation", "propagationPolicy"):
        value = request.parameter(name)
        if value:
            options[name] = value
    grace = request.parameter("gracePeriodSeconds") or ""
    if request.method == "DELETE" and grace.isascii() and grace.isdigit():
        options["gracePeriodSeconds"] = int(grace)
    return options


def _denied(hook: Hook, given: Mapping[str, Any] | None) -> Refused:
    """The Status of the webhook's answer, completed."""
    status = dict(given or {})
    code = min(max(status.get("code", 0), 400), _LAST_STATUS)
    denied = f"admission webhook {go_quoted(hook.name)} denied the request"
    said = status.get("message") or status.get("reason")
    message = f"{denied}: {said}" if said else f"{denied} without explanation"
    answer = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
    }
    if status.get("reason"):
        answer["reason"] = status["reason"]
    if status.get("details"):
        answer["details"] = status["details"]
    answer["code"] = code
    return Refused(Answer(status=code, body=go_json(answer) + b"\n"))


def _failed(hook: Hook, failed: Failed) -> Refused:
    return unforeseen(f"failed calling webhook {go_quoted(hook.name)}: {failed}")
