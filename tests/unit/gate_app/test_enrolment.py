"""A machine becomes a device only of the server whose code somebody read."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gate_app.enrolment import Enrolled, enrol, server_address
from gate_app.reading_home import take_identity
from gate_app.sync.client import Letter, Reply
from shared import enrolment, protocol
from shared.errors import GatehouseError, InvalidRequest, Unreadable, Untrusted
from shared.http_signatures import sign_answer
from shared.protocol import Assignment, EnrolAnswer, EnrolRequest
from tests.gate_builders import ORGANISATION, SERVER_KEY, GateAtHome, a_code, a_gate, a_key, chance

PUBLIC = SERVER_KEY.public_key().public_bytes_raw()
CODE = enrolment.new_code(chance("code"), PUBLIC)


@dataclass
class Desk:
    """The other end of an enrolment."""

    public: bytes = PUBLIC
    code: enrolment.Code = CODE
    device: int = 11
    organisation: str = ORGANISATION
    refuses: protocol.ErrorBody | None = None
    page: bytes = b""
    altered: bytes = b""
    letters: list[Letter] = field(default_factory=list)

    def carry(self, letter: Letter) -> Reply:
        self.letters.append(letter)
        if self.page:
            return Reply(200, {}, self.page)
        if self.refuses:
            return Reply(403, {}, protocol.encode(protocol.ErrorAnswer(error=self.refuses)))
        asked = protocol.decode(EnrolRequest, letter.body)
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
        return Reply(200, headers, body.replace(b"Night Ltd", self.altered or b"Night Ltd"))


def enrolled(desk: Desk, text: str = CODE.text) -> Enrolled:
    return enrol("http://server.test/", text, desk, chance("gate"), name="Main gate", software="test")


def test_it_gets_its_place_and_both_screens_show_one_number() -> None:
    desk = Desk()
    got = enrolled(desk)
    asked = protocol.decode(EnrolRequest, desk.letters[0].body)
    assert (got.identity.device_number, got.identity.server) == (11, "http://server.test")
    assert got.check == enrolment.check_number(asked.device_public, PUBLIC, asked.nonce)


def test_an_answer_that_was_altered_on_its_way_is_not_believed() -> None:
    with pytest.raises(Untrusted):
        enrolled(Desk(altered=b"Other Ltd"))


def test_the_code_itself_is_never_sent() -> None:
    desk = Desk()
    enrolled(desk)
    assert CODE.secret not in desk.letters[0].body
    assert CODE.text.encode() not in desk.letters[0].body + desk.letters[0].url.encode()


def test_lower_case_and_blanks_are_forgiven() -> None:
    assert enrolled(Desk(), f"  {CODE.text.lower()}\n").identity.device_number == 11


def test_a_mistyped_code_asks_nobody() -> None:
    desk = Desk()
    wrong = CODE.text[:-1] + ("A" if CODE.text[-1] != "A" else "B")
    with pytest.raises(InvalidRequest, match="mistyped"):
        enrolled(desk, wrong)
    assert desk.letters == []


def test_somebody_else_who_answers_is_not_believed() -> None:
    with pytest.raises(Untrusted, match="not the one that gave out this code"):
        enrolled(Desk(public=a_key("impostor").public_key().public_bytes_raw()))


def test_one_who_has_the_key_but_not_the_code_is_not_believed() -> None:
    with pytest.raises((Untrusted, AssertionError)):
        enrolled(Desk(code=enrolment.new_code(chance("other"), PUBLIC)))


def test_the_servers_refusal_is_told_in_its_words() -> None:
    refusal = protocol.ErrorBody(code="enrolment_code_used", message="This code has been used already.")
    with pytest.raises(GatehouseError, match="used already") as told:
        enrolled(Desk(refuses=refusal))
    assert told.value.error_code == "enrolment_code_used"


def test_a_web_page_is_no_server() -> None:
    with pytest.raises(Unreadable, match="no Gatehouse server"):
        enrolled(Desk(page=b"<html>Log in</html>"))


@pytest.mark.parametrize(
    "url", ["", "ftp://server", "http://", "http://a:b@server", "http://server:99999", "http://[", "x?y"]
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(InvalidRequest, match="no address"):
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
    take_identity(gate.lodge, enrolled(Desk()))
    gate.lodge.close()
    gate.switch_on()
    assert len(gate.entries()) == before
    assert gate.lodge.journal.head.seq == before, "the same device goes on in the same branch"
    assert gate.scan(a_code(2))["committed"]
    assert gate.lodge.journal.verify().ok


def test_enrolling_with_another_organisation_forgets_the_first_ones_rows(tmp_path: Path) -> None:
    gate = a_gate(tmp_path)
    take_identity(gate.lodge, enrolled(Desk(organisation="org-2", device=99)))
    assert gate.lodge.roster.books == {}
    gate.lodge.close()
    gate.switch_on()
    assert gate.scan(a_code(1))["reason"] == "gate_not_ready"
