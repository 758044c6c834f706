"""The vocabulary: objects, metadata, keys, events, errors, options, selectors, resources."""

from .builtin import BUILTIN_RESOURCES
from .errors import (
    AlreadyExists,
    APIError,
    BadRequest,
    Conflict,
    Expired,
    Forbidden,
    Gone,
    InternalError,
    Invalid,
    InvalidOptions,
    ListWatchError,
    MalformedObject,
    MethodNotAllowed,
    NotAcceptable,
    NotFound,
    RequestEntityTooLarge,
    ResourceVersionTooLarge,
    SelectorError,
    ServerTimeout,
    ServiceUnavailable,
    StorageReadFailed,
    Timeout,
    TooManyRequests,
    Unauthorized,
    UnsupportedMediaType,
    error_for_status,
)
from .event import INITIAL_EVENTS_END, Event, EventType
from .fields import FieldOperator, FieldRequirement, FieldSelector
from .frozen import FrozenDict, freeze
from .keys import join_key, key_of, split_key
from .labels import LabelOperator, LabelRequirement, LabelSelector
from .meta import ManagedFieldsEntry, ObjectMeta, OwnerReference, PartialObjectMetadata
from .options import ListOptions, ResourceVersionMatch
from .resource import APIResource, GroupVersionResource
from .responses import error_for_response
from .rv import compare_resource_versions, is_newer
from .status import ListMeta, Status, StatusCause, StatusDetails
from .type_meta import with_type_meta
from .unstructured import Unstructured
from .view import ObjectView

__all__ = [
    "BUILTIN_RESOURCES",
    "INITIAL_EVENTS_END",
    "APIError",
    "APIResource",
    "AlreadyExists",
    "BadRequest",
    "Conflict",
    "Event",
    "EventType",
    "Expired",
    "FieldOperator",
    "FieldRequirement",
    "FieldSelector",
    "Forbidden",
    "FrozenDict",
    "Gone",
    "GroupVersionResource",
    "InternalError",
    "Invalid",
    "InvalidOptions",
    "LabelOperator",
    "LabelRequirement",
    "LabelSelector",
    "ListMeta",
    "ListOptions",
    "ListWatchError",
    "MalformedObject",
    "ManagedFieldsEntry",
    "MethodNotAllowed",
    "NotAcceptable",
    "NotFound",
    "ObjectMeta",
    "ObjectView",
    "OwnerReference",
    "PartialObjectMetadata",
    "RequestEntityTooLarge",
    "ResourceVersionMatch",
    "ResourceVersionTooLarge",
    "SelectorError",
    "ServerTimeout",
    "ServiceUnavailable",
    "Status",
    "StatusCause",
    "StatusDetails",
    "StorageReadFailed",
    "Timeout",
    "TooManyRequests",
    "Unauthorized",
    "Unstructured",
    "UnsupportedMediaType",
    "compare_resource_versions",
    "error_for_response",
    "error_for_status",
    "freeze",
    "is_newer",
    "join_key",
    "key_of",
    "split_key",
    "with_type_meta",
]
