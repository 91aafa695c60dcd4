"""Schemas of requests and responses about queues."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, Field

from shared.clock import Millis
from sync_server.plumbing.api.edits import EditedView
from sync_server.plumbing.api.schemas import Hex, IsoTime, RequestBody, View
from sync_server.queueing import rules
from sync_server.queueing.figures import Figures
from sync_server.queueing.models import EntryState, EventQueueRow, QueueEntryRow


class SetQueue(RequestBody):
    """The queue of an event.

    As many are let in as the checkout of the event has free slots (`PUT …/checkout`), each for `pass_minutes`; at most
    `per_minute` in a minute (0: any number). The waiting room opens `room_minutes` before the sale; at its opening the
    order is drawn. Where `beacon_source` names a public random round that is not known yet, the draw waits for it.
    """

    per_minute: Annotated[int, Field(ge=0, le=100_000)] = 0
    pass_minutes: Annotated[int, Field(ge=1, le=60)] = 10
    room_minutes: Annotated[int, Field(ge=0, le=1440)] = 30
    beacon_source: Annotated[str, Field(max_length=200)] = ""


class BeaconValue(RequestBody):
    """The value of the public random round, as its publisher writes it."""

    value: Annotated[str, Field(min_length=8, max_length=200)]


class TakePass(RequestBody):
    """A secret that the tab makes for itself; it sends the same with each hold, as `X-Queue-Tab`."""

    tab: Annotated[str, Field(pattern="^[0-9a-f]{32,128}$")]


class QueueView(EditedView):
    """A queue, as organisers see it."""

    unedited: ClassVar[frozenset[str]] = frozenset(
        {"opens_at", "draw_at", "closed_at", "drawn_at", "paused_at", "figures"}
    )

    event_id: str
    per_minute: int
    pass_minutes: int
    room_minutes: int
    beacon_source: str
    beacon_value: str | None
    commitment: Hex
    opens_at: IsoTime
    draw_at: IsoTime
    closed_at: IsoTime | None
    drawn_at: IsoTime | None
    paused_at: IsoTime | None
    figures: dict[str, int]


def queue_view(row: EventQueueRow, opening: rules.Opening, by_state: dict[str, int]) -> QueueView:
    """A queue and its figures."""
    figures = {state.value: by_state.get(state.value, 0) for state in EntryState}
    return QueueView.of(row, opens_at=opening.room_at, draw_at=opening.draw_at, figures=figures)


class PlaceView(View):
    """Somebody's place in a queue. `receipt` is the entry of the draw; while it is `paused`, nobody is admitted."""

    state: Literal["waiting", "admitted", "spent", "expired", "left"]
    receipt: str
    number: int | None
    position: int | None
    waiting: int
    estimated_wait_seconds: int | None
    wait_at_least_seconds: int | None
    wait_at_most_seconds: int | None
    paused: bool
    draw_at: IsoTime
    drawn_at: IsoTime | None
    commitment: Hex
    expires_at: IsoTime
    cooldown_until: IsoTime | None
    ask_again_seconds: int


def place_view(entry: QueueEntryRow, figures: Figures, now: Millis) -> PlaceView:
    """A place, as its holder sees it now."""
    state = entry.state
    if state in {EntryState.WAITING.value, EntryState.ADMITTED.value} and now >= entry.expires_at:
        state = EntryState.EXPIRED.value
    position = None
    if state == EntryState.WAITING.value and entry.seq is not None:
        position = rules.position(figures.waiting, entry.seq)
    known = None if figures.paused else position  # while nobody is admitted nobody knows
    bounds = None if known is None else rules.wait_between_s(known, figures.admitted_lately)
    least, most = bounds or (None, None)
    return PlaceView.of(
        entry,
        state=state,
        receipt=entry.id,
        number=entry.seq,
        position=position,
        waiting=len(figures.waiting),
        estimated_wait_seconds=None if known is None else rules.estimated_wait_s(known, figures.admitted_lately),
        wait_at_least_seconds=least,
        wait_at_most_seconds=most,
        paused=figures.paused,
        draw_at=figures.opening.draw_at,
        drawn_at=figures.drawn_at,
        commitment=figures.commitment,
        ask_again_seconds=rules.ASK_AGAIN_S,
    )


class BeaconView(BaseModel):
    """The public random round that a draw depends on."""

    source: str
    value: str | None


class DrawView(View):
    """A draw, as far as it may be known: the seed is published with the order."""

    commitment: Hex
    entries: int
    root: Hex | None
    beacon: BeaconView | None
    seed: Hex | None
    closed_at: IsoTime | None
    drawn_at: IsoTime | None


def draw_view(row: EventQueueRow, seed: bytes | None) -> DrawView:
    """What is published of a draw; `seed` once the order is drawn."""
    beacon = BeaconView(source=row.beacon_source, value=row.beacon_value) if row.beacon_source else None
    return DrawView.of(row, entries=row.drawn, beacon=beacon, seed=seed)


def draw_head(row: EventQueueRow, seed: bytes) -> dict[str, Any]:
    """The first line of the file that `scripts/verify_draw.py` reads."""
    shown = draw_view(row, seed).model_dump(mode="json")
    return {"event": row.event_id, **shown}


class ProofStepView(BaseModel):
    """One step from an entry to the root: the hash beside it."""

    side: Literal["left", "right"]
    hash: str


class ReceiptView(BaseModel):
    """The proof that an entry takes part in the draw."""

    entry: str
    root: str
    proof: list[ProofStepView]
