"""What is wrong with an object or a request, in the words of the real server."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..reading.encoding import go_json
from ..statuses import Refused, failure

__all__ = [
    "Problem",
    "already_exists",
    "bad_request",
    "conflict",
    "duplicate_field",
    "forbidden",
    "forbidden_field",
    "go_quoted",
    "internal_error",
    "invalid",
    "invalid_field",
    "invalid_options",
    "not_found",
    "not_found_field",
    "required_field",
    "too_long",
    "too_many",
    "unforeseen",
    "unsupported_field",
    "unsupported_media_type",
]


class _Type(Protocol):
    """What refusals name of a `ResourceType`."""

    @property
    def plural(self) -> str: ...
    @property
    def group(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def kind_group(self) -> str: ...
    @property
    def qualified_name(self) -> str: ...


_ESCAPED = {
    '"': '\\"',
    "\\": "\\\\",
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """One field that cannot be accepted: a cause in the Status."""

    field: str
    reason: str
    message: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"

    def as_cause(self) -> dict[str, str]:
        return {"reason": self.reason, "message": self.message, "field": self.field}


def go_quoted(text: str) -> str:
    """A string as Go's `%q` writes it: what cannot be printed is escaped."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return f'"{"".join(map(_quoted_character, text))}"'


def _quoted_character(character: str) -> str:
    if escaped := _ESCAPED.get(character):
        return escaped
    if character.isprintable():
        return character
    code = ord(character)
    if code < 0x80:
        return f"\\x{code:02x}"
    if 0xD800 <= code < 0xE000:
        return "\ufffd"  # half of a pair, which Go's strings cannot have
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _shown(value: Any) -> str:
    return go_quoted(value) if isinstance(value, str) else go_json(value).decode()


def invalid_field(field: str, value: Any, text: str, *, named: bool = False) -> Problem:
    """`named`: the value's type has a name of its own there, so that a text is shown as JSON, too:
    with `<`, `>` and `&` escaped.
    """
    shown = f"Invalid value: {go_json(value).decode() if named else _shown(value)}"
    return Problem(field, "FieldValueInvalid", f"{shown}: {text}" if text else shown)


def required_field(field: str, text: str = "") -> Problem:
    return Problem(
        field, "FieldValueRequired", f"Required value: {text}" if text else "Required value"
    )


def forbidden_field(field: str, text: str) -> Problem:
    return Problem(field, "FieldValueForbidden", f"Forbidden: {text}")


def too_long(field: str, limit: int) -> Problem:
    return Problem(field, "FieldValueTooLong", f"Too long: may not be more than {limit} bytes")


def too_many(field: str, count: int, most: int) -> Problem:
    """A list or a map that has more than it may."""
    text = f"must have at most {most} item{'' if most == 1 else 's'}"
    return Problem(field, "FieldValueTooMany", f"Too many: {count}: {text}")


def duplicate_field(field: str, value: Any) -> Problem:
    return Problem(field, "FieldValueDuplicate", f"Duplicate value: {_shown(value)}")


def not_found_field(field: str, value: Any) -> Problem:
    """What the field names is nowhere in the object."""
    return Problem(field, "FieldValueNotFound", f"Not found: {_shown(value)}")


def unsupported_field(
    field: str, value: Any, supported: Sequence[str], *, plain: bool = False
) -> Problem:
    """None of the values that there are. Those of an enumeration have a type of their own there,
    and are shown as JSON; `plain` is for a member whose type is a mere string.
    """
    names = ", ".join(go_quoted(name) for name in supported)
    shown = _shown(value) if plain else go_json(value).decode()
    text = f"Unsupported value: {shown}: supported values: {names}"
    return Problem(field, "FieldValueNotSupported", text)


def _details(name: str, group: str, kind: str, causes: Iterable[Problem] = ()) -> dict[str, Any]:
    details: dict[str, Any] = {}
    if name:
        details["name"] = name
    if group:
        details["group"] = group
    if kind:
        details["kind"] = kind
    found = [problem.as_cause() for problem in causes]
    if found:
        details["causes"] = found
    return details


def invalid(kind: str, group: str, name: str, problems: Sequence[Problem]) -> Refused:
    """422. Problems that are told twice are two causes, but once in the message, as there."""
    texts = list(dict.fromkeys(str(problem) for problem in problems))
    text = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    qualified = f"{kind}.{group}" if group else kind
    message = f"{qualified} {go_quoted(name)} is invalid: {text}"
    return Refused(failure(422, "Invalid", message, details=_details(name, group, kind, problems)))


def invalid_options(kind: str, problems: Sequence[Problem]) -> Refused:
    """422 about the options of a request, such as `CreateOptions`."""
    return invalid(kind, "meta.k8s.io", "", problems)


def not_found(named: _Type, name: str) -> Refused:
    message = f"{named.qualified_name} {go_quoted(name)} not found"
    return Refused(
        failure(404, "NotFound", message, details=_details(name, named.group, named.plural))
    )


def already_exists(named: _Type, name: str, *, dying: bool = False) -> Refused:
    message = f"{named.qualified_name} {go_quoted(name)} already exists"
    if dying:
        message = f"object is being deleted: {message}"
    return Refused(
        failure(409, "AlreadyExists", message, details=_details(name, named.group, named.plural))
    )


def conflict(named: _Type, name: str, text: str, *, by_kind: bool = False) -> Refused:
    """409. A failed precondition names the kind, everything else the resource (K33)."""
    what = named.kind if by_kind else named.plural
    group = named.kind_group if by_kind else named.group
    qualified = f"{what}.{group}" if group else what
    message = f"Operation cannot be fulfilled on {qualified} {go_quoted(name)}: {text}"
    return Refused(failure(409, "Conflict", message, details=_details(name, group, what)))


def forbidden(named: _Type, name: str, text: str, causes: Sequence[Problem] = ()) -> Refused:
    message = f"{named.qualified_name} {go_quoted(name)} is forbidden: {text}"
    details = _details(name, named.group, named.plural, causes)
    return Refused(failure(403, "Forbidden", message, details=details))


def bad_request(message: str) -> Refused:
    return Refused(failure(400, "BadRequest", message))


def internal_error(message: str) -> Refused:
    """500 without a reason, as the real server gives for errors that it has no name for."""
    return Refused(failure(500, "", message))


def unforeseen(text: str) -> Refused:
    """500, as the real server tells the errors of Go's that it wraps."""
    message = f"Internal error occurred: {text}"
    return Refused(failure(500, "InternalError", message, details={"causes": [{"message": text}]}))


def unsupported_media_type(accepted: Sequence[str]) -> Refused:
    text = "the body of the request was in an unknown format - accepted media types include: "
    return Refused(failure(415, "UnsupportedMediaType", text + ", ".join(accepted)))
