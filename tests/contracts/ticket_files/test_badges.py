"""Badges chosen on the desk: gates get them with the ticket type, and orders are printed in the same layout."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from shared.badges import ready_made
from shared.badges.layout import read_layout
from shared.wire.snapshot import RowKind, unpack
from tests.app_server import ApiClient
from tests.builders import DAY
from tests.contracts.checkout.shop_floor import Shop
from tests.contracts.ticket_files.paper import Printed
from tests.contracts.ticket_files.test_pdf import BUYER, paid


@pytest.fixture
def desk(shop: Shop) -> ApiClient:
    """The owner, signed in."""
    shop.app_server.user("olga@marquee.example", shop.sale.organisation_id, "owner")
    return shop.app_server.browser("olga@marquee.example")


def page(shop: Shop) -> str:
    return f"/admin/events/{shop.sale.id}/badges"


def choose(desk: ApiClient, shop: Shop, layout: str, *types: int, status: int = 302, **fields: Any) -> str:
    form = {"layout": layout, "type": list(types or (shop.stalls, shop.floor)), **fields}
    form["csrf_token"] = desk.headers["X-CSRF-Token"]
    response = desk.client.post(page(shop), data=form)
    assert response.status_code == status, response.text
    return str(response.text)


def sent_to_gates(shop: Shop) -> dict[int, str]:
    """The layouts in the rows that gates get."""
    from sync_server.plumbing.event_key import EventKey
    from sync_server.revisions import queries as revisions

    with shop.app_server.database.reading() as session:
        rows = revisions.rows_now(session, EventKey(shop.sale.organisation_id, shop.sale.id), RowKind.TICKET_TYPE)
        found = [unpack(row) for row in rows]
    return {row.number: row.badge for row in found}


def badges_of(desk: ApiClient, order: dict[str, Any], folder: Path) -> Printed:
    response = desk.client.get(f"/admin/orders/{order['id']}/badges.pdf")
    assert (response.status_code, response.content_type) == (200, "application/pdf"), response.text
    return Printed(response.data, folder)


def test_gates_get_the_layout_with_the_types_that_it_was_chosen_for(shop: Shop, desk: ApiClient) -> None:
    choose(desk, shop, "wristband", shop.floor)
    assert sent_to_gates(shop) == {shop.stalls: "", shop.floor: ready_made.text_of("wristband")}
    choose(desk, shop, "none", shop.floor)
    assert sent_to_gates(shop) == {shop.stalls: "", shop.floor: ""}


def test_an_order_is_printed_in_the_size_of_the_badge_with_the_tickets_own_codes(
    shop: Shop, desk: ApiClient, tmp_path: Path
) -> None:
    choose(desk, shop, "badge")
    guest = shop.guest()
    order = paid(shop, guest, "A-1", "A-2")
    printed = badges_of(desk, order, tmp_path)
    tickets = [line["ticket"] for line in order["lines"]]
    signed = [guest.get(f"{shop.path(order)}/tickets/{ticket['id']}/code")["code"] for ticket in tickets]
    assert printed.codes(203) == [(code,) for code in signed]
    assert [round(side / 203 * 25.4) for side in Image.open(printed.pages(203)[0]).size] == [86, 54]
    for ticket in tickets:
        assert ticket["number"] in printed.text()


@pytest.mark.parametrize("checked", [False, True])
def test_a_name_is_printed_only_where_the_event_has_names_at_its_gates(
    shop: Shop, desk: ApiClient, tmp_path: Path, checked: bool
) -> None:
    shop.api.patch(shop.sale.path, {"name_checks": checked})
    choose(desk, shop, "label")
    guest = shop.guest()
    holds = [hold | {"holder_name": "Ada Lovelace"} for hold in shop.hold(guest, "A-1")]
    order = shop.note(guest.post(shop.orders_path, {"holds": holds, "buyer": BUYER}, 201))
    assert ("Ada Lovelace" in badges_of(desk, order, tmp_path).text()) is checked


def test_an_order_without_a_layout_says_where_to_choose_one(shop: Shop, desk: ApiClient) -> None:
    order = paid(shop, shop.guest(), "A-1")
    response = desk.client.get(f"/admin/orders/{order['id']}/badges.pdf")
    assert response.status_code == 409
    assert "Choose one on the page Badges" in response.text


def test_a_layout_of_ones_own_is_looked_at_before_it_is_used(shop: Shop, desk: ApiClient) -> None:
    own = ready_made.text_of("slip").replace("Slip, 72", "Ours, 72")
    shown = choose(desk, shop, "own", own=own, look="1", status=200)
    assert "data:image/png;base64," in shown
    assert set(sent_to_gates(shop).values()) == {""}
    choose(desk, shop, "own", own=own)
    assert {read_layout(text).title for text in sent_to_gates(shop).values()} == {
        ready_made.layout_of("slip").title.replace("Slip", "Ours")
    }


def test_what_is_wrong_with_a_layout_is_said_and_what_was_written_stays(shop: Shop, desk: ApiClient) -> None:
    shown = choose(desk, shop, "own", own="width_mm = 3 # mine", status=400)
    assert "cannot be used" in shown
    assert "width_mm = 3 # mine" in shown
    assert "Choose one of the layouts" in choose(desk, shop, "../../etc", status=400)


def test_the_organisers_logo_travels_small_and_with_the_layout(shop: Shop, desk: ApiClient) -> None:
    out = io.BytesIO()
    Image.new("RGB", (800, 240), "navy").save(out, "PNG")
    desk.client.put(
        "/api/organisation/ticket-design/logo", data=out.getvalue(), content_type="image/png", headers=desk.headers
    )
    choose(desk, shop, "badge", shop.stalls)
    layout = read_layout(sent_to_gates(shop)[shop.stalls])
    assert Image.open(io.BytesIO(layout.logo)).size == (240, 72)
    assert len(layout.logo) < 4_000
    listed = desk.client.get(page(shop)).text
    assert "logo = " not in listed, "people write layouts without it"


def test_every_layout_is_shown_as_a_picture(shop: Shop, desk: ApiClient) -> None:
    for name in ready_made.names():
        response = desk.client.get(f"{page(shop)}/{name}.png")
        layout = ready_made.layout_of(name)
        assert response.content_type == "image/png"
        assert Image.open(io.BytesIO(response.data)).size[0] == round(layout.width_mm / 25.4 * 203)
    assert desk.client.get(f"{page(shop)}/nothing.png").status_code == 404


def test_a_copied_event_prints_the_same(shop: Shop, desk: ApiClient) -> None:
    choose(desk, shop, "badge")
    copied = shop.api.post(f"{shop.sale.path}/copy", {"start_at": shop.app_server.now + 300 * DAY})
    shown = desk.client.get(f"/admin/events/{copied['id']}/badges").text
    assert shown.count("Badge, 86") >= 3


def test_only_who_edits_events_may_choose(shop: Shop, desk: ApiClient) -> None:
    shop.app_server.user("stan@marquee.example", shop.sale.organisation_id, "staff")
    stan = shop.app_server.browser("stan@marquee.example")
    choose(stan, shop, "badge", status=403)
    assert set(sent_to_gates(shop).values()) == {""}
    assert shop.app_server.app.test_client().get(page(shop)).status_code == 302
