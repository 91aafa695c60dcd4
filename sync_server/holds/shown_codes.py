"""The codes that a visitor of a shop shows with a request: they may open a sale before it begins."""

from __future__ import annotations

from typing import Final

from shared.errors import InvalidRequest
from sync_server.plumbing.web import sent_header

HEADER: Final = "X-Codes"
_MOST: Final = 5


def shown_codes() -> list[str]:
    """The codes of this request, as they were typed; InvalidRequest for too many."""
    sent = sent_header(HEADER)
    if not sent:
        return []
    texts = [text.strip() for text in sent.split(",") if text.strip()]
    if len(texts) > _MOST:
        raise InvalidRequest(f"Send at most {_MOST} codes.", field=HEADER)
    return texts
