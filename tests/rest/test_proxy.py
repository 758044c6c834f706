"""Which proxy stands between us and the server."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.rest._tunnel import basic_authorization
from listwatch.rest.errors import ConfigError
from listwatch.rest.proxy import (
    Proxy,
    checked_proxy,
    encoded,
    proxy_from_environment,
    without_password,
)

pytestmark = pytest.mark.clause("N2")

SERVER = "https://api.example.com:6443"


class TestURLs:
    @pytest.mark.parametrize(
        ("text", "shown"),
        [
            ("http://proxy", "http://proxy:80"),
            ("https://proxy.example", "https://proxy.example:443"),
            ("socks5://10.0.0.1", "socks5://10.0.0.1:1080"),
            ("SOCKS5H://Proxy:9050", "socks5h://proxy:9050"),
            ("http://[::1]:3128/", "http://[::1]:3128"),
            ("http://proxy:3128/any/path?and=query", "http://proxy:3128"),
        ],
    )
    def test_the_four_kinds_and_their_usual_ports(self, text: str, shown: str) -> None:
        assert checked_proxy(text) == text
        assert Proxy.parse(text).url == shown
        assert without_password(text) == shown

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "proxy:3128",
            "ftp://proxy",
            "socks4://proxy",
            "http://",
            "http://:3128",
            "http://proxy:0",
            "http://proxy:",
            "http://proxy:99999",
            "http://proxy:port",
            "http://[::1",
            "http://pro xy",
            "http://proxy\r\nX: y",
            "socks5://:hunter2@proxy",
            f"socks5://{'u' * 256}:p@proxy",
            "http://a%3Ab:hunter2@proxy",
            "http://a:hunter2%0d%0a@proxy",
        ],
    )
    def test_what_is_none_is_refused(self, text: str) -> None:
        with pytest.raises(ValueError, match=r"^has "):
            checked_proxy(text)
        assert without_password(text) == "<unusable>"

    def test_user_and_password_are_what_their_escapes_stand_for(self) -> None:
        proxy = Proxy.parse("http://us%40er:p%3A%2F%C3%BCw@proxy:1")
        assert (proxy.user, proxy.password) == ("us@er", "p:/üw")

    @pytest.mark.parametrize("scheme", ["http", "socks5"])
    def test_which_need_not_be_utf8(self, scheme: str) -> None:
        proxy = Proxy.parse(f"{scheme}://%E9:p%FFw@proxy:1")
        assert (encoded(proxy.user), encoded(proxy.password)) == (b"\xe9", b"p\xffw")
        sent = basic_authorization(proxy).removeprefix("Basic ")
        assert base64.b64decode(sent) == b"\xe9:p\xffw"

    @pytest.mark.clause("N4")
    @pytest.mark.parametrize(
        "form",
        [
            "http://{}:{}@proxy:3128",
            "ftp://{}:{}@proxy",
            "{}:{}@proxy:3128",
            "http://{}:{}@proxy:port",
            "http://{}:{}@[::1",
            "http://{}:{}@",
            "http://{}:{}@proxy:3128 x",
            "http://{}/{}@proxy",
            "http://{}:{}#@proxy",
            "http://{}%0a:{}@proxy",
        ],
    )
    def test_no_message_and_no_repr_shows_them(self, form: str) -> None:
        text = form.format("alice", "hunter2")
        said = without_password(text)
        try:
            said += repr(Proxy.parse(text)) + str(Proxy.parse(text))
        except ValueError as error:
            said += repr(error) + repr(error.__cause__) + repr(error.__context__)
        assert "alice" not in said
        assert "hunter2" not in said

    @given(st.text(max_size=30), st.sampled_from(["", "http://", "socks5://u:", "https://a@"]))
    def test_any_text_is_a_proxy_or_a_value_error(self, text: str, begin: str) -> None:
        try:
            found = checked_proxy(begin + text)
        except ValueError:
            assert without_password(begin + text) == "<unusable>"
        else:
            assert 0 < Proxy.parse(found).port < 65536


class TestTheEnvironment:
    @pytest.mark.parametrize(
        ("server", "found"),
        [
            ("https://api.example.com", "http://for-https:1"),
            ("http://api.example.com", "http://for-http:2"),
        ],
    )
    def test_each_scheme_has_a_variable_of_its_own(self, server: str, found: str) -> None:
        environ = {"HTTPS_PROXY": "http://for-https:1", "HTTP_PROXY": "http://for-http:2"}
        assert proxy_from_environment(server, environ) == found
        lower = {name.lower(): value for name, value in environ.items()}
        assert proxy_from_environment(server, lower) == found

    def test_the_upper_case_form_wins_unless_it_is_empty(self) -> None:
        assert (
            proxy_from_environment(SERVER, {"HTTPS_PROXY": "a", "https_proxy": "b"}) == "http://a"
        )
        assert proxy_from_environment(SERVER, {"HTTPS_PROXY": "", "https_proxy": "b"}) == "http://b"

    @pytest.mark.parametrize(
        "environ", [{}, {"HTTPS_PROXY": ""}, {"HTTP_PROXY": "http://p"}, {"ALL_PROXY": "http://p"}]
    )
    def test_without_that_variable_there_is_none(self, environ: dict[str, str]) -> None:
        assert proxy_from_environment(SERVER, environ) is None

    def test_without_a_scheme_it_is_an_http_proxy(self) -> None:
        environ = {"HTTPS_PROXY": "user:secret@proxy:3128"}
        assert proxy_from_environment(SERVER, environ) == "http://user:secret@proxy:3128"

    def test_a_cgi_program_takes_none_for_http(self) -> None:
        """There `HTTP_PROXY` is the header `Proxy` of somebody's request."""
        environ = {"HTTP_PROXY": "http://p", "HTTPS_PROXY": "http://p", "REQUEST_METHOD": "GET"}
        assert proxy_from_environment("http://api.example.com", environ) is None
        assert proxy_from_environment("https://api.example.com", environ) == "http://p"

    @pytest.mark.clause("N4")
    def test_one_that_cannot_be_used_is_an_error_that_names_the_variable(self) -> None:
        environ = {"https_proxy": "ftp://alice:hunter2@proxy"}
        with pytest.raises(ConfigError, match=r"variable https_proxy has .*'ftp'") as caught:
            proxy_from_environment(SERVER, environ)
        assert "hunter2" not in str(caught.value)
        assert caught.value.__context__ is None

    @pytest.mark.parametrize(
        "server",
        [
            "https://localhost:6443",
            "https://LOCALHOST",
            "https://kube.localhost:6443",
            "https://127.0.0.1:6443",
            "https://127.8.8.8",
            "https://[::1]:6443",
            "https://[::ffff:127.0.0.1]",
        ],
    )
    def test_this_machine_is_never_reached_by_a_proxy(self, server: str) -> None:
        assert proxy_from_environment(server, {"HTTPS_PROXY": "p"}) is None


