"""One-time links in a real browser, wide and narrow: accepting an invitation, and choosing a password."""

from __future__ import annotations

from playwright.sync_api import Page, Request, expect

from sync_server.accounts import invitations
from sync_server.accounts.sign_in import password_links
from tests.app_server import AppServer
from tests.browser.pictures import keep_screenshots
from tests.served_app import served

NORA, HERS = "nora@box-office.example", "what nora chose herself"


def test_an_invitation_is_accepted_and_its_code_is_in_no_request_line(
    browser_page: Page, app_server: AppServer
) -> None:
    org, asked = app_server.organisation("marquee"), list[Request]()
    with app_server.database.writing() as session:
        _, code = invitations.invite(session, org, email=NORA, role="staff", by=None, context=app_server.context())
    browser_page.on("request", lambda request: asked.append(request))
    with served(app_server) as address:
        browser_page.goto(f"{address}/admin/invitation#{code}")
        expect(browser_page.get_by_role("heading", name="Join Marquee")).to_be_visible()
        assert code not in browser_page.url
        keep_screenshots(browser_page, "admin-invitation")
        browser_page.get_by_label("Your name").fill("Nora")
        browser_page.get_by_label("Choose a password").fill(HERS)
        browser_page.get_by_role("button", name="Join").click()
        expect(browser_page.locator("details.me")).to_contain_text("Marquee")
        assert asked and all(code not in request.url for request in asked)


def test_a_forgotten_password_is_replaced_and_signs_in(browser_page: Page, app_server: AppServer) -> None:
    user = app_server.user(NORA, app_server.organisation("marquee"))
    with app_server.database.writing() as session:
        code = password_links.make(session, user, app_server.context())
    with served(app_server) as address:
        browser_page.goto(f"{address}/admin/login")
        browser_page.get_by_role("link", name="Forgot your password?").click()
        keep_screenshots(browser_page, "admin-forgotten")
        browser_page.goto(f"{address}/admin/password#{code}")
        expect(browser_page.get_by_label("Code")).to_be_hidden()
        keep_screenshots(browser_page, "admin-password")
        browser_page.get_by_label("New password").fill(HERS)
        browser_page.get_by_role("button", name="Save").click()
        expect(browser_page.get_by_role("status")).to_contain_text("Sign in with it")
        browser_page.get_by_label("E-mail address").fill(NORA)
        browser_page.get_by_label("Password").fill(HERS)
        browser_page.get_by_role("button", name="Sign in", exact=True).click()
        expect(browser_page.locator("details.me")).to_contain_text("Marquee")


def test_without_scripts_the_code_is_pasted(browser_page: Page, app_server: AppServer) -> None:
    org = app_server.organisation("marquee")
    with app_server.database.writing() as session:
        _, code = invitations.invite(session, org, email=NORA, role="staff", by=None, context=app_server.context())
    with served(app_server) as address:
        browser_page.goto(f"{address}/admin/invitation")
        browser_page.get_by_label("Code").fill(code)
        browser_page.get_by_role("button", name="Continue").click()
        expect(browser_page.get_by_role("heading", name="Join Marquee")).to_be_visible()
