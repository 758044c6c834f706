"""The field numbers of Kubernetes' protobuf messages, as a data file.

    python -m conformance.messages FOLDER

reads every `generated.proto` and the `types.go` beside it below a folder (checkouts of
`kubernetes/api`, `apimachinery`, `apiextensions-apiserver` and `kube-aggregator` side by side), and
writes `types/messages.txt` of the embedded server anew: what the types that it serves need, without
any comment.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from listwatch.testing.apiserver.types.fields import kinds

FILE = Path(__file__).parents[1] / "src/listwatch/testing/apiserver/types/messages.txt"

_PACKAGE = re.compile(r"^package ([\w.]+);", re.M)
_MESSAGE = re.compile(r"^message (\w+) \{\n(.*?)^\}", re.M | re.S)
_MAP = re.compile(r"^  map<string, ?([\w.]+)> (\w+) = (\d+)", re.M)
_PLAIN = re.compile(r"^  (optional|repeated) ([\w.]+) (\w+) = (\d+)", re.M)
_STRUCT = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.M | re.S)
_MEMBER = re.compile(r'^\t(?:(\w+) +)?(\*?)\S+ +`(?:json:"([^"]*)" )?protobuf:"\w+,(\d+),', re.M)
_SCALARS = {
    "string": "s",
    "int32": "i",
    "int64": "i",
    "uint32": "i",
    "bool": "b",
    "bytes": "y",
    "double": "d",
}
_UNNAMED = "io.k8s."


@dataclass(frozen=True)
class Field:
    number: int
    name: str
    type: str
    """A letter for a scalar, or the name of a message."""
    mark: str = ""
    """`*` comes repeatedly, `%` is a map, `@` is no member of its own in JSON (its members are
    there beside the others), `&` can be there and zero.
    """

    def __str__(self) -> str:
        return f"{self.mark}{self.name}={self.number}{self.type}"


def read(folder: Path) -> dict[str, list[Field]]:
    """All messages below `folder`, by name without `io.k8s.`."""
    found: dict[str, list[Field]] = {}
    for path in sorted(folder.rglob("generated.proto")):
        text = re.sub(r"//.*", "", path.read_text(encoding="utf-8"))
        package = _PACKAGE.search(text)
        assert package is not None, path
        members = _members(path.parent)
        for name, body in _MESSAGE.findall(text):
            fields = [
                Field(int(number), field, _type(kind, package[1]), "*" * (label == "repeated"))
                for label, kind, field, number in _PLAIN.findall(body)
            ]
            fields += [
                Field(int(number), field, _type(kind, package[1]), "%")
                for kind, field, number in _MAP.findall(body)
            ]
            fields.sort(key=lambda field: field.number)
            known = members.get(name, {})
            found[_short(f"{package[1]}.{name}")] = [
                _as_in_go(field, *known[field.number]) if field.number in known else field
                for field in fields
            ]
    return found


def _members(folder: Path) -> dict[str, dict[int, tuple[bool, str]]]:
    """By struct and number: whether it is a pointer, and what its JSON tag says."""
    found: dict[str, dict[int, tuple[bool, str]]] = {}
    for path in folder.glob("types*.go"):
        text = re.sub(r"^\s*//.*\n", "", path.read_text(encoding="utf-8"), flags=re.M)
        for name, body in _STRUCT.findall(text):
            found[name] = {
                int(number): (bool(star), tag if named or tag.split(",")[0] else ",inline")
                for named, star, tag, number in _MEMBER.findall(body)
            }
    return found


def _as_in_go(field: Field, pointer: bool, tag: str) -> Field:
    name, _, options = tag.partition(",")
    if "inline" in options:
        return Field(field.number, field.name, field.type, "@")
    mark = "&" if pointer and not field.mark else field.mark
    return Field(field.number, name or field.name, field.type, mark)


def _type(kind: str, package: str) -> str:
    if kind in _SCALARS:
        return _SCALARS[kind]
    return _short(kind[1:] if kind.startswith(".") else f"{package}.{kind}")


def _short(name: str) -> str:
    return name.replace("_", "-").removeprefix("k8s.io.")


def needed(messages: Mapping[str, Sequence[Field]], names: Iterable[str]) -> list[str]:
    """`names`, and what is inside of them."""
    found: set[str] = set()
    waiting = [name for name in names if name in messages]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += [field.type for field in messages[name] if len(field.type) > 1]
    return sorted(found)


def lines(messages: Mapping[str, Sequence[Field]]) -> Iterator[str]:
    """The lines of the file: a message each."""
    roots = {name.removeprefix(_UNNAMED) for name in kinds().values()}
    roots.add("apimachinery.pkg.apis.meta.v1.PartialObjectMetadataList")
    for name in needed(messages, roots):
        yield " ".join([name, *map(str, messages[name])])


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the data file anew."""
    parser = argparse.ArgumentParser(prog="python -m conformance.messages", description=__doc__)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args(arguments)
    text = "\n".join(lines(read(options.folder))) + "\n"
    FILE.write_text(text, encoding="utf-8")
    print(f"{FILE}: {text.count(chr(10))} messages, {len(text)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
