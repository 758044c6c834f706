"""A write that waits for webhooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Protocol

from ..messages import Answer, Reaction, WatchStream
from ..reading.object_answers import warning_headers
from ..statuses import Refused
from ..storage.state import State
from .consulting import AnswersMissing, Consulting, Outcome
from .questions import Question
from .reviews import Failed

__all__ = ["Ask", "consulted"]

_SLACK = 1.0
"""Seconds after its time limit at which a question that nobody has answered is given up."""


class Ask(Protocol):
    """Sends a question, and calls `done` once with what became of it, later than at once."""

    def __call__(self, question: Question, done: Callable[[Outcome], None]) -> None: ...


def consulted(
    state: State, consulting: Consulting, write: Callable[[], Reaction], ask: Ask | None
) -> Reaction:
    """What comes of `write`, which is tried until nobody is left to be asked. Without `ask` nobody
    can be: all questions fail.
    """
    consultation = _Consultation(state, consulting, write, ask or _nobody)
    reaction = consultation.attempt()
    return consultation if reaction is None else reaction


def _nobody(question: Question, done: Callable[[Outcome], None]) -> None:
    text = "this server has no way to the outside"
    done(Failed(f'failed to call webhook: Post "{question.place.url}": {text}'))


class _Consultation:
    """Waits for answers, and tries again."""

    def __init__(
        self, state: State, consulting: Consulting, write: Callable[[], Reaction], ask: Ask
    ) -> None:
        self.wake: Callable[[], None] | None = None
        self._state = state
        self._consulting = consulting
        self._write = write
        self._ask = ask
        self._waiting: set[tuple[str, ...]] = set()
        self._due = 0.0

    @property
    def due(self) -> float:
        return self._due

    def tick(self) -> Answer | WatchStream | None:
        if self._waiting:
            if self._state.clock() < self._due:
                return None
            for key in tuple(self._waiting):
                self._put(key, Failed("failed to call webhook: context deadline exceeded"))
        reaction = self.attempt()
        assert reaction is None or isinstance(reaction, Answer)  # as all writes are
        return reaction

    def attempt(self) -> Reaction | None:
        """Try to write. None: there is somebody to wait for."""
        while True:
            self._consulting.begin()
            self._state.consulting = self._consulting
            self._state.user = self._consulting.user
            try:
                reaction = self._write()
            except AnswersMissing as missing:
                self._send(missing.questions)
                if self._waiting:
                    return None
                continue
            except Refused as refused:
                reaction = refused.answer
            finally:
                self._state.consulting = None
            return self._warned(reaction)

    def _send(self, questions: Mapping[tuple[str, ...], Question]) -> None:
        self._waiting = set(questions)
        longest = max(question.timeout for question in questions.values())
        self._due = self._state.clock() + longest + _SLACK
        for key, question in questions.items():
            self._ask(question, partial(self._put, key))

    def _put(self, key: tuple[str, ...], outcome: Outcome) -> None:
        if key in self._waiting:
            self._waiting.remove(key)
            self._consulting.put(key, outcome)
            if not self._waiting and self.wake is not None:
                self.wake()

    def _warned(self, reaction: Reaction) -> Reaction:
        if not self._consulting.warnings or not isinstance(reaction, Answer):
            return reaction
        headers = (*reaction.headers, *warning_headers(self._consulting.warnings))
        return Answer(
            status=reaction.status,
            body=reaction.body,
            content_type=reaction.content_type,
            headers=headers,
        )
