"""The floor: what it costs to receive the bytes, and look at none of them.

If this is not far quicker than everybody else, the server is what is measured.
"""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

from bench.measure import Play, asked

_BUFFER = 1 << 16
_END = b"\r\n0\r\n\r\n"


def main() -> None:
    given = asked(("watch", "list"), resources=("pods", "widgets"))
    play = Play("floor", given)
    expected = given.open("/bench/stats")["expected"][given.resource]
    address = urlsplit(given.server)
    with socket.create_connection((address.hostname, address.port)) as peer:
        buffer = bytearray(_BUFFER)
        if given.case == "watch":
            _ask(peer, f"{given.path}?watch=1&resourceVersion={expected['resource_version']}")
            play.start()
            size = expected["stream_bytes"]
            while size > 0:
                size -= peer.recv_into(buffer)
        else:
            play.meter.begin()
            _ask(peer, given.path)
            while (size := peer.recv_into(buffer)) and not buffer.endswith(_END, 0, size):
                pass
        play.meter.end()
    play.more = {"events": expected["events"], "checksum": None}
    play.notes = "nothing is parsed, so there is nothing to sum up"
    play.report()


def _ask(peer: socket.socket, target: str) -> None:
    """Send a request and read as far as the end of the answer's headers: what more comes with
    them is so little that the last read would find it missing.
    """
    peer.sendall(
        f"GET {target} HTTP/1.1\r\nHost: stage\r\nAccept: application/json\r\n\r\n".encode()
    )
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += peer.recv(1)


if __name__ == "__main__":
    main()
