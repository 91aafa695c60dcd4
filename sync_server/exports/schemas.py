"""The query of an export."""

from __future__ import annotations

from typing import Literal

from sync_server.plumbing.api.schemas import Query


class ExportQuery(Query):
    """In which form."""

    format: Literal["csv", "xlsx"] = "csv"
