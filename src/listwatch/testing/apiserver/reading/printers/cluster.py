"""Who may do what, what is admitted, and how the cluster is run."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from listwatch.api.cells.ages import age_text
from listwatch.api.cells.reading import NONE, UNSET, Obj, age, at, items, number, text

from .printer import (
    AGE,
    NAME,
    Column,
    Printer,
    Printers,
    name_of,
    whole,
    wide,
    yes_or_no,
)

__all__ = ["PRINTERS"]


def _binding(obj: Obj, now: datetime) -> list[Any]:
    kinds: dict[str, list[str]] = {"User": [], "Group": [], "ServiceAccount": []}
    for subject in items(obj, "subjects"):
        kind, name = text(subject, "kind"), text(subject, "name")
        if kind == "ServiceAccount":
            name = f"{text(subject, 'namespace')}/{name}"
        if kind in kinds:
            kinds[kind].append(name)
    role = f"{text(obj, 'roleRef', 'kind')}/{text(obj, 'roleRef', 'name')}"
    return [name_of(obj), role, age(obj, now), *(", ".join(found) for found in kinds.values())]


def _signing_request(obj: Obj, now: datetime) -> list[Any]:
    seconds = at(obj, "spec", "expirationSeconds")
    return [
        name_of(obj),
        age(obj, now),
        text(obj, "spec", "signerName", default=NONE),
        text(obj, "spec", "username"),
        age_text(seconds) if isinstance(seconds, int) else NONE,
        _signing_state(obj),
    ]


def _signing_state(obj: Obj) -> str:
    kinds = {text(condition, "type") for condition in items(obj, "status", "conditions")}
    state = next((kind for kind in ("Denied", "Approved") if kind in kinds), "Pending")
    if "Failed" in kinds:
        state += ",Failed"
    return state + ",Issued" if text(obj, "status", "certificate") else state


def _webhooks(obj: Obj, now: datetime) -> list[Any]:
    return [name_of(obj), len(items(obj, "webhooks")), age(obj, now)]


def _policy(obj: Obj, now: datetime) -> list[Any]:
    kind = at(obj, "spec", "paramKind")
    rules = items(obj, "spec", "validations") or items(obj, "spec", "mutations")
    return [
        name_of(obj),
        len(rules),
        UNSET if kind is None else f"{text(kind, 'apiVersion')}/{text(kind, 'kind')}",
        age(obj, now),
    ]


def _policy_binding(obj: Obj, now: datetime) -> list[Any]:
    reference = at(obj, "spec", "paramRef")
    shown = UNSET
    if name := text(reference, "name"):
        shown = f"{text(reference, 'namespace', default='*')}/{name}"
    elif (selector := at(reference, "selector")) is not None:
        shown = _go_selector(selector)
    return [name_of(obj), text(obj, "spec", "policyName"), shown, age(obj, now)]


def _go_selector(selector: Obj) -> str:
    """A selector as Go prints the struct."""
    labels = at(selector, "matchLabels") or {}
    shown = "".join(f"{key}: {labels[key]}," for key in sorted(labels))
    expressions = "".join(
        f"LabelSelectorRequirement{{Key:{text(each, 'key')},Operator:{text(each, 'operator')},"
        f"Values:[{' '.join(map(str, items(each, 'values')))}],}},"
        for each in items(selector, "matchExpressions")
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{shown}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )


def _priority_class(obj: Obj, now: datetime) -> list[Any]:
    return [
        name_of(obj),
        number(obj, "value"),
        at(obj, "globalDefault") is True,
        age(obj, now),
        text(obj, "preemptionPolicy"),
    ]


def _lease(obj: Obj, now: datetime) -> list[Any]:
    return [name_of(obj), text(obj, "spec", "holderIdentity"), age(obj, now)]


def _runtime_class(obj: Obj, now: datetime) -> list[Any]:
    return [name_of(obj), text(obj, "handler"), age(obj, now)]


def _api_service(obj: Obj, now: datetime) -> list[Any]:
    service = at(obj, "spec", "service")
    shown = "Local"
    if service is not None:
        shown = f"{text(service, 'namespace')}/{text(service, 'name')}"
    available = "Unknown"
    for condition in items(obj, "status", "conditions"):
        if text(condition, "type") == "Available":
            available, reason = text(condition, "status"), text(condition, "reason")
            if available != "True" and reason:
                available = f"{available} ({reason})"
            break
    return [name_of(obj), shown, available, age(obj, now)]


def _flow_schema(obj: Obj, now: datetime) -> list[Any]:
    dangling = "?"
    for condition in items(obj, "status", "conditions"):
        if text(condition, "type") == "Dangling":
            dangling = text(condition, "status")
            break
    return [
        name_of(obj),
        text(obj, "spec", "priorityLevelConfiguration", "name"),
        number(obj, "spec", "matchingPrecedence"),
        text(obj, "spec", "distinguisherMethod", "type", default=NONE),
        age(obj, now),
        dangling,
    ]


def _priority_level(obj: Obj, now: datetime) -> list[Any]:
    limited = at(obj, "spec", "limited")
    queuing = at(limited, "limitResponse", "queuing")
    queues: list[Any] = [NONE] * 3
    if queuing is not None:
        queues = [number(queuing, part) for part in ("queues", "handSize", "queueLengthLimit")]
    return [
        name_of(obj),
        text(obj, "spec", "type"),
        NONE if limited is None else number(limited, "nominalConcurrencyShares"),
        *queues,
        age(obj, now),
    ]


def _device_type(obj: Obj, now: datetime) -> list[Any]:
    return [name_of(obj), age(obj, now)]


def _resource_claim(obj: Obj, now: datetime) -> list[Any]:
    deleted = bool(at(obj, "metadata", "deletionTimestamp"))
    states = ["deleted"] if deleted else []
    if at(obj, "status", "allocation") is None:
        states += [] if deleted else ["pending"]
    else:
        states += ["allocated"]
        states += ["reserved"] if items(obj, "status", "reservedFor") else []
    return [name_of(obj), ",".join(states), age(obj, now)]


def _resource_slice(obj: Obj, now: datetime) -> list[Any]:
    return [
        name_of(obj),
        text(obj, "spec", "nodeName"),
        text(obj, "spec", "driver"),
        text(obj, "spec", "pool", "name"),
        age(obj, now),
    ]


_PARAMETERS = Column("ParamKind", "The kind of the objects that its parameters come from.")
_BINDING = Printer(
    (
        NAME,
        Column("Role", "The role that is given."),
        AGE,
        wide(Column("Users", "The users who are given it.")),
        wide(Column("Groups", "The groups that are given it.")),
        wide(Column("ServiceAccounts", "The service accounts that are given it.")),
    ),
    _binding,
)
_POLICY_BINDING = Printer(
    (
        NAME,
        Column("PolicyName", "The policy that is put into force."),
        Column("ParamRef", "The object with its parameters."),
        AGE,
    ),
    _policy_binding,
)
_WEBHOOKS = Printer((NAME, whole("Webhooks", "How many webhooks are asked."), AGE), _webhooks)
_DEVICE_TYPE = Printer((NAME, AGE), _device_type)

PRINTERS: Printers = {
    ("rbac.authorization.k8s.io", "RoleBinding"): _BINDING,
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): _BINDING,
    ("certificates.k8s.io", "CertificateSigningRequest"): Printer(
        (
            NAME,
            AGE,
            Column("SignerName", "Who is to sign."),
            Column("Requestor", "Who asks for the certificate."),
            Column("RequestedDuration", "How long it is to be valid."),
            Column("Condition", "What became of the request."),
        ),
        _signing_request,
    ),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): _WEBHOOKS,
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): _WEBHOOKS,
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"): Printer(
        (NAME, whole("Validations", "How many rules it has."), _PARAMETERS, AGE), _policy
    ),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"): Printer(
        (NAME, whole("Mutations", "How many changes it makes."), _PARAMETERS, AGE), _policy
    ),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"): _POLICY_BINDING,
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"): _POLICY_BINDING,
    ("scheduling.k8s.io", "PriorityClass"): Printer(
        (
            NAME,
            whole("Value", "How important pods of the class are: the higher, the more."),
            yes_or_no("Global-Default", "Whether it is the class of pods that name none."),
            AGE,
            Column("PreemptionPolicy", "Whether its pods may push others out."),
        ),
        _priority_class,
    ),
    ("coordination.k8s.io", "Lease"): Printer(
        (NAME, Column("Holder", "Who has the lease."), AGE), _lease
    ),
    ("node.k8s.io", "RuntimeClass"): Printer(
        (NAME, Column("Handler", "The setting of the runtime that pods are run with."), AGE),
        _runtime_class,
    ),
    ("apiregistration.k8s.io", "APIService"): Printer(
        (
            NAME,
            Column("Service", "The service that answers, or `Local` for the server itself."),
            Column("Available", "Whether it answers."),
            AGE,
        ),
        _api_service,
    ),
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"): Printer(
        (
            NAME,
            Column("PriorityLevel", "The level that its requests go to."),
            Column("MatchingPrecedence", "When it is looked at: the lower, the earlier."),
            Column("DistinguisherMethod", "What tells one flow of requests from another."),
            AGE,
            Column("MissingPL", "Whether the level is missing."),
        ),
        _flow_schema,
    ),
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"): Printer(
        (
            NAME,
            Column("Type", "Whether the level is limited."),
            Column("NominalConcurrencyShares", "Its part of what the server can do at once."),
            Column("Queues", "How many queues it has."),
            Column("HandSize", "How many queues a flow is dealt."),
            Column("QueueLengthLimit", "How many requests can wait in a queue."),
            AGE,
        ),
        _priority_level,
    ),
    ("resource.k8s.io", "DeviceClass"): _DEVICE_TYPE,
    ("resource.k8s.io", "ResourceClaimTemplate"): _DEVICE_TYPE,
    ("resource.k8s.io", "ResourceClaim"): Printer(
        (NAME, Column("State", "Whether the claim has got its devices."), AGE), _resource_claim
    ),
    ("resource.k8s.io", "ResourceSlice"): Printer(
        (
            NAME,
            Column("Node", "The node that has the devices."),
            Column("Driver", "The driver of the devices."),
            Column("Pool", "The pool that they belong to."),
            AGE,
        ),
        _resource_slice,
    ),
}
