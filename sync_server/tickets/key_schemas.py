"""Schemas of requests and responses about signing keys."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from sync_server.plumbing.api.schemas import Reason, RequestBody, iso
from sync_server.tickets.models import TicketKeyRecord


class RotateKey(RequestBody):
    """Whether the new key signs at once, or after a day in which gates fetch it."""

    at_once: bool = False


class RevokeKey(RequestBody):
    """The reason, and the number of tickets that become invalid; without it the response only states the number."""

    kills: Annotated[int, Field(ge=0)] | None = None
    reason: Reason = ""


class KeyView(BaseModel):
    """A signing key, without its private part."""

    id: int
    state: str
    public: str
    signs_from: str
    created_at: str
    tickets: int

    @classmethod
    def of(cls, row: TicketKeyRecord, tickets: int) -> KeyView:
        """The admin's view."""
        return cls(
            id=row.id,
            state=row.state,
            public=row.public.hex(),
            signs_from=iso(row.signs_from),
            created_at=iso(row.created_at),
            tickets=tickets,
        )


class KeysView(BaseModel):
    """The keys of an organisation."""

    items: list[KeyView]
