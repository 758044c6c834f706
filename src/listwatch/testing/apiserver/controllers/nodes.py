"""Nodes as their kubelets report them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Node", "node_object"]


@dataclass(slots=True, eq=False)
class Node:
    """A machine that pods run on."""

    name: str
    number: int
    uid: str = ""
    pods: int = 0
    _addresses: int = 0

    @property
    def ip(self) -> str:
        return f"10.0.{self.number // 250}.{self.number % 250 + 4}"

    @property
    def pod_cidr(self) -> str:
        return f"{self._prefix}.0/24"

    def next_address(self) -> str:
        """An address for a pod, none of those given last."""
        self._addresses += 1
        return f"{self._prefix}.{2 + (self._addresses - 1) % 252}"

    @property
    def _prefix(self) -> str:
        return f"10.{244 + self.number // 256 % 12}.{self.number % 256}"


def node_object(node: Node, now: str) -> dict[str, Any]:
    """A worker that is well, at the time `now`."""
    zone = f"eu-1{'abc'[node.number % 3]}"
    labels = {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": node.name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": "m8.2xlarge",
        "topology.kubernetes.io/region": "eu-1",
        "topology.kubernetes.io/zone": zone,
    }
    sizes = {"cpu": "8", "ephemeral-storage": "102350Mi", "memory": "32123456Ki", "pods": "110"}
    allocatable = {**sizes, "cpu": "7910m", "memory": "31097408Ki"}
    conditions = [
        _node_condition("MemoryPressure", "False", "KubeletHasSufficientMemory", now),
        _node_condition("DiskPressure", "False", "KubeletHasNoDiskPressure", now),
        _node_condition("PIDPressure", "False", "KubeletHasSufficientPID", now),
        _node_condition("Ready", "True", "KubeletReady", now),
    ]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": node.name, "labels": labels},
        "spec": {"podCIDR": node.pod_cidr, "podCIDRs": [node.pod_cidr]},
        "status": {
            "capacity": sizes,
            "allocatable": allocatable,
            "conditions": conditions,
            "addresses": [
                {"type": "InternalIP", "address": node.ip},
                {"type": "Hostname", "address": node.name},
            ],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "nodeInfo": {
                "machineID": f"{node.number:032x}",
                "systemUUID": f"00000000-0000-4000-8000-{node.number:012x}",
                "bootID": f"00000000-0000-4000-9000-{node.number:012x}",
                "kernelVersion": "6.12.48",
                "osImage": "Debian GNU/Linux 13 (trixie)",
                "containerRuntimeVersion": "containerd://2.1.4",
                "kubeletVersion": "v1.36.3",
                "kubeProxyVersion": "",
                "operatingSystem": "linux",
                "architecture": "amd64",
            },
        },
    }


def _node_condition(kind: str, status: str, reason: str, now: str) -> dict[str, Any]:
    return {
        "type": kind,
        "status": status,
        "lastHeartbeatTime": now,
        "lastTransitionTime": now,
        "reason": reason,
        "message": f"kubelet reports: {reason}",
    }
