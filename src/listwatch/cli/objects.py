"""Objects as text: what `get` prints."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from listwatch.api import APIResource, Unstructured

from .asked import Output
from .columns import cells, columns_for
from .documents import list_document, pretty, without_managed_fields, yaml_text
from .failures import one_line
from .table import table_text

__all__ = ["objects_text", "reference"]


def reference(obj: Unstructured) -> str:
    """What kubectl calls it: `pod/web-0`, `deployment.apps/web`."""
    kind = obj.kind.lower()
    return one_line(f"{kind}.{obj.group}/{obj.name}" if obj.group else f"{kind}/{obj.name}")


def objects_text(
    objects: Sequence[Unstructured],
    output: Output,
    resource: APIResource,
    *,
    single: bool,
    with_namespace: bool,
    with_managed_fields: bool,
    now: datetime,
) -> bytes:
    """All of them in that form; a `single` one is no list in JSON and YAML."""
    match output:
        case Output.NAME:
            return "".join(f"{reference(obj)}\n" for obj in objects).encode()
        case Output.JSON | Output.YAML:
            raws = [
                obj.raw if with_managed_fields else without_managed_fields(obj.raw)
                for obj in objects
            ]
            raw = raws[0] if single else list_document(raws)
            return pretty(raw) if output is Output.JSON else yaml_text(raw).encode()
        case Output.TABLE:
            if not objects:
                return b""
            columns = columns_for(
                resource.group,
                resource.kind or objects[0].kind,
                with_namespace=with_namespace and resource.namespaced,
            )
            rows = [cells(columns, obj.to_dict(), now) for obj in objects]
            return table_text([column.header for column in columns], rows).encode()
