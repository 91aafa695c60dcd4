"""Schemas of requests and responses about signing keys."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sync_server.plumbing.api.schemas import Hex, IsoTime, Reason, RequestBody, View, WholeList


class RotateKey(RequestBody):
    """Whether the new key signs at once, or after a day in which gates fetch it."""

    at_once: bool = False


class RevokeKey(RequestBody):
    """The reason, and the number of tickets that become invalid; without it the response only states the number."""

    kills: Annotated[int, Field(ge=0)] | None = None
    reason: Reason = ""


class KeyView(View):
    """A signing key, without its private part."""

    id: int
    state: str
    public: Hex
    signs_from: IsoTime
    created_at: IsoTime
    tickets: int


class KeysView(WholeList):
    """The keys of an organisation."""

    items: list[KeyView]
