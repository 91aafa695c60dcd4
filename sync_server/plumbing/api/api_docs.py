"""/docs: the API to read and to try, as Swagger UI shows /openapi.json."""

from __future__ import annotations

from typing import Final

from apiflask import APIBlueprint
from flask import Response, render_template_string

bp = APIBlueprint("docs", __name__, enable_openapi=False)

_PAGE: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Gatehouse API</title>
<link rel="icon" href="{{ url_for('static', filename='gatehouse.svg') }}">
<link rel="stylesheet" href="{{ url_for('static', filename='vendor/swagger-ui.css') }}">
<link rel="stylesheet" href="{{ url_for('static', filename='docs.css') }}">
<script src="{{ url_for('static', filename='vendor/swagger-ui-bundle.js') }}" defer></script>
<script src="{{ url_for('static', filename='docs.js') }}" defer></script>
</head><body>
<main id="docs" data-description="/openapi.json">
<p>Loading the description of the API …</p>
<noscript><p>This page needs scripts. Without them read <a href="/openapi.json">/openapi.json</a>.</p></noscript>
</main>
</body></html>
"""
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Only what this server serves itself; the style sheet has its icons inside."""


@bp.get("/docs")
def page() -> Response:
    """Show the API as a page."""
    response = Response(render_template_string(_PAGE), content_type="text/html; charset=utf-8")
    response.headers["Content-Security-Policy"] = POLICY
    return response
