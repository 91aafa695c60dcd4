"""What a request states beside its work: a reason, or the tenant's approval."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import unquote

from flask import request

from sync_server.plumbing.storable_json import visible

WITHOUT_BODY: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_LARGEST_STATED: Final = 256 * 1024


def stated(header: str, field: str) -> str:
    """What a script sends in a header, and a page in a form field; both may send it as a field of the body."""
    # Headers carry ASCII only: other characters come percent-encoded, as in URLs.
    text = unquote(request.headers.get(header, "")) or request.form.get(field) or _field_of_body(field)
    return visible(text).strip() if isinstance(text, str) else ""


def _field_of_body(field: str) -> Any:
    """A field of a JSON body; a body of many kilobytes is a file, which states nothing."""
    if not request.is_json or request.method in WITHOUT_BODY or (request.content_length or 0) > _LARGEST_STATED:
        return None
    body = request.get_json(silent=True)
    return body.get(field) if isinstance(body, dict) else None
