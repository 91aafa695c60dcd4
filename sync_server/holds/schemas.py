"""Request bodies and responses of the hold endpoints."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from shared.clock import Millis
from sync_server.holds.attempts.hold_request import HoldResult
from sync_server.holds.rules import seconds_left
from sync_server.plumbing.api.schemas import Id, Query, RequestBody, iso
from sync_server.seating.schemas import SeatId


class ReserveBody(RequestBody):
    """Hold one seat, as the principal and for the organisation of the session."""

    source: Literal["web", "scanner"] = "web"
    override: bool = False  # for whoever may issue tickets
    invitation: Annotated[str, Field(max_length=100)] | None = None
    membership: Annotated[str, Field(max_length=60)] | None = (
        None  # the code of a card; from the box office also its id
    )
    notes: Annotated[str, Field(max_length=200)] | None = None


class HoldBody(ReserveBody):
    """Hold for a group: `seat_ids`, or the `best` n seats, or `count` places of the zone `zone_id`."""

    seat_ids: Annotated[list[SeatId], Field(min_length=1, max_length=200)] | None = None  # or names of the layout: A-12
    best: Annotated[int, Field(ge=1, le=200)] | None = None
    zone_ids: Annotated[list[Id], Field(max_length=100)] | None = None  # for `best`
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
        return self


class MineQuery(Query):
    """Which holds to list."""

    event: Id | None = None


def hold_view(held: HoldResult, now: Millis) -> dict[str, Any]:
    """A hold as the API shows it, with the seconds left for a countdown."""
    left = seconds_left(held.until, now)
    view: dict[str, Any] = {"hold_id": held.id, "event_id": held.event_id}
    if held.seat is not None:
        view |= {
            "seat_id": held.seat.id,
            "block_name": held.zone_name,
            "section": held.seat.section or None,
            "row": held.seat.row,
            "seat_number": held.seat.seat_number,
            "seat_name": held.seat.name,
        }
    else:
        view |= {"zone": held.zone or None, "block_name": held.zone_name or None, "quantity": held.quantity}
    return view | {
        "status": "held",
        "held_until": iso(held.until),
        "held_until_unix": held.until // 1000,
        "expires_in_seconds": left,
        "party_id": held.group_id,
        "message": _message(held, left),
    }


def _message(held: HoldResult, left: int) -> str:
    minutes, seconds = divmod(left, 60)
    time = f"{minutes} minute{'' if minutes == 1 else 's'}" if not seconds else f"{minutes}:{seconds:02} minutes"
    what = "Seat" if held.seat is not None else "Place" if held.quantity == 1 else f"{held.quantity} places"
    return f"{what} reserved for {time}. Proceed to checkout."
