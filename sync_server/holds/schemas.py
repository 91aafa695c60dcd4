"""Request bodies and responses of the hold endpoints."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, model_validator

from shared.clock import Millis
from sync_server.holds.attempts.hold_request import HoldResult
from sync_server.holds.groups.companions import NONE as NO_COMPANIONS
from sync_server.holds.groups.companions import Companions
from sync_server.holds.groups.group_holds import Preview
from sync_server.holds.rules import seconds_left
from sync_server.plumbing.api.one_line import SEVERAL_LINES
from sync_server.plumbing.api.schemas import Dates, Id, Query, RequestBody, iso
from sync_server.seating.layouts.plan import Category
from sync_server.seating.plans.layout_seats import Seat
from sync_server.seating.schemas import SeatId, Short


class ReserveBody(RequestBody):
    """Hold one seat, as the principal and for the organisation of the session."""

    source: Literal["web", "scanner"] = "web"
    override: bool = False  # for whoever may issue tickets
    invitation: Annotated[str, Field(max_length=100)] | None = None
    membership: Annotated[str, Field(max_length=60)] | None = (
        None  # the code of a card; from the box office also its id
    )
    notes: Annotated[str, Field(max_length=200), SEVERAL_LINES] | None = None
    days: Dates | None = None  # of the event, by their dates: 2026-07-04; none: every day


class HoldBody(ReserveBody):
    """Hold for a group: `seat_ids`, or the `best` n seats, or `count` places of the zone `zone_id`."""

    seat_ids: Annotated[list[SeatId], Field(min_length=1, max_length=200)] | None = None  # or names of the layout: A-12
    best: Annotated[int, Field(ge=1, le=200)] | None = None
    zone_ids: Annotated[list[Id], Field(max_length=100)] | None = None  # for `best`
    price_category: Short | None = None  # of `best`
    passed_over_seat_ids: Annotated[list[SeatId], Field(max_length=400)] = Field(default_factory=list)  # of `best`
    wheelchairs: Annotated[int, Field(ge=0, le=20)] = 0  # of `best`
    apart: bool = False
    count: Annotated[int, Field(ge=1, le=200)] | None = None
    zone_id: Id | None = None  # for `count`

    @model_validator(mode="after")
    def _one_of_three(self) -> Self:
        given = [name for name in ("seat_ids", "best", "count") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError("give one of seat_ids, best and count")
        if self.wheelchairs > (self.best or 0):
            raise ValueError("best counts the whole group: it cannot be less than wheelchairs")
        if self.price_category is not None and (self.best is None or self.wheelchairs):
            raise ValueError("price_category is a wish for best, without wheelchairs")
        if self.passed_over_seat_ids and self.best is None:
            raise ValueError("passed_over_seat_ids is a wish for best")
        return self


class MineQuery(Query):
    """Which holds to list."""

    event: Id | None = None


class PreviewBody(HoldBody):
    """Which of the `best` seats a group would get; nothing is held."""

    @model_validator(mode="after")
    def _of_the_best(self) -> Self:
        if self.best is None:
            raise ValueError("a preview is of the best seats: give best")
        return self


class SeatView(BaseModel):
    """A seat as whoever holds it sees it."""

    seat_id: str
    section: str | None
    row: str
    seat_number: str
    seat_name: str
    category: str
    price_category: str | None


class PreviewSeatView(SeatView):
    """A seat that a group would get, and its block."""

    block_name: str


class PreviewView(BaseModel):
    """The seats that a group would get, how good they are, and those kept for companions."""

    grade: str
    message: str
    seats: list[PreviewSeatView]
    companion_seats: list[PreviewSeatView]


class HoldView(BaseModel):
    """A hold: of a seat (`seat_id`), or of places (`quantity`) of a `zone`, by its number in the layout.

    `companion_seats` are kept for the companions of a wheelchair user; `days` are named at an event of several days.
    """

    hold_id: str
    event_id: str
    seat_id: str | None = None
    section: str | None = None
    row: str | None = None
    seat_number: str | None = None
    seat_name: str | None = None
    category: str | None = None
    block_name: str | None
    price_category: str | None = None
    companion_seats: list[SeatView] | None = None
    zone: int | None = None
    quantity: int | None = None
    days: list[str] | None = None
    status: Literal["held", "suspended"]
    held_until: str | None
    held_until_unix: int | None
    expires_in_seconds: int
    party_id: str | None
    message: str


class GroupView(BaseModel):
    """The holds of a group, which belong together."""

    party_id: str | None
    holds: list[HoldView]


class HoldsView(BaseModel):
    """Holds of one bearer."""

    holds: list[HoldView]


class HoldAnswer(BaseModel):
    """A hold."""

    data: HoldView


class GroupAnswer(BaseModel):
    """The holds of a group."""

    data: GroupView


class PreviewAnswer(BaseModel):
    """A preview."""

    data: PreviewView


class HoldsAnswer(BaseModel):
    """A list of holds."""

    data: HoldsView


def preview_view(found: Preview) -> dict[str, Any]:
    """The seats that a group would get, as the API shows them."""
    plan, party = found.sale_state.plan, {seat.number for seat in found.seats}

    def view(seat: Seat) -> dict[str, Any]:
        price = plan.price_category(seat, party) or None
        return _seat_view(seat) | {"block_name": plan.zones[seat.zone].name, "price_category": price}

    return {
        "grade": found.offer.grade.value,
        "message": f"{found.offer.description[:1].upper()}{found.offer.description[1:]}. Nothing is held yet.",
        "seats": [view(seat) for seat in found.seats],
        "companion_seats": [view(seat) for seat in found.companions],
    }


def _seat_view(seat: Seat) -> dict[str, Any]:
    return {
        "seat_id": seat.id,
        "section": seat.section or None,
        "row": seat.row,
        "seat_number": seat.seat_number,
        "seat_name": seat.name,
        "category": seat.category.value,
    }


def hold_view(held: HoldResult, now: Millis, companions: Companions = NO_COMPANIONS) -> dict[str, Any]:
    """A hold as the API shows it, with the seconds left for a countdown."""
    left = seconds_left(held.until, now)
    view: dict[str, Any] = {"hold_id": held.id, "event_id": held.event_id}
    if held.seat is not None:
        price = companions.prices.get(held.seat.number, held.seat.price_category) or None
        view |= _seat_view(held.seat) | {"block_name": held.zone_name, "price_category": price}
        if held.seat.category is Category.WHEELCHAIR:
            kept = companions.kept.get(held.seat.number, ())
            view["companion_seats"] = [_seat_view(seat) | {"price_category": price or None} for seat, price in kept]
    else:
        view |= {"zone": held.zone or None, "block_name": held.zone_name or None, "quantity": held.quantity}
    if held.days.names:
        view["days"] = list(held.days.names)
    return view | {
        "status": "held",
        "held_until": iso(held.until),
        "held_until_unix": held.until // 1000,
        "expires_in_seconds": left,
        "party_id": held.group_id,
        "message": _message(held, left, companions),
    }


def time_left(seconds: int) -> str:
    """In words: to the second where somebody may have to hurry, in whole hours or days where an order waits."""
    for unit, length in (("day", 86_400), ("hour", 3_600)):
        if seconds >= 2 * length:
            return f"{seconds // length} {unit}s"
    minutes, rest = divmod(seconds, 60)
    return f"{minutes}:{rest:02} minutes" if rest else f"{minutes} minute{'' if minutes == 1 else 's'}"


def _message(held: HoldResult, left: int, companions: Companions) -> str:
    time = time_left(left)
    what = "Seat" if held.seat is not None else "Place" if held.quantity == 1 else f"{held.quantity} places"
    on = f" on {', '.join(held.days.names)}" if held.days.bits else ""
    view = " Its view is restricted." if held.seat and held.seat.category is Category.RESTRICTED_VIEW else ""
    kept = companions.kept.get(held.seat.number, ()) if held.seat else ()
    beside = " and ".join(f"row {seat.row}, seat {seat.seat_number}" for seat, _ in kept)
    view += f" Kept for your companion: {beside}." if beside else ""
    return f"{what} reserved{on} for {time}.{view} Proceed to checkout."
