"""The first page of the settings: every section with what it is for."""

from __future__ import annotations

from sync_server.admin.page import bp, page
from sync_server.admin.settings.frame import render_settings


@bp.get("/settings")
@page()
def settings() -> str:
    """The sections that this person may open."""
    return render_settings("overview.html", "")
