"""A ticket on paper: read by a guest, and by the decoder of a gate."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.app_server import ApiClient
from tests.builders import DAY, EVENING
from tests.contracts.checkout.shop_floor import Shop
from tests.contracts.ticket_files.paper import Printed, members_of

BUYER = {"name": "Ada Lovelace", "email": "ada@lovelace.example", "locale": "en"}


def paid(shop: Shop, guest: ApiClient, *seats: str, **buyer: Any) -> dict[str, Any]:
    """An order that is paid in cash."""
    order = shop.order(guest, *seats, buyer=BUYER | buyer)
    return dict(shop.note(order))


def pdf_of(who: ApiClient, path: str) -> bytes:
    response = who.ask("GET", path)
    assert (response.status_code, response.content_type) == (200, "application/pdf"), response.text
    assert response.headers["Cache-Control"] == "no-store"
    return bytes(response.data)


def test_gate_reads_the_code_of_every_page_and_the_guest_all_that_matters(shop: Shop, tmp_path: Path) -> None:
    shop.api.patch("/api/organisation/ticket-design", {"terms": "No refunds after the doors open."})
    guest = shop.guest()
    order = paid(shop, guest, "A-1", "A-2")
    printed = Printed(pdf_of(guest, f"{shop.path(order)}/tickets.pdf"), tmp_path)
    tickets = [line["ticket"] for line in order["lines"]]
    signed = [guest.get(f"{shop.path(order)}/tickets/{ticket['id']}/code")["code"] for ticket in tickets]
    *single, (together,) = printed.codes()
    assert single == [(code,) for code in signed]
    assert printed.codes(60) == [*single, (together,)], "as on a small screen"
    assert members_of(together) == {int(ticket["id"], 16) for ticket in tickets}
    text = printed.text()
    event = shop.sale.event
    for ticket in tickets:
        assert ticket["number"] in text and ticket["confirmation_code"] in text
    for wanted in (
        event["name"],
        event["venue_name"],
        "Area Stalls",
        "€51.40 (7% tax included)",
        order["number"],
        "No refunds after the doors open.",
        "Show this code at the entrance",
    ):
        assert wanted in text, (wanted, text)
    assert printed.pictures() == 0, "the code is drawn as vectors"
    listed = printed.fonts().splitlines()[2:]
    assert listed and all(line.split()[-5] == "yes" for line in listed), "every font is embedded"


@pytest.mark.parametrize(
    ("locale", "words"),
    [
        ("de", ("Ticket", "Reihe", "Bestätigungscode", "51,40 € (7 % inkl. MwSt.)", "Beginn")),
        ("fr", ("Billet", "Rang", "Code de confirmation", "51,40 € (7 % TVA incluse)", "Début")),
        ("af", ("Kaartjie", "Ry", "Bevestigingskode", "51,40", "BTW ingesluit", "Begin")),
        ("es", ("Entrada", "Fila", "Código de confirmación", "51,40 € (7 % IVA incluido)", "Comienzo")),
        ("en", ("Ticket", "Row", "Confirmation code", "€51.40 (7% tax included)", "Start")),
    ],
)
def test_ticket_speaks_the_language_of_its_buyer(
    shop: Shop, tmp_path: Path, locale: str, words: tuple[str, ...]
) -> None:
    guest = shop.guest()
    order = paid(shop, guest, "A-1", locale=locale)
    text = Printed(pdf_of(guest, f"{shop.path(order)}/tickets.pdf"), tmp_path).text()
    plain = text.replace("\N{NO-BREAK SPACE}", " ").replace("\N{NARROW NO-BREAK SPACE}", " ")
    assert [word for word in words if word not in plain] == [], plain


@pytest.mark.parametrize(
    ("name", "letters", "font"),
    [
        ("Большой концерт", "Большой концерт", "NotoSans"),
        ("Ωδείο Ηρώδου", "Ωδείο Ηρώδου", "NotoSans"),
        ("אביב בתל אביב", "אביב בתל אביב", "NotoSansHebrew"),
        ("قصر مدينة", "قصر مدينة", "NotoSansArabic"),
        ("東京の夜 서울의 밤", "東京の夜 서울의 밤", "NotoSansCJK"),
    ],
)
def test_names_in_all_scripts_are_drawn_in_letters_and_not_in_boxes(
    shop: Shop, tmp_path: Path, name: str, letters: str, font: str
) -> None:
    shop.api.patch(shop.sale.path, {"name": name})
    guest = shop.guest()
    order = paid(shop, guest, "A-1")
    printed = Printed(pdf_of(guest, f"{shop.path(order)}/tickets.pdf"), tmp_path)
    assert font in printed.fonts(), printed.fonts()
    directions = str.maketrans("", "", "\u202a\u202b\u202c\u200e\u200f")
    assert letters in printed.text().translate(directions), printed.text()
    assert len(printed.codes()[0]) == 1


def test_times_are_those_of_the_venue_and_of_the_new_date(shop: Shop, tmp_path: Path) -> None:
    guest = shop.guest()
    order = paid(shop, guest, "A-1", locale="en")
    path = f"{shop.path(order)}/tickets.pdf"
    before = Printed(pdf_of(guest, path), tmp_path).text()
    zone = shop.sale.event["timezone"]
    assert zone == "Europe/Berlin" and " CEST" in before, before
    shop.api.post(f"{shop.sale.path}/postpone", {"reason": "the singer is ill"}, 200)
    assert "the new date will be announced" in Printed(pdf_of(guest, path), tmp_path).text()
    shop.api.post(f"{shop.sale.path}/reschedule", {"rescheduled_at": EVENING + 200 * DAY}, 200)
    after = Printed(pdf_of(guest, path), tmp_path).text()
    assert "announced" not in after and " CET" in after and " CEST" not in after, "in winter"


def test_logo_and_colour_are_the_organisers_and_text_on_them_can_be_read(shop: Shop, tmp_path: Path) -> None:
    out = io.BytesIO()
    Image.new("RGB", (900, 300), (220, 20, 60)).save(out, "PNG")
    path = "/api/organisation/ticket-design"
    made = shop.api.client.put(f"{path}/logo", data=out.getvalue(), headers=shop.api.headers)
    assert (made.status_code, made.json["logo"]) == (200, True), made.text
    shop.api.patch(path, {"colour": "#fde047"})
    guest = shop.guest()
    order = paid(shop, guest, "A-1")
    printed = Printed(pdf_of(guest, f"{shop.path(order)}/tickets.pdf"), tmp_path)
    (page,) = printed.pages()
    with Image.open(page) as picture:
        colours = {colour for _, colour in picture.convert("RGB").getcolors(1 << 24) or ()}
        corner = picture.convert("RGB").getpixel((picture.width - 3, 3))
    assert corner == (253, 224, 71) and (220, 20, 60) in colours and (0, 0, 0) in colours
    assert len(printed.codes()[0]) == 1
    shop.api.client.delete(f"{path}/logo", headers=shop.api.headers)
    assert shop.api.get(path)["logo"] is False


def test_refused_are_damaged_logos_and_colours_that_are_none(shop: Shop) -> None:
    path = "/api/organisation/ticket-design"
    for content in (b"", b"not a picture", b"\x89PNG\r\n\x1a\nbroken"):
        response = shop.api.client.put(f"{path}/logo", data=content, headers=shop.api.headers)
        assert response.status_code == 400, content
    assert shop.api.refused("PATCH", path, {"colour": "red"})[0] == 400


def test_nobody_gets_tickets_of_somebody_else_nor_of_an_order_that_is_not_paid(shop: Shop) -> None:
    guest, stranger = shop.guest(), shop.guest()
    order = shop.order(guest, "A-1", buyer=BUYER)
    path = f"{shop.path(order)}/tickets.pdf"
    assert guest.refused("GET", path) == (409, "no_tickets")
    shop.note(order)
    assert stranger.refused("GET", path) == (404, "order_not_found")
    secret = guest.get(f"{shop.path(order)}/link")["secret"]
    by_link = stranger.client.get(path, headers={"X-Order-Secret": secret})
    assert by_link.status_code == 200
    staff = pdf_of(shop.api, f"/api/orders/{order['id']}/tickets.pdf")
    (line,) = shop.shown(order)["lines"]
    alone = pdf_of(shop.api, f"/api/tickets/{line['ticket']['id']}/pdf")
    assert staff.startswith(b"%PDF") and alone.startswith(b"%PDF")
    shop.refund(order)
    assert guest.refused("GET", path) == (409, "no_tickets")
    assert shop.api.refused("GET", f"/api/tickets/{line['ticket']['id']}/pdf") == (409, "ticket_cancelled")
