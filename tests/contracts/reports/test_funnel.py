"""From the queue to the door: how many came how far, and what is marked."""

from __future__ import annotations

from sqlalchemy.orm import Session

from sync_server.scans.models import MovementRow
from tests.app_server import AppServer
from tests.builders import MINUTE, a_ticket_type
from tests.contracts.checkout.shop_floor import a_shop
from tests.contracts.queueing.rush import OPENING, TAB, Rush, a_rush


def buy(rush: Rush, *, pays: bool) -> None:
    """One guest joins, holds two places, orders them, and pays."""
    guest = rush.join()
    assert rush.take_pass(guest)[0] == 200
    tab = {"X-Queue-Tab": TAB}
    wish = {"count": 2, "zone_id": rush.sale.zones["Floor"]}
    held = guest.post(f"{rush.sale.path}/holds", wish, **tab)["data"]["holds"]
    path = f"/api/o/{rush.sale.slug}"
    body = {"holds": [{"hold_id": hold["hold_id"]} for hold in held]}
    order = guest.post(f"{path}/events/{rush.sale.id}/orders", body, **tab)
    if pays:
        guest.post(f"{path}/orders/{order['id']}/pay", {"method": "free"}, 200)


def test_each_step_counts_those_who_came_so_far(app_server: AppServer) -> None:
    rush = a_rush(app_server, slots=3)
    zones = {zone["name"]: zone["number"] for zone in rush.sale.api.get(f"{rush.sale.path}/zones")["items"]}
    rush.sale.api.post(f"{rush.sale.path}/ticket-types", a_ticket_type(price_cents=0, zone=zones["Floor"]))
    rush.until(OPENING)
    buy(rush, pays=True)
    buy(rush, pays=False)
    window_shopper = rush.join()
    rush.take_pass(window_shopper)
    assert rush.hold(window_shopper, "A-1")[0] == 201
    waits = rush.join()
    assert rush.place(waits)["position"] == 1 or rush.place(waits)["state"] == "admitted"
    rush.app_server.advance(20 * MINUTE)
    rush.app_server.run_worker()
    seen = rush.sale.api.get(f"{rush.sale.path}/funnel")
    assert seen["joined"] == 4 and seen["admitted"] in {3, 4}
    assert (seen["held"], seen["checked_out"], seen["ordered"], seen["paid"], seen["entered"]) == (3, 2, 4, 2, 0)
    assert [(each["name"], each["ordered"], each["paid"]) for each in seen["types"]] == [("Regular", 4, 2)]


def test_who_entered_is_counted_once_by_type_and_cancelled_events_are_marked(app_server: AppServer) -> None:
    shop = a_shop(app_server)
    order = shop.note(shop.order(shop.guest(), "A-1", "A-2"), "card")
    ids = [int(line["ticket"]["id"], 16) for line in order["lines"]]
    rows = [(1, 1, ids[0]), (2, 2, ids[0]), (3, 1, ids[0]), (4, 1, ids[1])]  # in, out, in again; and one annulled
    with app_server.database.writing() as session:
        for seq, kind, ticket in rows:
            add_movement(session, shop.sale.organisation_id, shop.sale.id, seq=seq, kind=kind, ticket=ticket)
        add_movement(session, shop.sale.organisation_id, shop.sale.id, seq=5, kind=3, ticket=ids[1], annuls=4)
    shop.api.post(f"{shop.sale.path}/cancel", {"reason": "Storm."}, 200)
    (seen,) = shop.api.get("/api/reports/funnel")["items"]
    assert (seen["status"], seen["mark"], seen["paid"], seen["entered"]) == ("cancelled", "cancelled", 2, 1)
    assert {each["name"]: each["entered"] for each in seen["types"]} == {"Stalls": 1, "Floor": 0}
    rivals = app_server.api(app_server.organisation("rivals"))
    assert rivals.get("/api/reports/funnel")["items"] == []
    assert rivals.refused("GET", f"{shop.sale.path}/funnel") == (404, "event_not_found")


def add_movement(
    session: Session,
    organisation_id: str,
    event_id: str,
    *,
    seq: int,
    kind: int,
    ticket: int,
    annuls: int | None = None,
) -> None:
    """A movement as an uploaded journal leaves it."""
    undone = (7, 1, annuls) if annuls is not None else (None, None, None)
    session.add(
        MovementRow(
            organisation_id=organisation_id,
            device=7,
            branch=1,
            seq=seq,
            hash=seq.to_bytes(32, "big"),
            event_id=event_id,
            arrival=seq,
            kind=kind,
            ticket=ticket,
            issue=1,
            code_hash=bytes(16),
            at=seq,
            gate=1,
            zone=1,
            annuls_device=undone[0],
            annuls_branch=undone[1],
            annuls_seq=undone[2],
        )
    )
