"""The page of what somebody must look at: since when, what it means, what to do."""

from __future__ import annotations

from flask import request

from sync_server.admin.page import bp, page, show, whose
from sync_server.plumbing.parts import parts
from sync_server.plumbing.web import current_principal
from sync_server.watch import queries
from sync_server.watch.rules import WORDS

ON_ONE_PAGE = 50


@bp.get("/alerts")
@page()
def alerts() -> str:
    """Everything the organisation must look at; the platform's staff see what concerns the installation, too."""
    now = parts().clock()
    with parts().database.reading() as session:
        found = queries.of_organisation(session, whose(), now)
        platform = queries.of_platform(session, now) if current_principal().platform_role else []
    shown = queries.page([*platform, *found], ON_ONE_PAGE, request.args.get("after"))
    return show("alerts.html", alerts=shown.items, next=shown.next, meanings=WORDS)
