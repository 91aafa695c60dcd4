"""Mails whose files could not be made any more, or which nobody needs: the tickets were given back meanwhile."""

from __future__ import annotations

import pytest

from sync_server.mail import letters
from sync_server.mail.letters import Attachment, Letter
from sync_server.order_mails import messages
from sync_server.order_mails.messages import Message
from tests.builders import EVENING, MINUTE
from tests.contracts.checkout.shop_floor import Shop
from tests.contracts.order_mails.post import delivered, files_of, text_of
from tests.services.mail_server import MailBox

ADA = "ada@lovelace.example"
BUYER = {"name": "Ada Lovelace", "email": ADA, "locale": "en"}


def test_refunded_order_carries_no_pdf_though_its_mail_waited(shop: Shop, mail_box: MailBox) -> None:
    mail_box.refusals[ADA] = "450 4.2.1 busy"
    order = shop.note(shop.order(shop.guest(), "A-1", buyer=BUYER))
    assert delivered(shop.app_server, mail_box) == []
    shop.refund(order)
    mail_box.refusals.clear()
    shop.app_server.advance(MINUTE * 10)
    arrived = delivered(shop.app_server, mail_box)
    assert all(f"{order['number']}.pdf" not in files_of(mail) for mail in arrived)
    assert {mail["Subject"] for mail in arrived} == {
        "Your tickets: Night Music",
        f"Refund for your order {order['number']}",
    }
    (late,) = (mail for mail in arrived if mail["Subject"] == "Your tickets: Night Music")
    for kind in ("plain", "html"):
        assert "attached" not in text_of(late, kind) and "opens your tickets as they are now" in text_of(late, kind)


def test_guest_who_was_moved_and_gave_the_seat_back_is_not_told_of_a_new_ticket(shop: Shop, mail_box: MailBox) -> None:
    order = shop.note(shop.order(shop.guest(), "A-1", buyer=BUYER))
    delivered(shop.app_server, mail_box)
    (line,) = order["lines"]
    shop.api.post(f"{shop.sale.path}/layout/moved-guests", {"ticket": line["ticket"]["id"], "seat_id": "B-2"})
    shop.refund(order)
    arrived = [mail["Subject"] for mail in delivered(shop.app_server, mail_box)]
    assert arrived == [f"Refund for your order {order['number']}"]


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_mail_whose_files_could_not_be_made_does_not_speak_of_them(language: str) -> None:
    names = "event day time place address number total name admissions from_seat to_seat link organiser"
    values = dict.fromkeys(names.split(), "x")
    for message in (Message.TICKETS, Message.OTHER_SEAT):
        written = messages.write(message, language, values)
        letter = Letter(messages.TEMPLATE, ADA, written.values(), language, (Attachment("order_tickets", "1"),))
        told = letters.message(letter, sender="desk@marquee.example", id="1@marquee.example", now=EVENING)
        said = text_of(told)
        instead = [" ".join(paragraph.split()) for paragraph in written.paragraphs_without]
        assert instead and all(paragraph in said for paragraph in instead)
        assert not any(word in said for word in ("PDF", "attached", "Anhang", "joint", "aangeheg", "adjunt")), said
