"""Scenes: a stage, and who plays what against it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

__all__ = ["BASE", "PLAYERS", "Part", "Player", "Scene", "scenes"]


@dataclass(frozen=True, slots=True)
class Player:
    """A program. `environment` is that of `Environments.command`; `script` what runs in it."""

    name: str
    environment: str
    script: tuple[str, ...]


def _python(name: str, environment: str, script: str) -> Player:
    return Player(name, environment, (f"bench/peers/python/{script}.py",))


PLAYERS = {
    player.name: player
    for player in (
        Player("listwatch", "", ("-m", "bench.ours")),
        _python("floor", "", "floor"),
        Player("client-go", "client-go", ()),
        Player("kube-rs", "kube-rs", ()),
        _python("kubernetes", "kubernetes", "official"),
        _python("kubernetes_asyncio", "kubernetes_asyncio", "asyncio_client"),
        _python("lightkube", "lightkube", "lightkube_client"),
        _python("kopf", "kopf", "kopf_operator"),
    )
}


@dataclass(frozen=True, slots=True)
class Part:
    """A player's part in a scene: `case`, in at most so many rounds."""

    player: str
    case: str
    rounds: int = 99

    @property
    def name(self) -> str:
        return f"{self.player}/{self.case}"


@dataclass(frozen=True, slots=True)
class Scene:
    """A stage, and the parts that are played on it."""

    name: str
    about: str
    parts: tuple[Part, ...]
    objects: int
    events: int
    data: str = "usual"
    resource: str = "pods"
    tls: bool = False
    rate: float | None = None
    page_size: int = 500
    rounds: int = 99

    @property
    def lists(self) -> bool:
        return all(part.case.startswith("list") for part in self.parts)

    def only(self, patterns: list[str]) -> Scene:
        """With the parts whose `player/case`, or `scene:player/case`, matches one of these."""
        return replace(
            self,
            parts=tuple(
                part
                for part in self.parts
                if any(
                    fnmatchcase(text, pattern)
                    for pattern in patterns
                    for text in (part.name, f"{self.name}:{part.name}")
                )
            ),
        )


BASE = {
    "informer": "informer",
    "informer-lines": "informer",
    "informer-phase": "informer",
    "informer-decode": "informer",
    "informer-typed": "informer",
    "informer-compact": "informer",
    "informer-metadata": "informer-metadata",
    "informer-metadata-all": "informer-metadata",
    "watch": "watch",
    "watch-raw": "watch",
    "watcher": "watch",
    "sync": "watch",
    "watch-metadata": "watch-metadata",
    "list": "list",
    "list-raw": "list",
    "list-typed": "list",
    "list-compact": "list",
    "list-watchlist": "list",
    "list-metadata": "list-metadata",
    "list-metadata-all": "list-metadata",
    "list-metadata-compact": "list-metadata",
}
"""The case of client-go and kube-rs that each case is compared with."""

_SLOW = 1
"""Rounds of what takes very long and is far from everybody else."""


def _parts(player: str, *cases: str, rounds: int = 99) -> tuple[Part, ...]:
    return tuple(Part(player, case, rounds) for case in cases)


_OURS = (
    "informer", "informer-lines", "informer-phase", "informer-decode", "informer-typed",
    "informer-metadata", "informer-metadata-all", "informer-compact", "watch", "watch-raw", "sync",
)  # fmt: skip
_COMPILED = (
    *_parts("client-go", "informer", "informer-metadata", "watch", "watch-metadata"),
    *_parts("kube-rs", "informer", "informer-metadata", "watch", "watch-metadata", "watcher"),
)
_PYTHON = (
    *_parts("lightkube", "watch", rounds=3),
    *_parts("kubernetes", "watch-raw", rounds=3),
    *_parts("kubernetes_asyncio", "watch-raw", rounds=3),
)
_PYTHON_SLOW = (
    *_parts("kubernetes", "watch", "informer", rounds=_SLOW),
    *_parts("kubernetes_asyncio", "watch", rounds=_SLOW),
    *_parts("kopf", "informer", rounds=_SLOW),
)
_INFORMERS = (
    *_parts("listwatch", "informer"),
    *_parts("client-go", "informer"),
    *_parts("kube-rs", "informer"),
)
_ONE_BODY = (
    *_parts("listwatch", "list"),
    *_parts("client-go", "list"),
    *_parts("kube-rs", "list"),
)
_LISTS = (
    *_parts(
        "listwatch",
        "list",
        "list-watchlist",
        "list-typed",
        "list-metadata",
        "list-metadata-all",
        "list-metadata-compact",
        "list-compact",
    ),
    *_parts("client-go", "list", "list-metadata"),
    *_parts("kube-rs", "list", "list-metadata"),
)


def scenes(*, objects: int, events: int, listed: int, short: bool) -> list[Scene]:
    """All of them, in the order in which they are played. `listed` is how many objects the LISTs
    have.
    """
    floor = _parts("floor", "watch", rounds=3)
    if short:
        main = (
            *_parts("listwatch", *_OURS),
            *_COMPILED,
            *floor,
            *_parts("lightkube", "watch", rounds=1),
        )
        lists = (
            *_parts("listwatch", "list", "list-metadata", "list-compact"),
            Part("client-go", "list"),
            Part("kube-rs", "list"),
        )
    else:
        main = (*_parts("listwatch", *_OURS), *_COMPILED, *_PYTHON, *_PYTHON_SLOW, *floor)
        lists = (
            *_LISTS,
            *_parts("lightkube", "list", rounds=_SLOW),
            *_parts("floor", "list", rounds=3),
        )
    few, some = (events // 2, 2) if short else (events // 2, 3)
    informers = _parts("listwatch", "informer") if short else _INFORMERS

    def variant(name: str, about: str, **settings: object) -> Scene:
        base = Scene(name, about, informers, objects // 2, few, rounds=some)
        return replace(base, **settings)  # type: ignore[arg-type]

    large = {"objects": max(20, objects // 20), "events": max(50, events // 20)}
    return [
        Scene("pods", "pods as they are", main, objects, events),
        Scene("list", "LIST into the cache, pages of 500", lists, listed, 0),
        Scene(
            "body",
            "LIST into the cache, in one body",
            _parts("listwatch", "list") if short else _ONE_BODY,
            listed // 2,
            0,
            page_size=0,
            rounds=some,
        ),
        Scene(
            "relist",
            "a watch that has expired; 1 % of the objects has changed",
            _parts("listwatch", "relist"),
            listed,
            listed // 100,
            rounds=3,
        ),
        variant("widgets", "custom resources: keys in alphabetical order", resource="widgets"),
        variant("late", "metadata after spec and status", data="late"),
        variant("pretty", "a server that indents", data="pretty"),
        variant("large", "objects of 100 KB", data="large", **large),
        variant("tls", "over TLS", tls=True),
        variant("status", "updates of the status only, as fast as they go", data="status"),
        variant(
            "steady", "the same at 1,000 a second", data="status", rate=1000.0, events=few // 2
        ),
    ]
