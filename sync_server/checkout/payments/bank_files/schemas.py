"""Requests and responses about statements of a bank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field, model_validator

from sync_server.checkout.payments.bank_files import camt, csv_files
from sync_server.checkout.payments.bank_files.entries import MOST_ENTRIES, Entry, named
from sync_server.checkout.payments.bank_files.matching import Match
from sync_server.plumbing.api.one_line import SEVERAL_LINES
from sync_server.plumbing.api.schemas import Id, RequestBody

Heading = Annotated[str, Field(max_length=100)]


class CsvMapping(RequestBody):
    """Which columns of a CSV file say what, by their headings; several of `text` are read together."""

    amount: Annotated[str, Field(min_length=1, max_length=100)]
    date: Annotated[str, Field(min_length=1, max_length=100)]
    text: Annotated[list[Heading], Field(min_length=1, max_length=10)]
    reference: Heading = ""
    currency: Heading = ""
    delimiter: Literal[";", ",", "\t", "|"] = ";"
    decimal: Literal[",", "."] = ","
    skipped_lines: Annotated[int, Field(ge=0, le=100)] = 0

    def mapping(self) -> csv_files.Mapping:
        """As the reader takes it."""
        return csv_files.Mapping(
            self.amount,
            self.date,
            self.text,
            self.reference,
            self.currency,
            self.delimiter,
            self.decimal,
            self.skipped_lines,
        )


class BankFile(RequestBody):
    """A statement: CAMT.053, or CSV with the names of its columns."""

    format: Literal["camt.053", "csv"]
    content: Annotated[str, Field(min_length=1, max_length=7_000_000), SEVERAL_LINES]
    columns: CsvMapping | None = None

    @model_validator(mode="after")
    def _columns_of_csv(self) -> Self:
        if (self.format == "csv") != (self.columns is not None):
            raise ValueError("send `columns` with CSV, and only with it")
        return self

    def entries(self) -> list[Entry]:
        """The credits of the file."""
        if self.columns is not None:
            return named(csv_files.read(self.content, self.columns.mapping()))
        return named(camt.read(self.content))


class ConfirmedEntry(RequestBody):
    """An entry to note, by its reference; with `order_id` for that order, whatever its text says."""

    reference: Annotated[str, Field(min_length=1, max_length=140)]
    order_id: Id | None = None


class ConfirmBankFile(BankFile):
    """The statement of the preview again, and those of its entries that are to be noted."""

    entries_to_note: Annotated[list[ConfirmedEntry], Field(min_length=1, max_length=MOST_ENTRIES)]


class MatchView(BaseModel):
    """One entry: its order, what was due, and its `outcome`; `text` is what the payer wrote, and is not stored."""

    reference: str
    booked_on: str
    cents: int
    currency: str
    text: str
    outcome: str
    order_id: str | None
    order_number: str | None
    order_state: str | None
    due_cents: int
    problem: str


class BankFileView(BaseModel):
    """The credits of a statement, in its order."""

    items: list[MatchView]


def view_of(matches: Sequence[Match]) -> BankFileView:
    """What the entries do, or have done."""
    return BankFileView(items=[_view(match) for match in matches])


def _view(match: Match) -> MatchView:
    entry, order = match.entry, match.order
    return MatchView(
        reference=entry.reference,
        booked_on=entry.booked_on,
        cents=entry.cents,
        currency=entry.currency,
        text=entry.text[:500],
        outcome=match.outcome.value,
        order_id=None if order is None else order.id,
        order_number=None if order is None else order.number,
        order_state=None if order is None else order.state,
        due_cents=match.due_cents,
        problem=match.problem,
    )
