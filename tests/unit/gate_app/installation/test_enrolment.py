"""A device enrols only with the server that issued the code."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from gate_app import reading_home
from gate_app.enrolment import Enrolled, enrol, server_address
from gate_app.gate_context import REVOKED
from gate_app.installation.assignments import AssignmentStore
from gate_app.journal.journal import Journal
from gate_app.reading_home import take_identity
from gate_app.snapshots.roster import Roster
from gate_app.storage.database import Database
from gate_app.sync.client import HttpRequest, HttpResponse
from shared.errors import GatehouseError, InvalidRequest, Unreadable, Untrusted
from shared.wire import enrolment, protocol
from shared.wire.http_signatures import sign_answer
from shared.wire.protocol import Assignment, EnrolAnswer, EnrolRequest
from tests.gate_builders import ORGANISATION, SERVER_KEY, GateAtHome, a_code, a_gate, a_key, chance

PUBLIC = SERVER_KEY.public_key().public_bytes_raw()
CODE = enrolment.new_code(chance("code"), PUBLIC)


@dataclass
class FakeServer:
    """The other end of an enrolment."""

    public: bytes = PUBLIC
    code: enrolment.Code = CODE
    device: int = 11
    organisation: str = ORGANISATION
    refuses: protocol.ErrorBody | None = None
    page: bytes = b""
    altered: bytes = b""
    requests: list[HttpRequest] = field(default_factory=list)

    def send(self, request: HttpRequest) -> HttpResponse:
        self.requests.append(request)
        if self.page:
            return HttpResponse(200, {}, self.page)
        if self.refuses:
            return HttpResponse(403, {}, protocol.encode(protocol.ErrorAnswer(error=self.refuses)))
        asked = protocol.decode(EnrolRequest, request.body)
        assert enrolment.same(asked.proof, enrolment.proof(self.code, asked.device_public, asked.nonce))
        answer = EnrolAnswer(
            device_number=self.device,
            device_id=f"device-{self.device}",
            organisation=self.organisation,
            organisation_name="Night Ltd",
            server_public=self.public,
            server_proof=enrolment.server_proof(self.code, asked.device_public, self.public, asked.nonce),
            server_time=1,
            check="",
            events=[Assignment(event=7, event_id="event-7", name="Night Music", gate=1, gate_code="A")],
        )
        body = protocol.encode(answer)
        headers = sign_answer(200, body, key=SERVER_KEY, server_time=1, position="", request_signature=asked.proof)
        return HttpResponse(200, headers, body.replace(b"Night Ltd", self.altered or b"Night Ltd"))


def enrolled(server: FakeServer, text: str = CODE.text) -> Enrolled:
    return enrol("http://server.test/", text, server, chance("gate"), name="Main gate", software="test")


def test_it_gets_its_place_and_both_screens_show_one_number() -> None:
    server = FakeServer()
    got = enrolled(server)
    asked = protocol.decode(EnrolRequest, server.requests[0].body)
    assert (got.identity.device_number, got.identity.server) == (11, "http://server.test")
    assert got.check == enrolment.check_number(asked.device_public, PUBLIC, asked.nonce)


def test_an_answer_that_was_altered_on_its_way_is_not_accepted() -> None:
    with pytest.raises(Untrusted):
        enrolled(FakeServer(altered=b"Other Ltd"))


def test_the_code_itself_is_never_sent() -> None:
    server = FakeServer()
    enrolled(server)
    assert CODE.secret not in server.requests[0].body
    assert CODE.text.encode() not in server.requests[0].body + server.requests[0].url.encode()


def test_lower_case_and_blanks_are_forgiven() -> None:
    assert enrolled(FakeServer(), f"  {CODE.text.lower()}\n").identity.device_number == 11


def test_a_mistyped_code_asks_nobody() -> None:
    server = FakeServer()
    wrong = CODE.text[:-1] + ("A" if CODE.text[-1] != "A" else "B")
    with pytest.raises(InvalidRequest, match="mistyped"):
        enrolled(server, wrong)
    assert server.requests == []


def test_somebody_else_who_answers_is_not_accepted() -> None:
    with pytest.raises(Untrusted, match="did not issue this code"):
        enrolled(FakeServer(public=a_key("impostor").public_key().public_bytes_raw()))


def test_one_who_has_the_key_but_not_the_code_is_not_accepted() -> None:
    with pytest.raises((Untrusted, AssertionError)):
        enrolled(FakeServer(code=enrolment.new_code(chance("other"), PUBLIC)))


def test_the_servers_refusal_is_reported_with_its_message() -> None:
    refusal = protocol.ErrorBody(code="enrolment_code_used", message="This code has been used already.")
    with pytest.raises(GatehouseError, match="used already") as refused:
        enrolled(FakeServer(refuses=refusal))
    assert refused.value.error_code == "enrolment_code_used"


def test_a_web_page_is_not_a_server() -> None:
    with pytest.raises(Unreadable, match="not a Gatehouse server"):
        enrolled(FakeServer(page=b"<html>Log in</html>"))


@pytest.mark.parametrize(
    "url", ["", "ftp://server", "http://", "http://a:b@server", "http://server:99999", "http://[", "x?y"]
)
def test_what_is_not_an_address_is_refused(url: str) -> None:
    with pytest.raises(InvalidRequest, match="not a server address"):
        server_address(url)


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("tickets.example.org", "https://tickets.example.org"),
        ("http://10.0.0.5:8000/", "http://10.0.0.5:8000"),
        ("https://example.org/box/", "https://example.org/box"),
    ],
)
def test_addresses_are_kept_in_one_form(url: str, kept: str) -> None:
    assert server_address(url) == kept


def test_enrolling_again_keeps_the_journal_and_the_chain(tmp_path: Path) -> None:
    gate: GateAtHome = a_gate(tmp_path)
    gate.scan(a_code(1))
    before = len(gate.entries())
    take_identity(gate.context, enrolled(FakeServer()))
    gate.context.close()
    gate.switch_on()
    assert len(gate.entries()) == before
    assert gate.context.journal.head.seq == before, "the same device goes on in the same branch"
    assert gate.scan(a_code(2))["committed"]
    assert gate.context.journal.verify().ok


def test_enrolling_with_another_organisation_forgets_the_first_ones_rows(tmp_path: Path) -> None:
    gate = a_gate(tmp_path)
    take_identity(gate.context, enrolled(FakeServer(organisation="org-2", device=99)))
    assert gate.context.roster.snapshots == {}
    gate.context.close()
    gate.switch_on()
    assert gate.scan(a_code(1))["reason"] == "gate_not_ready"


class PowerCutError(BaseException):
    """The machine stands still; nothing catches this."""


@pytest.mark.parametrize("then", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(
    "step",
    [(Roster, "wipe"), (AssignmentStore, "assign"), (Database, "put"), (reading_home, "keep"), (Journal, "__init__")],
    ids=lambda step: step[1],
)
def test_a_power_cut_leaves_no_device_with_what_another_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: tuple[Any, str], then: bool
) -> None:
    """It was a device of one organisation that was shut out, and becomes one of another."""
    gate = a_gate(tmp_path)
    gate.context.database.put(REVOKED, "lost")
    got, done = enrolled(FakeServer(organisation="org-2", device=99)), getattr(*step)

    def cut(*arguments: Any) -> None:
        if then:
            done(*arguments)
        raise PowerCutError

    with monkeypatch.context() as patched:
        patched.setattr(*step, cut)
        with pytest.raises(PowerCutError):
            take_identity(gate.context, got)
    gate.context.close()
    gate.switch_on()
    if gate.context.identity == got.identity:
        assert (gate.context.roster.snapshots, gate.context.sync_state.revoked) == ({}, False)
        assert gate.context.assignments.by_event.keys() == {7}
    else:
        take_identity(gate.context, got)
        gate.context.close()
        gate.switch_on()
    assert (gate.context.identity, gate.context.roster.snapshots) == (got.identity, {})
    gate.context.close()
