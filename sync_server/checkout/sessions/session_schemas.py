"""Schemas of requests and responses about checkout sessions."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from shared.clock import Millis
from sync_server.checkout.models import CheckoutSessionRow
from sync_server.checkout.sessions.rules import ASK_AGAIN_S, MAX_LIMIT
from sync_server.plumbing.api.edits import EditedView
from sync_server.plumbing.api.schemas import IsoTime, RequestBody, View


class SessionView(View):
    """A checkout session: until `expires_at` its guest can order and pay, also after the connection was lost."""

    id: str
    event_id: str
    opened_at: IsoTime
    expires_at: IsoTime
    remaining_seconds: int
    ask_again_seconds: int


class SetLimit(RequestBody):
    """How many guests may be in the checkout of the event at once."""

    sessions: Annotated[int, Field(ge=1, le=MAX_LIMIT)]


class LimitView(EditedView):
    """How many guests may be in the checkout of an event at once, and how many are."""

    unedited: ClassVar[frozenset[str]] = frozenset({"open"})

    event_id: str
    sessions: int
    open: int


def session_view(row: CheckoutSessionRow, now: Millis) -> SessionView:
    """A session as its guest sees it now."""
    remaining = max(0, -(-(row.expires_at - now) // 1000))
    return SessionView.of(row, remaining_seconds=remaining, ask_again_seconds=ASK_AGAIN_S)
