"""The examples in the docstrings run, and what is exported is documented."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil

import pytest

from listwatch import api

pytestmark = pytest.mark.clause("A1", "A4", "A7")

MODULES = [f"{api.__name__}.{module.name}" for module in pkgutil.iter_modules(api.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_run(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize("cls", [api.Unstructured, api.ListOptions, api.LabelSelector])
def test_the_main_classes_have_an_example(cls: type) -> None:
    assert ">>> " in (cls.__doc__ or "")


@pytest.mark.parametrize("name", [name for name in api.__all__ if not name.isupper()])
def test_what_is_exported_is_documented(name: str) -> None:
    value = getattr(api, name)
    # inspect.getdoc would take the docstring of a base class.
    assert inspect.cleandoc(value.__dict__.get("__doc__") or value.__doc__ or "")
    public = vars(value).items() if inspect.isclass(value) else ()
    for member, content in public:
        if not member.startswith("_") and (
            inspect.isfunction(content) or isinstance(content, property)
        ):
            assert content.__doc__ or member in vars(dict), f"{name}.{member} has no docstring"
