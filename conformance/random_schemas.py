"""Random schemas of custom resources, and random objects that fit them now and then."""

from __future__ import annotations

from random import Random
from typing import Any

Json = dict[str, Any]

_NAMES = ("a", "b", "c", "count", "kind", "name", "list")
_STRINGS = ("", "a", "ab", "abc", "xyz", "1", "a-b", "ü", "2020-01-02", "2020-01-02T03:04:05Z")
_FORMATTED = (
    *("10.0.0.1", "::1", "10.0.0.0/8", "http://a/b", "/x", "a@b.c", "example.com", "YWJj", "5m"),
    *("123e4567-e89b-12d3-a456-426614174000", "#fff", "rgb(1,2,3)", "00:11:22:33:44:55", "no one"),
)
_FORMATS = (
    *("date", "date-time", "ipv4", "ipv6", "cidr", "uri", "email", "hostname", "byte", "duration"),
    *("uuid", "hexcolor", "rgbcolor", "mac", "password", "k8s-short-name", "int32", "bogus"),
)
_PATTERNS = ("^a", "b$", "^[a-c]+$", r"^\d+$", "^[^-]*$", "a{2,}", "^(a|b)c?", r"^\w+-\w+$")
_NUMBERS = (0, 1, 2, 3, 5, 10, -1, 0.5, 1.0, 2.5, 1e6, 3_000_000_000, 2e9)


class Schemas:
    """Makes schemas. Whatever it makes, the same `rng` makes again."""

    def __init__(self, rng: Random, *, wrong: float = 0.0) -> None:
        """`wrong`: how often a part is made that no structural schema may have."""
        self._rng = rng
        self._wrong = wrong

    def root(self) -> Json:
        spec = self._object(3)
        root: Json = {"type": "object", "properties": {"spec": spec}}
        if self._one_in(2):
            root["properties"]["status"] = self._node(2)
        if self._one_in(6):
            root["required"] = ["spec"]
        if self._one_in(8):
            root["x-kubernetes-preserve-unknown-fields"] = True
        return root

    def _one_in(self, number: int) -> bool:
        return self._rng.randrange(number) == 0

    def _node(self, depth: int) -> Json:
        kinds = [self._string, self._integer, self._number_schema, self._boolean, self._either]
        if depth:
            kinds += [self._object, self._map, self._list, self._object, self._list, self._embedded]
        node: Json = self._rng.choice(kinds)(depth)
        if self._one_in(5):
            node["nullable"] = True
        if self._one_in(6):
            self._combine(node)
        if self._rng.random() < self._wrong:
            self._spoil(node)
        return node

    def _with_default(self, node: Json, values: tuple[Any, ...]) -> Json:
        if self._one_in(4):
            node["default"] = self._rng.choice(values)
        return node

    def _string(self, depth: int) -> Json:
        node: Json = {"type": "string"}
        match self._rng.randrange(8):
            case 0:
                node["enum"] = self._rng.sample(_STRINGS, 2)
                return self._with_default(node, tuple(node["enum"]))
            case 1:
                node["pattern"] = self._rng.choice(_PATTERNS)
            case 2:
                node["minLength"] = self._rng.randrange(3)
                node["maxLength"] = node["minLength"] + self._rng.randrange(2)
            case 3:
                node["format"] = self._rng.choice(_FORMATS)
            case _:
                return self._with_default(node, _STRINGS)
        return node

    def _integer(self, depth: int) -> Json:
        node: Json = {"type": "integer"}
        if self._one_in(4):
            node["format"] = self._rng.choice(("int32", "int64"))
        if self._one_in(8):
            node["enum"] = [1, 2, 5]
        return (
            self._bounded(node, (0, 1, 2, 5))
            if self._one_in(3)
            else self._with_default(node, (1, 2, 5))
        )

    def _number_schema(self, depth: int) -> Json:
        node: Json = {"type": "number"}
        if self._one_in(6):
            node["format"] = self._rng.choice(("float", "double"))
        return self._bounded(node, (0, 1, 2.5, 1000000))

    def _bounded(self, node: Json, values: tuple[float, ...]) -> Json:
        if self._one_in(2):
            node["minimum"] = self._rng.choice(values)
            if self._one_in(3):
                node["exclusiveMinimum"] = True
        if self._one_in(2):
            node["maximum"] = self._rng.choice(values)
            if self._one_in(3):
                node["exclusiveMaximum"] = True
        if self._one_in(3):
            node["multipleOf"] = self._rng.choice((2, 3) if node["type"] == "integer" else (0.5, 2))
        return node

    def _boolean(self, depth: int) -> Json:
        return self._with_default({"type": "boolean"}, (True, False))

    def _either(self, depth: int) -> Json:
        node: Json = {"x-kubernetes-int-or-string": True}
        if self._one_in(2):
            node["anyOf"] = [{"type": "integer"}, {"type": "string"}]
        if self._one_in(3):
            node["pattern"] = r"^\d+%?$"
        return node

    def _object(self, depth: int) -> Json:
        names = self._rng.sample(_NAMES, self._rng.randrange(1, 4))
        node: Json = {
            "type": "object",
            "properties": {name: self._node(depth - 1) for name in names},
        }
        if self._one_in(3):
            node["required"] = self._rng.sample(names, 1)
        if self._one_in(5):
            node["x-kubernetes-preserve-unknown-fields"] = True
        if self._one_in(6):
            node["minProperties"] = self._rng.randrange(3)
        if self._one_in(6):
            node["maxProperties"] = self._rng.randrange(1, 3)
        if self._one_in(6):
            node["default"] = {}
        return node

    def _map(self, depth: int) -> Json:
        below: Any = self._node(depth - 1)
        below.pop("default", None)
        return {
            "type": "object",
            "additionalProperties": True if self._one_in(5) else below,
        }

    def _list(self, depth: int) -> Json:
        node: Json = {"type": "array", "items": self._node(depth - 1)}
        if self._one_in(4):
            node["maxItems"] = self._rng.randrange(1, 3)
        if self._one_in(4):
            node["minItems"] = self._rng.randrange(1, 3)
        if self._one_in(4):
            node["x-kubernetes-list-type"] = "set"
            node["items"] = {"type": self._rng.choice(("string", "integer"))}
        elif self._one_in(3):
            key = self._rng.choice(("name", "count"))
            other = self._node(0)
            node["x-kubernetes-list-type"] = "map"
            node["x-kubernetes-list-map-keys"] = [key]
            node["items"] = {
                "type": "object",
                "required": [key],
                "properties": {
                    key: {"type": "string" if key == "name" else "integer"},
                    "a": other,
                },
            }
        return node

    def _embedded(self, depth: int) -> Json:
        node: Json = {"type": "object", "x-kubernetes-embedded-resource": True}
        if self._one_in(2):
            node["x-kubernetes-preserve-unknown-fields"] = True
        else:
            node["properties"] = {"spec": self._node(depth - 1)}
        return node

    def _combine(self, node: Json) -> None:
        kind = node.get("type")
        if kind == "string":
            parts = [{"pattern": text} for text in self._rng.sample(_PATTERNS, 2)]
            parts += [{"enum": ["a", "abc"]}, {"maxLength": 2}]
        elif kind in ("integer", "number"):
            parts = [{"minimum": 2}, {"maximum": 3}, {"enum": [1, 5]}, {"multipleOf": 2}]
        elif kind == "object" and node.get("properties"):
            name = self._rng.choice(list(node["properties"]))
            parts = [{"required": [name]}, {"minProperties": 2}, {"required": ["nobody"]}]
        else:
            return
        some = self._rng.sample(parts, 2)
        how = self._rng.choice(("anyOf", "oneOf", "allOf", "not"))
        node[how] = some[0] if how == "not" else some

    def _spoil(self, node: Json) -> None:
        match self._rng.randrange(12):
            case 0:
                node.pop("type", None)
            case 1:
                node["pattern"] = self._rng.choice(("(", "[a", "*a", "(?=a)", "a**", r"\q", "a)"))
            case 2:
                node["uniqueItems"] = True
            case 3:
                node["default"] = self._rng.choice(("x", 1, {}, [], {"z": 1}))
            case 4:
                node["anyOf"] = [{"type": "string"}, {"description": "x"}]
            case 5:
                node["x-kubernetes-list-type"] = self._rng.choice(("set", "map", "heap", "atomic"))
            case 6:
                node["x-kubernetes-preserve-unknown-fields"] = False
            case 7:
                node["type"] = self._rng.choice(("null", "text", "array", "object"))
            case 8:
                node["x-kubernetes-embedded-resource"] = True
            case 9:
                node["properties"] = {"a": {}}
                node["additionalProperties"] = {"type": "string"}
            case 10:
                node["x-kubernetes-map-type"] = self._rng.choice(("atomic", "loose"))
            case 11:
                node["x-kubernetes-list-map-keys"] = ["name"]


