"""Who shows errors as pages: each part of the site its own, and the API none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from flask import Response, current_app, request

from shared.errors import GatehouseError

ErrorPage = Callable[[GatehouseError, int], Response]
"""Shows an error with this status as a page."""
EXTENSION: Final = "gatehouse_error_pages"
"""Where an app keeps them, by the beginning of the path; the empty one is for whoever reads HTML."""


def page_for(path: str) -> ErrorPage | None:
    """Who shows errors at this path as a page; None under /api, and for programs at unknown addresses."""
    pages: dict[str, ErrorPage] = current_app.extensions.get(EXTENSION, {})
    found = next((show for start, show in pages.items() if start and f"{path}/".startswith(f"{start}/")), None)
    reads_html = "text/html" in request.headers.get("Accept", "") and not path.startswith("/api/")
    return found or (pages.get("") if reads_html else None)
