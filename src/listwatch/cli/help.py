"""The help of a command: its options under the headings that they name."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

__all__ = ["SectionedCommand"]


class SectionedCommand(TyperCommand):
    """Lists those of its options that have a `rich_help_panel` below that name, after the
    others."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            heading = "Arguments" if parameter.param_type_name == "argument" else "Options"
            named = getattr(parameter, "rich_help_panel", None) or heading
            sections.setdefault(named, []).append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)
