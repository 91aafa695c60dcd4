"""Shapes of requests and answers about moving guests to another layout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, Field

from sync_server.plumbing.shapes import Reason, iso, iso_or_none
from sync_server.reseating.models import ReseatingRecord
from sync_server.reseating.service import Move
from sync_server.seating.event_schemas import ChooseLayout

WORDS: Final = {
    "blocked_seat_ids": "blocked_seats",
    "disabled_zones": "disabled_zones",
    "zone_overrides": "zone_overrides",
    "pricing_zones": "price_zones",
    "seating_overrides": "seating_overrides",
}
SPOKEN: Final = {ours: theirs for theirs, ours in WORDS.items()}


class MoveGuests(ChooseLayout):
    """To which layout the guests shall move. With the fingerprint of a report: do it.

    What `overrides` and `seating_overrides` do not say comes along from the layout that the event has.
    """

    any_price: bool = False
    holds: Literal["refuse", "release"] = "refuse"
    fingerprint: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None = None
    reason: Reason = ""

    def move(self) -> Move:
        """As the use case takes it."""
        said = frozenset(
            WORDS[name] for name in (*self.overrides.model_fields_set, *self.model_fields_set) if name in WORDS
        )
        return Move(self.chosen(), self.any_price, self.holds, self.reason, self.fingerprint or "", said)


class Counts(BaseModel):
    """How many guests; `seated` are all who have seats, `unplaced` counts guests of zones without seats too."""

    seated: int
    stay: int
    move: int
    unplaced: int
    new_codes: int | None = None
    other_price_category: int
    holds: int


class GuestMove(BaseModel):
    """One ticket's way from seat to seat."""

    ticket: str
    number: str
    from_seat: str
    to_seat: str
    zone: str


class GuestWithoutSeat(BaseModel):
    """A ticket for which there is no seat."""

    ticket: str
    number: str
    from_seat: str
    reason: str


class ZoneRoom(BaseModel):
    """Whether those who have no seats find room in their zone."""

    zone: str
    sold: int
    capacity: int
    fits: bool


class LeftBehind(BaseModel):
    """Something that the event changed about its old layout and that the new one has no place for."""

    what: Literal["blocked_seat_ids", "disabled_zones", "zone_overrides", "pricing_zones", "seating_overrides"]
    name: str
    why: str


class MigrationView(BaseModel):
    """A report, and whether it was carried out."""

    id: str
    event_id: str
    from_layout_id: str
    from_version: int
    to_layout_id: str
    to_version: int
    fingerprint: str
    state: Literal["planned", "closed", "moving", "done"]
    reason: str
    counts: Counts
    made_at: str
    done_at: str | None

    @classmethod
    def words_of(cls, row: ReseatingRecord) -> dict[str, Any]:
        """What every view of a report says."""
        report = row.report
        return {
            "id": row.id,
            "event_id": row.event_id,
            "from_layout_id": row.from_layout_id,
            "from_version": report["from_version"],
            "to_layout_id": row.to_layout_id,
            "to_version": report["to_version"],
            "fingerprint": row.fingerprint,
            "state": row.state,
            "reason": row.reason,
            "counts": report["counts"],
            "made_at": iso(row.made_at),
            "done_at": iso_or_none(row.done_at),
        }


class WholeMigrationView(MigrationView):
    """The same with a page of the moves, everybody without a seat, and the zones without seats."""

    moves: list[GuestMove]
    next: str | None
    unplaced: list[GuestWithoutSeat]
    zones: list[ZoneRoom]
    came_along: dict[str, int] | None
    left_behind: list[LeftBehind]

    @classmethod
    def of(cls, row: ReseatingRecord, page: MovesPage) -> WholeMigrationView:
        """As organisers see it."""
        report = row.report
        return cls(
            **cls.words_of(row),
            moves=page.moves,
            next=page.next,
            unplaced=page.unplaced,
            zones=[ZoneRoom(**zone) for zone in report["zones"]],
            came_along=_spoken(report.get("came_along")),
            left_behind=[LeftBehind(**lost | {"what": SPOKEN[lost["what"]]}) for lost in report.get("left_behind", ())],
        )


@dataclass(frozen=True, slots=True)
class MovesPage:
    """Steps of a move, in words."""

    moves: list[GuestMove]
    next: str | None
    unplaced: list[GuestWithoutSeat]


def _spoken(kept: Mapping[str, int] | None) -> dict[str, int] | None:
    """None for reports of a time when nothing came along."""
    return None if kept is None else {SPOKEN[what]: count for what, count in kept.items()}


class MigrationsView(BaseModel):
    """A page of reports."""

    items: list[MigrationView]
    next: str | None
