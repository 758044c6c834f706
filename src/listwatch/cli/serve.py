"""`listwatch serve`: the embedded server, until Ctrl-C."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from .embedded import Cluster, Contents, embedded
from .failures import CommandError
from .manifests import read_manifests
from .notes import say
from .rates import rate_text

__all__ = ["serve"]


async def serve(
    cluster: Cluster, *, manifests: Sequence[Path] = (), kubeconfig_out: Path | None = None
) -> int:
    """Serve until cancelled. Raises `CommandError`."""
    if cluster.controllers and cluster.churn is not None:
        raise CommandError("--churn acts out controllers: leave it out, or --controllers")
    # Standard input may be somebody who types: Ctrl-C has to work meanwhile.
    objects = await asyncio.to_thread(read_manifests, manifests)
    cluster = replace(cluster, objects=[*cluster.objects, *objects])
    async with embedded(cluster) as contents:
        if kubeconfig_out is not None:
            contents.server.kubeconfig(
                kubeconfig_out, token=cluster.token, namespace=contents.namespace
            )
        for line in _said(cluster, contents, kubeconfig_out):
            say(line)
        await asyncio.get_running_loop().create_future()
    return 0


def _said(cluster: Cluster, contents: Contents, kubeconfig: Path | None) -> list[str]:
    server = contents.server
    said = [f"An API server at {server.url}, until Ctrl-C. It holds {contents}."]
    if cluster.churn is not None:
        said.append(f"Churn: {rate_text(cluster.churn)}, from seed {cluster.seed}.")
    if cluster.controllers:
        said.append(f"Controllers: {', '.join(cluster.controllers)}")
    said += [f"Fault: {fault}" for fault in server.faults]
    if cluster.control:
        said.append(f"Control: {server.url}/_listwatch/state")
    if kubeconfig is not None:
        said.append(f"Kubeconfig: {kubeconfig}")
    said.append("To try it:")
    said += [f"  {command}" for command in _commands(cluster, contents, kubeconfig)]
    if cluster.token is not None and not cluster.tls:
        said.append("  (kubectl sends a token over TLS alone: for it, add --tls)")
    return said


def _commands(cluster: Cluster, contents: Contents, kubeconfig: Path | None) -> list[str]:
    url = contents.server.url
    if kubeconfig is not None:
        file = shlex.quote(str(kubeconfig))
        ours, kubectl = f"--kubeconfig {file}", f"kubectl --kubeconfig {file}"
        curl = ""
    else:
        insecure = " --insecure-skip-tls-verify" if cluster.tls else ""
        # A token is never sent in the clear, and not printed: the user knows it.
        token = " --token TOKEN" if cluster.token is not None else ""
        ours = f"--server {url}{insecure}{token}"
        kubectl = f"kubectl --server {url}{insecure}{token}"
        head = " -H 'Authorization: Bearer TOKEN'" if token else ""
        curl = f"curl -sN{'k' if cluster.tls else ''}{head} '{url}/api/v1/pods?watch=1'"
    commands = [f"listwatch watch pods -A {ours}"]
    if cluster.token is None or cluster.tls:
        commands.append(f"{kubectl} get pods -A --watch")
    return [*commands, curl] if curl else commands
