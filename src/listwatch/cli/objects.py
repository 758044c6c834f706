"""Objects as text: what `get` prints."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from listwatch.api import APIResource, Unstructured

from .asked import Output
from .documents import list_document, pretty, without_managed_fields, yaml_text
from .failures import one_line
from .layout import Layout
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
    prefix: str = "",
) -> bytes:
    """All of them in that form; a `single` one is no list in JSON and YAML. `prefix`, such as
    `pod/`, goes in front of the names in a table that is not the only one.
    """
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
        case Output.TABLE | Output.WIDE:
            if not objects:
                return b""
            layout = Layout(
                with_namespace=with_namespace and resource.namespaced,
                wide=output is Output.WIDE,
                prefix=prefix,
            )
            rows = [layout.cells(obj, now) for obj in objects]
            return table_text(layout.headers(objects[0]), rows).encode()
