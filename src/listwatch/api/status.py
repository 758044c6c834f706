"""Status, a server's word on a request, and ListMeta, which it shares with lists."""

from __future__ import annotations

import msgspec
from msgspec import Struct, field

from ._lenient import JSONBytes, lenient_decoder
from .faults import MalformedObject

__all__ = ["ListMeta", "Status", "StatusCause", "StatusDetails"]


class ListMeta(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The metadata of a list, of a Status, of anything that is no object itself."""

    resource_version: str = ""
    """The RV of the whole answer: where a watch goes on from. Opaque (A2)."""
    continue_: str = field(default="", name="continue")
    """The token of the next page; empty on the last one. Opaque (A2)."""
    remaining_item_count: int | None = None
    """How many items follow this page, where the server knows; never with a selector."""
    self_link: str = ""
    """Empty since Kubernetes 1.20."""


class StatusCause(Struct, frozen=True, rename="camel", omit_defaults=True):
    """One of the causes of a failure, such as one invalid field."""

    reason: str = ""
    """A word for programs, such as `FieldValueInvalid` or `ResourceVersionTooLarge`."""
    message: str = ""
    """A sentence for people."""
    field: str = ""
    """The field at fault, as a path such as `spec.containers[0].image`."""


class StatusDetails(Struct, frozen=True, rename="camel", omit_defaults=True):
    """What a Status is about."""

    name: str = ""
    group: str = ""
    kind: str = ""
    """Mostly the plural, such as `pods`."""
    uid: str = ""
    causes: tuple[StatusCause, ...] = ()
    retry_after_seconds: int = 0
    """How long the server wants the client to wait, in seconds; 0 when it does not say."""


class Status(Struct, frozen=True, rename="camel"):
    """The answer to a request that failed, or that has nothing else to say; the object of an ERROR.

    All fields have defaults and any may be `null`, because servers leave out what they do not need.
    """

    kind: str = "Status"
    api_version: str = "v1"
    metadata: ListMeta = ListMeta()
    """Of an Expired `continue`, `metadata.continue_` resumes from the next key, inconsistently."""
    status: str = ""
    """`Success` or `Failure`."""
    message: str = ""
    reason: str = ""
    """One word, such as `NotFound`; may be empty, when only the code tells."""
    details: StatusDetails = StatusDetails()
    code: int = 0
    """The HTTP status code; 0 where it is not said."""

    @classmethod
    def from_bytes(cls, raw: JSONBytes) -> Status:
        """Decode a Status from JSON, `null` being the same as absent, kind and apiVersion optional.

        Raises `MalformedObject` if that is no JSON object of such a shape, or one of another kind.

        >>> Status.from_bytes(b'{"kind":"Status","reason":"Expired","code":410}').code
        410
        """
        try:
            status = _decode(raw)
        except (msgspec.DecodeError, RecursionError) as error:
            raise MalformedObject(f"this is no Status: {error}") from error
        if status.kind != "Status":
            raise MalformedObject(f"this is no Status but a {status.kind or 'thing without kind'}")
        return status


_decode = lenient_decoder(Status)
