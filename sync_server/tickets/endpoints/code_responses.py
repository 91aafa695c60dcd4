"""Responses with the code of a ticket, which are never cached."""

from __future__ import annotations

from typing import Final

from flask import Response
from sqlalchemy.orm import Session

from sync_server.plumbing.sealing import Sealer
from sync_server.tickets import queries, schemas
from sync_server.tickets.keys import codes
from sync_server.tickets.models import TicketRecord

CODE_TYPES: Final = ("image/svg+xml", "image/png", "text/plain")
"""Besides JSON."""


def code_response(session: Session, row: TicketRecord, sealer: Sealer, form: str) -> Response:
    """The code of a ticket as JSON, text, SVG or PNG; Conflict for a cancelled ticket."""
    text = codes.code_text(session, row, sealer)
    response = _in_form(form, text, code_view(row, text))
    response.headers["Cache-Control"] = "no-store"
    return response


def code_view(row: TicketRecord, text: str) -> schemas.CodeView:
    """The code and what it belongs to."""
    return schemas.CodeView(ticket_id=queries.public_id(row.id), number=row.number, issue=row.issue, code=text)


def _in_form(form: str, text: str, view: schemas.CodeView) -> Response:
    if form == "svg":
        return Response(codes.svg(text), content_type="image/svg+xml")
    if form == "png":
        return Response(codes.png(text), content_type="image/png")
    if form == "text":
        return Response(text + "\n", content_type="text/plain; charset=utf-8")
    return Response(view.model_dump_json(), content_type="application/json")
