"""Steps, carried out on the core of the embedded server."""

from __future__ import annotations

from listwatch.testing.apiserver import APIServer
from listwatch.testing.apiserver.messages import Answer
from listwatch.testing.apiserver.writing.binding import bound

from .steps import Step, Verb

__all__ = ["carry_out"]


def carry_out(core: APIServer, step: Step) -> None:
    """Do it, and put into the step what became of it.

    All but one go the way of a request: a pod is bound with the conditions that it has by then, so
    that a run is the same to the byte.
    """
    if step.verb is Verb.BIND:
        step.refused = not _bind(core, step)
        return
    # Those who do this have credentials of their own, which nobody's faults and rules are about.
    auth, core.auth = core.auth, None
    try:
        answer = core.handle(step.request())
    finally:
        core.auth = auth
    step.refused = not isinstance(answer, Answer) or answer.status >= 300
    if step.verb is Verb.CREATE:
        made = core.state.log.get(step.storage, (step.namespace, step.name))
        if made is not None and not step.refused:
            step.uid = made.metadata["uid"]


def _bind(core: APIServer, step: Step) -> bool:
    state, key = core.state, (step.namespace, step.name)
    found = state.log.get("pods", key)
    of = state.types.find("", "v1", "pods")
    if found is None or of is None:
        return False
    metadata, spec = found.metadata, found.value["spec"]
    if metadata["uid"] != step.uid or "deletionTimestamp" in metadata or spec.get("nodeName"):
        return False
    body = step.body or {}
    value = bound(found.value, body["nodeName"], body["conditions"])
    state.log.put("pods", key, of.ordered(value))
    return True
