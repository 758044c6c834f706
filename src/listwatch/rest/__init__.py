"""One request: configuration and credentials, the transport, and everything about asking once."""

from .aiohttp_transport import AiohttpTransport
from .client import PatchType, RESTClient
from .config import ClientConfig, load_config
from .credentials import (
    BasicAuth,
    CertificateSource,
    ClientCertificate,
    Credentials,
    StaticToken,
)
from .discovery import Discovery, UnknownResource
from .errors import (
    ConfigError,
    ConnectFailed,
    ConnectionLost,
    ConnectionRefused,
    CredentialsFailed,
    InvalidRequest,
    TLSFailed,
    TransportError,
    TransportTimeout,
    UnexpectedContent,
)
from .impersonation import Impersonation
from .incluster import load_in_cluster
from .kubeconfig import load_kubeconfig
from .rate_limit import RateLimiter, TokenBucket
from .request import Request
from .tls import ssl_context
from .token_file import TokenFile
from .transport import Headers, HTTPRequest, HTTPResponse, Timeouts, Transport
from .warnings import (
    APIWarning,
    CollectWarnings,
    IgnoreWarnings,
    LogWarnings,
    RaiseWarnings,
    WarningError,
    WarningHandler,
)

__all__ = [
    "APIWarning",
    "AiohttpTransport",
    "BasicAuth",
    "CertificateSource",
    "ClientCertificate",
    "ClientConfig",
    "CollectWarnings",
    "ConfigError",
    "ConnectFailed",
    "ConnectionLost",
    "ConnectionRefused",
    "Credentials",
    "CredentialsFailed",
    "Discovery",
    "HTTPRequest",
    "HTTPResponse",
    "Headers",
    "IgnoreWarnings",
    "Impersonation",
    "InvalidRequest",
    "LogWarnings",
    "PatchType",
    "RESTClient",
    "RaiseWarnings",
    "RateLimiter",
    "Request",
    "StaticToken",
    "TLSFailed",
    "Timeouts",
    "TokenBucket",
    "TokenFile",
    "Transport",
    "TransportError",
    "TransportTimeout",
    "UnexpectedContent",
    "UnknownResource",
    "WarningError",
    "WarningHandler",
    "load_config",
    "load_in_cluster",
    "load_kubeconfig",
    "ssl_context",
]
