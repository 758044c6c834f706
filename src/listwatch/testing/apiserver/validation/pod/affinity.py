"""Affinity: which nodes a pod is drawn to, and which other pods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..basics import NO_OPERATOR, expression_at, selector_at, texts
from ..checks import Value
from ..names import key_problems, label_name_problems, subdomain_problems
from ..problems import Problem, forbidden_field, invalid_field, required_field

__all__ = [
    "PREFERRED",
    "REQUIRED",
    "affinity_problems",
    "label_keys_problems",
    "node_selector_problems",
]

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def affinity_problems(affinity: Value | None, path: str) -> Iterator[Problem]:
    """What is wrong with an affinity at `path`."""
    if not affinity:
        return
    nodes = affinity.get("nodeAffinity") or {}
    required = nodes.get(REQUIRED)
    here = f"{path}.nodeAffinity"
    if required is not None:
        yield from node_selector_problems(required, f"{here}.{REQUIRED}")
    for at, term in enumerate(nodes.get(PREFERRED) or ()):
        at_term = f"{here}.{PREFERRED}[{at}]"
        yield from _weight(term, at_term)
        preference = term.get("preference") or {}
        yield from _term(preference, f"{at_term}.preference", any_value=True)
    for name in ("podAffinity", "podAntiAffinity"):
        pods = affinity.get(name) or {}
        for at, term in enumerate(pods.get(REQUIRED) or ()):
            yield from _pod_term(term, f"{path}.{name}.{REQUIRED}[{at}]")
        for at, weighted in enumerate(pods.get(PREFERRED) or ()):
            at_term = f"{path}.{name}.{PREFERRED}[{at}]"
            yield from _weight(weighted, at_term)
            term = weighted.get("podAffinityTerm") or {}
            yield from _pod_term(term, f"{at_term}.podAffinityTerm")


def _weight(term: Value, path: str) -> Iterator[Problem]:
    weight = term.get("weight") or 0
    if not 0 < weight <= 100:
        yield invalid_field(f"{path}.weight", weight, "must be in the range 1-100")


def node_selector_problems(
    selector: Value, path: str, *, any_value: bool = False
) -> Iterator[Problem]:
    """Terms that nodes match. `any_value`: their values need not be those of labels."""
    terms = selector.get("nodeSelectorTerms")
    if not terms:
        yield required_field(
            f"{path}.nodeSelectorTerms", "must have at least one node selector term"
        )
    for at, term in enumerate(terms or ()):
        yield from _term(term, f"{path}.nodeSelectorTerms[{at}]", any_value=any_value)


def _term(term: Value, path: str, *, any_value: bool) -> Iterator[Problem]:
    for at, requirement in enumerate(term.get("matchExpressions") or ()):
        here = f"{path}.matchExpressions[{at}]"
        yield from expression_at(here, requirement, any_value=any_value, compares=True)
    for at, requirement in enumerate(term.get("matchFields") or ()):
        yield from _field(requirement, f"{path}.matchFields[{at}]")


def _field(requirement: Value, path: str) -> Iterator[Problem]:
    """A field of a node: its name is the only one."""
    operator, values = requirement.get("operator") or "", requirement.get("values") or ()
    if operator not in ("In", "NotIn"):
        yield invalid_field(f"{path}.operator", operator, NO_OPERATOR)
    elif len(values) != 1:
        text = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        yield required_field(f"{path}.values", text)
    key = requirement.get("key") or ""
    if key != "metadata.name":
        yield invalid_field(f"{path}.key", key, "not a valid field selector key")
        return
    for index, value in enumerate(values):
        yield from texts(f"{path}.values[{index}]", value, subdomain_problems(value))


def _pod_term(term: Value, path: str) -> Iterator[Problem]:
    selector = term.get("labelSelector")
    yield from selector_at(f"{path}.labelSelector", selector)
    yield from selector_at(f"{path}.namespaceSelector", term.get("namespaceSelector"))
    for name in term.get("namespaces") or ():
        yield from texts(f"{path}.namespace", name, label_name_problems(name))
    matched, mismatched = term.get("matchLabelKeys"), term.get("mismatchLabelKeys")
    if matched or mismatched:
        yield from label_keys_problems(path, matched, mismatched, selector)
    topology = term.get("topologyKey") or ""
    if not topology:
        yield required_field(f"{path}.topologyKey", "can not be empty")
    yield from texts(f"{path}.topologyKey", topology, key_problems(topology))


def label_keys_problems(
    path: str,
    matched: Sequence[str] | None,
    mismatched: Sequence[str] | None,
    selector: Value | None,
) -> Iterator[Problem]:
    """Keys whose values are those of the pod itself, beside a selector that may not have them."""
    matched, mismatched = matched or (), mismatched or ()
    for name, keys in (("matchLabelKeys", matched), ("mismatchLabelKeys", mismatched)):
        if keys and selector is None:
            text = "must not be specified when labelSelector is not set"
            yield forbidden_field(f"{path}.{name}", text)
        elif keys:
            for at, key in enumerate(keys):
                yield from texts(f"{path}.{name}[{at}]", key, key_problems(key))
    if selector is not None:
        places = {key: at for at, key in enumerate(matched)}
        seen = set(selector.get("matchLabels") or ())
        for expression in selector.get("matchExpressions") or ():
            key = expression.get("key") or ""
            if key in places and key in seen:
                text = "exists in both matchLabelKeys and labelSelector"
                yield invalid_field(f"{path}[{places[key]}]", key, text)
            seen.add(key)
    for at, key in enumerate(matched):
        if key in mismatched:
            text = "exists in both matchLabelKeys and mismatchLabelKeys"
            yield invalid_field(f"{path}.matchLabelKeys[{at}]", key, text)
