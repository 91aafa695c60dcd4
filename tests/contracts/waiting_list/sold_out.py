"""A sold-out event whose tickets come back, its waiting parties, and an oracle that knows when a seat idles."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from sync_server.holds.attempts.runtime import hold_runtime
from sync_server.outbox.fact_worker import FactWorker
from sync_server.plumbing.event_key import EventKey
from sync_server.seating.event_seatings import event_seatings_of
from sync_server.tickets import service as tickets
from sync_server.waiting_list import queries, service
from sync_server.waiting_list.offering import Offering
from sync_server.waiting_list.rules import Waiting, Wish
from sync_server.waiting_list.service import Joining
from tests.app_server import ApiClient, AppServer
from tests.builders import DAY, EVENING, HOUR, MINUTE, a_ticket_type
from tests.contracts.holds.seated_event import SeatedEvent, a_seated_event
from tests.contracts.seating.stage import a_layout, floor, stalls

ROWS, SEATS, PLACES = "ABCDEFGH", 10, 30
GUEST = "019f0000-0000-7000-8000-000000000001"


@dataclass
class SoldOut:
    """An event with 80 seats in eight rows and 30 places, every one of them sold."""

    sale: SeatedEvent
    ticket_of: dict[int, str] = field(default_factory=dict)  # by the number of a seat
    on_the_floor: list[str] = field(default_factory=list)

    @property
    def app_server(self) -> AppServer:
        return self.sale.app_server

    @property
    def key(self) -> EventKey:
        return EventKey(self.sale.organisation_id, self.sale.id)

    def sell_all(self) -> None:
        """Sell whatever is free."""
        found = self.free_seats()
        free = [name for name, (_, number) in self.sale.seats.items() if number in found]
        for start in range(0, len(free), 50):
            seats = [{"seat_id": name} for name in free[start : start + 50]]
            made = self.sale.api.post(f"{self.sale.path}/tickets", {"ticket_type": 1, "seats": seats})["items"]
            for seat, ticket in zip(seats, made, strict=True):
                self.ticket_of[self.sale.number(seat["seat_id"])] = ticket["id"]
        left = self.free_places()
        if left:
            made = self.sale.api.post(f"{self.sale.path}/tickets", {"ticket_type": 2, "count": left})["items"]
            self.on_the_floor += [ticket["id"] for ticket in made]

    def refund(self, *names: str, places: int = 0) -> None:
        """The tickets of these seats, and of some places, come back."""
        ids = [self.ticket_of.pop(self.sale.number(name)) for name in names]
        ids += [self.on_the_floor.pop() for _ in range(places)]
        with self.app_server.database.writing() as session:
            for id in ids:
                where = session, self.sale.organisation_id, int(id, 16)
                tickets.cancel(*where, self.app_server.context(), reason="refunded")

    def join(self, size: int, *, status: int = 201, guest: ApiClient | None = None, **wish: Any) -> Any:
        """A party joins; with its guest session under `guest`."""
        who = guest or self.sale.guest()
        email = wish.pop("email", f"party{self.app_server.entropy(6).hex()}@waiting.example")
        path = f"/api/o/{self.sale.slug}/events/{self.sale.id}/waiting"
        made = who.post(path, {"size": size, "email": email, **wish}, status)
        return made | {"guest": who} if status == 201 else made

    def path(self, party: dict[str, Any]) -> str:
        return f"/api/o/{self.sale.slug}/waiting/{party['id']}"

    def shown(self, party: dict[str, Any]) -> Any:
        return party["guest"].get(self.path(party))

    def take(self, party: dict[str, Any], status: int = 200) -> Any:
        return party["guest"].post(f"{self.path(party)}/take", None, status)

    def settle(self, app_server: AppServer | None = None) -> None:
        """Deliver what happened, and make offers, until nothing is left to do."""
        node = app_server or self.app_server
        facts, offering = FactWorker(node.parts), offering_of(node)
        for _ in range(50):
            facts.run_once()
            offering.run(node.database, node.context())
            if not facts.run_once() and not self._due():
                return
        raise AssertionError("it does not come to rest")

    def _due(self) -> bool:
        due = self.sale.rows("SELECT 1 FROM waiting_lists WHERE due_at <= :now", now=self.app_server.now)
        return bool(due)

    # the oracle, which shares no code with the search

    def free_seats(self) -> set[int]:
        """Seats that are neither held nor sold."""
        taken = self.sale.rows(
            "SELECT seat FROM event_seats WHERE event_id = :event AND (state = 2 OR (state = 1 AND held_until > :now))",
            event=self.sale.id,
            now=self.app_server.now,
        )
        return {number for _, number in self.sale.seats.values()} - {seat for (seat,) in taken}

    def free_places(self) -> int:
        counted = self.sale.rows(
            "SELECT COALESCE(SUM(held + sold), 0) FROM event_places WHERE event_id = :event", event=self.sale.id
        )
        return PLACES - int(counted[0][0])

    def runs(self) -> list[list[str]]:
        """Stretches of free neighbours, in each row."""
        free = self.free_seats()
        found: list[list[str]] = []
        for row in ROWS:
            run: list[str] = []
            for place in range(1, SEATS + 1):
                name = f"{row}-{place}"
                if self.sale.number(name) in free:
                    run.append(name)
                elif run:
                    found, run = [*found, run], []
            found += [run] if run else []
        return found

    def idle(self) -> list[Waiting]:
        """Parties that wait although all of what they want is free."""
        runs, places = self.runs(), self.free_places()
        longest, all_free = max(map(len, runs), default=0), sum(map(len, runs))
        with self.app_server.database.reading() as session:
            waiting = queries.in_turn(session, self.key)
        return [party for party in waiting if self._fits(party, longest, all_free, places)]

    def _fits(self, party: Waiting, longest: int, all_free: int, places: int) -> bool:
        wish, zones = party.wish, self.sale.zones
        seated = not wish.zone_ids or zones["Stalls"] in wish.zone_ids
        standing = not wish.zone_ids or zones["Floor"] in wish.zone_ids
        seated &= not wish.ticket_types or 1 in wish.ticket_types
        standing &= not wish.ticket_types or 2 in wish.ticket_types
        enough = longest if wish.together else all_free
        return (seated and enough >= wish.size) or (standing and places >= wish.size)

    def split(self) -> list[str]:
        """Parties whose open offer is not for all of them, or not in one row where they want to sit together."""
        names = {number: name for name, (_, number) in self.sale.seats.items()}
        held: dict[str, list[int | None]] = defaultdict(list)
        places: Counter[str] = Counter()
        for party, seat, quantity in self.sale.rows(
            "SELECT bearer_id, seat, quantity FROM holds WHERE event_id = :event AND status = 'active' "
            "AND bearer_kind = 'waiting'",
            event=self.sale.id,
        ):
            places[party] += quantity
            held[party].append(seat)
        wrong = []
        offered = self.sale.rows(
            "SELECT p.id, p.size, p.together FROM waiting_parties p WHERE p.event_id = :event AND p.state = 'offered'",
            event=self.sale.id,
        )
        for party, size, together in offered:
            seats = [names[seat] for seat in held[party] if seat is not None]
            in_rows = {name.split("-")[0] for name in seats}
            numbers = sorted(int(name.split("-")[1]) for name in seats)
            neighbours = len(in_rows) <= 1 and (not numbers or numbers[-1] - numbers[0] == len(numbers) - 1)
            if places[party] != size or (seats and len(seats) != size) or (together and not neighbours):
                wrong.append(party)
        return wrong + sorted(held.keys() - {party for party, _, _ in offered})


def offering_of(app_server: AppServer) -> Offering:
    """What makes offers, as the worker of this server does."""
    parts = app_server.parts
    return Offering(app_server.database, hold_runtime(parts), event_seatings_of(parts))


def a_sold_out_event(app_server: AppServer, *, opened: bool = True, offer_minutes: int = 60, **event: Any) -> SoldOut:
    """Sold out, and with a waiting list."""
    layout = a_layout(zones=[stalls(ROWS, SEATS), floor(capacity=PLACES)])
    times = {"start_at": EVENING + 300 * DAY, "end_at": EVENING + 300 * DAY + 6 * HOUR}
    sale = a_seated_event(app_server, layout=layout, **times | event)
    zones = {zone["name"]: zone["number"] for zone in sale.api.get(f"{sale.path}/zones")["items"]}
    for name, quantity in (("Stalls", len(ROWS) * SEATS), ("Floor", PLACES)):
        sale.api.post(f"{sale.path}/ticket-types", a_ticket_type(name=name, zone=zones[name], quantity=quantity))
    sold = SoldOut(sale)
    sold.sell_all()
    if opened:
        sale.api.put(f"{sale.path}/waiting-list", {"open": True, "offer_minutes": offer_minutes})
    return sold


def simulate(sold: SoldOut, refunds: int, seed: int = 7) -> Counter[str]:
    """So many tickets come back, in all kinds of ways, while parties join, take, lapse and leave.

    After each change everything comes to rest, and then no party may be split and none wait for what is free.
    """
    picks, figures = random.Random(seed), Counter[str]()
    waiting: list[str] = []
    while figures["refunds"] < refunds:
        while len(waiting) < 30:
            waiting.append(_somebody(sold, picks))
            figures["joined"] += 1
        for _ in range(picks.randint(1, 8)):
            _something_comes_back(sold, picks, figures)
        sold.settle()
        assert sold.split() == [], figures
        assert sold.idle() == [], figures
        waiting = _answers(sold, waiting, picks, figures)
        sold.settle()
        assert sold.split() == [] and sold.idle() == [], figures
        if picks.random() < 0.4:
            sold.sell_all()
    return figures


def _somebody(sold: SoldOut, picks: random.Random) -> str:
    zones, entropy = sold.sale.zones, sold.app_server.entropy
    size, together = picks.choice((1, 1, 2, 2, 2, 3, 4, 5, 6)), picks.random() < 0.8
    zone_ids = (zones[picks.choice(("Stalls", "Floor"))],) if picks.random() < 0.4 else ()
    types = (picks.choice((1, 2)),) if not zone_ids and picks.random() < 0.3 else ()
    joining = Joining(GUEST, f"{entropy(6).hex()}@waiting.example", "en", Wish(size, together, zone_ids, types))
    with sold.app_server.database.writing() as session:
        return service.join(session, sold.key, joining, sold.app_server.context()).id


def _something_comes_back(sold: SoldOut, picks: random.Random, figures: Counter[str]) -> None:
    """An order is refunded: some neighbours, or some places."""
    count = 0
    if picks.random() < 0.25 and sold.on_the_floor:
        count = min(len(sold.on_the_floor), picks.randint(1, 4))
        sold.refund(places=count)
    elif sold.ticket_of:
        names = {number: name for name, (_, number) in sold.sale.seats.items()}
        first = picks.choice(sorted(sold.ticket_of))
        row, place = names[first].split("-")
        group = [f"{row}-{int(place) + step}" for step in range(picks.randint(1, 4))]
        chosen = [name for name in group if name in sold.sale.seats and sold.sale.number(name) in sold.ticket_of]
        count = len(chosen)
        sold.refund(*chosen)
    figures["refunds"] += count


def _answers(sold: SoldOut, waiting: list[str], picks: random.Random, figures: Counter[str]) -> list[str]:
    """Whoever has an offer takes it and buys, leaves, or does not answer."""
    found = sold.sale.rows("SELECT id, state, size FROM waiting_parties WHERE event_id = :event", event=sold.sale.id)
    parties, still = {id: (state, size) for id, state, size in found}, []
    for party in waiting:
        (state, size), answer = parties[party], picks.random()
        figures["offered"] += state == "offered"
        if (state == "waiting" and answer >= 0.995) or (state == "offered" and answer < 0.2):
            with sold.app_server.database.writing() as session:
                service.leave(session, sold.sale.organisation_id, party, sold.app_server.context())
            figures["left"] += 1
        elif state == "offered" and answer < 0.75:
            _buys(sold, party, size)
            figures["bought"] += 1
        elif state in {"waiting", "offered"}:
            still.append(party)
        else:
            figures[state] += 1
    if picks.random() < 0.15:
        sold.app_server.advance(61 * MINUTE)
    return still


def _buys(sold: SoldOut, party: str, size: int) -> None:
    """Takes the offer, and has the tickets."""
    names = {number: name for name, (_, number) in sold.sale.seats.items()}
    with sold.app_server.database.writing() as session:
        held = service.take(session, sold.sale.organisation_id, party, GUEST, sold.app_server.context())
        ids, wanted = [hold.id for hold in held], [names[hold.seat] for hold in held if hold.seat is not None]
    body: dict[str, Any] = {"ticket_type": 1 if wanted else 2, "holds": ids}
    body |= {"seats": [{"seat_id": name} for name in wanted]} if wanted else {"count": size}
    made = sold.sale.api.post(f"{sold.sale.path}/tickets", body)["items"]
    if not wanted:
        sold.on_the_floor += [ticket["id"] for ticket in made]
    for name, ticket in zip(wanted, made if wanted else [], strict=True):
        sold.ticket_of[sold.sale.number(name)] = ticket["id"]
