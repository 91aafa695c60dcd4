"""Shapes of requests about where an event takes place, and what takes place instead of it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sync_server.events.schemas import Id
from sync_server.plumbing.shapes import Approval, Asked, Reason


class NewPlace(Asked):
    """Another venue; `consent` is what the answer `consent_required` gave, sent back by somebody who agrees."""

    venue_id: Id
    reason: Reason = ""
    consent: Annotated[str, Field(min_length=1, max_length=1000)] | None = None


class Replacement(Asked):
    """The event that takes place instead; null: none does."""

    event_id: Id | None
    reason: Reason = ""
    approval: Approval = ""
