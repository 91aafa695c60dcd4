"""Every reason not to hold, on every path: the same code and the same details, whichever way the request takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
from sqlalchemy import text
from werkzeug.test import TestResponse

from sync_server.holds import rules
from sync_server.holds.attempts.runtime import hold_runtime
from sync_server.plumbing.api.schemas import iso
from sync_server.seating import event_layouts
from sync_server.seating.rules import MOVING_RETRY_S
from tests.app_server import ApiClient, AppServer
from tests.builders import DAY, EVENING, HOUR, MINUTE
from tests.contracts.holds.at_once import until_waiting
from tests.contracts.holds.seated_event import SeatedEvent, a_seated_event
from tests.contracts.holds.sharing import asked_together
from tests.contracts.seating.stage import a_layout, floor, stalls

Details = dict[str, Any]

NO_SEAT_NAMED: Final = "It names no seat: the search offers others, or none."
SEARCH_FIRST: Final = "The search looks before it holds, and offers what is free."


def _one_seat(sale: SeatedEvent, who: ApiClient, **headers: str) -> TestResponse:
    return who.ask("POST", sale.reserve_path("A-1"), {}, **headers)


def _with_the_statement(sale: SeatedEvent, who: ApiClient) -> TestResponse:
    hold_runtime(sale.app_server.parts).hold_cache.local.forget_all()
    return _one_seat(sale, who)


def _group(sale: SeatedEvent, who: ApiClient, body: Details, **headers: str) -> TestResponse:
    return who.ask("POST", f"{sale.path}/holds", body, **headers)


def _several(sale: SeatedEvent, who: ApiClient, **headers: str) -> TestResponse:
    return _group(sale, who, {"seat_ids": [sale.seats[name][0] for name in ("A-1", "A-2")]}, **headers)


def _best(sale: SeatedEvent, who: ApiClient) -> TestResponse:
    return _group(sale, who, {"best": 2, "zone_ids": [sale.zones["Stalls"]]})


def _places(sale: SeatedEvent, who: ApiClient) -> TestResponse:
    return _group(sale, who, {"count": 2, "zone_id": sale.zones["Floor"]})


def _in_company(sale: SeatedEvent, who: ApiClient) -> TestResponse:
    """A request that shares a statement with another guest's, on PostgreSQL; the others give back what they got."""
    cards = isinstance(who, CardHolder)
    asks = [partial(_one_seat, sale, who), partial(_another_seat, sale, "B-5", cards=cards)]
    answer, *_ = asked_together(sale, partial(_another_seat, sale, "B-1", cards=cards), asks)
    return answer


def _another_seat(sale: SeatedEvent, name: str, *, cards: bool) -> TestResponse:
    """The same rules must apply to those who share: who shows a card is counted by it."""
    neighbour = sale.guest()
    shown = {"membership": sale.api.post("/api/memberships", {"tier": "gold"})["card"]} if cards else {}
    neighbour.client.environ_base["REMOTE_ADDR"] = f"203.0.113.{sale.number(name) + 1}"
    answer = neighbour.ask("POST", sale.reserve_path(name), shown)
    if answer.json is not None and answer.status_code == 201:
        neighbour.ask("DELETE", f"/api/holds/{answer.json['data']['hold_id']}")
    return answer


KEY: Final = {"Idempotency-Key": "tonight"}
PATHS: Final[Mapping[str, Callable[[SeatedEvent, ApiClient], TestResponse]]] = {
    "the statement": _with_the_statement,
    "the statement for several": _in_company,
    "one seat, as the cache knows it": _one_seat,
    "one seat with a key": lambda sale, who: _one_seat(sale, who, **KEY),
    "several seats": _several,
    "several seats with a key": lambda sale, who: _several(sale, who, **KEY),
    "the best seats": _best,
    "places": _places,
}
GROUPS: Final = {"several seats", "several seats with a key"}
WITHOUT_SEAT: Final = {"the best seats", "places"}