# What golang.org/x/net/http/httpproxy does with each, looked up there.
@pytest.mark.parametrize(
    ("no_proxy", "host", "direct"),
    [
        ("*", "api.example.com", True),
        ("foo, * ,bar", "10.0.0.1", True),
        ("example.com", "example.com", True),
        ("example.com", "api.example.com", True),
        ("example.com", "a.b.example.com", True),
        ("example.com", "myexample.com", False),
        ("example.com", "example.com.org", False),
        (".example.com", "api.example.com", True),
        (".example.com", "example.com", False),
        ("*.example.com", "api.example.com", True),
        ("*.example.com", "example.com", False),
        ("EXAMPLE.com", "Api.Example.COM", True),
        (" a.org ,, example.com ", "example.com", True),
        ("example.com:6443", "example.com:6443", True),
        ("example.com:6443", "example.com", False),
        ("example.com:443", "example.com", True),
        ("example.com:", "example.com", True),
        (":443", "example.com", False),
        ("10.0.0.1", "10.0.0.1:6443", True),
        ("10.0.0.1", "10.0.0.10", False),
        ("10.0.0.1:6443", "10.0.0.1:6443", True),
        ("10.0.0.1:6443", "10.0.0.1", False),
        ("10.0.0.0/8", "10.200.0.1", True),
        ("10.1.2.3/8", "10.200.0.1", True),
        ("10.0.0.0/8", "11.0.0.1", False),
        ("10.0.0.0/99", "10.0.0.1", False),
        ("10.0.0.0/8", "10.example.com", False),
        ("0.0.0.0/0", "api.example.com", False),
        ("fd00::/8", "[fd12::1]:6443", True),
        ("fd00::/8", "[fe80::1]", False),
        ("fd12::1", "[fd12::1]:6443", True),
        ("[fd12::1]:6443", "[fd12:0::1]:6443", True),
        ("[fd12::1]:6443", "[fd12::1]:443", False),
        ("10.0.0.1", "[::ffff:10.0.0.1]", True),
        ("10.0.0.0/8", "[::ffff:10.0.0.1]", True),
        ("1", "10.0.0.1", False),
        ("bücher.example", "xn--bcher-kva.example", True),
        ("api", "api", True),
        ("", "api.example.com", False),
    ],
)
def test_who_is_reached_without(no_proxy: str, host: str, direct: bool) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        environ = {"HTTPS_PROXY": "http://p", name: no_proxy}
        found = proxy_from_environment(f"https://{host}", environ)
        assert found == (None if direct else "http://p")
