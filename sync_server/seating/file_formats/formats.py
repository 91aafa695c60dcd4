"""The file formats of layouts by name: how each is read and written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from sync_server.seating.file_formats import csv_plans, pretix_plans, svg_plans
from sync_server.seating.layouts.plan import LayoutPlan
from sync_server.seating.layouts.reading import ReadPlan


@dataclass(frozen=True, slots=True)
class Format:
    """One format; `read` takes a name for the layout, for files that do not contain one."""

    read: Callable[[bytes, str], ReadPlan]
    write: Callable[[LayoutPlan], bytes]
    content_type: str
    ending: str


def _read_pretix(text: bytes, _name: str) -> ReadPlan:
    return pretix_plans.read(text)


FORMATS: Final[Mapping[str, Format]] = {
    "pretix": Format(_read_pretix, pretix_plans.write, "application/json", "json"),
    "csv": Format(csv_plans.read, csv_plans.write, "text/csv; charset=utf-8", "csv"),
    "svg": Format(svg_plans.read, svg_plans.write, "image/svg+xml", "svg"),
}
"""All formats but our own JSON, which the schemas of the API read and write."""
EXPORT_TYPES: Final = tuple(sorted({"application/json", *(one.content_type.split(";")[0] for one in FORMATS.values())}))
