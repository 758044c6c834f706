"""The subresource `eviction`: delete a pod, if its disruption budgets let it go (K36)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from listwatch.api import APIResource

from ..messages import Answer, ServerRequest
from ..reading.encoding import go_json
from ..reading.object_answers import warning_headers
from ..reading.object_selectors import selector_matches
from ..statuses import Refused, done, failure
from ..storage.log import StoredObject
from ..storage.state import State, Target
from ..types.served import ResourceType
from ..validation.problems import bad_request, internal_error, not_found
from ..writing.managed_fields import Manager, after_update
from ..writing.metadata import timestamp
from ..writing.write_checks import read_sent
from ..writing.write_options import write_options
from .delete_options import DeleteOptions
from .deletion import Deletions
from .dying import check_preconditions

__all__ = ["Evictions"]

_BUDGETS = "policy/poddisruptionbudgets"
_EVICTION = ResourceType(
    resource=APIResource(
        group="policy", version="v1", name="evictions", kind="Eviction", namespaced=True
    ),
    storage="",
    members={"deleteOptions": ...},
)
_SERVER = Manager("kube-apiserver", "policy/v1", "status", custom=False)
_MANY = (
    "This pod has more than one PodDisruptionBudget, which the eviction subresource does not "
    "support."
)
_UNPROTECTED = ("Pending", "Succeeded", "Failed")
_UNOBSERVED_RETRY = 10


class Evictions:
    """Deletes pods for those who ask whether they may."""

    def __init__(self, state: State, deletions: Deletions) -> None:
        self._state = state
        self._deletions = deletions

    def create(self, target: Target, request: ServerRequest) -> Answer:
        """Raises `Refused`: 429 while a budget holds the pod."""
        sent = write_options(request)
        value, warnings = read_sent(replace(target, type=_EVICTION), request, sent)
        options = _delete_options(request, value.get("deleteOptions"))
        if value["metadata"].get("name") != target.name:
            raise bad_request("name in URL does not match name in Eviction object")
        dry_run = sent.dry_run or options.dry_run
        if self._state.consulting is not None:
            value["metadata"] = {**value["metadata"], "namespace": target.namespace}
            self._state.consulting.check_new(target, value)
        of, log = target.type, self._state.log
        pod = log.get(of.storage, (target.namespace, target.name))
        if pod is None:
            raise not_found(of, target.name)
        check_preconditions(of, pod.metadata, options)
        budget = None if _is_unprotected(pod.value) else self._budget(pod)
        if budget is not None and not _is_unhealthy_and_free(pod.value, budget.value):
            self._spend(budget, pod, dry_run=dry_run)
        if not dry_run:
            pod = self._marked(of, pod)
        self._deletions.end(of, pod, replace(options, dry_run=dry_run, resource_version=None))
        return replace(done(), headers=warning_headers(warnings))

    def _budget(self, pod: StoredObject) -> StoredObject | None:
        namespace, labels = pod.key[0], pod.metadata.get("labels")
        found = [
            budget
            for budget in self._state.log.objects(_BUDGETS, namespace=namespace)
            if selector_matches((budget.value.get("spec") or {}).get("selector"), labels)
        ]
        if len(found) > 1:
            raise internal_error(_MANY)
        return found[0] if found else None

    def _spend(self, budget: StoredObject, pod: StoredObject, *, dry_run: bool) -> None:
        """Take one disruption from the budget, or refuse the eviction."""
        name, status = budget.key[1], budget.value.get("status") or {}
        if status.get("observedGeneration", 0) < budget.metadata.get("generation", 0):
            text = f"The disruption budget {name} is still being processed by the server."
            raise _held(text, _UNOBSERVED_RETRY)
        allowed = status.get("disruptionsAllowed", 0)
        if allowed <= 0:
            healthy, desired = status.get("currentHealthy", 0), status.get("desiredHealthy", 0)
            if healthy <= desired:
                why = f"needs {desired} healthy pods and has {healthy} currently"
            else:
                why = "does not allow evicting pods currently"
            raise _held(f"The disruption budget {name} {why}")
        if dry_run:
            return
        now = timestamp(self._state.wall())
        disrupted = {**(status.get("disruptedPods") or {}), pod.key[1]: now}
        old = budget.value
        status = {**status, "disruptionsAllowed": allowed - 1, "disruptedPods": disrupted}
        new = {**old, "metadata": dict(old["metadata"]), "status": status}
        entries = after_update(_SERVER, old, new, now)
        if entries:
            new["metadata"]["managedFields"] = list(entries)
        self._state.log.put(_BUDGETS, budget.key, new)

    def _marked(self, of: ResourceType, pod: StoredObject) -> StoredObject:
        """The pod says why it has to go, in nobody's name."""
        status = dict(pod.value.get("status") or {})
        conditions = list(status.get("conditions") or ())
        if any(found.get("type") == "DisruptionTarget" for found in conditions):
            return pod
        conditions.append(
            {
                "type": "DisruptionTarget",
                "status": "True",
                "lastProbeTime": None,
                "lastTransitionTime": timestamp(self._state.wall()),
                "reason": "EvictionByEvictionAPI",
                "message": "Eviction API: evicting",
            }
        )
        status["conditions"] = conditions
        if "qosClass" in status:
            status["qosClass"] = status.pop("qosClass")  # it is written last
        value = {**pod.value, "metadata": dict(pod.metadata), "status": status}
        return self._state.log.put(of.storage, pod.key, of.ordered(value))


def _delete_options(request: ServerRequest, given: Any) -> DeleteOptions:
    if not isinstance(given, dict):
        return DeleteOptions()
    headers = {**request.headers, "content-type": "application/json"}
    return DeleteOptions.of(replace(request, headers=headers, query=(), body=go_json(given)))


def _is_unprotected(pod: Mapping[str, Any]) -> bool:
    phase = (pod.get("status") or {}).get("phase")
    return phase in _UNPROTECTED or pod["metadata"].get("deletionTimestamp") is not None


def _is_unhealthy_and_free(pod: Mapping[str, Any], budget: Mapping[str, Any]) -> bool:
    """Whether nothing is lost by it: it is not ready, and the others are enough."""
    conditions = (pod.get("status") or {}).get("conditions") or ()
    if any(found["type"] == "Ready" and found["status"] == "True" for found in conditions):
        return False
    status = budget.get("status") or {}
    if status.get("observedGeneration", 0) < budget["metadata"].get("generation", 0):
        return False
    if (budget.get("spec") or {}).get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    desired = status.get("desiredHealthy", 0)
    return bool(desired > 0 and status.get("currentHealthy", 0) >= desired)


def _held(why: str, seconds: int | None = None) -> Refused:
    details: dict[str, Any] = {"causes": [{"reason": "DisruptionBudget", "message": why}]}
    headers: tuple[tuple[str, str], ...] = ()
    if seconds is not None:
        details["retryAfterSeconds"] = seconds
        headers = (("Retry-After", str(seconds)),)
    text = "Cannot evict pod as it would violate the pod's disruption budget."
    return Refused(failure(429, "TooManyRequests", text, details=details, headers=headers))
