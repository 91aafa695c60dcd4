"""Request and response schemas for moving guests to another layout."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, Field

from sync_server.plumbing.api.schemas import IsoTime, Reason, RequestBody, View
from sync_server.reseating.models import ReseatingRecord
from sync_server.reseating.one_guest import SeatChange
from sync_server.reseating.service import MoveRequest
from sync_server.seating.event_schemas import ChooseLayout
from sync_server.tickets.queries import internal_id

PART_OF_FIELD: Final = {
    "blocked_seat_ids": "blocked_seats",
    "disabled_zones": "disabled_zones",
    "zone_overrides": "zone_overrides",
    "pricing_zones": "price_zones",
    "seating_overrides": "seating_overrides",
}
FIELD_OF_PART: Final = {part: name for name, part in PART_OF_FIELD.items()}


class MoveGuests(ChooseLayout):
    """The layout to which the guests move. With the fingerprint of a report, the move is carried out.

    Parts missing from `overrides` and `seating_overrides` are carried over from the current layout of the event.
    """

    any_price: bool = False
    holds: Literal["refuse", "release"] = "refuse"
    fingerprint: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None = None
    reason: Reason = ""

    def move(self) -> MoveRequest:
        """The request as the service takes it."""
        given = frozenset(
            PART_OF_FIELD[name]
            for name in (*self.overrides.model_fields_set, *self.model_fields_set)
            if name in PART_OF_FIELD
        )
        return MoveRequest(self.chosen(), self.any_price, self.holds, self.reason, self.fingerprint or "", given)


class MoveOneGuest(RequestBody):
    """A ticket, and the free seat to which its guest moves; `agreed`: they take a seat of another kind or price."""

    ticket: Annotated[str, Field(pattern="^[0-9a-f]{16}$")]
    seat_id: Annotated[str, Field(min_length=1, max_length=80)]
    agreed: bool = False
    reason: Reason = ""

    def move(self) -> SeatChange:
        """The request as the service takes it."""
        return SeatChange(internal_id(self.ticket), self.seat_id, self.agreed, self.reason)


class Counts(BaseModel):
    """Numbers of guests; `seated` counts all with seats, `unplaced` includes guests of zones without seats."""

    seated: int
    stay: int
    move: int
    unplaced: int
    new_codes: int | None = None
    other_price_category: int
    holds: int


class GuestMove(BaseModel):
    """The move of one ticket from seat to seat."""

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
    """Whether the guests of a zone without seats fit."""

    zone: str
    sold: int
    capacity: int
    fits: bool


class LeftBehind(BaseModel):
    """An override of the old layout that could not be carried over to the new one."""

    what: Literal["blocked_seat_ids", "disabled_zones", "zone_overrides", "pricing_zones", "seating_overrides"]
    name: str
    why: str


class MigrationView(View):
    """A report and the state of its move."""

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
    made_at: IsoTime
    done_at: IsoTime | None


class WholeMigrationView(MigrationView):
    """A report with a page of the moves, everybody without a seat, and the zones without seats."""

    moves: list[GuestMove]
    next: str | None
    unplaced: list[GuestWithoutSeat]
    zones: list[ZoneRoom]
    came_along: dict[str, int] | None
    left_behind: list[LeftBehind]


def of_report(row: ReseatingRecord) -> dict[str, Any]:
    """The fields of a view that only the stored report has."""
    return {name: row.report[name] for name in ("from_version", "to_version", "counts")}


def carried_over(row: ReseatingRecord) -> dict[str, Any]:
    """What was carried over, and what was not, by the names of the request's fields."""
    counts, lost = row.report.get("came_along"), row.report.get("left_behind", ())
    return {
        # None for reports from before overrides were carried over.
        "came_along": None if counts is None else {FIELD_OF_PART[part]: count for part, count in counts.items()},
        "left_behind": [item | {"what": FIELD_OF_PART[item["what"]]} for item in lost],
    }


class MigrationsView(BaseModel):
    """A page of reports."""

    items: list[MigrationView]
    next: str | None
