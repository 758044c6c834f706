"""Look for what the embedded server takes and a real one refuses, and the other way round.

    python -m conformance.validation.explore AREA [BASE ...] [--update] [--kubeconfig FILE]

changes every member of the valid objects of ``cases/AREA.yaml``, adds each member that they lack,
puts both to both servers, and prints where these differ. ``--update``: as updates of the object.
"""

from __future__ import annotations

import argparse
import json
from contextlib import ExitStack
from http.client import RemoteDisconnected

from conformance.requests import Json
from conformance.two_servers import EmbeddedCluster
from conformance.validation.asking import Asker
from conformance.validation.cases import Base, bases, filled
from conformance.validation.mutations import kind_of, mutations
from conformance.validation.servers import add_option, real_session

_KEPT = {"apiVersion", "kind", "metadata", "status"}


def main() -> None:
    parser = argparse.ArgumentParser(description="compare what two servers refuse")
    parser.add_argument("area", metavar="AREA")
    parser.add_argument("bases", nargs="*", metavar="BASE", help="all of them if none is given")
    parser.add_argument("--update", action="store_true", help="try updates")
    parser.add_argument("--limit", type=int, default=40, help="how many differences are printed")
    add_option(parser)
    options = parser.parse_args()
    with ExitStack() as stack:
        embedded = EmbeddedCluster()
        stack.callback(embedded.stop)
        own = stack.enter_context(embedded.session())
        askers = [Asker(real_session(options, stack)), Asker(own)]
        for base in bases(options.area):
            if not options.bases or base.name in options.bases:
                explore(base, askers, update=options.update, limit=options.limit)


def explore(base: Base, askers: list[Asker], *, update: bool, limit: int) -> None:
    """Print the differences of one base, and how many there are."""
    count = different = 0
    objects = [asker.created(base) for asker in askers] if update else []
    for done, mutated in mutations(base.obj, *kind_of(base.path)):
        count += 1
        if update:
            said = [
                asker.put(at, _merged(made, mutated))
                for asker, (at, made) in zip(askers, objects, strict=True)
            ]
        else:
            said = [_tried(asker, base, mutated) for asker in askers]
        if said[0] != said[1]:
            different += 1
            if different <= limit:
                print(f"\n{base.name}: {done}\n  real {_line(said[0])}\n  own  {_line(said[1])}")
    for asker, (at, _) in zip(askers, objects, strict=False):
        asker.remove(at)
    print(f"\n{base.name}: {count} tried, {different} differ")


def _tried(asker: Asker, base: Base, mutated: Json) -> Json:
    try:
        return asker.tried(base, mutated)
    except RemoteDisconnected:  # some objects break the real server
        return {"code": 0}


def _merged(made: Json, mutated: Json) -> Json:
    """The created object, with what was changed of the one that it was created of."""
    own = {key: value for key, value in mutated.items() if key != "metadata"}
    names = {key: made["metadata"].get(key, "") for key in ("name", "namespace")}
    return {**{key: value for key, value in made.items() if key in _KEPT}, **filled(own, names)}


def _line(said: Json) -> str:
    causes = said.get("causes")
    if causes is not None:
        return " | ".join(f"{field}: {message}" for _, field, message in causes)
    return json.dumps(said)


if __name__ == "__main__":
    main()
