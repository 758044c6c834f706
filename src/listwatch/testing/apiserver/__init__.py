"""A Kubernetes API server inside your process.

`EmbeddedServer` is the one to begin with: a real HTTP server on a port of its own. `APIServer` is
the core behind it, without I/O or clock; `ServerTransport` joins a client to it without sockets.
Faults are scripted with `Faults`.
"""

from .auth import ADMIN, Auth, Rule, User
from .controllers.names import CONTROLLERS, UnknownController
from .core import APIServer
from .embedded import EmbeddedServer
from .faults.current import AppliedFault, Faults
from .faults.language import FaultSyntaxError, parse_fault
from .faults.model import Fault
from .http.limits import Limits
from .http.tls import Authority, TLSUnavailable
from .memory import ServerTransport
from .storage.loading import UnknownKind
from .storage.state import Settings

__all__ = [
    "ADMIN",
    "CONTROLLERS",
    "APIServer",
    "AppliedFault",
    "Auth",
    "Authority",
    "EmbeddedServer",
    "Fault",
    "FaultSyntaxError",
    "Faults",
    "Limits",
    "Rule",
    "ServerTransport",
    "Settings",
    "TLSUnavailable",
    "UnknownController",
    "UnknownKind",
    "User",
    "parse_fault",
]
