"""Asking as somebody else."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.rest.errors import ConfigError
from listwatch.rest.impersonation import Impersonation, impersonation_of
from listwatch.rest.kubeconfig_file import Section

pytestmark = pytest.mark.clause("N2")


class TestHeaders:
    def test_a_user_alone(self) -> None:
        assert Impersonation(user="jane").headers() == (("Impersonate-User", "jane"),)

    def test_all_that_can_be_asked_for(self) -> None:
        asked = Impersonation(
            user="system:serviceaccount:web:shop",
            uid="06f6ce97",
            groups=("admins", "developers"),
            extra={"scopes": ("view", "develop"), "dn": ("cn=jane,ou=engineers",)},
        )
        assert asked.headers() == (
            ("Impersonate-User", "system:serviceaccount:web:shop"),
            ("Impersonate-Uid", "06f6ce97"),
            ("Impersonate-Group", "admins"),
            ("Impersonate-Group", "developers"),
            ("Impersonate-Extra-scopes", "view"),
            ("Impersonate-Extra-scopes", "develop"),
            ("Impersonate-Extra-dn", "cn=jane,ou=engineers"),
        )

    @pytest.mark.parametrize(
        ("key", "name"),
        [
            ("Scopes", "scopes"),
            ("acme.com/project", "acme.com%2Fproject"),
            ("acme.com%2Fproject", "acme.com%252fproject"),
            ("a b:c", "a%20b%3Ac"),
            ("größe", "gr%C3%B6%C3%9Fe"),
            ("!#$&'*+-.^_`|~09az", "!#$&'*+-.^_`|~09az"),
        ],
    )
    def test_a_key_of_the_extra_becomes_the_name_of_a_header(self, key: str, name: str) -> None:
        assert Impersonation(user="jane", extra={key: ("x",)}).headers()[1:] == (
            (f"Impersonate-Extra-{name}", "x"),
        )

    @given(st.text(min_size=1).filter(lambda text: text.isprintable()))
    def test_the_server_gets_every_key_back_in_lower_case(self, key: str) -> None:
        [(name, _)] = Impersonation(user="jane", extra={key: ("x",)}).headers()[1:]
        assert unquote(name.removeprefix("Impersonate-Extra-")) == key.lower()

    def test_one_text_in_the_place_of_several_is_not_taken_apart(self) -> None:
        asked = Impersonation(user="jane", groups="admins", extra={"k": "ab"})  # type: ignore[arg-type, dict-item]
        assert asked.headers()[1:] == (
            ("Impersonate-Group", "admins"),
            ("Impersonate-Extra-k", "ab"),
        )

    def test_it_can_be_hashed_and_compared(self) -> None:
        one = Impersonation(user="jane", extra={"k": ("v",)})
        assert {one, Impersonation(user="jane", extra={"k": ("v",)})} == {one}
        assert one != Impersonation(user="jane")

    def test_the_order_of_the_extra_says_nothing(self) -> None:
        extra = {"a": ("1",), "b": ("2",)}
        one = Impersonation(user="jane", extra=extra)
        other = Impersonation(user="jane", extra=dict(reversed(extra.items())))
        assert one == other
        assert hash(one) == hash(other)

    def test_it_can_be_copied_and_pickled(self) -> None:
        one = Impersonation(user="jane", groups=("a",), extra={"k": ("v",)})
        assert copy.deepcopy(one) == pickle.loads(pickle.dumps(one)) == one


class TestWhatCannotBe:
    @pytest.mark.parametrize(
        "fields", [{"uid": "1"}, {"groups": ("admins",)}, {"extra": {"k": ("v",)}}, {}]
    )
    def test_it_needs_a_user(self, fields: dict[str, Any]) -> None:
        with pytest.raises(ConfigError, match="needs a user"):
            Impersonation(user="", **fields)

    @pytest.mark.parametrize(
        ("fields", "problem"),
        [
            ({"user": "jane\r\nX-Evil: 1"}, "user has a control character"),
            ({"user": "jane", "uid": "1\x00"}, "uid has a control character"),
            ({"user": "jane", "groups": ("a", "b\n")}, "group has a control character"),
            ({"user": "jane", "extra": {"k": ("\x7f",)}}, "extra 'k' has a control character"),
            ({"user": " jane"}, "user begins or ends with a space"),
            ({"user": "jane", "groups": ("a ",)}, "group begins or ends with a space"),
            ({"user": "jane", "groups": ("",)}, "group is empty"),
            ({"user": "jane", "extra": {"": ("v",)}}, "key of its extra is empty"),
            ({"user": "jane\udc80"}, "user has a character that cannot be sent"),
            ({"user": "jane", "extra": {"k\udc80": ("v",)}}, "character that cannot be sent"),
        ],
    )
    def test_what_no_header_can_carry_as_it_is(self, fields: dict[str, Any], problem: str) -> None:
        with pytest.raises(ConfigError, match=problem):
            Impersonation(**fields)


class TestKubeconfigs:
    def user(self, **fields: Any) -> Section:
        named = {name.replace("_", "-"): value for name, value in fields.items()}
        return Section(file=Path("/k"), where="user 'jane'", fields={**named})

    def test_a_user_without_those_fields_asks_for_nobody(self) -> None:
        assert impersonation_of(self.user(token="abc")) is None
        assert impersonation_of(self.user(as_groups=[], as_user_extra={})) is None

    def test_every_field(self) -> None:
        section = self.user(
            **{"as": "bob"},
            as_uid="7",
            as_groups=["a", "b"],
            as_user_extra={"scopes": ["x", "y"], "none": []},
        )
        assert impersonation_of(section) == Impersonation(
            user="bob", uid="7", groups=("a", "b"), extra={"scopes": ("x", "y"), "none": ()}
        )

    @pytest.mark.parametrize(
        ("fields", "message"),
        [
            ({"as_groups": ["a"]}, r"^/k: user 'jane', field 'as': .*needs a user"),
            ({"as_uid": "7"}, r"field 'as': .*needs a user"),
            ({"as": "bob", "as_groups": "a"}, r"field 'as-groups': should be a list"),
            ({"as": ["bob"]}, r"field 'as': should be text"),
            ({"as": "bob", "as_user_extra": ["a"]}, r"field 'as-user-extra': should be a mapping"),
            ({"as": "bob", "as_user_extra": {"k": "v"}}, r"field 'as-user-extra.k': should be a"),
            ({"as": "bob\n"}, r"field 'as': .*control character"),
        ],
    )
    def test_an_error_names_file_and_field(self, fields: dict[str, Any], message: str) -> None:
        with pytest.raises(ConfigError, match=message):
            impersonation_of(self.user(**fields))