@dataclass(frozen=True)
class Stage:
    """An event, and the guest who asks."""

    sale: SeatedEvent
    path: str
    guest: ApiClient = field(init=False)

    def __post_init__(self) -> None:
        """The guest comes first; then something happens."""
        object.__setattr__(self, "guest", self.sale.guest())

    @property
    def seats(self) -> list[str]:
        """The seats that this path asks for."""
        return ["A-1", "A-2"] if self.path in GROUPS else ["A-1"]

    @property
    def named(self) -> Details:
        """What a refusal says of seats, where a group must be told which."""
        return {"seat_id": self.sale.seats["A-1"][0], "seats": self.seats} if self.path in GROUPS else {}

    def policy(self, **changed: Any) -> None:
        self.sale.api.patch("/api/organisation/seating-policy", changed)

    def overrides(self, **changed: Any) -> None:
        path = f"{self.sale.path}/layout"
        layout = self.sale.api.get(path)["layout_id"]
        self.sale.api.put(path, {"layout_id": layout, "overrides": changed})

    def places(self, who: ApiClient, count: int) -> str:
        """Hold places; the hold."""
        held = who.post(f"{self.sale.path}/holds", {"count": count, "zone_id": self.sale.zones["Floor"]})
        return str(held["data"]["holds"][0]["hold_id"])

    def sell(self, *names: str) -> None:
        tickets = self.sale.rows("SELECT COUNT(*) FROM event_seats")[0][0]
        self.sale.sell(*names, first=tickets + 1)

    def holds(self) -> list[Any]:
        """What is held; neighbours have given back what they got."""
        query = "SELECT id, status, held_until FROM holds WHERE event_id = :event AND status <> 'cancelled'"
        return self.sale.rows(query, event=self.sale.id)

    def execute(self, statement: str) -> None:
        with self.sale.app_server.database.writing() as session:
            session.execute(text(statement))


@dataclass(frozen=True)
class Row:
    """One reason: what brings it about, and the answer; `never` says on which paths it cannot arise, and why."""

    reason: str
    arrange: Callable[[Stage], Details | None]
    status: int
    code: str = ""
    never: Mapping[str, str] = field(default_factory=dict)
    event: Mapping[str, Any] = field(default_factory=dict)


def _the_policy_changed_unheard(stage: Stage) -> None:
    stage.sale.reserve(stage.sale.guest(), "B-8")  # this loads the sale state
    stage.policy(default_hold_ttl_minutes=12)


def _cancelled(stage: Stage) -> None:
    stage.sale.api.post(f"{stage.sale.path}/cancel", {"reason": "storm"}, 200)


def _unpublished(stage: Stage) -> None:
    stage.sale.api.post(f"{stage.sale.path}/unpublish", {}, 200)


def _not_begun(stage: Stage) -> Details:
    event = stage.sale.api.get(stage.sale.path)
    return {"sale_start_at": "2026-07-04T17:00:00Z", "sale_end_at": event["sale_end_at"]}


def _moving(stage: Stage) -> Details:
    sale = stage.sale
    with sale.app_server.database.writing() as session:
        event_layouts.close_for_move(session, sale.organisation_id, sale.id, sale.app_server.context())
    return {"retry_after": MOVING_RETRY_S}


def _blocked(stage: Stage) -> Details:
    stage.overrides(blocked_seat_ids=["A-1", "A-2"])
    return {"current_status": "blocked"} | stage.named


def _closed(stage: Stage) -> None:
    closed = {"access_mode": "membership_tier", "membership_tier": "gold"}
    stage.overrides(zone_overrides=dict.fromkeys(stage.sale.zones.values(), closed))


def _held_by_me(stage: Stage) -> None:
    for name in stage.seats:
        stage.sale.reserve(stage.guest, name)


def _sold(stage: Stage) -> Details:
    stage.sell("A-1", "A-2")
    return {"current_status": "sold"} | stage.named


def _held(stage: Stage) -> Details:
    other = stage.sale.guest()
    for name in ("A-1", "A-2"):
        stage.sale.reserve(other, name)
    stage.sale.app_server.advance(MINUTE)
    return {"expires_at": iso(stage.sale.app_server.now + 4 * MINUTE), "expires_in": 240} | stage.named


def _held_by_me_for_saturday(stage: Stage) -> Details:
    for name in stage.seats:
        stage.sale.reserve(stage.guest, name, days=["2026-07-04"])
    return {"days": ["2026-07-04"]} | stage.named


def _left(stage: Stage) -> None:
    cookie = stage.guest.client.get_cookie(f"gatehouse_guest_{stage.sale.slug}")
    assert cookie is not None
    assert stage.guest.ask("DELETE", f"/api/o/{stage.sale.slug}/session").status_code == 204
    stage.guest.client.set_cookie(cookie.key, cookie.value)


def _no_counter(stage: Stage) -> None:
    stage.execute("DELETE FROM hold_counters")


def _ten_taken_and_given_back(stage: Stage) -> Details:
    hold = stage.places(stage.guest, 10)
    assert stage.guest.ask("DELETE", f"/api/holds/{hold}").status_code == 204
    stage.sale.app_server.advance(MINUTE)
    return {"retry_after": 240}


