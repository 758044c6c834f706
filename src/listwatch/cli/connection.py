"""The options that say how to reach the server and as whom: the same for each command that asks
one."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from listwatch.rest.errors import ConfigError
from listwatch.rest.impersonation import Impersonation
from listwatch.rest.proxy import checked_proxy

from .asked import Access
from .durations import parse_duration
from .failures import UsageError
from .options import reading
from .process import Plan

__all__ = ["reaching"]

_CONNECTION = "Connection"
_IDENTITY = "Identity"


def reaching(command: Callable[..., Plan]) -> Callable[..., Plan]:
    """`command`, whose keyword `access` is made of the options of this file."""
    own = inspect.signature(command, eval_str=True)
    shared = inspect.signature(_access, eval_str=True).parameters

    @functools.wraps(command)
    def with_access(**given: Any) -> Plan:
        access = _access(**{name: given.pop(name) for name in shared})
        return command(access=access, **given)

    parameters = [
        *(parameter for name, parameter in own.parameters.items() if name != "access"),
        *(parameter.replace(kind=parameter.KEYWORD_ONLY) for parameter in shared.values()),
    ]
    # Both are what typer reads.
    with_access.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    with_access.__annotations__ = {
        parameter.name: parameter.annotation for parameter in parameters
    } | {"return": Plan}
    return with_access


def _proxy(text: str) -> str:
    try:
        return checked_proxy(text) if text else ""
    except ValueError as error:
        problem = f"the proxy {error}"
    raise ValueError(problem)


def _extra(text: str) -> tuple[str, str]:
    key, sign, value = text.partition("=")
    if not key or not sign:
        raise ValueError("expected KEY=VALUE")
    return key, value


def _option(*names: str, section: str, **settings: Any) -> Any:
    return typer.Option(*names, rich_help_panel=section, **settings)


_on_connection = functools.partial(_option, section=_CONNECTION)
_on_identity = functools.partial(_option, section=_IDENTITY)


def _access(
    *,
    server: Annotated[
        str | None,
        _on_connection(
            "-s",
            "--server",
            metavar="URL",
            help="The API server; without it a kubeconfig is looked for.",
        ),
    ] = None,
    kubeconfig: Annotated[
        Path | None,
        _on_connection(
            "--kubeconfig", metavar="FILE", help="Instead of KUBECONFIG or ~/.kube/config."
        ),
    ] = None,
    context: Annotated[
        str | None,
        _on_connection("--context", metavar="NAME", help="The context in the kubeconfig."),
    ] = None,
    cluster: Annotated[
        str | None,
        _on_connection("--cluster", metavar="NAME", help="Its cluster, if not the context's."),
    ] = None,
    ca_file: Annotated[
        Path | None,
        _on_connection(
            "--certificate-authority", "--ca-file", metavar="FILE", help="The server's CA, in PEM."
        ),
    ] = None,
    tls_server_name: Annotated[
        str | None,
        _on_connection(
            "--tls-server-name",
            metavar="NAME",
            help="What the server's certificate is for, if not its host.",
        ),
    ] = None,
    insecure_skip_tls_verify: Annotated[
        bool,
        _on_connection("--insecure-skip-tls-verify", help="Do not check the server's certificate."),
    ] = False,
    proxy_url: Annotated[
        str | None,
        _on_connection(
            "--proxy-url",
            metavar="URL",
            parser=reading(_proxy),
            help="A proxy: http, https or socks5. Empty: none.",
        ),
    ] = None,
    disable_compression: Annotated[
        bool, _on_connection("--disable-compression", help="Ask for answers that are not packed.")
    ] = False,
    request_timeout: Annotated[
        float | None,
        _on_connection(
            "--request-timeout",
            metavar="TIME",
            parser=reading(parse_duration),
            help="How long to wait for an answer to begin. [default: 75s, 30s for a watch]",
        ),
    ] = None,
    embedded: Annotated[
        bool,
        _on_connection("--embedded", help="A made-up cluster in this process, as in the demo."),
    ] = False,
    user: Annotated[
        str | None,
        _on_identity("--user", metavar="NAME", help="The kubeconfig's user, if not the context's."),
    ] = None,
    token: Annotated[
        str | None, _on_identity("--token", metavar="TOKEN", help="A bearer token to send.")
    ] = None,
    client_certificate: Annotated[
        Path | None,
        _on_identity("--client-certificate", metavar="FILE", help="To show the server, in PEM."),
    ] = None,
    client_key: Annotated[
        Path | None, _on_identity("--client-key", metavar="FILE", help="Its key, in PEM.")
    ] = None,
    username: Annotated[
        str | None, _on_identity("--username", metavar="NAME", help="For basic authentication.")
    ] = None,
    password: Annotated[
        str | None, _on_identity("--password", metavar="TEXT", help="For basic authentication.")
    ] = None,
    as_user: Annotated[
        str | None,
        _on_identity("--as", metavar="USER", help="Ask as that user, if you may impersonate."),
    ] = None,
    as_groups: Annotated[
        list[str] | None,
        _on_identity("--as-group", metavar="GROUP", help="As one of that group. More than once."),
    ] = None,
    as_uid: Annotated[
        str | None, _on_identity("--as-uid", metavar="UID", help="As the one with that UID.")
    ] = None,
    as_extra: Annotated[
        list[Any] | None,
        _on_identity(
            "--as-user-extra",
            metavar="KEY=VALUE",
            parser=reading(_extra),
            help="What else is known of that user. More than once.",
        ),
    ] = None,
) -> Access:
    return Access(
        server=server,
        kubeconfig=kubeconfig,
        context=context,
        cluster=cluster,
        ca_file=ca_file,
        tls_server_name=tls_server_name or "",
        insecure_skip_tls_verify=insecure_skip_tls_verify,
        proxy_url=proxy_url,
        disable_compression=disable_compression,
        request_timeout=request_timeout,
        embedded=embedded,
        user=user,
        token=token,
        client_certificate=client_certificate,
        client_key=client_key,
        username=username or "",
        password=password or "",
        impersonate=_impersonation(as_user or "", as_uid or "", as_groups or (), as_extra or ()),
    )


def _impersonation(
    user: str, uid: str, groups: list[str] | tuple[()], extra: list[Any] | tuple[()]
) -> Impersonation | None:
    if not (user or uid or groups or extra):
        return None
    if not user:
        raise UsageError("--as-uid, --as-group and --as-user-extra go with --as only")
    values: dict[str, tuple[str, ...]] = {}
    for key, value in extra:
        values[key] = (*values.get(key, ()), value)
    try:
        return Impersonation(user=user, uid=uid, groups=tuple(groups), extra=values)
    except ConfigError as error:
        raise UsageError(str(error)) from error
