"""A write that waits for webhooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Protocol

from ..messages import Answer, Later, Reaction, WatchStream
from ..reading.object_answers import warning_headers
from ..statuses import Refused
from ..storage.state import State
from .answers import Failed
from .consulting import AnswersMissing, Consulting, Outcome
from .questions import Question

__all__ = ["Ask", "consulted"]

_SLACK = 1.0
"""Seconds after its time limit at which a question that nobody has answered is given up."""


class Ask(Protocol):
    """Sends a question, and calls `done` once with what became of it, later than at once. What it
    gives takes the question back: nobody waits for its answer any more.
    """

    def __call__(
        self, question: Question, done: Callable[[Outcome], None]
    ) -> Callable[[], None]: ...


def consulted(
    state: State, consulting: Consulting, write: Callable[[], Reaction], ask: Ask | None
) -> Reaction:
    """What comes of `write`, which is tried until nobody is left to be asked. Without `ask` nobody
    can be: all questions fail.
    """
    consultation = _Consultation(state, consulting, write, ask or _nobody)
    reaction = consultation.attempt()
    return consultation if reaction is None else reaction


def _nobody(question: Question, done: Callable[[Outcome], None]) -> Callable[[], None]:
    text = "this server has no way to the outside"
    done(Failed(f'failed to call webhook: Post "{question.place.url}": {text}'))
    return _nothing


def _nothing() -> None:
    """There is nothing to take back."""


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
        self._waiting: dict[tuple[str, ...], Callable[[], None]] = {}
        """Whose answers are missing, and how to take the questions back."""
        self._later: Later | None = None
        """What the write itself waits for, before anybody is asked."""
        self._due = 0.0

    @property
    def due(self) -> float:
        return self._due if self._later is None else self._later.due

    def tick(self) -> Answer | WatchStream | None:
        if self._waiting:
            if self._state.clock() < self._due:
                return None
            for key, take_back in tuple(self._waiting.items()):
                take_back()
                self._put(key, Failed("failed to call webhook: context deadline exceeded"))
        reaction = self.attempt()
        assert reaction is None or isinstance(reaction, Answer)  # as all writes are in the end
        return reaction

    def close(self) -> None:
        waiting, self._waiting = self._waiting, {}
        for take_back in waiting.values():
            take_back()
        if self._later is not None:
            self._later.close()

    def attempt(self) -> Reaction | None:
        """Try to write. None: there is something to wait for."""
        while True:
            self._consulting.begin()
            self._state.consulting = self._consulting
            self._state.user = self._consulting.user
            try:
                reaction = self._write() if self._later is None else self._later.tick()
            except AnswersMissing as missing:
                self._later = None
                self._send(missing.questions)
                if self._waiting:
                    return None
                continue
            except Refused as refused:
                reaction = refused.answer
            finally:
                self._state.consulting = None
            if reaction is None:
                return None
            if not isinstance(reaction, Answer):
                assert not hasattr(reaction, "take")  # no write is answered by a watch
                self._later = reaction
                self._later.wake = self._wake
                return None
            return self._warned(reaction)

    def _wake(self) -> None:
        if self.wake is not None:
            self.wake()

    def _send(self, questions: Mapping[tuple[str, ...], Question]) -> None:
        self._waiting = dict.fromkeys(questions, _nothing)
        longest = max(question.timeout for question in questions.values())
        self._due = self._state.clock() + longest + _SLACK
        for key, question in questions.items():
            take_back = self._ask(question, partial(self._put, key))
            if key in self._waiting:
                self._waiting[key] = take_back

    def _put(self, key: tuple[str, ...], outcome: Outcome) -> None:
        if self._waiting.pop(key, None) is not None:
            self._consulting.put(key, outcome)
            if not self._waiting:
                self._wake()

    def _warned(self, reaction: Answer) -> Answer:
        if not self._consulting.warnings:
            return reaction
        headers = (*reaction.headers, *warning_headers(self._consulting.warnings))
        return Answer(
            status=reaction.status,
            body=reaction.body,
            content_type=reaction.content_type,
            headers=headers,
        )
