"""Mails to those who wait for places: offers, and that they wait already."""

from __future__ import annotations

from sync_server.order_mails.messages import Message
from sync_server.order_mails.offers import ToWaiting, post_to_waiting
from sync_server.plumbing.event_key import EventKey
from tests.app_server import AppServer
from tests.builders import DAY
from tests.contracts.checkout.shop_floor import Shop
from tests.contracts.order_mails.post import delivered, link_in, text_of
from tests.contracts.order_mails.test_mails import ADA, paid
from tests.contracts.waiting_list.sold_out import a_sold_out_event
from tests.services.mail_server import MailBox


def test_offer_is_declined_for_good_with_one_click(shop: Shop, mail_box: MailBox) -> None:
    app_server = shop.app_server
    key = EventKey(shop.sale.organisation_id, shop.sale.id)
    until = app_server.now + DAY
    link = "https://tickets.example/o/marquee/offer#x"
    offer = ToWaiting(Message.WAITING_OFFER, key, ADA, "de", 2, {"until": until}, until, link)

    def posted() -> bool:
        with app_server.database.writing() as session:
            return post_to_waiting(app_server.parts, session, offer, app_server.context())

    assert posted()
    (mail,) = delivered(app_server, mail_box)
    assert mail["Subject"] == "Es gibt Plätze: Night Music" and "Plätze für Sie: 2" in text_of(mail)
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    link = mail["List-Unsubscribe"].strip("<>")
    assert ADA not in link and link in text_of(mail)
    browser = app_server.app.test_client()
    path = link.removeprefix("https://tickets.example")
    assert "Keine Angebote mehr?" in browser.get(path, headers={"Accept-Language": "de"}).text
    assert posted(), "looking at the link answers nothing"
    delivered(app_server, mail_box)
    clicked = browser.post(path, data={"List-Unsubscribe": "One-Click"}, headers={"Accept-Language": "de"})
    assert clicked.status_code == 200 and "Erledigt" in clicked.text
    assert browser.post(path).status_code == 200
    assert not posted() and delivered(app_server, mail_box) == []
    paid(shop, "A-1")
    assert len(delivered(app_server, mail_box)) == 1, "tickets still come"
    assert browser.post(path[:-3] + "AAA").status_code == 404


def test_party_that_waits_is_told_of_its_places_and_until_when(app_server: AppServer, mail_box: MailBox) -> None:
    sold = a_sold_out_event(app_server)
    pair = sold.join(2)
    delivered(app_server, mail_box)
    sold.refund("B-1", "B-2")
    sold.settle()
    (mail,) = [each for each in delivered(app_server, mail_box) if "List-Unsubscribe" in each]
    assert "There are places" in mail["Subject"] and "places for you now: 2" in text_of(mail)
    assert link_in(mail).endswith(f"/o/marquee/waiting#{pair['id']}.{pair['secret']}")


def test_an_address_that_is_entered_again_is_told_what_stands_and_nobody_else_is(
    app_server: AppServer, mail_box: MailBox
) -> None:
    sold = a_sold_out_event(app_server)
    first = sold.join(2, email=ADA)
    assert delivered(app_server, mail_box) == [], "a first place needs no mail"
    stranger = sold.sale.guest()
    second = sold.join(4, email=ADA.upper(), guest=stranger)
    (mail,) = delivered(app_server, mail_box)
    assert mail["To"] == ADA and mail["Subject"].startswith("You are on the waiting list already")
    assert "this many people: 2" in text_of(mail) and "List-Unsubscribe" in mail
    assert link_in(mail).endswith(f"/o/marquee/waiting#{first['id']}.{first['secret']}")
    assert second["secret"] not in text_of(mail)
    sold.join(4, email=ADA, guest=stranger)
    assert delivered(app_server, mail_box) == [], "the same session has the same place"
    for _ in range(5):
        sold.join(1, email=ADA)
    assert len(delivered(app_server, mail_box)) == 2, "nobody is flooded with them"
