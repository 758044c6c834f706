"""Label selectors: the grammar of Kubernetes, and what they match."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.api import LabelOperator, LabelRequirement, LabelSelector, SelectorError

pytestmark = pytest.mark.clause("A4")

NAMESPACE = "/apis/example.com/v1/namespaces/default/widgets?labelSelector="
PODS = "/api/v1/namespaces/rec/pods?"

# Targets of recorded requests, and what a real server answered.
RECORDED = [
    (NAMESPACE + "app%3Da", 200),
    (NAMESPACE + "app%20in%20%28a%2Cb%29%2Capp%20notin%20%28b%29%2C%21zzz", 200),
    (NAMESPACE + "-a%3Db", 400),
    (NAMESPACE + "app%3Da%20b", 400),
    (NAMESPACE + "app%20in", 400),
    (PODS + "labelSelector=a%3D%3D%3Db", 400),
    (PODS + "limit=1&labelSelector=app+in+(web,db),tier,!nosuch,app!%3Dx", 200),
    (PODS + "limit=2&labelSelector=app%3Dweb", 200),
    (PODS + "labelSelector=set%3Dd,set", 200),
]


@pytest.mark.parametrize(("target", "status"), RECORDED)
def test_what_a_real_server_took_is_taken_and_what_it_refused_is_refused(
    target: str, status: int
) -> None:
    [text] = parse_qs(urlsplit(target).query)["labelSelector"]
    if status == 200:
        assert LabelSelector.parse(text)
    else:
        with pytest.raises(SelectorError):
            LabelSelector.parse(text)


def requirement(key: str, operator: str, *values: str) -> LabelRequirement:
    return LabelRequirement(key, LabelOperator(operator), values)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("  \t\n", []),
        ("a", [requirement("a", "exists")]),
        ("!a", [requirement("a", "!")]),
        (" ! a ", [requirement("a", "!")]),
        ("a=b", [requirement("a", "=", "b")]),
        ("a==b", [requirement("a", "=", "b")]),
        ("a = b", [requirement("a", "=", "b")]),
        ("a!=b", [requirement("a", "!=", "b")]),
        ("a=", [requirement("a", "=", "")]),
        ("a!=", [requirement("a", "!=", "")]),
        ("a=,b", [requirement("a", "=", ""), requirement("b", "exists")]),
        ("a in (b)", [requirement("a", "in", "b")]),
        ("a in(c,b,c)", [requirement("a", "in", "b", "c")]),
        ("a notin ( b , c )", [requirement("a", "notin", "b", "c")]),
        ("a in ()", [requirement("a", "in", "")]),
        ("a in (,)", [requirement("a", "in", "")]),
        ("a in (b,,,)", [requirement("a", "in", "", "b")]),
        ("a in (b,,)", [requirement("a", "in", "", "b")]),
        ("a in (,,)", [requirement("a", "in", "")]),
        ("a in (b,)", [requirement("a", "in", "", "b")]),
        ("a in (,b)", [requirement("a", "in", "", "b")]),
        ("a in (b,,c)", [requirement("a", "in", "", "b", "c")]),
        ("a>1", [requirement("a", ">", "1")]),
        ("a < 10", [requirement("a", "<", "10")]),
        ("in in (in,notin)", [requirement("in", "in", "in", "notin")]),
        ("notin", [requirement("notin", "exists")]),
        ("a=in", [requirement("a", "=", "in")]),
        ("example.com/a_b.c-d=E.f_g-h", [requirement("example.com/a_b.c-d", "=", "E.f_g-h")]),
        ("b,a", [requirement("a", "exists"), requirement("b", "exists")]),
        ("a\n=\r\nb", [requirement("a", "=", "b")]),
        (f"{'d.' * 126}d/{'n' * 63}={'v' * 63}", None),
    ],
)
def test_the_grammar_is_that_of_kubernetes(
    text: str, expected: list[LabelRequirement] | None
) -> None:
    selector = LabelSelector.parse(text)
    assert expected is None or list(selector.requirements) == expected


@pytest.mark.parametrize(
    ("text", "position", "problem"),
    [
        (",", 0, "expected a label key or '!', found ','"),
        ("a,", 2, "expected a label key or '!', found the end"),
        ("a,,b", 2, "found ','"),
        ("a,=b", 2, "found '='"),
        ("=b", 0, "found '='"),
        ("!", 1, "expected a label key, found the end"),
        ("!!a", 1, "expected a label key, found '!'"),
        ("!a=b", 2, "expected ',' or the end, found '='"),
        ("!=a", 0, "found '!='"),
        ("a b", 2, "expected one of '=', '==', '!=', 'in', 'notin', '<', '>', found 'b'"),
        ("a=b c", 4, "expected ',' or the end, found 'c'"),
        ("a===b", 3, "expected a value, found '='"),
        ("a=!b", 2, "expected a value, found '!'"),
        ("a=(b)", 2, "expected a value, found '('"),
        ("a in", 4, "expected '(', found the end"),
        ("a in b", 5, "expected '(', found 'b'"),
        ("a in (b", 7, "expected ',' or ')', found the end"),
        ("a in (b c)", 8, "expected ',' or ')', found 'c'"),
        ("a in (b,", 8, "expected a value, found the end"),
        ("a in (", 6, "expected a value, found the end"),
        ("a in (=)", 6, "expected a value, found '='"),
        ("a in (b))", 8, "expected ',' or the end, found ')'"),
        ("a IN (b)", 2, "expected one of"),
        ("a>", 2, "expected a 64-bit integer after '>', found the end"),
        ("a>b", 2, "expected a 64-bit integer after '>', found 'b'"),
        ("a<1.5", 2, "64-bit integer"),
        ("a>9223372036854775808", 2, "64-bit integer"),
        ("a>=1", 2, "expected a value, found '='"),
        ("-a=b", 0, "key '-a' is malformed"),
        ("x=y, a-", 5, "key 'a-' is malformed"),
        ("a/b/c", 0, "bad prefix"),
        ("/a", 0, "bad prefix"),
        ("a/", 0, "malformed"),
        ("A.com/a", 0, "bad prefix"),
        ("a..b/c", 0, "bad prefix"),
        ("!_a", 1, "malformed"),
        (f"{'n' * 64}", 0, "too long"),
        (f"{'d' * 254}/n", 0, "bad prefix"),
        ("a=-b", 2, "value '-b' is malformed"),
        ("a in (b, c/d)", 9, "value 'c/d' is malformed"),
        (f"a={'v' * 64}", 2, "too long"),
        ("a=\xfc", 2, "malformed"),
        ("a=b\x00", 2, "malformed"),
        ("a\u00a0=b", 0, "malformed"),
    ],
)
def test_what_does_not_parse_is_refused_with_its_position(
    text: str, position: int, problem: str
) -> None:
    with pytest.raises(SelectorError) as caught:
        LabelSelector.parse(text)
    assert caught.value.position == position
    assert caught.value.text == text
    assert problem in caught.value.problem
    assert f"at position {position}: " in str(caught.value)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("b , a", "a,b"),
        ("a in (c,b), !x, w!=v, k==v", "a in (b,c),k=v,w!=v,!x"),
        ("a>5,b < 7", "a>5,b<7"),
        ("a=", "a="),
        ("a notin (b,)", "a notin (,b)"),
        ("a in (,)", "a in ()"),
        ("a,a", "a"),
    ],
)
def test_the_canonical_text_is_sorted(text: str, canonical: str) -> None:
    selector = LabelSelector.parse(text)
    assert str(selector) == canonical
    assert LabelSelector.parse(canonical) == selector


keys = st.sampled_from(["a", "b", "example.com/c"])
texts = st.from_regex(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,4}[A-Za-z0-9])?)?", fullmatch=True)
small = texts | st.integers(-3, 3).map(str).filter(str.isdigit)
requirements = st.one_of(
    st.builds(
        LabelRequirement, keys, st.sampled_from([LabelOperator("exists"), LabelOperator("!")])
    ),
    st.builds(
        LabelRequirement,
        keys,
        st.sampled_from([LabelOperator("="), LabelOperator("!=")]),
        st.tuples(small),
    ),
    st.builds(
        LabelRequirement,
        keys,
        st.sampled_from([LabelOperator("in"), LabelOperator("notin")]),
        st.lists(small, min_size=1, max_size=3).map(tuple),
    ),
    st.builds(
        LabelRequirement,
        keys,
        st.sampled_from([LabelOperator(">"), LabelOperator("<")]),
        st.tuples(st.integers(0, 2**63 - 1).map(str)),
    ),
)
selectors = st.builds(LabelSelector, st.lists(requirements, max_size=4).map(tuple))


@given(selectors)
def test_the_canonical_text_parses_back(selector: LabelSelector) -> None:
    assert LabelSelector.parse(str(selector)) == selector
    assert hash(LabelSelector.parse(str(selector))) == hash(selector)


@given(st.text(alphabet="ab/.-_=!<>(), int0", max_size=12))
def test_any_text_is_parsed_or_refused_inside_of_it(text: str) -> None:
    try:
        selector = LabelSelector.parse(text)
    except SelectorError as error:
        position = error.position
    else:
        position = 0
        assert LabelSelector.parse(str(selector)) == selector
    assert 0 <= position <= len(text)


@pytest.mark.parametrize(
    ("text", "labels", "expected"),
    [
        ("", {}, True),
        ("", {"a": "b"}, True),
        ("a", {"a": ""}, True),
        ("a", {"b": ""}, False),
        ("!a", {}, True),
        ("!a", {"a": ""}, False),
        ("a=b", {"a": "b"}, True),
        ("a=b", {"a": "c"}, False),
        ("a=b", {}, False),
        ("a=", {"a": ""}, True),
        ("a=", {}, False),
        ("a!=b", {"a": "b"}, False),
        ("a!=b", {"a": "c"}, True),
        ("a!=b", {}, True),
        ("a in (b,c)", {"a": "c"}, True),
        ("a in (b,c)", {"a": "d"}, False),
        ("a in (b,c)", {}, False),
        ("a notin (b,c)", {"a": "c"}, False),
        ("a notin (b,c)", {"a": "d"}, True),
        ("a notin (b,c)", {}, True),
        ("a>1", {"a": "2"}, True),
        ("a>1", {"a": "1"}, False),
        ("a<1", {"a": "-5"}, True),
        ("a<1", {"a": "x"}, False),
        ("a<1", {"a": ""}, False),
        ("a<1", {}, False),
        ("a<1", {"a": "-" + "9" * 30}, False),
        ("a=b,c", {"a": "b"}, False),
        ("a=b,c", {"a": "b", "c": "d"}, True),
        ("a=b,a=c", {"a": "b"}, False),
    ],
)
def test_matching_is_that_of_the_server(text: str, labels: dict[str, str], expected: bool) -> None:
    assert LabelSelector.parse(text).matches(labels) is expected


@given(selectors, st.dictionaries(keys, small))
def test_a_selector_matches_when_each_of_its_requirements_does(
    selector: LabelSelector, labels: dict[str, str]
) -> None:
    assert selector.matches(labels) == all(
        LabelSelector((one,)).matches(labels) for one in selector.requirements
    )


def test_no_labels_at_all_are_the_same_as_an_empty_mapping() -> None:
    assert LabelSelector.parse("!a").matches(None)
    assert not LabelSelector.parse("a").matches(None)


def test_an_empty_selector_is_false() -> None:
    assert not LabelSelector()
    assert LabelSelector.parse("a")


@given(st.dictionaries(keys, texts))
def test_a_selector_of_labels_selects_those_that_have_them_all(labels: dict[str, str]) -> None:
    selector = LabelSelector.from_labels(labels)
    assert selector.matches(labels)
    assert selector.matches({**labels, "other": "x"})
    for key in labels:
        without = {name: value for name, value in labels.items() if name != key}
        assert not selector.matches(without)


def test_bad_labels_are_refused() -> None:
    with pytest.raises(SelectorError, match="value 'a b' is malformed"):
        LabelSelector.from_labels({"app": "a b"})
    with pytest.raises(SelectorError, match="key 'a b' is malformed"):
        LabelSelector.from_labels({"a b": "c"})


@pytest.mark.parametrize(
    ("operator", "values", "problem"),
    [
        ("in", (), "at least one value"),
        ("=", (), "exactly one value"),
        ("=", ("a", "b"), "exactly one value"),
        ("exists", ("a",), "takes no values"),
        (">", ("a",), "64-bit integer"),
        ("in", ("ok", "not ok"), "value 'not ok' is malformed"),
    ],
)
def test_a_requirement_that_no_server_takes_cannot_be_made(
    operator: str, values: tuple[str, ...], problem: str
) -> None:
    with pytest.raises(SelectorError, match=problem):
        LabelRequirement("a", LabelOperator(operator), values)


@pytest.mark.clause("A6")
def test_a_selector_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        LabelSelector().requirements = ()  # type: ignore[misc]


def test_a_parsed_selector_parses_as_itself() -> None:
    selector = LabelSelector.parse("a")
    assert LabelSelector.parse(selector) is selector
