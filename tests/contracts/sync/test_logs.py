"""At its most talkative the log tells no code, PIN, token, cookie, name, password or key."""

from __future__ import annotations

import logging

import pytest
from sqlalchemy.exc import IntegrityError

from shared import enrolment
from sync_server.accounts.models import OrganisationRow
from sync_server.plumbing import logs
from tests.contracts.sync.box_office import AtTheOffice, a_device, shown
from tests.contracts.sync.gates import Gate
from tests.office import PASSWORD, Evening, Office

PIN, NAME, MAIL = "904213", "Wilhelmina Achterberg", "wilhelmina@marquee.example"


def walk(office: Office, evening: Evening) -> list[str]:
    """Sign in, sell, enrol and scan, well and badly; answers everything that must stay unsaid."""
    organisation = evening.desk.get("/api/session")["organisation"]["id"]
    office.user(MAIL, organisation, "owner")
    browser = office.browser(MAIL)
    browser.client.post("/api/session", json={"email": MAIL, "password": "wrong but long enough"})
    evening.desk.post("/api/supervisors", {"name": NAME, "pin": PIN})
    ticket = evening.ticket(holder_name=NAME)
    code = evening.code(ticket)
    device = a_device(evening)
    told = evening.desk.post(f"/api/devices/{device['id']}/code")["code"]
    gate = Gate(AtTheOffice(office), "West lane")
    gate.try_enrol(enrolment.parse(told), proof=bytes(32))
    gate.enrol(enrolment.parse(told))
    gate.anchor()
    shown(gate, evening, ticket)
    gate.hello()
    gate.upload()
    gate.refusal("POST", "/sync/v1/journal", "push", body=b"\xc1")
    office.work()
    cookie = browser.client.get_cookie("gatehouse_session") or next(iter(browser.client._cookies.values()))
    token = evening.desk.headers["Authorization"].removeprefix("Bearer ")
    return [
        PASSWORD,
        "wrong but long enough",
        PIN,
        NAME,
        MAIL,
        code,
        told,
        told.replace("-", ""),
        token,
        cookie.value,
        browser.headers["X-CSRF-Token"],
        "11" * 32,
        gate.key.private_bytes_raw().hex(),
    ]


def test_selling_enrolling_and_scanning_leave_nothing_in_the_log(
    office: Office, evening: Evening, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    logs.set_up("debug")
    caplog.set_level(logging.DEBUG)
    unsaid = walk(office, evening)
    try:
        with office.database.writing() as session:
            for _ in range(2):
                row = OrganisationRow(id=NAME, slug=NAME, name=NAME, currency="EUR", created_at=0)
                session.add(row)
                session.flush()
                session.expunge(row)
    except IntegrityError as problem:
        logs.LOG.error("unexpected", exc_info=problem)
    written = "".join(capsys.readouterr()) + caplog.text
    assert "IntegrityError" in written
    assert [secret for secret in unsaid if secret and secret in written] == []
