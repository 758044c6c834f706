"""The checks of networking.k8s.io."""

from __future__ import annotations

from .ingresses import CLASSES, INGRESSES
from .network_policies import POLICIES
from .service_ranges import ADDRESSES, RANGES

__all__ = ["CHECKS"]

CHECKS = {
    "networking.k8s.io/ingresses": INGRESSES,
    "networking.k8s.io/ingressclasses": CLASSES,
    "networking.k8s.io/ipaddresses": ADDRESSES,
    "networking.k8s.io/networkpolicies": POLICIES,
    "networking.k8s.io/servicecidrs": RANGES,
}
