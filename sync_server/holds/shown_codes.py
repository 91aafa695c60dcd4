"""The codes that a visitor of a shop shows with a request: they may open a sale before it begins."""

from __future__ import annotations

from typing import Final

from shared.errors import InvalidRequest
from sync_server.plumbing.web import current_request

HEADER: Final = "X-Codes"
_MOST: Final = 5


def shown_codes() -> list[str]:
    """The codes of this request, as they were typed; InvalidRequest for too many."""
    texts = [text.strip() for text in current_request().headers.get(HEADER, "").split(",") if text.strip()]
    if len(texts) > _MOST:
        raise InvalidRequest(f"Send at most {_MOST} codes.", field=HEADER)
    return texts
