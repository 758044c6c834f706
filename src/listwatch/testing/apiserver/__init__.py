"""A Kubernetes API server inside your process.

`EmbeddedServer` is the one to begin with: a real HTTP server on a port of its own. `APIServer` is
the core behind it, without I/O or clock; `ServerTransport` joins a client to it without sockets.
Faults are scripted with `Faults`.
"""

from .auth import ADMIN, Auth, Rule, User
from .core import APIServer
from .embedded import EmbeddedServer
from .fault_language import FaultSyntaxError, parse_fault
from .fault_model import Fault
from .faults import AppliedFault, Faults
from .limits import Limits
from .loading import UnknownKind
from .memory import ServerTransport
from .state import Settings
from .tls import Authority, TLSUnavailable

__all__ = [
    "ADMIN",
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
    "UnknownKind",
    "User",
    "parse_fault",
]
