"""Responses with tickets, which are never cached: whoever has one can enter."""

from __future__ import annotations

import re

from flask import Response


def pdf_response(content: bytes, name: str) -> Response:
    """A PDF under this name."""
    response = Response(content, content_type="application/pdf")
    return kept_private(response, f"{name}.pdf")


def kept_private(response: Response, name: str) -> Response:
    """The response, to be stored by whoever asked, and by nobody between."""
    response.headers["Cache-Control"] = "no-store"
    plain = re.sub(r"[^A-Za-z0-9._-]", "-", name)
    response.headers["Content-Disposition"] = f'inline; filename="{plain}"'
    return response
