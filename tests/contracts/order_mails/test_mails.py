"""What buyers are written, in their language: once for each thing that happens, with all they need."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from hardware.vision.stills import decode_image
from sync_server.checkout import queries
from sync_server.order_mails import messages, news, posting
from sync_server.order_mails.messages import Message
from sync_server.plumbing.telemetry import logs
from tests.app_server import AppServer
from tests.builders import DAY, EVENING, HOUR, MINUTE, a_ticket_type, a_venue, an_event
from tests.contracts.checkout.shop_floor import Shop
from tests.contracts.order_mails.post import delivered, files_of, link_in, text_of
from tests.contracts.ticket_files.paper import Printed
from tests.services.mail_server import MailBox

ADA = "ada@lovelace.example"


def buyer(locale: str = "en", email: str = ADA) -> dict[str, str]:
    return {"name": "Ada Lovelace", "email": email, "locale": locale}


def paid(shop: Shop, *seats: str, locale: str = "en", email: str = ADA) -> dict[str, Any]:
    order = shop.order(shop.guest(), *seats, buyer=buyer(locale, email))
    return dict(shop.note(order))


@pytest.mark.parametrize(
    ("locale", "subject", "words"),
    [
        ("en", "Your tickets: Night Music", ("Hello Ada Lovelace,", "2 in the attached PDF", "Monday, 3 August 2026")),
        (
            "de",
            "Ihre Tickets: Night Music",
            ("Guten Tag Ada Lovelace,", "2 im PDF im Anhang", "Montag, 3. August 2026"),
        ),
        ("fr", "Vos billets\xa0: Night Music", ("Bonjour Ada Lovelace,", "2 dans le PDF joint", "lundi 3 août 2026")),
        ("af", "U kaartjies: Night Music", ("Hallo Ada Lovelace,", "2 in die aangehegte PDF", "03 Augustus 2026")),
        (
            "es",
            "Sus entradas: Night Music",
            ("Hola, Ada Lovelace:", "2 en el PDF adjunto", "lunes, 3 de agosto de 2026"),
        ),
    ],
)
def test_tickets_arrive_with_pdf_calendar_and_a_link_that_opens_them(
    shop: Shop, mail_box: MailBox, tmp_path: Path, *, locale: str, subject: str, words: tuple[str, ...]
) -> None:
    order = paid(shop, "A-1", "A-2", locale=locale)
    (mail,) = delivered(shop.app_server, mail_box)
    assert (mail["To"], mail["Subject"]) == (ADA, subject)
    for kind in ("plain", "html"):
        said = text_of(mail, kind)
        assert [word for word in (*words, "Harbour Hall", order["number"]) if word not in said] == [], said
    files = files_of(mail)
    assert set(files) == {f"{order['number']}.pdf", "event.ics"}
    printed = Printed(files[f"{order['number']}.pdf"], tmp_path)
    assert len(printed.codes()) == 3 and b"BEGIN:VCALENDAR" in files["event.ics"]
    base, _, secret = link_in(mail).partition("#")
    assert base == f"https://tickets.example/o/{shop.sale.slug}/orders/{order['id']}"
    opened = shop.app_server.app.test_client().get(f"{shop.path(order)}/tickets", headers={"X-Order-Secret": secret})
    assert opened.status_code == 200 and len(opened.json["tickets"]) == 3
    assert "List-Unsubscribe" not in mail, "about a ticket"
    assert delivered(shop.app_server, mail_box) == [], "once"


def test_invoice_says_what_to_transfer_and_where_to_and_its_end_is_told(shop: Shop, mail_box: MailBox) -> None:
    guest = shop.guest()
    order = shop.order(guest, "A-1", buyer=buyer("de"))
    assert delivered(shop.app_server, mail_box) == [], "it is not decided yet how it is paid"
    shop.pay(guest, order, "invoice")
    (mail,) = delivered(shop.app_server, mail_box)
    said = text_of(mail)
    assert mail["Subject"].startswith(f"Ihre Bestellung {order['number']}: bitte überweisen Sie 51,40")
    assert said.index("Betrag: 51,40 €") < said.index("Zahlbar bis:") < said.index("Kontoinhaber: Marquee e.V.")
    for wanted in ("Marquee e.V.", "IBAN DE75 5121 0800 1245 1261 99", f"Verwendungszweck {order['number']}", "2026"):
        assert wanted in said, said
    shop.app_server.advance(15 * DAY)
    (ended,) = delivered(shop.app_server, mail_box)
    assert ended["Subject"] == f"Ihre Bestellung {order['number']} ist abgelaufen"


def test_invoice_shows_a_code_that_banking_apps_read(shop: Shop, mail_box: MailBox, tmp_path: Path) -> None:
    holder = "Bühne & Töne e.V., Réunion des amis du théâtre «Zum Größten», Köln 1"
    shop.api.patch("/api/organisation/checkout", {"account_holder": holder, "bic": "SOGEDEFF"})
    guest = shop.guest()
    order = shop.order(guest, "A-1", buyer=buyer())
    assert guest.ask("GET", f"{shop.path(order)}/transfer-code").status_code == 404, "it is not decided yet"
    wanted = shop.pay(guest, order, "invoice")["payment"]["qr_text"]
    assert wanted.split("\n")[4:8] == ["SOGEDEFF", holder, "DE75512108001245126199", "EUR51.40"]
    (mail,) = delivered(shop.app_server, mail_box)
    html = mail.get_body(("html",))
    assert html is not None and "cid:transfer-code" in html.get_content()
    (picture,) = [part for part in mail.walk() if part.get_content_type() == "image/png"]
    assert picture["Content-ID"] == "<transfer-code>" and picture.get_filename() == f"{order['number']}.png"
    assert guest.get(f"{shop.path(order)}/transfer-code") == {"text": wanted}
    svg = guest.ask("GET", f"{shop.path(order)}/transfer-code?format=svg").data
    assert b"<svg" in svg and b"<script" not in svg
    for name, content in (
        ("mailed", picture.get_content()),
        ("shown", guest.ask("GET", f"{shop.path(order)}/transfer-code?format=png").data),
    ):
        file = tmp_path / f"{name}.png"
        file.write_bytes(content)
        assert decode_image(file).codes == (wanted,)
    shop.note(order, "invoice")
    assert guest.refused("GET", f"{shop.path(order)}/transfer-code") == (404, "no_transfer")


def test_code_of_a_transfer_is_made_when_the_mail_is_sent(shop: Shop, mail_box: MailBox) -> None:
    made, order = shop.app_server, paid(shop, "A-1")
    delivered(made, mail_box)
    with made.database.writing() as session:
        row = queries.order(session, shop.sale.organisation_id, order["id"])
        assert posting.post(made.parts, session, row, Message.INVOICE, made.context())
    (invoice,) = delivered(made, mail_box)
    assert "please transfer" in invoice["Subject"] and "cid:" not in str(invoice), "it was paid before the mail went"


def test_cancelled_invoice_and_refund_are_told_and_giving_up_is_not(shop: Shop, mail_box: MailBox) -> None:
    guest = shop.guest()
    given_up = shop.order(guest, "A-1", buyer=buyer())
    guest.client.delete(shop.path(given_up), headers=guest.headers)
    lapsed = shop.order(guest, "A-1", buyer=buyer())
    shop.app_server.advance(11 * MINUTE)
    assert delivered(shop.app_server, mail_box) == [], lapsed["number"]
    guest = shop.guest()
    order = shop.order(guest, "A-1", "A-2", buyer=buyer("fr"))
    shop.pay(guest, order, "invoice")
    delivered(shop.app_server, mail_box)
    shop.api.post(f"/api/orders/{order['id']}/cancel", {"reason": "asked for"}, 200)
    (mail,) = delivered(shop.app_server, mail_box)
    assert mail["Subject"] == f"Votre commande {order['number']} est annulée"
    sold = paid(shop, "A-1", "A-2", locale="es")
    delivered(shop.app_server, mail_box)
    shop.refund(sold, lines=[1])
    (mail,) = delivered(shop.app_server, mail_box)
    assert mail["Subject"] == f"Reembolso de su pedido {sold['number']}"
    assert "Se reembolsan 51,40 €" in text_of(mail)


@pytest.mark.parametrize("locale", messages.LANGUAGES)
def test_every_change_of_the_event_is_told_to_who_means_to_come(shop: Shop, mail_box: MailBox, locale: str) -> None:
    paid(shop, "A-1", locale=locale)
    gone = paid(shop, "A-2", email="gone@example.org")
    shop.refund(gone)
    shop.api.post(f"{shop.sale.path}/sales", {"seats": [{"seat_id": "B-1"}], "method": "cash"})
    delivered(shop.app_server, mail_box)
    count = shop.api.get(f"{shop.sale.path}/mails/recipients")
    assert (count["orders"], count["told"], count["without_address"]) == (2, 1, 1)
    begins = {
        "en": ("Postponed: ", "New date: ", "Cancelled: "),
        "de": ("Verschoben: ", "Neuer Termin: ", "Abgesagt: "),
        "fr": ("Reporté\xa0: ", "Nouvelle date\xa0: ", "Annulé\xa0: "),
        "af": ("Uitgestel: ", "Nuwe datum: ", "Gekanselleer: "),
        "es": ("Aplazado: ", "Nueva fecha: ", "Cancelado: "),
    }[locale]
    changes = (
        ("postpone", {"reason": "ill"}),
        ("reschedule", {"rescheduled_at": EVENING + 60 * DAY}),
        ("cancel", {"reason": "ill"}),
    )
    for begin, (change, body) in zip(begins, changes, strict=True):
        shop.api.post(f"{shop.sale.path}/{change}", body, 200)
        arrived = [mail for mail in delivered(shop.app_server, mail_box) if mail["To"] == ADA]
        subjects = [mail["Subject"] for mail in arrived]
        assert subjects == [f"{begin}Night Music"], subjects
    told = shop.api.get(f"{shop.sale.path}/mails")["items"]
    assert {each["message"]: each["told"] for each in told} == {
        "postponed": 1,
        "new_date": 1,
        "cancelled": 1,
    }


def test_new_date_stands_in_mail_pdf_and_calendar(shop: Shop, mail_box: MailBox, tmp_path: Path) -> None:
    order = paid(shop, "A-1")
    delivered(shop.app_server, mail_box)
    shop.api.post(f"{shop.sale.path}/postpone", {"reason": "ill"}, 200)
    delivered(shop.app_server, mail_box)
    shop.api.post(f"{shop.sale.path}/reschedule", {"rescheduled_at": EVENING + 60 * DAY}, 200)
    (mail,) = delivered(shop.app_server, mail_box)
    assert "has a new date: Wednesday, 2 September 2026, Start 18:00 CEST" in text_of(mail)
    files = files_of(mail)
    assert "2 September 2026" in Printed(files[f"{order['number']}.pdf"], tmp_path).text()
    assert b"DTSTART;TZID=Europe/Berlin:20260902T180000" in files["event.ics"].replace(b"\r\n ", b"")


def test_another_venue_and_another_time_are_told_and_another_text_is_not(
    app_server: AppServer, mail_box: MailBox, tmp_path: Path
) -> None:
    api = app_server.api(app_server.organisation("marquee"))
    hall, arena = (api.post("/api/venues", a_venue(name=name))["id"] for name in ("Harbour Hall", "Dome Arena"))
    times = {"start_at": EVENING + 30 * DAY, "end_at": EVENING + 30 * DAY + 6 * HOUR}
    event = api.post("/api/events", an_event(hall, capacity=500, **times))
    path = f"/api/events/{event['id']}"
    kind = api.post(f"{path}/ticket-types", a_ticket_type(name="Standing"))["number"]
    api.post(f"{path}/publish", {}, 200)
    cart = {"places": [{"ticket_type": kind, "count": 1}], "method": "cash", "buyer": buyer()}
    order = api.post(f"{path}/sales", cart)
    delivered(app_server, mail_box)
    api.patch(path, {"description": "Choirs, and an organ."})
    assert delivered(app_server, mail_box) == [], "nothing that concerns whoever comes"
    api.patch(path, {"start_at": EVENING + 30 * DAY + HOUR})
    (mail,) = delivered(app_server, mail_box)
    assert mail["Subject"] == "New time: Night Music"
    assert "begins at another time: Monday, 3 August 2026" in text_of(mail) and "Start 19:00 CEST" in text_of(mail)
    files = files_of(mail)
    assert "19:00" in Printed(files[f"{order['number']}.pdf"], tmp_path).text()
    assert b"DTSTART;TZID=Europe/Berlin:20260803T190000" in files["event.ics"].replace(b"\r\n ", b"")
    asked = api.ask("POST", f"{path}/venue", {"venue_id": arena}).get_json()["error"]["details"]
    api.post(f"{path}/venue", {"venue_id": arena, "consent": asked["consent"], "reason": "flooded"}, 200)
    (mail,) = delivered(app_server, mail_box)
    assert mail["Subject"] == "New venue: Night Music" and "moves to another venue: Dome Arena" in text_of(mail)
    assert b"LOCATION:Dome Arena" in files_of(mail)["event.ics"].replace(b"\r\n ", b"")
    told = api.get(f"{path}/mails")["items"]
    assert {each["message"]: each["told"] for each in told} == {"new_time": 1, "moved": 1}


def test_event_that_takes_place_after_all_is_told_and_publishing_it_first_is_not(shop: Shop, mail_box: MailBox) -> None:
    paid(shop, "A-1", locale="de")
    delivered(shop.app_server, mail_box)
    shop.api.post(f"{shop.sale.path}/postpone", {"reason": "ill"}, 200)
    delivered(shop.app_server, mail_box)
    shop.api.post(f"{shop.sale.path}/publish", {}, 200)
    (mail,) = delivered(shop.app_server, mail_box)
    assert mail["Subject"] == "Findet statt: Night Music" and "Montag, 3. August 2026" in text_of(mail)
    shop.api.post(f"{shop.sale.path}/go-live", {}, 200)
    assert delivered(shop.app_server, mail_box) == []


def test_organiser_sees_on_the_page_who_is_told_before_calling_off(shop: Shop) -> None:
    paid(shop, "A-1")
    shop.api.post(f"{shop.sale.path}/sales", {"seats": [{"seat_id": "B-1"}], "method": "cash"})
    shop.app_server.user("olga@marquee.example", shop.sale.organisation_id, "owner")
    page = shop.app_server.browser("olga@marquee.example").ask(
        "GET", f"/admin/events/{shop.sale.id}/status?target=cancelled"
    )
    said = " ".join(page.text.split())
    assert "The buyer of 1 order gets a mail. 1 gave no address, and must be told otherwise." in said
    assert "Cancel the event and tell 1 buyer" in said


def test_many_buyers_are_told_in_pieces_and_each_once_though_workers_stop(
    shop: Shop, mail_box: MailBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(news, "PIECE", 2)
    for number in range(1, 6):
        paid(shop, f"A-{number}", email=f"guest{number}@example.org")
    delivered(shop.app_server, mail_box)
    shop.api.post(f"{shop.sale.path}/cancel", {"reason": "storm"}, 200)
    once = posting.post
    calls: list[str] = []

    def dies(*args: Any, **more: Any) -> bool:
        calls.append("")
        if len(calls) in {2, 5}:
            raise RuntimeError("the worker is killed")
        return once(*args, **more)

    monkeypatch.setattr(posting, "post", dies)
    arrived = delivered(shop.app_server, mail_box, rounds=12)
    assert sorted(mail["To"] for mail in arrived) == [f"guest{number}@example.org" for number in range(1, 6)]
    assert len(calls) > 5, "it did die"


def test_tickets_are_sent_again_on_request_but_not_over_and_over(shop: Shop, mail_box: MailBox) -> None:
    guest = shop.guest()
    order = shop.note(shop.order(guest, "A-1", buyer=buyer()))
    delivered(shop.app_server, mail_box)
    path = f"{shop.path(order)}/mails"
    guest.post(path, status=202)
    shop.api.post(f"/api/orders/{order['id']}/mails", status=202)
    assert guest.refused("POST", path) == (429, "rate_limited")
    assert len(delivered(shop.app_server, mail_box)) == 2
    shop.app_server.advance(DAY)
    shop.api.post(f"/api/orders/{order['id']}/mails", status=202)
    (mail,) = delivered(shop.app_server, mail_box)
    assert f"{order['number']}.pdf" in files_of(mail)
    assert shop.guest().refused("POST", path)[0] == 404
    guest = shop.guest()
    unpaid = shop.order(guest, "A-2", buyer=buyer())
    assert guest.refused("POST", f"{shop.path(unpaid)}/mails") == (409, "no_tickets")
    nobody = shop.api.post(f"{shop.sale.path}/sales", {"seats": [{"seat_id": "B-1"}], "method": "cash"})
    assert shop.api.refused("POST", f"/api/orders/{nobody['id']}/mails") == (409, "no_address")


def test_another_date_is_offered_with_its_deadline(shop: Shop, mail_box: MailBox) -> None:
    paid(shop, "A-1", locale="de")
    delivered(shop.app_server, mail_box)
    body = {"choice": "another_date", "orders": 1, "reason": "storm"}
    dates = {"new_date": EVENING + 90 * DAY, "keep_until": EVENING + 10 * DAY}
    shop.api.post(f"{shop.sale.path}/cancellation", body | dates, 202)
    arrived = {mail["Subject"]: mail for mail in delivered(shop.app_server, mail_box, rounds=6)}
    said = text_of(arrived["Ein anderer Termin: Night Music"])
    assert "Freitag, 2. Oktober 2026" in said and "bis Dienstag, 14. Juli 2026" in said, said


@pytest.mark.parametrize("language", messages.LANGUAGES)
@pytest.mark.parametrize("message", list(Message))
def test_organisers_see_every_message_before_anybody_gets_it(shop: Shop, message: Message, language: str) -> None:
    shop.api.patch(shop.sale.path, {"name": "Rock & <Roll>"})
    shown = shop.api.post(f"{shop.sale.path}/mails/preview", {"message": message.value, "language": language}, 200)
    assert shown["subject"] and "Rock & <Roll>" in shown["text"] and "Rock &amp; &lt;Roll&gt;" in shown["html"]
    assert "{{" not in shown["text"] + shown["html"] and f'lang="{language}"' in shown["html"]
    assert ("unsubscribe" in shown["text"]) is (message in messages.OPTIONAL)


def test_neither_address_nor_secret_gets_into_a_log_or_stays_in_a_table(
    shop: Shop, mail_box: MailBox, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.set_up("debug")
    paid(shop, "A-1")
    (mail,) = delivered(shop.app_server, mail_box)
    secret = link_in(mail).partition("#")[2]
    logged = capsys.readouterr().err
    assert "mail_sent" in logged and ADA not in logged and secret not in logged
    with shop.app_server.database.reading() as session:
        everything = repr(session.execute(text("SELECT * FROM mails")).all())
    assert ADA not in everything and secret not in everything


@pytest.mark.parametrize(("locale", "moved"), [("en", "Another seat"), ("de", "Anderer Platz")])
def test_guest_who_was_moved_gets_the_new_ticket(
    shop: Shop, mail_box: MailBox, tmp_path: Path, locale: str, moved: str
) -> None:
    order = paid(shop, "A-1", locale=locale)
    delivered(shop.app_server, mail_box)
    (line,) = order["lines"]
    shop.api.post(f"{shop.sale.path}/layout/moved-guests", {"ticket": line["ticket"]["id"], "seat_id": "B-2"})
    (mail,) = delivered(shop.app_server, mail_box)
    assert mail["Subject"] == f"{moved}: Night Music" and "B 2" in text_of(mail) and "A 1" in text_of(mail)
    ((code,),) = Printed(files_of(mail)[f"{order['number']}.pdf"], tmp_path).codes()
    assert code == shop.api.get(f"/api/tickets/{line['ticket']['id']}/code")["code"]
