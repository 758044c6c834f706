from __future__ import annotations

import gzip

import pytest

from listwatch.testing.apiserver.http.compression import accepts_gzip, gzipped

pytestmark = pytest.mark.clause("B10")


@pytest.mark.parametrize("value", ["gzip", "br, gzip", "gzip, identity;q=0", " gzip "])
def test_gzip_is_seen_where_it_stands_alone(value: str) -> None:
    assert accepts_gzip(value)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "*",
        "GZIP",
        "gzip;q=1",
        "gzip ;q=1",
        "gzip;q=0.5",
        "gzip;q=0",
        "br",
        "xgzip",
        "gzip;q=1.0, *",
    ],
)
def test_gzip_with_a_parameter_is_not_seen_as_the_real_server_does_not(value: str) -> None:
    assert not accepts_gzip(value)


@pytest.mark.parametrize("size", [0, 1, 131072, 1_000_000])
def test_a_compressed_body_unpacks_to_itself(size: int) -> None:
    body = bytes(number % 251 for number in range(size))
    assert gzip.decompress(b"".join(gzipped(body))) == body
