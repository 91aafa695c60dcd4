"""Even at debug level the log contains no code, PIN, token, cookie, name, password or key."""

from __future__ import annotations

import logging

import pytest
from sqlalchemy.exc import IntegrityError

from shared.ids import NIL_ID
from shared.wire import enrolment
from sync_server.accounts.models import OrganisationRow
from sync_server.plumbing.telemetry import logs
from tests.app_server import AppServer, Concert
from tests.contracts.sync.gates import Gate
from tests.contracts.sync.office_gates import AppServerWorld, a_device, shown
from tests.staff import PASSWORD

PIN, NAME, MAIL = "904213", "Wilhelmina Achterberg", "wilhelmina@marquee.example"


def walk(app_server: AppServer, concert: Concert) -> list[str]:
    """Sign in, sell, enrol and scan, well and badly; returns everything that must not be logged."""
    organisation = concert.api.get("/api/session")["organisation"]["id"]
    app_server.user(MAIL, organisation, "owner")
    browser = app_server.browser(MAIL)
    browser.client.post("/api/session", json={"email": MAIL, "password": "wrong but long enough"})
    concert.api.post("/api/supervisors", {"name": NAME, "pin": PIN})
    ticket = concert.ticket(holder_name=NAME)
    code = concert.code(ticket)
    device = a_device(concert)
    response = concert.api.post(f"/api/devices/{device['id']}/code")["code"]
    gate = Gate(AppServerWorld(app_server), "West lane")
    gate.try_enrol(enrolment.parse(response), proof=bytes(32))
    gate.enrol(enrolment.parse(response))
    gate.anchor()
    shown(gate, concert, ticket)
    gate.hello()
    gate.upload()
    gate.refusal("POST", "/sync/v1/journal", "push", body=b"\xc1")
    app_server.run_worker()
    cookie = browser.client.get_cookie("gatehouse_session") or next(iter(browser.client._cookies.values()))
    token = concert.api.headers["Authorization"].removeprefix("Bearer ")
    return [
        PASSWORD,
        "wrong but long enough",
        PIN,
        NAME,
        MAIL,
        code,
        response,
        response.replace("-", ""),
        token,
        cookie.value,
        browser.headers["X-CSRF-Token"],
        "11" * 32,
        gate.key.private_bytes_raw().hex(),
    ]


def test_selling_enrolling_and_scanning_leave_nothing_in_the_log(
    app_server: AppServer, concert: Concert, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    logs.set_up("debug")
    caplog.set_level(logging.DEBUG)
    unsaid = walk(app_server, concert)
    try:
        with app_server.database.writing() as session:
            for _ in range(2):
                row = OrganisationRow(id=NIL_ID, slug=NAME, name=NAME, currency="EUR", created_at=0)
                session.add(row)
                session.flush()
                session.expunge(row)
    except IntegrityError as problem:
        logs.LOG.error("unexpected", exc_info=problem)
    written = "".join(capsys.readouterr()) + caplog.text
    assert "IntegrityError" in written
    assert [secret for secret in unsaid if secret and secret in written] == []