def _ten_held_for_long(stage: Stage) -> None:
    stage.policy(default_hold_ttl_minutes=12)
    stage.places(stage.guest, 10)
    stage.sale.app_server.advance(6 * MINUTE)


def _one_allowed(stage: Stage) -> None:
    stage.policy(max_holds_per_user=1)
    stage.sale.reserve(stage.guest, "B-8")


def _one_allowed_from_here(stage: Stage) -> Details:
    stage.policy(max_holds_per_ip=1)
    stage.sale.reserve(stage.sale.guest(), "B-8")
    return {"retry_after": 60, "limit": 1}


class CardHolder(ApiClient):
    """A guest who shows a membership card with every request."""

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> TestResponse:
        return super().ask(method, path, {**(body or {}), "membership": self.headers["card"]}, **headers)


def _one_allowed_with_the_card(stage: Stage) -> Details:
    stage.policy(max_holds_per_membership=1)
    card = stage.sale.api.post("/api/memberships", {"tier": "gold"})["card"]
    stage.sale.reserve(stage.sale.guest(), "B-8", membership=card)
    holder = CardHolder(stage.guest.client, {**stage.guest.headers, "card": card})
    object.__setattr__(stage, "guest", holder)
    return {"limit": 1}


def _somebody_has_the_membership(stage: Stage) -> None:
    """A card opens the zones of its tier, to one guest."""
    closed = {"access_mode": "membership_tier", "membership_tier": "gold"}
    stage.overrides(zone_overrides=dict.fromkeys(stage.sale.zones.values(), closed))
    card = stage.sale.api.post("/api/memberships", {"tier": "gold"})["card"]
    stage.sale.reserve(stage.sale.guest(), "B-8", membership=card)
    holder = CardHolder(stage.guest.client, {**stage.guest.headers, "card": card})
    object.__setattr__(stage, "guest", holder)


def _full(stage: Stage) -> None:
    stage.places(stage.sale.guest(), 3)


def _zone_full(stage: Stage) -> None:
    for _ in range(2):
        stage.places(stage.sale.guest(), 5)


def _single_left(stage: Stage) -> Details:
    stage.sale.reserve(stage.sale.api, "A-4" if stage.path in GROUPS else "A-3", override=True)
    return {"instead": ANY, "instead_seats": ANY}


def _single_left_and_no_other(stage: Stage) -> None:
    stage.sell(*(name for name in stage.sale.seats if name not in {"A-1", "A-2"}))


def _ran_out(stage: Stage) -> None:
    other = stage.sale.guest()
    for name in ("A-1", "A-2"):
        stage.sale.reserve(other, name)
    stage.sale.app_server.advance(5 * MINUTE)


ANY: Final = object()
_NO_SEATS: Final = dict.fromkeys(WITHOUT_SEAT, NO_SEAT_NAMED)
_ONE_DAY_ONLY: Final = _NO_SEATS | {"the statement for several": "Who wants several days never shares one."}
_ONLY_HERE: Final = "Only the statement finds it out; the others check before, or hold a lock by then."
_STATEMENT_ONLY: Final = dict.fromkeys(set(PATHS) - {"the statement", "the statement for several"}, _ONLY_HERE)
_SMALL_FLOOR: Final = a_layout(zones=[stalls(), floor(capacity=10)])
_TWO_DAYS: Final = {"end_at": EVENING + 2 * HOUR + DAY}
_NOT_PLACES: Final = dict.fromkeys(set(PATHS) - {"places"}, "Each numbered seat is its own limit.")

