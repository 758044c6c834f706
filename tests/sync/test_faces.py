"""The blocking face has what the async one has, so that they cannot drift apart."""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import Any

import pytest

from listwatch import cache, client, sync
from listwatch.cache import factory, registration
from listwatch.cache.until import until, until_with_sync

FACES: list[tuple[type[Any], type[Any]]] = [
    (client.Client, sync.Client),
    (cache.Mirror, sync.Mirror),
    (cache.Changes, sync.Changes),
    (cache.SharedInformer, sync.SharedInformer),
    (registration.Registration, sync.Registration),
    (factory.InformerFactory, sync.InformerFactory),
]

ONLY_ASYNC = {
    # Async through and through: `Client.run` reaches them.
    "Client": {"rest", "discovery"},
    "Mirror": {"reflector", "until", "begin"},  # what informers and changes are made with
    "SharedInformer": {"begin"},  # what a factory starts it with
}

ONLY_SYNC = {
    "Client": {"run"},
    "InformerFactory": {"stop"},  # the async one is cancelled
}

pair = pytest.mark.parametrize(
    ("original", "face"), FACES, ids=[face.__name__ for _, face in FACES]
)


def public(cls: type[Any]) -> set[str]:
    """The names of methods and properties, and of what `__init__` sets."""
    names = set(dir(cls))
    for each in cls.__mro__:
        if inspect.isfunction(init := vars(each).get("__init__")):
            made = ast.walk(ast.parse(textwrap.dedent(inspect.getsource(init))))
            set_here = (node for node in made if isinstance(node, ast.Attribute))
            names |= {node.attr for node in set_here if isinstance(node.ctx, ast.Store)}
    return {name for name in names if not name.startswith("_")}


def parameters(function: Any) -> list[tuple[str, Any, Any]]:
    found = inspect.signature(function).parameters.values()
    return [(each.name, each.kind, each.default) for each in found]


@pair
def test_the_names_are_the_same(original: type[Any], face: type[Any]) -> None:
    name = face.__name__
    missing = public(original) - ONLY_ASYNC.get(name, set())
    assert public(face) - ONLY_SYNC.get(name, set()) == missing
    assert ONLY_ASYNC.get(name, set()) <= public(original)
    assert ONLY_SYNC.get(name, set()) <= public(face)


@pair
def test_the_arguments_are_the_same(original: type[Any], face: type[Any]) -> None:
    compared = 0
    for name in public(original) & public(face):
        if inspect.isfunction(method := getattr(original, name, None)):
            assert parameters(getattr(face, name)) == parameters(method), name
            compared += 1
    assert compared >= 2


@pair
def test_nothing_is_left_to_be_awaited(original: type[Any], face: type[Any]) -> None:
    for name in public(face):
        method = getattr(face, name)
        assert not inspect.iscoroutinefunction(method), name
        words = inspect.getdoc(method) or ""
        assert words, name
        assert "await " not in words, name
        assert "async with" not in words, name


def test_a_client_is_made_of_the_same() -> None:
    assert parameters(sync.Client.__init__) == parameters(client.Client.__init__)


@pytest.mark.parametrize("original", [until, until_with_sync])
def test_the_functions_take_the_same(original: Any) -> None:
    assert parameters(getattr(sync, original.__name__)) == parameters(original)


@pair
def test_what_makes_a_with_is_there(original: type[Any], face: type[Any]) -> None:
    assert hasattr(original, "__aenter__") == hasattr(face, "__enter__")
    assert hasattr(original, "__aexit__") == hasattr(face, "__exit__")
    assert hasattr(original, "__aiter__") == hasattr(face, "__iter__")
