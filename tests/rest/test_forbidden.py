"""What is said where all namespaces are refused."""

from __future__ import annotations

import pickle

import pytest

from listwatch import APIResource, Forbidden, GroupVersionResource, Status
from listwatch.rest.forbidden import NamespaceHint, explain_forbidden
from listwatch.testing import Reply
from tests.rest.scripted import PODS, client_of, status
from tests.support.vectors import vectors

NODES = APIResource(group="", version="v1", name="nodes", kind="Node", namespaced=False)
WIDGETS = GroupVersionResource("example.com", "v1", "widgets")

OPTION = 'namespace="NAME" asks for one alone (to an informer: namespaces=["NAME", ...])'
EVERYWHERE = "all namespaces were asked for"


def refusal(verb: str = "list", where: str = "at the cluster scope") -> str:
    return f'pods is forbidden: User "dev" cannot {verb} resource "pods" in API group "" {where}'


def notes_of(
    message: str,
    resource: APIResource | GroupVersionResource | None = PODS,
    namespace: str = "",
) -> list[str]:
    error = Forbidden(Status(code=403, reason="Forbidden", message=message))
    explain_forbidden(error, resource, namespace)
    explain_forbidden(error, resource, namespace)
    return list(getattr(error, "__notes__", []))


@pytest.mark.parametrize("verb", ["list", "watch"])
def test_who_may_not_see_all_namespaces_hears_once_what_asks_for_one(verb: str) -> None:
    assert notes_of(refusal(verb)) == [f"{EVERYWHERE}: {OPTION}"]


def test_an_old_server_says_it_in_fewer_words() -> None:
    assert notes_of('User "dev" cannot list pods at the cluster scope.')


def test_of_a_type_that_is_known_by_its_address_alone_the_scope_is_not_known() -> None:
    [note] = notes_of(refusal(), WIDGETS)
    assert note == f"if widgets are namespaced, {EVERYWHERE}: {OPTION}"


def test_a_built_in_type_is_known_by_its_address() -> None:
    assert notes_of(refusal(), GroupVersionResource("", "v1", "pods"))
    assert not notes_of(refusal(), GroupVersionResource("", "v1", "nodes"))


@pytest.mark.parametrize(
    ("message", "resource", "namespace"),
    [
        (refusal(where='in the namespace "a"'), PODS, "a"),
        (refusal(), PODS, "a"),
        (refusal(), NODES, ""),
        ('forbidden: User "dev" cannot get path "/metrics"', None, ""),
        (
            'users.authentication.k8s.io "x" is forbidden: User "dev" cannot impersonate resource'
            ' "users" in API group "authentication.k8s.io" at the cluster scope',
            PODS,
            "",
        ),
        ("<title>Access denied</title>", PODS, ""),
        ("", PODS, ""),
    ],
)
def test_nothing_is_added_where_no_namespace_would_help(
    message: str, resource: APIResource | None, namespace: str
) -> None:
    assert notes_of(message, resource, namespace) == []


def test_the_command_has_an_option_of_its_own() -> None:
    error = Forbidden(Status(code=403, reason="Forbidden", message=refusal()))
    explain_forbidden(error, PODS, "")
    [note] = error.__notes__
    assert isinstance(note, NamespaceHint)
    assert note.for_command == f"{EVERYWHERE}: -n NAME, in place of -A, asks for one alone"


def test_the_note_travels_with_the_error() -> None:
    error = Forbidden(Status(code=403, reason="Forbidden", message=refusal()))
    explain_forbidden(error, PODS, "")
    assert pickle.loads(pickle.dumps(error)).__notes__ == error.__notes__


def test_what_real_servers_say_is_understood() -> None:
    refused = [each for each in vectors() if each.status == 403 and b"cluster scope" in each.body]
    messages = [Status.from_bytes(each.body).message for each in refused if each.body[:1] == b"{"]
    assert messages
    for message in messages:
        asked = " cannot list " in message or " cannot watch " in message
        assert bool(notes_of(message)) == asked, message


# Requests


@pytest.mark.parametrize("verb", ["list", "watch"])
async def test_a_request_for_all_namespaces_that_is_refused_says_so(verb: str) -> None:
    body = status(403, "Forbidden", refusal(verb), kind="pods")
    client, transport = client_of(lambda request: Reply(403, body))
    with pytest.raises(Forbidden) as caught:
        await getattr(client, verb)(PODS)
    assert caught.value.__notes__ == [f"{EVERYWHERE}: {OPTION}"]
    with pytest.raises(Forbidden) as caught:
        await getattr(client, verb)(PODS, namespace="a")
    assert not hasattr(caught.value, "__notes__")
    assert len(transport.requests) == 2, "nothing is narrowed by itself"