TABLE: Final = (
    Row("reload", _the_policy_changed_unheard, 201),
    Row("event_unavailable", _cancelled, 400, "event_unavailable"),
    Row("event_not_available", _unpublished, 400, "event_not_available"),
    Row("event_sales_closed", _not_begun, 400, "event_sales_closed", event={"sale_start_at": "2026-07-04T17:00:00Z"}),
    Row("guests_being_moved", _moving, 503, "guests_being_moved"),
    Row("blocked", _blocked, 409, "seat_not_available", _NO_SEATS),
    Row("closed_zone", _closed, 403, "sign_in_required"),
    Row("mine_already", _held_by_me, 200, never=_NO_SEATS),
    Row("sold", _sold, 409, "seat_not_available", _NO_SEATS),
    Row("held_by_another", _held, 409, "seat_held_by_another_user", _NO_SEATS),
    Row("partly_mine", _held_by_me_for_saturday, 409, "seat_held_for_other_days", _ONE_DAY_ONLY, _TWO_DAYS),
    Row("session_over", _left, 401, "unauthorized"),
    Row("first_hold", _no_counter, 201),
    Row("rate", _ten_taken_and_given_back, 429, "rate_limited"),
    Row("per_booking", _ten_held_for_long, 400, "too_many_seats"),
    Row("per_user", _one_allowed, 409, "too_many_holds"),
    Row("per_card", _one_allowed_with_the_card, 409, "too_many_holds_with_card"),
    Row("membership_in_use", _somebody_has_the_membership, 409, "membership_in_use"),
    Row("per_address", _one_allowed_from_here, 429, "rate_limited"),
    Row("at_capacity", _full, 409, "block_at_capacity", event={"capacity": 3}),
    Row("at_capacity", _zone_full, 409, "block_at_capacity", _NOT_PLACES, {"layout": _SMALL_FLOOR}),
    Row("choice", _single_left, 409, "leaves_single_seat", dict.fromkeys(WITHOUT_SEAT, SEARCH_FIRST)),
    Row("overdue", _ran_out, 201),
    Row("untidy", _single_left_and_no_other, 201, never=_STATEMENT_ONLY),
)
ELSEWHERE: Final = {"at_the_same_time": "test_another_tab_is_quicker"}


def test_every_reason_has_its_row() -> None:
    """In the order of the rules: a new reason must be added here, for all paths."""
    rows = list(dict.fromkeys(row.reason for row in TABLE))
    assert rows == [reason.name for reason in rules.REASONS if reason.name not in ELSEWHERE]
    assert all(name in globals() for name in ELSEWHERE.values())
    assert all(path in PATHS for row in TABLE for path in row.never)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.reason)
def test_a_reason_is_the_same_on_every_path(app_server: AppServer, row: Row) -> None:
    for stage in stages(app_server, row.never, **row.event):
        details = row.arrange(stage) or {}
        before = stage.holds()
        answer = PATHS[stage.path](stage.sale, stage.guest)
        assert answer.json is not None and answer.status_code == row.status, (stage.path, answer.json)
        if row.code:
            error = answer.json["error"]
            found = error["code"], _without_words(error.get("details", {}), details)
            assert (stage.path, found, stage.holds()) == (stage.path, (row.code, details), before)
        else:
            held = answer.json["data"].get("holds", [answer.json["data"]])
            expires_in = {each["expires_in_seconds"] for each in held}
            assert (stage.path, expires_in) == (stage.path, {720 if row.reason == "reload" else 300})


def stages(app_server: AppServer, never: Iterable[str] = (), **event: Any) -> Iterator[Stage]:
    """For each path an event of an organisation of its own."""
    for number, path in enumerate(path for path in PATHS if path not in never):
        yield Stage(a_seated_event(app_server, slug=f"hall{number}", **event), path)


def _without_words(found: Details, expected: Details) -> Details:
    return found | {name: ANY for name, value in expected.items() if value is ANY and name in found}


@pytest.mark.parametrize(
    ("first", "arrange"),
    [("seat_not_available", _sold), ("seat_held_by_another_user", _held), ("too_many_seats", _single_left)],
)
def test_a_guest_at_the_limit_hears_of_the_seat_first_and_of_the_choice_last(
    app_server: AppServer, first: str, arrange: Callable[[Stage], Any]
) -> None:
    for stage in stages(app_server, WITHOUT_SEAT):
        stage.sale.reserve(stage.guest, "B-8")
        arrange(stage)
        stage.policy(max_seats_per_booking=1)
        answer = PATHS[stage.path](stage.sale, stage.guest)
        assert answer.json is not None and (stage.path, answer.json["error"]["code"]) == (stage.path, first)


def test_another_tab_is_quicker(postgres_url: str, tmp_path: Path) -> None:
    """The counter changed between the statement's start and its lock: its counts are old, so it is repeated."""
    app_server = AppServer(postgres_url, tmp_path)
    try:
        sale = a_seated_event(app_server)
        guest = sale.guest()
        with ThreadPoolExecutor(1) as pool, app_server.database.engine.connect() as other_tab:
            other_tab.execute(text("UPDATE hold_counters SET version = version + 1"))
            asking = pool.submit(_with_the_statement, sale, guest)
            until_waiting(app_server, 1)
            other_tab.commit()
            assert asking.result(60).status_code == 201
    finally:
        app_server.close()
