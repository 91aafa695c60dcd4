"""Beside the map of seats in a real browser: who sits where, and the best seats for somebody who asks by telephone."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.app_server import AppServer
from tests.browser.pictures import keep_screenshots
from tests.browser.test_seat_page import action, an_owner, open_map, selection, working
from tests.contracts.seat_maps.mapped_event import a_mapped_event
from tests.contracts.seating.stage import with_wheelchairs
from tests.served_app import served
from tests.services.axe import violations


def walk(page: Page, *keys: str) -> None:
    page.get_by_role("application", name="Map of all seats").focus()
    for key in keys:
        page.keyboard.press(key)


def test_the_desk_says_who_sits_on_a_seat(browser_page: Page, app_server: AppServer) -> None:
    mapped = a_mapped_event(app_server, app_server.api(an_owner(app_server)), with_wheelchairs())
    sale = {"ticket_type": 1, "seats": [{"seat_id": "B-2"}], "holder_name": "Grace Hopper"}
    (ticket,) = mapped.stage.api.post(f"/api/events/{mapped.id}/tickets", sale)["items"]
    mapped.hold(1)
    app_server.run_worker()
    about = browser_page.locator("[data-about]")
    with served(app_server) as address:
        open_map(browser_page, address, mapped)
        walk(browser_page, "ArrowRight")
        expect(about).to_contain_text("Held until")
        walk(browser_page, "ArrowDown", "ArrowRight")
        expect(selection(browser_page)).to_have_text("Stalls, row B, seat 2: sold")
        expect(about).to_contain_text("Grace Hopper")
        expect(about).to_contain_text(ticket["number"])
        assert violations(browser_page) == []
        browser_page.locator("[data-caller]").scroll_into_view_if_needed()
        keep_screenshots(browser_page, "admin-seat-guest")
        browser_page.goto("about:blank")


def test_a_caller_gets_the_best_seats_shown_then_held(browser_page: Page, app_server: AppServer) -> None:
    mapped = a_mapped_event(app_server, app_server.api(an_owner(app_server)))
    with served(app_server) as address, working(app_server):
        open_map(browser_page, address, mapped)
        free = int(browser_page.locator("[data-count='0']").inner_text())
        browser_page.get_by_label("People").fill("3")
        action(browser_page, "Find the best seats").click()
        expect(browser_page.locator("[data-offer]")).to_contain_text("row A")
        expect(selection(browser_page)).to_contain_text("Stalls, row A")
        expect(browser_page.locator("[data-count='0']")).to_have_text(str(free))  # nothing is taken yet
        action(browser_page, "Hold them for now").click()
        expect(browser_page.locator("[data-offer]")).to_contain_text("Held until")
        expect(browser_page.locator("[data-count='1']")).to_have_text("3")
        browser_page.get_by_label("People").fill("90")
        action(browser_page, "Find the best seats").click()
        expect(action(browser_page, "Hold them for now")).to_be_hidden()
        browser_page.goto("about:blank")


def test_a_guest_is_moved_on_the_map_and_gets_a_new_code(browser_page: Page, app_server: AppServer) -> None:
    mapped = a_mapped_event(app_server, app_server.api(an_owner(app_server)), with_wheelchairs())
    api = mapped.stage.api
    sale = {"seats": [{"seat_id": "B-2", "ticket_type": 1}], "method": "cash", "buyer": {"name": "Grace Hopper"}}
    order = api.post(f"/api/events/{mapped.id}/sales", sale)
    app_server.run_worker()
    about = browser_page.locator("[data-about]")
    with served(app_server) as address, working(app_server):
        open_map(browser_page, address, mapped)
        walk(browser_page, "ArrowRight", "ArrowDown", "ArrowRight")
        about.get_by_role("link", name="Another seat").click()
        expect(browser_page.locator("[data-moving]")).to_contain_text("Choose a free seat for Grace Hopper")
        walk(browser_page, "ArrowRight", "ArrowRight", "ArrowRight")
        assert violations(browser_page) == []
        browser_page.locator("[data-moving]").scroll_into_view_if_needed()
        keep_screenshots(browser_page, "admin-seat-moving")
        expect(action(browser_page, "Block this seat")).to_be_hidden()
        browser_page.get_by_role("link", name="Move Grace Hopper here").click()
        expect(browser_page.locator(".figures")).to_contain_text("B 5")
        assert violations(browser_page) == []
        keep_screenshots(browser_page, "admin-seat-move")
        browser_page.get_by_role("button", name="Move to B 5").click()
        expect(browser_page.get_by_role("status").first).to_contain_text("Moved to B-5")
        expect(browser_page.locator("main")).to_contain_text("B 5")
        browser_page.goto("about:blank")
    (line,) = api.get(f"/api/orders/{order['id']}")["lines"]
    assert line["seat_label"] == "B 5"
    assert api.get(f"/api/tickets/{line['ticket']['id']}")["issue"] == 2
