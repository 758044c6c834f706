"""What a kube-apiserver makes for itself when it first starts, as a data file.

    python -m conformance.bootstrap

starts one, with the controllers that complete its roles, and writes `storage/bootstrap.json` of the
embedded server anew: roles and their bindings, flow schemas and priority levels, and the ConfigMap
that dates the tracking of old tokens. What differs from start to start has a placeholder, or is
left out: uids, times, and the ConfigMap with the certificates of this server's authorities.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from conformance.binaries import BinariesUnavailable
from conformance.cluster import Cluster, StartFailed
from conformance.requests import Json, Requests
from conformance.waiting import TookTooLong, until

__all__ = ["FILE", "bootstrap_objects", "recorded"]

FILE = Path(__file__).parents[1] / "src/listwatch/testing/apiserver/storage/bootstrap.json"
_RBAC = "/apis/rbac.authorization.k8s.io/v1"
_FLOWS = "/apis/flowcontrol.apiserver.k8s.io/v1"
_COLLECTIONS = (
    f"{_RBAC}/clusterroles",
    f"{_RBAC}/clusterrolebindings",
    f"{_RBAC}/roles",
    f"{_RBAC}/rolebindings",
    f"{_FLOWS}/flowschemas",
    f"{_FLOWS}/prioritylevelconfigurations",
    "/api/v1/namespaces/kube-system/configmaps",
)
_OWN = (
    ("labels", "kubernetes.io/bootstrapping"),
    ("annotations", "apf.kubernetes.io/autoupdate-spec"),
)
_TOKEN_TRACKING = "kube-apiserver-legacy-service-account-token-tracking"
_MADE_UP = frozenset({"uid", "resourceVersion", "creationTimestamp"})
_TIME = re.compile(r'"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"')
_DAY = re.compile(r'"\d{4}-\d\d-\d\d"')


def bootstrap_objects(server: Requests) -> Iterator[Json]:
    """Those of a server, in the order in which it last wrote them. Roles that are put together from
    others have the rules that a controller has given them.
    """
    found = []
    for path in _COLLECTIONS:
        answer = server.get(path)
        kind = {"kind": answer["kind"].removesuffix("List"), "apiVersion": answer["apiVersion"]}
        found += [{**kind, **obj} for obj in answer["items"] if _is_own(obj["metadata"])]
    for obj in sorted(found, key=_age):
        metadata = {name: value for name, value in obj["metadata"].items() if name not in _MADE_UP}
        text = json.dumps({**obj, "metadata": metadata})
        made = json.loads(_DAY.sub('"$today"', _TIME.sub('"$now"', text)))
        assert isinstance(made, dict)
        yield made


def recorded() -> list[Json]:
    """Those of the data file."""
    found = json.loads(FILE.read_bytes())
    assert isinstance(found, list)
    return found


def _is_own(metadata: Json) -> bool:
    return metadata["name"] == _TOKEN_TRACKING or any(
        name in metadata.get(member, {}) for member, name in _OWN
    )


def _age(obj: Json) -> int:
    return int(obj["metadata"]["resourceVersion"])


def _is_complete(cluster: Cluster) -> bool:
    names = ("admin", "edit", "view")
    return all(cluster.get(f"{_RBAC}/clusterroles/{name}").get("rules") for name in names)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the data file anew."""
    parser = argparse.ArgumentParser(prog="python -m conformance.bootstrap", description=__doc__)
    parser.parse_args(arguments)
    try:
        with Cluster(controller_manager=True) as cluster:
            until(lambda: _is_complete(cluster), what="the rules of the roles")
            lines = [json.dumps(obj, separators=(",", ":")) for obj in bootstrap_objects(cluster)]
    except (BinariesUnavailable, StartFailed, TookTooLong) as failed:
        print(failed, file=sys.stderr)
        return 1
    FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
    print(f"{FILE}: {len(lines)} objects, {FILE.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