class Objects:
    """Makes values that mostly fit a schema."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def members(self, root: Json) -> Json:
        """What a whole object has beside its names."""
        properties = root["properties"]
        value = {
            name: self._value(properties[name])
            for name in properties
            if self._rng.randrange(8) or name == "spec"
        }
        if not self._rng.randrange(8):
            value["extra"] = {"x": 1}
        return value

    def _value(self, node: Json) -> Any:
        rng = self._rng
        if not rng.randrange(10):
            return rng.choice((None, True, 1, "x", 1.5, [], {}, [None], {"z": {"y": 1}}))
        kind = node.get("type") or rng.choice(("integer", "string"))
        match kind:
            case "string":
                if node.get("enum") and rng.randrange(3):
                    return rng.choice(node["enum"])
                return rng.choice(_FORMATTED if node.get("format") else _STRINGS)
            case "integer":
                return rng.choice(_NUMBERS[:7] if rng.randrange(4) else _NUMBERS)
            case "number":
                return rng.choice(_NUMBERS)
            case "boolean":
                return rng.choice((True, False))
            case "array":
                items = node.get("items") or {}
                return [self._value(items) for _ in range(rng.randrange(4))]
            case _:
                return self._object(node)

    def _object(self, node: Json) -> Json:
        rng = self._rng
        made: Json = {}
        if node.get("x-kubernetes-embedded-resource"):
            made = {"apiVersion": "v1", "kind": "Thing", "metadata": {"labels": {"a": "b"}}}
            for name in ("apiVersion", "kind"):
                if not rng.randrange(5):
                    del made[name]
        for name, below in (node.get("properties") or {}).items():
            if rng.randrange(4):
                made[name] = self._value(below)
        additional = node.get("additionalProperties")
        if additional:
            for name in rng.sample(("p", "q", "r"), rng.randrange(3)):
                made[name] = self._value(additional if isinstance(additional, dict) else {})
        if not rng.randrange(5):
            made["unknown"] = rng.choice((1, {"x": 1}, [{"y": 2}], None))
        return made
