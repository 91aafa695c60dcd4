"""Schemas of requests and responses about mails to buyers."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from sync_server.order_mails.messages import Message
from sync_server.plumbing.api.schemas import IsoTime, RequestBody, View, WholeList


class PreviewMail(RequestBody):
    """Which message to show, and in which language."""

    message: Annotated[Message, Field(strict=False)]
    language: Literal["en", "de", "fr", "af", "es"] = "en"


class MailPreview(View):
    """A message as its reader gets it, about an order that does not exist."""

    subject: str
    text: str
    html: str


class RecipientsView(View):
    """How many buyers are written to when an event changes, and how many cannot be: they have given no address."""

    messages: list[str]
    orders: int
    told: int
    without_address: int


class NewsView(View):
    """A change of an event that its buyers are told of."""

    message: str
    told: int
    created_at: IsoTime
    done_at: IsoTime | None


class EventNewsView(WholeList):
    """What the buyers of an event were told, the newest first."""

    items: list[NewsView]


class SentView(BaseModel):
    """A mail that is on its way."""

    status: Literal["sent"] = "sent"
