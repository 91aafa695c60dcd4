"""Schemas of responses about the ledger of an order."""

from __future__ import annotations

from sync_server.checkout.models import MoneyMovementRow
from sync_server.plumbing.api.schemas import IsoTime, View, WholeList


class MovementView(View):
    """One movement of money between two accounts."""

    position: int
    kind: str
    debit: str
    credit: str
    cents: int
    currency: str
    at: IsoTime
    method: str
    external_reference: str | None
    note: str


class LedgerView(WholeList):
    """The movements of an order, the first one first."""

    items: list[MovementView]
    due_cents: int


def movement_view(row: MoneyMovementRow) -> MovementView:
    """A movement as organisers see it."""
    return MovementView.of(row)
