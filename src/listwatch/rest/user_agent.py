"""How the library introduces itself (B10)."""

from __future__ import annotations

import platform

from listwatch._version import __version__

__all__ = ["user_agent"]


def user_agent(program: str = "") -> str:
    """The User-Agent: `listwatch/<version> (<platform>) python/<version>`.

    The server takes what stands before the first slash as the name of the field manager of a write
    (`kube-apiserver.md` K9), so a `program` such as `my-operator/1.2` goes in front.

    >>> user_agent("my-operator/1.2").split(" ")[0]
    'my-operator/1.2'
    """
    own = (
        f"listwatch/{__version__} ({platform.system().lower()}; {platform.machine()})"
        f" python/{platform.python_version()}"
    )
    return f"{program} {own}" if program else own
