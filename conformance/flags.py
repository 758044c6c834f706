"""The command lines of the servers, each flag for a reason that is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from conformance.certs import KeyPair


@dataclass(frozen=True, slots=True)
class Files:
    """The files that the servers read and write."""

    serving: KeyPair
    authority: Path
    service_accounts: KeyPair
    tokens: Path
    etcd_data: Path
    scratch: Path
    """For what a server insists on writing, and nobody reads."""


def etcd(files: Files, url: str) -> list[str]:
    """A cluster of one member, on loopback."""
    # It never talks to a peer, so any port does, and port 0 cannot be taken.
    peer = "http://127.0.0.1:0"
    return [
        f"--data-dir={files.etcd_data}",
        f"--listen-client-urls={url}",
        f"--advertise-client-urls={url}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        # The data need to survive a killed process, not a power cut: this halves the time of a
        # write on a slow disk.
        "--unsafe-no-fsync",
        "--log-level=warn",
    ]


def apiserver(files: Files, etcd_url: str, port: int, gates: Mapping[str, bool]) -> list[str]:
    """TLS, RBAC, static tokens and client certificates, on loopback."""
    given = [
        f"--etcd-servers={etcd_url}",
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        f"--tls-cert-file={files.serving.certificate}",
        f"--tls-private-key-file={files.serving.key}",
        f"--cert-dir={files.scratch}",
        f"--client-ca-file={files.authority}",
        f"--token-auth-file={files.tokens}",
        "--authorization-mode=RBAC",
        # It will not start without these three, whether or not anybody asks for a token.
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={files.service_accounts.certificate}",
        f"--service-account-signing-key-file={files.service_accounts.key}",
        # It would refuse every pod until a controller has made the namespace's account.
        "--disable-admission-plugins=ServiceAccount",
        # As every cluster is set up; without it a privileged container is refused.
        "--allow-privileged",
        "--service-cluster-ip-range=10.0.0.0/24",
        # It refuses to publish a loopback address, and says so again and again.
        "--endpoint-reconciler-type=none",
    ]
    if gates:
        named = ",".join(f"{gate}={str(on).lower()}" for gate, on in gates.items())
        given.append(f"--feature-gates={named}")
    return given


def controller_manager(files: Files, kubeconfig: Path) -> list[str]:
    """All the usual controllers, without an election, since there is one of them only."""
    return [
        f"--kubeconfig={kubeconfig}",
        "--leader-elect=false",
        "--secure-port=0",  # nobody asks it anything
        f"--cert-dir={files.scratch}",
        f"--root-ca-file={files.authority}",
        f"--service-account-private-key-file={files.service_accounts.key}",
        # Churn is what it is here for: the default of 20 requests a second would be a trickle.
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
    ]
