"""Schemas of requests that move an event to another venue, or name its replacement."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sync_server.plumbing.api.one_line import SEVERAL_LINES
from sync_server.plumbing.api.schemas import Approval, Id, Reason, RequestBody


class NewEventVenue(RequestBody):
    """Another venue; `consent` is the token from a `consent_required` response, sent back to confirm the move."""

    venue_id: Id
    reason: Reason = ""
    consent: Annotated[str, Field(min_length=1, max_length=1000), SEVERAL_LINES] | None = None


class Replacement(RequestBody):
    """The event that takes place instead; null removes the link."""

    event_id: Id | None
    reason: Reason = ""
    approval: Approval = ""
