"""What a commit leaves to the worker begins at once: each job is woken, and none looks for it.

The clock of the server stands still, so no job becomes due by itself: whatever the worker does, it was woken for.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sync_server.plumbing import waking
from sync_server.plumbing.messaging.shared_bus import SharedBus
from sync_server.seating.imports import importing
from sync_server.tickets.event_changes import cancelled_events
from tests.app_server import AppServer, Concert, a_concert
from tests.at_work import at_work
from tests.builders import DAY, MINUTE
from tests.contracts.archives.evening import an_evening
from tests.contracts.cancellations.test_calling_off import call_off, shown, sold_by_card, sold_for_cash
from tests.contracts.checkout.shop_floor import a_shop
from tests.contracts.checkout.stripe.card_shop import a_card_shop
from tests.contracts.facts.memory import eventually
from tests.contracts.facts.test_wake_ups import processes
from tests.contracts.holds.seated_event import a_seated_event
from tests.contracts.seating.test_imports import House, a_file
from tests.contracts.waiting_list.sold_out import a_sold_out_event
from tests.contracts.webhooks.conftest import INSIDE, Hook, a_webhook, change
from tests.services.mail_server import MailBox
from tests.services.stripe_server import StripeFront
from tests.services.webhook_receiver import Receiver

ADA = {"name": "Ada Lovelace", "email": "ada@lovelace.example", "locale": "en"}


@pytest.fixture
def app_server(
    database_url: str, tmp_path: Path, mail_box: MailBox, stripe_front: StripeFront, monkeypatch: pytest.MonkeyPatch
) -> Iterator[AppServer]:
    """A server with all that its worker talks to. What sends webhooks has a real timer: it must not help either."""
    monkeypatch.setattr(waking, "look_ms", lambda *_: DAY)
    made = AppServer(
        database_url,
        tmp_path,
        mail_url=mail_box.url,
        base_url="https://tickets.example",
        stripe_url=stripe_front.url,
        archives_folder=tmp_path / "archives",
        **INSIDE,
    )
    yield made
    made.close()


@pytest.fixture
def concert(app_server: AppServer) -> Concert:
    return a_concert(app_server.api(app_server.organisation("marquee")))


def test_a_mail(app_server: AppServer, mail_box: MailBox) -> None:
    app_server.user("olga@marquee.example", app_server.organisation("marquee"), "owner")
    olga = app_server.browser("olga@marquee.example")
    with at_work(app_server.parts):
        for name in ("nora", "nils"):
            olga.post("/api/invitations", {"email": f"{name}@box-office.example", "role": "staff"})
            eventually(lambda: mail_box.arrived, f"the mail to {name} is sent")
            assert mail_box.arrived.pop()["To"] == f"{name}@box-office.example"


def test_a_mail_to_all_buyers_of_an_event(app_server: AppServer, mail_box: MailBox) -> None:
    shop = a_shop(app_server)
    shop.note(shop.order(shop.guest(), "A-1", buyer=ADA), "cash")
    with at_work(app_server.parts):
        shop.api.post(f"{shop.sale.path}/postpone", {"reason": "storm"}, 200)
        eventually(lambda: [mail for mail in mail_box.arrived if "postponed" in mail["Subject"].lower()], "they hear")


def test_a_webhook(app_server: AppServer, concert: Concert, receiver: Receiver) -> None:
    app_server.run_worker()
    hook = Hook(concert.api, a_webhook(concert.api, receiver))
    with at_work(app_server.parts):
        change(concert, "one")
        eventually(lambda: [message["state"] for message in hook.messages()] == ["delivered"], "it is posted")
        hook.api.post(f"{hook.path}/test", {}, 201)
        eventually(lambda: [message["state"] for message in hook.messages()] == ["delivered"] * 2, "the test, too")
        hook.api.patch(hook.path, {"active": False})
        change(concert, "two")
        eventually(lambda: len(hook.messages()) == 3, "it waits while the webhook is paused")
        hook.api.patch(hook.path, {"active": True})
        eventually(lambda: [message["state"] for message in hook.messages()] == ["delivered"] * 3, "no longer")


def test_an_offer_to_somebody_who_waits(app_server: AppServer) -> None:
    sold = a_sold_out_event(app_server)
    pair = sold.join(2)
    sold.settle()
    with at_work(app_server.parts):
        assert sold.shown(pair)["state"] == "waiting"
        sold.refund("A-3", "A-4")
        eventually(lambda: sold.shown(pair)["state"] == "offered", "what came back is offered")


def test_an_offer_of_what_is_free_when_somebody_joins(app_server: AppServer) -> None:
    sold = a_sold_out_event(app_server)
    sold.refund("A-3", "A-4")
    sold.settle()
    with at_work(app_server.parts):
        pair = sold.join(2)
        eventually(lambda: sold.shown(pair)["state"] == "offered", "what is free is offered")


def test_money_that_is_paid_back(app_server: AppServer, stripe_front: StripeFront) -> None:
    cards = a_card_shop(app_server, stripe_front)
    order, intent = cards.sold("A-1")
    with at_work(app_server.parts):
        cards.shop.refund(order, method="stripe")
        eventually(lambda: [each["amount"] for each in stripe_front.refunds(intent)] == [5140], "it is paid back")


def test_the_refunds_of_an_event_that_is_called_off(app_server: AppServer, stripe_front: StripeFront) -> None:
    cards = a_card_shop(app_server, stripe_front)
    _, intent = sold_by_card(cards, "A-1")
    sold_for_cash(cards, "A-8")
    waiting = cards.shop.order(cards.shop.guest(), "B-1")
    with at_work(app_server.parts):
        call_off(cards, "refund", reason="storm")
        eventually(lambda: shown(cards)["state"] == "done", "all orders are dealt with")
        eventually(lambda: cards.stripe.refunds(intent), "the card is paid back")
        eventually(lambda: cards.shop.shown(waiting)["state"] == "cancelled", "who had not paid yet is told")


def test_tickets_that_end_with_their_event(
    app_server: AppServer, concert: Concert, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cancelled_events, "PIECE", 2)
    free = concert.api.post(f"{concert.path}/ticket-types", {"name": "Guests", "price_cents": 0, "quantity": 9})
    concert.issue(count=5, ticket_type=free["number"])
    with at_work(app_server.parts):
        concert.api.post(f"{concert.path}/cancel", {"reason": "storm"}, 200)
        cancelled = f"{concert.path}/tickets?state=cancelled"
        eventually(lambda: len(concert.api.get(cancelled)["items"]) == 5, "the last ones end, too")


def test_a_pdf_of_all_tickets(app_server: AppServer, concert: Concert) -> None:
    concert.issue(count=2)
    with at_work(app_server.parts):
        batch = concert.api.post(f"{concert.path}/ticket-batches", {}, 202)
        eventually(lambda: concert.api.get(f"/api/ticket-batches/{batch['id']}")["state"] == "done", "it is written")


def test_an_import(app_server: AppServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "ROWS", 1_000)
    house = House(a_seated_event(app_server))
    with at_work(app_server.parts):
        where = house.begin(a_file())
        eventually(lambda: house.api.get(where)["state"] == "done", "it is imported")


def test_an_event_that_is_put_away_and_brought_back(app_server: AppServer) -> None:
    evening = an_evening(app_server)
    path = f"{evening.path}/archive"
    with at_work(app_server.parts):
        evening.ask()
        eventually(lambda: evening.api.get(path)["state"] == "put_away", "it is put away")
    app_server.advance(MINUTE)
    with at_work(app_server.parts):
        evening.api.post(f"{evening.path}/archive/restore", {"reason": "a question"}, 202)
        eventually(lambda: evening.api.get(path)["state"] == "restored", "it is brought back")


def test_doors_that_are_planned_to_open_before_the_worker_would_look(app_server: AppServer, concert: Concert) -> None:
    concert.api.post(f"{concert.path}/publish", {}, 200)
    with at_work(app_server.parts):
        concert.api.patch(concert.path, {"go_live_at": app_server.now + 1_000})
        app_server.advance(1_000)
        eventually(lambda: concert.api.get(concert.path)["status"] == "live", "it goes live")


def test_another_process_wakes_the_worker(postgres_url: str, tmp_path: Path) -> None:
    with processes(postgres_url, tmp_path) as (writer, other):
        assert isinstance(other.parts.bus, SharedBus)
        concert = a_concert(writer.api(writer.organisation("marquee")))
        concert.issue(count=1)
        with at_work(other.parts):
            batch = concert.api.post(f"{concert.path}/ticket-batches", {}, 202)
            path = f"/api/ticket-batches/{batch['id']}"
            eventually(lambda: concert.api.get(path)["state"] == "done", "the other process writes it")


def test_nothing_is_woken_by_what_is_rolled_back(app_server: AppServer) -> None:
    heard: list[str] = []
    waking.on_wake(app_server.parts.backends, ["tests.one", "tests.two"], heard.extend)

    def write(*, fail: bool) -> None:
        with app_server.database.writing() as session:
            waking.wake(session, "tests.one")
            waking.wake(session, "tests.one")
            assert heard == [], "before the commit"
            if fail:
                raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        write(fail=True)
    assert heard == []
    write(fail=False)
    assert heard == ["tests.one"]
